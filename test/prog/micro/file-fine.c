// SPDX-License-Identifier: Apache-2.0
// expect: none
// hidden: race data 1
// recorded: the giver is done before the taker asks.
/* The taker reads a file until it has content.  Raddle cannot see that this orders the threads. */
#include "case.h"

#include <sys/mman.h>

static int file, data;
THREAD(give)
{
	UNUSED;
	data = 7;
	return pwrite(file, "x", 1, 0) == 1 ? NULL : argument;
}
THREAD(take)
{
	char got;

	while (pread(file, &got, 1, 0) != 1)
		sched_yield();
	return data == 7 ? NULL : argument;
}
int main(void)
{
	file = memfd_create("file", 0);
	run_two(give, take);
	return 0;
}
