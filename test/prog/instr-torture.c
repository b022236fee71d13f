/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collection of valid C constructs on which instrumenters may stumble.  The program prints what
 * it computes; the output must be the same with and without instrumentation.
 */
#include <complex.h>
#include <errno.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bits {
	unsigned a : 3, b : 13;
	signed c : 9;
	unsigned long long d : 40;
};
struct large {
	long v[12];
};
struct __attribute__((packed)) packed {
	char c;
	int i;
	double d;
	short s;
};
union either {
	int i;
	float f;
	char c[8];
};
struct node {
	int key;
	struct node *next;
};

static struct bits bits;
static struct packed packed[3];
static union either either;
static volatile int noise;
static _Atomic int counter;
struct wide {
	long a, b;
};
static _Atomic struct wide wide;
static __thread int local_static = 5;
__thread int local_extern = 6;
static int array[64];
static struct node *list;
static char text[64];
int common_variable;
static __int128 huge;
static long double extended;
static _Complex double rotating;
static jmp_buf jump;

static int sum(int n, ...)
{
	va_list ap, copy;
	int total = 0;
	va_start(ap, n);
	va_copy(copy, ap);
	for (int i = 0; i < n; i++)
		total += va_arg(ap, int);
	for (int i = 0; i < n; i++)
		total += 2 * va_arg(copy, int);
	va_end(ap);
	va_end(copy);
	return total;
}

static struct large by_value(struct large x, int k)
{
	for (int i = 0; i < 12; i++)
		x.v[i] = x.v[i] * k + i;
	return x;
}

static void leap(int depth)
{
	array[depth]++;
	if (depth == 7)
		longjmp(jump, 3);
	leap(depth + 1);
}

static int jumps(void)
{
	volatile int rounds = 0;
	int r = setjmp(jump);
	rounds++;
	if (rounds < 4)
		leap(0);
	return r * 100 + rounds;
}

static int interpreter(const char *program)
{
	static const void *const labels[] = {&&inc, &&dbl, &&dec, &&end};
	int acc = 1;
	const char *p = program;
	goto *labels[*p - 'a'];
inc:
	acc += 1;
	goto *labels[*++p - 'a'];
dbl:
	acc *= 2;
	goto *labels[*++p - 'a'];
dec:
	acc -= 3;
	array[11] = acc;
	goto *labels[*++p - 'a'];
end:
	return acc;
}

static int tail_odd(unsigned n);
static int tail_even(unsigned n)
{
	array[1]++;
	if (n == 0)
		return 1;
	__attribute__((musttail)) return tail_odd(n - 1);
}
static int tail_odd(unsigned n)
{
	array[2]++;
	if (n == 0)
		return 0;
	__attribute__((musttail)) return tail_even(n - 1);
}

__attribute__((pure, noinline)) static int pure_sum(const int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += p[i];
	return s;
}

__attribute__((const, noinline)) static int square(int x)
{
	return x * x;
}

static int variable_length(int n)
{
	int vla[n];
	for (int i = 0; i < n; i++)
		vla[i] = i * i;
	return pure_sum(vla, n);
}

#if defined(__x86_64__)
__attribute__((naked)) static int naked_seven(void)
{
	__asm__("movl $7, %eax\n\tret");
}

static int fast_impl(void)
{
	return array[3] + 40;
}
static int (*resolve(void))(void)
{
	return fast_impl;
}
int chosen(void) __attribute__((ifunc("resolve")));

__asm__(".text\n.type asm_helper,@function\nasm_helper:\n\tleal 5(%rdi), %eax\n\tret\n");
int asm_helper(int x);

static int assembler(void)
{
	int x = 4, y;
	static int target = 10;
	__asm__ volatile("lock addl %1, %0" : "+m"(target) : "r"(x) : "cc");
	__asm__("leal (%1,%1), %0" : "=r"(y) : "r"(x));
	__asm__ goto("testl %0, %0\n\tjz %l1" : : "r"(x) : "cc" : zero);
	return target + y;
zero:
	return -1;
}
#else
static int naked_seven(void)
{
	return 7;
}
static int chosen(void)
{
	return array[3] + 40;
}
static int asm_helper(int x)
{
	return x + 5;
}
static int assembler(void)
{
	return 22;
}
#endif

