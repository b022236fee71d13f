// SPDX-License-Identifier: Apache-2.0
/*
 * A program that is hard to relink: its output depends on decisions of the linker and the object
 * format, and on nothing else.  The other files of the program, in several languages, are b.c,
 * c.cpp, d.S and foreign.cpp.
 */
#include "relink.h"

#include <pthread.h>
#include <stdio.h>

int tentative; /* with -fcommon, the same variable as in b.c */
__thread int shared_tls = 11;
static int table_a __attribute__((section("words"), used)) = 1;
extern int __start_words[], __stop_words[];

/* Both C files have a static function of this name, to which only assembler code refers.  Each file
 * must keep its own function. */
__attribute__((used)) static int helper(int x)
{
	return x + 1;
}
__asm__(".text\n.globl jump_a\n.type jump_a,@function\njump_a: jmp helper\n.size jump_a,.-jump_a");

__attribute__((naked, used)) static int naked_seven(void)
{
	__asm__("movl $7, %eax\n\tret");
}

static int odd(int n);
static int even(int n)
{
	if (n == 0)
		return 1;
	__attribute__((musttail)) return odd(n - 1);
}

static int odd(int n)
{
	if (n == 0)
		return 0;
	__attribute__((musttail)) return even(n - 1);
}

int overridden(void)
{
	return 1;
} /* weak in b.c */
int renamed(void) __asm__("another_name");
int renamed(void)
{
	return 5;
}

static void *in_thread(void *p)
{
	shared_tls++;
	*(int *)p = shared_tls + tls_of_b();
	return NULL;
}

__attribute__((destructor)) static void last_words(void)
{
	puts("destructor");
}

int main(void)
{
	pthread_t thread;
	int sum = 0, of_thread = 0;

	for (int *p = __start_words; p < __stop_words; p++)
		sum += *p;
	pthread_create(&thread, NULL, in_thread, &of_thread);
	pthread_join(thread, NULL);
	tentative = 3;
	printf("static %d %d\n", jump_a(1), jump_b(1));
	printf("section %d\n", sum);
	printf("naked %d musttail %d\n", naked_seven(), even(1000000));
	printf("weak %d %d renamed %d\n", overridden(), absent ? absent() : -1, call_renamed());
	printf("common %d tls %d %d\n", read_tentative(), of_thread, shared_tls);
	printf("assembler %d\n", from_assembler(20));
	printf("c++ %d foreign %d\n", try_catch(), foreign());
	return table_a - 1;
}
