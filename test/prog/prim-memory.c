/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation.  The sizes of the blocks are not compared, only the kinds of events.  After SHOW are
 * kinds that test/cli/record-prim.sh otherwise leaves out.
 *
 * SHOW: alloc free unmap
 * T_0: thread-start alloc alloc free alloc free alloc free free alloc alloc alloc alloc alloc
 * T_0: free free free free free alloc unmap alloc unmap alloc free exit
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	char *volatile p = malloc(10), *volatile q = calloc(3, 7), *volatile r;
	void *volatile a, *volatile b, *volatile d, *volatile e;
	void *m, *c;

	q = realloc(q, 100);
	q = reallocarray(q, 10, 20);
	free(q);
	free(p);
	free(NULL);
	a = memalign(64, 100);
	b = aligned_alloc(64, 128);
	if (posix_memalign(&c, 64, 100))
		return 1;
	d = valloc(10);
	e = pvalloc(10);
	free(a);
	free(b);
	free(c);
	free(d);
	free(e);
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m = mremap(m, 4096, 8192, MREMAP_MAYMOVE);
	munmap(m, 8192);
	r = strdup("text");
	free(r);
	r = malloc((size_t)-100);
	return r != NULL;
}