static int original(int x)
{
	return x + common_variable;
}
int alias_of(int x) __attribute__((alias("aliased")));
int aliased(int x);
int aliased(int x)
{
	return original(x) * 2;
}

__attribute__((weak)) int weak_one(void)
{
	return 11;
}

static int built;
__attribute__((constructor)) static void before_main(void)
{
	built += 100;
}
__attribute__((destructor)) static void after_main(void)
{
	printf("destroyed %d\n", built);
}

static int compare(const void *a, const void *b)
{
	noise++;
	return *(const int *)a - *(const int *)b;
}

static void atomics(void)
{
	int expected = 3;
	counter = 1;
	atomic_fetch_add_explicit(&counter, 2, memory_order_relaxed);
	bool ok = atomic_compare_exchange_strong(&counter, &expected, 9);
	bool no = atomic_compare_exchange_weak_explicit(&counter, &expected, 1, memory_order_acq_rel,
							memory_order_acquire);
	atomic_thread_fence(memory_order_seq_cst);
	int old = atomic_exchange(&counter, 4);
	struct wide w = atomic_load(&wide);
	w.b = old;
	atomic_store(&wide, w);
	w = atomic_exchange(&wide, w);
	int synced = __sync_fetch_and_add(&array[9], 5) + __sync_lock_test_and_set(&array[10], 1);
	printf("atomics %d %d %d %d %d %ld\n", ok, no, old, atomic_load(&counter), synced, w.b);
}

static void strings(void)
{
	char buffer[64], *end;
	strcpy(text, "one");
	strcat(text, " two");
	strncat(text, " three", 3);
	snprintf(buffer, sizeof buffer, "%s/%d", text, 42);
	memmove(buffer + 2, buffer, 10);
	long n = strtol("123x", &end, 10);
	printf("strings %s %zu %d %d %ld %c %s %d\n", buffer, strlen(text), strcmp(text, "one two") > 0,
	       strncmp(text, "one", 3), n, *end, strchr(text, 't'), memcmp(text, "onf", 3) < 0);
	printf("%s %s\n", strstr(text, "two"), (char *)memchr(text, 'w', 8));
	errno = 0;
	FILE *f = fopen("/nonexistent/file", "r");
	printf("errno %d %d\n", f == NULL, errno == ENOENT);
}

static void numbers(void)
{
	huge = ((__int128)1 << 70) + 12345;
	huge *= 3;
	extended = 1.0L / 3;
	extended *= 3;
	rotating = 1 + 2 * I;
	rotating *= rotating;
	printf("numbers %llx %llx %.3Lf %.1f%+.1fi\n", (unsigned long long)(huge >> 64),
	       (unsigned long long)huge, extended, creal(rotating), cimag(rotating));
	bits.a = 9 & noise;
	bits.b = 5000;
	bits.c = -200;
	bits.d = 1ull << 39 | 5;
	either.f = 1.5f;
	printf("bits %u %u %d %llu %x\n", bits.a, bits.b, bits.c, (unsigned long long)bits.d, either.i);
	for (int i = 0; i < 3; i++) {
		packed[i].i = i * 1000;
		packed[i].d += packed[i].i / 8.0;
		packed[i].s = (short)packed[i].i;
	}
	printf("packed %d %.1f %d\n", packed[2].i, packed[2].d, packed[1].s);
}

static void lists(void)
{
	for (int i = 0; i < 10; i++) {
		struct node *n = malloc(sizeof *n);
		*n = (struct node){i * 7 % 10, list};
		list = n;
	}
	int total = 0;
	for (struct node *n = list, *next; n != NULL; n = next) {
		next = n->next;
		total = total * 3 + n->key;
		free(n);
	}
	for (int i = 0; i < 20; i++)
		array[20 + i] = i * 13 % 20;
	qsort(array + 20, 20, sizeof *array, compare);
	printf("lists %d %d %d %d\n", total, array[20], array[39], noise > 20);
}

