/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The previous content of memory differs in every run; here it is a time stamp.  The padding of
 * structures carries it into values that are passed on, although the program is correct.
 */
#include <stdio.h>
#include <stdlib.h>

struct token {
	unsigned length;
	char kind; /* and three bytes of padding */
};

struct word {
	const char *text;
	unsigned length; /* and four bytes of padding */
};

static unsigned sum;

__attribute__((noinline)) static void take(struct token t)
{
	sum += t.length;
}

__attribute__((noinline)) static void on_stack(int k)
{
	struct token t[3];
	for (int i = 0; i < 3; i++) {
		t[(i + k) % 3].kind = 'x';
		t[(i + k) % 3].length = (unsigned)(i + k);
	}
	take(t[k % 3]);
}

/* Writes time stamps.  These stores are not in the trace, as if a library had made them. */
static void scribble(void *p, size_t words)
{
	__asm__ volatile("1: rdtsc\n\tmovl %%eax, (%0)\n\taddq $4, %0\n\tdecq %1\n\tjnz 1b"
			 : "+r"(p), "+r"(words)
			 :
			 : "rax", "rdx", "memory", "cc");
}

__attribute__((noinline)) static void dirty_stack(void)
{
	char a[512];
	scribble(a, sizeof a / 4);
}

static void on_heap(void)
{
	struct token *t = malloc(3 * sizeof *t);
	t[1].kind = 'y';
	t[1].length = 7;
	take(t[1]);
	t = realloc(t, 6 * sizeof *t);
	t[5].kind = 'z';
	t[5].length = 8;
	take(t[5]);
	free(t);
}

static void dirty_heap(void)
{
	for (size_t n = 3; n <= 12; n += 3) {
		void *a = malloc(n * 16);
		scribble(a, n * 4);
		free(a);
	}
}

/* An assignment copies padding that has no value at all. */
__attribute__((noinline)) static void assign(struct word *to, struct word w)
{
	*to = w;
	sum += to->length;
}

int main(void)
{
	struct word w[2];
	for (int k = 0; k < 5; k++) {
		dirty_stack();
		on_stack(k);
		dirty_heap();
		on_heap();
		assign(&w[k % 2], (struct word){"w", (unsigned)k});
	}
	printf("%u\n", sum);
	return 0;
}
