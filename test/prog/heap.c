// SPDX-License-Identifier: Apache-2.0
/* Uses the heap in two threads:
 *
 *	heap sound		allocates, resizes and frees blocks in all ways; fills them
 *	heap over OFFSET	writes a byte at this offset from the end of a block of 24 bytes
 *	heap slack OFFSET	does the same with a block of 20 bytes, which libc makes larger
 *	heap whole OFFSET	reads a word at such an offset, so it may begin inside the block
 *	heap under		reads a word before a block
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 40, ROUNDS = 100 };

static const char *mode;
static long offset;

/* The program must not use functions of libc for this, because they are not instrumented. */
static void fill(unsigned char *p, size_t size, unsigned char with)
{
	for (size_t i = 0; i < size; i++)
		p[i] = with;
}

static void *allocate(unsigned how, size_t size)
{
	void *p = NULL;

	switch (how % 5) {
	case 0: return malloc(size);
	case 1: return calloc(1, size);
	case 2: return aligned_alloc(64, (size + 63) & ~(size_t)63);
	case 3: return posix_memalign(&p, 128, size) ? NULL : p;
	default: p = strdup("a text that libc allocates"); return realloc(p, size);
	}
}

static void *use(void *argument)
{
	unsigned seed = (unsigned)(long)argument;
	unsigned char *blocks[BLOCKS] = {NULL};

	for (int i = 0; i < ROUNDS; i++) {
		unsigned at = (unsigned)rand_r(&seed) % BLOCKS, how = (unsigned)rand_r(&seed);
		size_t size = how % 11 ? 1 + how % 300 : 200000 + how % 1000;

		if (blocks[at] && how % 3 == 0) {
			blocks[at] = realloc(blocks[at], size);
		} else {
			free(blocks[at]);
			blocks[at] = how % 7 ? allocate(how, size) : NULL;
		}
		if (blocks[at])
			fill(blocks[at],
			     size > 1000 ? 1000
			     : i % 2	 ? size
					 : malloc_usable_size(blocks[at]),
			     (unsigned char)i);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return NULL;
}

static void *stray(void *unused)
{
	unsigned char *block = malloc(!strcmp(mode, "slack") || !strcmp(mode, "whole") ? 20 : 24),
		      *next = malloc(24);

	(void)unused;
	if (!strcmp(mode, "over"))
		fill(block + 24 + offset, 1, block[0] & 0);
	else if (!strcmp(mode, "slack"))
		fill(block + 20 + offset, 1, block[0] & 0);
	else if (!strcmp(mode, "whole"))
		printf("%d\n", *(volatile int *)(block + 20 + offset) > 0);
	else
		printf("%d\n", ((volatile long *)block)[-1] > 0);
	free(next);
	free(block);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	mode = argc > 1 ? argv[1] : "sound";
	offset = argc > 2 ? atol(argv[2]) : 0;
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, strcmp(mode, "sound") != 0 ? stray : use, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
