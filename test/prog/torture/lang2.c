/* SPDX-License-Identifier: Apache-2.0 */
/* The second source file of the `lang` torture program; see lang.c. */
#include "lang.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

_Thread_local int extern_tls = 100;
_Thread_local struct big struct_tls = {.a[19] = 7};
extern jmp_buf deep_jump;

long add_list(int count, va_list list)
{
	va_list copy;
	va_copy(copy, list);
	long sum = 0;
	for (int i = 0; i < count; i++)
		sum += i % 3 == 0   ? va_arg(copy, int)
		       : i % 3 == 1 ? va_arg(copy, long)
				    : (long)(va_arg(copy, double) * 4);
	va_end(copy);
	return sum;
}

long add_all(int count, ...)
{
	va_list list;
	va_start(list, count);
	long sum = add_list(count, list);
	va_end(list);
	return sum;
}

int big_by_value(struct big b, int i)
{
	b.a[i]++;
	b.d *= 2;
	return b.a[i] + (int)b.d;
}

struct big make_big(int seed)
{
	struct big b = {.d = seed + 0.5};
	for (int i = 0; i < 20; i++)
		b.a[i] = i * seed;
	strcpy(b.text, "twelve chars");
	return b;
}

void jump_from_deep(int depth)
{
	char frame[32];
	memset(frame, depth, sizeof frame);
	if (depth == 0)
		longjmp(deep_jump, 3);
	jump_from_deep(depth - 1);
	printf("never %d\n", frame[0]);
}

__attribute__((weak)) int weak_default(void)
{
	return 1;
}

__attribute__((weak)) int weak_overridden(void)
{
	return 1;
}

int original(int x)
{
	return x * 11;
}

int aliased(int x) __attribute__((alias("original")));

static int implementation(int x)
{
	return x * 13;
}

static int (*choose(void))(int)
{
	return implementation;
}

int resolved(int x) __attribute__((ifunc("choose")));

__attribute__((constructor)) static void other_constructor(void)
{
	extern_tls++;
}

__int128 multiply_wide(__int128 a, int64_t b)
{
	return a * b + 77;
}

long double mix_long(long double a, float b)
{
	return a * b + 1e-3L;
}
