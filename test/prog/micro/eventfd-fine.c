// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker reads.
/* The counter of an eventfd orders the threads. */
#include "case.h"

#include <sys/eventfd.h>

static int event, data;
THREAD(give)
{
	eventfd_t one = 1;

	data = 7;
	return write(event, &one, sizeof one) == sizeof one ? NULL : argument;
}
THREAD(take)
{
	eventfd_t got;

	return read(event, &got, sizeof got) == sizeof got && data < 8 ? NULL : argument;
}
int main(void)
{
	event = eventfd(0, 0);
	run_two(give, take);
	return 0;
}
