// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread has unmapped its page before the other begins.
/* Each thread maps its own page, perhaps at the same address. */
#include "case.h"
#include <sys/mman.h>

THREAD(use)
{
	int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		abort();
	page[5] = 1;
	munmap(page, 4096);
	return argument;
}
int main(void)
{
	run_two(use, use);
	return 0;
}