/* Optimisers merge the two stores into one, and their two hooks into one. */
__attribute__((noinline)) static void sunk(struct node *n, int grow)
{
	if (n->key > 3)
		n->key -= grow;
	else
		n->key = n->key * 2 + 1;
}

/* Hooks are moved out of loops: upwards, downwards, by two, over a column, to a bound in memory. */
static int loop_bound = 17;
__attribute__((noinline)) static long loops(int n)
{
	static int matrix[9][7];
	long total = 0;
	for (int i = 0; i < loop_bound; i++)
		array[i] = i * 3;
	for (int i = n - 1; i >= 0; i--)
		total += array[i];
	for (int i = 1; i <= n; i += 2)
		array[i] += 5;
	for (int c = 0; c < 7; c++)
		for (int r = 0; r < 9; r++)
			matrix[r][c] += r * c + loop_bound;
	for (unsigned i = 0; i < (unsigned)(n - 12); i++)
		total += matrix[i % 9][3] + array[63 - i];
	for (char *p = text; *p != '\0'; p++)
		*p ^= 1;
	for (char *p = text, *end = text + 6; p != end; p++)
		total = total * 31 + *p;
	for (int i = 0; i < n; i++) {
		if (array[i] == 12)
			break;
		total += array[i] * 7;
	}
	return total;
}

/* Range hooks leave outer loops too, unless a loop-invariant branch skips the inner loop. */
static long guard_from[32], guard_to[4][32];
__attribute__((noinline)) static long guarded(int kind, long rows, long n)
{
	long total = kind;
	for (long i = 0; i < rows; i++) {
		total = total * 3 + guard_from[i];
		if (kind == 0)
			guard_to[0][i] = i;
		if (kind > 1)
			for (long j = 0; j < n; j++)
				guard_to[kind][j] += guard_from[i] + total;
	}
	return total;
}

/* These loops are unrolled; the hooks of their accesses are merged into a range hook again. */
static int rows[6][3];
__attribute__((noinline)) static int short_rows(const int *from, int *to, int *both)
{
	int total = 1;
	for (int i = 0; i < 3; i++)
		total += from[i];
	for (int i = 2; i >= 0; i--)
		to[i] = total + i;
	for (int i = 0; i < 3; i++)
		both[i] += i;
	return total;
}

int main(void)
{
	struct large l = {{1, 2, 3}};
	int (*volatile indirect)(int) = aliased;
	l = by_value(by_value(l, 2), 3);
	printf("sum %d large %ld %ld\n", sum(5, 1, 2, 3, 4, 5), l.v[2], l.v[11]);
	printf("jumps %d %d\n", jumps(), array[7]);
	printf("interpreter %d tail %d %d\n", interpreter("abcabd"), tail_even(1000), array[2]);
	common_variable = 3;
	array[3] = 2;
	printf("functions %d %d %d %d %d %d %d\n", naked_seven(), chosen(), asm_helper(1), alias_of(4),
	       indirect(5), weak_one(), assembler());
	printf("pure %d %d %d\n", pure_sum(array, 8) + pure_sum(array, 8), square(noise + 3),
	       variable_length(9));
	local_static += local_extern++;
	printf("thread-local %d %d\n", local_static, local_extern);
	atomics();
	strings();
	numbers();
	lists();
	struct node n = {2, &n};
	list = &n;
	for (int i = 0; i < 5; i++)
		sunk(list, i);
	printf("loops %ld %ld %ld %d\n", loops(12), loops(0), loops(20), list->key);
	printf("guarded %ld %ld %ld %ld %ld\n", guarded(0, 5, 9), guarded(1, 3, 30), guarded(2, 7, 11),
	       guarded(3, 0, 32), guarded(3, 4, 0));
	printf("rows %d %d\n", short_rows(rows[1], rows[2], rows[4]), short_rows(rows[2], rows[1], rows[5]));
	return built == 100 ? 7 : 1;
}
