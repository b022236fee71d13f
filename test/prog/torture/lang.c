/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture program: features of C and GNU C that an instrumenter may break.
 * Each check prints a line that does not depend on addresses or timing.  The
 * output must be the same with and without Raddle.  The other source file is
 * lang2.c.
 */
#include "lang.h"
#include <alloca.h>
#include <complex.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

int common_variable;
static _Thread_local int static_tls = 5;
static volatile int volatile_counter;
static const char *order[8];
static int order_count;

jmp_buf deep_jump;

void register_order(const char *who)
{
	order[order_count++] = who;
}

__attribute__((constructor(202))) static void second_constructor(void)
{
	register_order("ctor202");
}

__attribute__((constructor(201))) static void first_constructor(void)
{
	register_order("ctor201");
}

__attribute__((constructor)) static void last_constructor(void)
{
	register_order("ctor");
}

__attribute__((destructor(201))) static void late_destructor(void)
{
	puts("dtor201");
}

__attribute__((destructor(202))) static void early_destructor(void)
{
	puts("dtor202");
}

static void say_goodbye(void)
{
	puts("atexit");
}

int weak_overridden(void)
{
	return 2;
}

static void check_varargs(void)
{
	printf("varargs %ld %ld\n", add_all(3, 1, 2L, 3.5), add_all(9, 1, 2L, 3.5, 4, 5L, 6.5, 7, 8L, 9.25));
	char line[64];
	snprintf(line, sizeof line, "%d %s %.3f %lc %zu", -3, "text", 2.5, (wint_t)L'w', sizeof line);
	printf("snprintf %s\n", line);
}

static void check_jumps(void)
{
	volatile int rounds = 0;
	int code = setjmp(deep_jump);
	if (code < 3) {
		rounds++;
		jump_from_deep(10 + code);
	}
	printf("setjmp %d rounds %d\n", code, rounds);
	sigjmp_buf env;
	volatile int n = 0;
	if (!sigsetjmp(env, 1)) {
		n = 7;
		siglongjmp(env, 1);
	}
	printf("sigsetjmp %d\n", n);
	static const void *const target[] = {&&zero, &&one, &&two, &&end};
	const char *program = "0110213";
	int a = 1;
next:
	goto *target[*program++ - '0'];
zero:
	a += 3;
	goto next;
one:
	a *= 2;
	goto next;
two:
	a -= 1;
	goto next;
end:
	printf("computed goto %d\n", a);
}

static void check_data(void)
{
	struct bits b = {5, -30, 0x123456789aul, 1};
	volatile struct bits *v = &b;
	v->b -= 3;
	v->c++;
	v->d = !v->d;
	printf("bit-fields %d %d %lx %d\n", v->a, v->b, (unsigned long)v->c, v->d);
	struct big big = make_big(3);
	printf("byval %d %s %.1f\n", big_by_value(big, 19), big.text, big.d);
	__int128 wide = multiply_wide((__int128)1 << 70, -12345);
	printf("int128 %llx %llx\n", (unsigned long long)(wide >> 64), (unsigned long long)wide);
	printf("long double %.6Lf\n", mix_long(1.25L, 3.5f));
	double complex z = (1.5 + 2.0 * I) * (0.5 - I);
	printf("complex %.2f %.2f\n", creal(z), cimag(z));
	char packed[9] = {0};
	struct __attribute__((packed)) pair {
		char c;
		int64_t n;
	} *p = (struct pair *)packed;
	p->n = 0x1122334455667788;
	printf("packed %x %x\n", packed[1], packed[8]);
	struct two {
		int x, y;
	} value = {1, 2};
	_Atomic struct two pair;
	atomic_init(&pair, value);
	value = atomic_load(&pair);
	value.x = 4;
	atomic_store(&pair, value);
	struct two loaded = atomic_load(&pair);
	printf("atomic struct %d %d\n", loaded.x, loaded.y);
	typedef int vector __attribute__((vector_size(32)));
	vector w = {1, 2, 3, 4, 5, 6, 7, 8};
	volatile vector *vw = &w;
	*vw = *vw * 3 + 1;
	printf("vector %d %d\n", w[0], w[7]);
}

static int sum_vla(int n)
{
	int a[n], total = 0;
	char *more = alloca((size_t)n + 1);
	for (int i = 0; i < n; i++) {
		a[i] = i * i;
		more[i] = (char)i;
	}
	for (int i = 0; i < n; i++)
		total += a[i] + more[i];
	return total;
}

