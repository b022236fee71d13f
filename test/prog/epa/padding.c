/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structures with padding are passed and returned by value, assigned and copied, in memory that
 * held pointers before.  Of a union, only a part is used.  The content of the padding differs
 * between runs and is meaningless.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair {
	char c;
	int x;
};
struct three {
	short a;
	double d;
	char b;
};
union u {
	long l;
	char c[8];
	int i;
};
static __attribute__((noinline)) int take(struct pair p)
{
	return p.c + p.x;
}
static __attribute__((noinline)) struct pair make(int i)
{
	struct pair p;
	p.c = (char)i;
	p.x = i;
	return p;
}
static __attribute__((noinline)) struct three pass(struct three t)
{
	t.d += 1;
	return t;
}
static __attribute__((noinline)) void dirty(void)
{
	void *volatile v[64];
	for (int i = 0; i < 64; i++)
		v[i] = (void *)&v[i];
	(void)v[3];
}
static void *work(void *arg)
{
	long sum = 0;
	for (int r = 0; r < 5; r++) {
		void **junk = malloc(20 * sizeof *junk);
		for (int i = 0; i < 20; i++)
			junk[i] = &junk[i];
		free(junk);
		struct pair *p = malloc(20 * sizeof *junk);
		for (int i = 0; i < 20; i++) {
			p[i].c = (char)i;
			p[i].x = i * r;
		}
		for (int i = 0; i < 20; i++)
			sum += take(p[i]);
		struct pair copy = p[3];
		p[4] = copy;
		sum += take(p[4]);
		dirty();
		struct pair m = make(r);
		p[5] = m;
		sum += take(m);
		struct three t;
		t.a = 1;
		t.d = 2;
		t.b = 3;
		t = pass(t);
		sum += (long)t.d;
		union u w;
		w.i = r;
		sum += w.c[0];
		union u w2 = w;
		sum += w2.i;
		struct three *h = malloc(sizeof *h * 3);
		h[0] = t;
		h[1] = h[0];
		memcpy(&h[2], &h[1], sizeof *h);
		sum += h[2].a;
		free(h);
		free(p);
	}
	return (void *)(sum + (long)arg);
}
int main(void)
{
	pthread_t t[3];
	long s = 0;
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		s += (long)r;
	}
	printf("%ld\n", s);
}
