/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five threads use everything whose address, padding or owner differs between runs: local, heap,
 * mapped and thread-local memory; pointers in structures, as numbers and as differences; pthread_t
 * as data; function pointers; structures with padding, by value and copied; jumps, sorting and
 * strings.  Main uses the command line and the environment.  Each thread does the same in all runs.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
struct pair {
	char c;
	int x;
};
struct big {
	char c;
	double d;
	char *p;
	short s;
};
struct rec {
	pthread_t owner;
	struct big b;
	struct rec *self;
	uintptr_t as_number;
	int (*fn)(int);
};
static int twice(int x)
{
	return 2 * x;
}
static int thrice(int x)
{
	return 3 * x;
}
static int (*table[])(int) = {twice, thrice};
static int take(struct pair p)
{
	return p.c + p.x;
}
static struct big give(struct big b)
{
	b.d *= 2;
	return b;
}
static int by_string(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}
static int by_big(const void *a, const void *b)
{
	double x = ((const struct big *)a)->d, y = ((const struct big *)b)->d;
	return (x > y) - (x < y);
}
static __thread char scratch[64];
static __thread int errors;
static void *work(void *arg)
{
	long me = (long)arg, sum = 0;
	struct pair p;
	p.c = (char)me;
	p.x = (int)me * 3;
	sum += take(p);
	struct big *v = malloc(sizeof *v * 70);
	for (int i = 0; i < 70; i++) {
		v[i].c = 'a' + i % 20;
		v[i].d = (i * 37) % 71;
		v[i].p = NULL;
		v[i].s = i;
	}
	v[3].p = scratch;
	qsort(v, 70, sizeof *v, by_big);
	for (int i = 0; i < 70; i++)
		sum += v[i].s * i;
	struct big copy[3];
	memcpy(copy, v, sizeof copy);
	copy[0] = give(copy[1]);
	sum += (long)copy[0].d;
	struct rec *r = calloc(1, sizeof *r);
	r->owner = pthread_self();
	r->b = copy[2];
	r->self = r;
	r->as_number = (uintptr_t)&v[5];
	r->fn = table[me & 1];
	struct rec s2 = *r;
	sum += s2.fn((int)sum) + ((struct big *)s2.as_number)->s + pthread_equal(s2.owner, pthread_self());
	ptrdiff_t diff = &v[9] - (struct big *)r->as_number;
	sum += diff;
	v = realloc(v, sizeof *v * 200);
	v = realloc(v, 16);
	free(v);
	char *w[6];
	for (int i = 0; i < 6; i++) {
		snprintf(scratch, sizeof scratch, "%ld-%d", me, (i * 5) % 6);
		w[i] = strdup(scratch);
	}
	qsort(w, 6, sizeof *w, by_string);
	for (int i = 0; i < 6; i++) {
		sum += atoi(w[i] + 2) * i;
		free(w[i]);
	}
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m[100] = 1;
	sum += m[100];
	munmap(m, 8192);
	jmp_buf j;
	volatile int n = 0;
	if (setjmp(j) < 3) {
		n++;
		longjmp(j, n);
	}
	sum += n;
	errno = 0;
	strtol("99999999999999999999", NULL, 10);
	errors += errno == ERANGE;
	sum += errors;
	void *al;
	if (posix_memalign(&al, 64, 100) == 0) {
		memset(al, 3, 100);
		sum += ((char *)al)[50];
		free(al);
	}
	char line[80];
	FILE *f = tmpfile();
	fprintf(f, "%ld %.17g %s\n", sum, sum / 7.0, scratch);
	rewind(f);
	while (fgets(line, sizeof line, f))
		sum += (long)strlen(line);
	fclose(f);
	int vla[me + 3];
	for (int i = 0; i < me + 3; i++)
		vla[i] = i;
	sum += vla[me];
	free(r);
	return (void *)sum;
}
int main(int argc, char **argv)
{
	pthread_t t[5];
	const char *home = getenv("HOME");
	size_t n = home ? strlen(home) : 0;
	for (int i = 0; i < argc; i++)
		for (char *p = argv[i]; *p; p++)
			n += isalpha((unsigned char)*p) ? 1 : 2;
	for (long i = 0; i < 5; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	long s = 0;
	for (int i = 0; i < 5; i++) {
		void *r;
		pthread_join(t[i], &r);
		s += (long)r;
	}
	printf("%ld %zu %s\n", s, n, argv[argc - 1]);
	return 0;
}