static void check_atomics(void)
{
	static _Atomic int i32;
	static _Atomic unsigned char i8;
	static _Atomic(long *) pointer;
	static atomic_flag flag = ATOMIC_FLAG_INIT;
	static long cells[4];
	atomic_store_explicit(&i32, 40, memory_order_release);
	int old = atomic_fetch_add_explicit(&i32, 2, memory_order_acq_rel);
	int expected = 41;
	_Bool first = atomic_compare_exchange_strong(&i32, &expected, 1);
	_Bool second = atomic_compare_exchange_strong(&i32, &expected, 99);
	i8 -= 3;
	i8 |= 1;
	atomic_store(&pointer, cells);
	atomic_fetch_add(&pointer, 3);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_acquire);
	int was = atomic_flag_test_and_set(&flag);
	printf("atomics %d %d %d %d %d %d %d\n", old, first, second, expected, i8, (int)(pointer - cells),
	       was);
	__int128 sixteen __attribute__((aligned(16))) = 1;
	printf("sync %d %d\n", __sync_fetch_and_or(&cells[0], 6) == 0,
	       __sync_bool_compare_and_swap(&cells[0], 6, 8));
	memcpy(&sixteen, "0123456789abcde", 16);
	printf("16 bytes %c\n", ((char *)&sixteen)[9]);
}

static int assembler_add(int a, int *memory)
{
	int out;
	__asm__ volatile("movl %[m], %[o]\n\taddl %[a], %[o]\n\tmovl %[o], %[m]"
			 : [o] "=&r"(out), [m] "+m"(*memory)
			 : [a] "r"(a)
			 : "cc");
	return out;
}

static int assembler_goto(int x)
{
	__asm__ goto("testl %0, %0\n\tjz %l1" : : "r"(x) : "cc" : zero);
	return 1;
zero:
	return 0;
}

__asm__(".text\n.globl module_asm_double\n.type module_asm_double,@function\n"
	"module_asm_double:\n\tleal (%rdi,%rdi), %eax\n\tret\n.size module_asm_double,.-module_asm_double\n");
int module_asm_double(int x);

static void *tls_thread(void *unused)
{
	static_tls += 10;
	extern_tls += 20;
	struct_tls.a[19]++;
	printf("tls thread %d %d %d\n", static_tls, extern_tls, struct_tls.a[19]);
	return unused;
}

static void check_tls(void)
{
	pthread_t t;
	static_tls = 6;
	extern_tls = 7;
	pthread_create(&t, NULL, tls_thread, NULL);
	pthread_join(t, NULL);
	printf("tls main %d %d %d\n", static_tls, extern_tls, struct_tls.a[19]);
}

__attribute__((pure)) static int pure_sum(const int *a, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i];
	return sum;
}

static unsigned deep(unsigned depth)
{
	volatile char frame[64] = {(char)depth};
	return depth ? deep(depth - 1) + (unsigned)frame[0] : 1;
}

static void cleanup(int *p)
{
	printf("cleanup %d\n", *p);
}

static void check_rest(void)
{
	int memory = 30;
	printf("asm %d %d %d %d %d\n", assembler_add(12, &memory), memory, assembler_goto(3),
	       assembler_goto(0), module_asm_double(21));
	printf("weak %d %d alias %d ifunc %d\n", weak_default(), weak_overridden(), aliased(4), resolved(5));
	printf("vla %d %d\n", sum_vla(10), sum_vla(1));
	int a[] = {1, 2, 3};
	printf("pure %d", pure_sum(a, 3));
	a[1] = 20;
	printf(" %d\n", pure_sum(a, 3));
	for (int i = 0; i < 3; i++)
		volatile_counter += volatile_counter + 1;
	printf("volatile %d common %d\n", volatile_counter, ++common_variable);
	printf("recursion %u\n", deep(20000));
	int local __attribute__((cleanup(cleanup))) = 8;
	int nested = ({
		int x = local * 2;
		x + 1;
	});
	printf("statement expression %d\n", nested);
}

int main(void)
{
	atexit(say_goodbye);
	for (int i = 0; i < order_count; i++)
		printf("%s ", order[i]);
	puts("main");
	check_varargs();
	check_jumps();
	check_data();
	check_atomics();
	check_tls();
	check_rest();
	return 0;
}
