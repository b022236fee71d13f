// SPDX-License-Identifier: Apache-2.0
// expect: race fd 1
// recorded: the worker has written before the file is closed.
/* A file is closed while another thread may still write to it, or to a reused descriptor. */
#include "case.h"

static int file;
THREAD(work)
{
	return write(file, "x", 1) == 1 ? NULL : argument;
}
int main(void)
{
	pthread_t worker;

	file = open("/dev/null", O_WRONLY);
	worker = start_settled(work, NULL);
	close(file);
	join(worker);
	return 0;
}
