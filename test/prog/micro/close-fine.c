// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first worker closes its file before the second opens one, with the same descriptor.
/* Each worker has its own file.  The reader closes the pipe after it has read the writer's byte. */
#include "case.h"

static int ends[2];
THREAD(work)
{
	int file = open("/dev/null", O_WRONLY);

	if (write(file, "x", 1) != 1)
		abort();
	close(file);
	return argument;
}
THREAD(tell)
{
	if (write(ends[1], "x", 1) != 1)
		abort();
	return argument;
}
THREAD(hear)
{
	char c;

	if (read(ends[0], &c, 1) != 1)
		abort();
	close(ends[0]);
	close(ends[1]);
	return argument;
}
int main(void)
{
	if (pipe(ends))
		abort();
	run_two(work, work);
	run_two(tell, hear);
	return 0;
}
