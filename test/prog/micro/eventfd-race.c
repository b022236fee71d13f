// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the giver is done before the taker reads.
/* The data are written after the event that announces them. */
#include "case.h"

#include <sys/eventfd.h>

static int event, data;
THREAD(give)
{
	eventfd_t one = 1;

	if (write(event, &one, sizeof one) != sizeof one)
		return argument;
	data = 7;
	return NULL;
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
