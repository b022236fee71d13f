// SPDX-License-Identifier: Apache-2.0
// expect: race mmap
// recorded: one thread is done before the other begins.
/* Two threads change memory from mmap() without a lock. */
#include "case.h"
#include <sys/mman.h>

THREAD(set)
{
	((int *)argument)[5]++;
	return NULL;
}
int main(void)
{
	int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 1;
	pthread_t a = start_settled(set, page), b = start(set, page);
	join(a);
	join(b);
	return page[5] < 1;
}
