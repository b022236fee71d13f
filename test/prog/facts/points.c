/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers that propagate through fields, arrays, lists, function pointers, nested wrappers,
 * callbacks, arguments, results and specific data of threads, copies of structs, numbers, and
 * variable arguments.  The comment after an access names the variable that it accesses.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	int *left, *right;
};
struct item {
	int key;
	struct item *next;
};
struct ops {
	int (*open)(int *), (*close)(int *);
};

static int a, b, c, d, e, g, h, sorted[4];
static struct pair pairs[4], one, two;
static struct item *list;

static int opened(int *p)
{
	return *p; /* a */
}

static int closed(int *p)
{
	return *p; /* b */
}

static const struct ops table[] = {{opened, closed}};

static void *get(size_t n)
{
	return malloc(n);
}

static void *get_zeroed(size_t n)
{
	void *p = get(n);
	memset(p, 0, n);
	return p;
}

static int compare(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y; /* sorted */
}

static pthread_key_t key;

static void destroyed(void *p)
{
	*(int *)p = 1; /* g */
}

static void *thread(void *argument)
{
	struct pair *p = argument;
	(*p->left)++; /* c */
	pthread_setspecific(key, &g);
	return p->right;
}

static int sum(int n, ...)
{
	va_list list_of;
	int s = 0;
	va_start(list_of, n);
	while (n-- > 0)
		s += *va_arg(list_of, int *); /* d or e */
	va_end(list_of);
	return s;
}

static void fields(int i)
{
	pairs[i].left = &a;
	pairs[1].right = &b;
	*pairs[1].left = 1;  /* a */
	*pairs[i].right = 2; /* b */
	one.left = &c;
	one.right = &d;
	two = one;
	*two.right = 3; /* d */
}

static void lists(void)
{
	for (int i = 0; i < 3; i++) {
		struct item *n = get_zeroed(sizeof *n);
		n->next = list;
		list = n;
	}
	int *other = get(sizeof *other);
	*other = 1;
	for (struct item *n = list; n; n = n->next)
		n->key++;
}

static void numbers(void)
{
	uintptr_t tagged = (uintptr_t)&h | 1;
	*(int *)(tagged & ~(uintptr_t)1) = 4; /* h */
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	void *result;
	struct pair shared = {&c, &e};
	(void)argv;
	fields(argc);
	lists();
	numbers();
	table[argc - 1].open(&a);
	table[argc - 1].close(&b);
	qsort(sorted, 4, sizeof *sorted, compare);
	pthread_key_create(&key, destroyed);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, &shared);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &result);
	*(int *)result = 5; /* e */
	return sum(2, &d, &e) == 0;
}
