// SPDX-License-Identifier: Apache-2.0
/* The second C file of the program that is hard to relink; see a.c. */
#include "relink.h"

int tentative;
static int table_b __attribute__((section("words"), used)) = 20;
static int table_c __attribute__((section("words"), used)) = 300;

__attribute__((used)) static int helper(int x)
{
	return x + 100;
}
__asm__(".text\n.globl jump_b\n.type jump_b,@function\njump_b: jmp helper\n.size jump_b,.-jump_b");

__attribute__((weak)) int overridden(void)
{
	return 2;
}
int another_name(void);

int tls_of_b(void)
{
	return shared_tls * 2;
}
int read_tentative(void)
{
	return tentative + table_b - table_c;
}
int call_renamed(void)
{
	return another_name();
}
int called_by_assembler(int x)
{
	return x * 2;
}
