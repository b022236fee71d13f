// SPDX-License-Identifier: Apache-2.0
/*
 * The functions through which instrumented code calls rt/inject/inject.c if the site of a value is
 * the target of a fault.  They do not follow the usual calling convention.  The code pushes the
 * value and the site; afterwards it finds the changed value on the stack, and all registers,
 * including vectors, are unchanged.
 *
 * 	16(%rsp) value, 8(%rsp) site, (%rsp) return address
 */
#include "rt/inject/inject.h"

#include <cpuid.h>

extern uint32_t rt_inject_has_xsave;
uint32_t rt_inject_has_xsave;

void rt_inject_ready(void)
{
	unsigned a, b, c = 0, d;

	__get_cpuid(1, &a, &b, &c, &d);
	rt_inject_has_xsave = c & bit_OSXSAVE;
}

/* Saves the registers of x87, SSE, AVX and AVX-512.  xsave requires that the header of its area is
 * zero.  A processor without xsave has only x87 and SSE. */
__asm__(".text\n"
	".local rt_inject_all\n"
	".type rt_inject_all, @function\n"
	"rt_inject_all:\n" /* %eax is the width in bits.  The entry for each width has pushed %rax
			    * and called this, so value and site are 16 bytes higher */
	"	pushq %rbp\n"
	"	movq %rsp, %rbp\n"
	"	pushq %rcx\n"
	"	pushq %rdx\n"
	"	pushq %rsi\n"
	"	pushq %rdi\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	pushq %r10\n"
	"	pushq %r11\n"
	"	movl %eax, %r8d\n"
	"	subq $3072, %rsp\n"
	"	andq $-64, %rsp\n"
	"	xorl %eax, %eax\n"
	"	movl $512, %ecx\n"
	"1:	movq %rax, (%rsp, %rcx)\n"
	"	addl $8, %ecx\n"
	"	cmpl $576, %ecx\n"
	"	jb 1b\n"
	"	movl $0xe7, %eax\n"
	"	xorl %edx, %edx\n"
	"	cmpl $0, rt_inject_has_xsave(%rip)\n"
	"	je 2f\n"
	"	xsave64 (%rsp)\n"
	"	jmp 3f\n"
	"2:	fxsave64 (%rsp)\n"
	"3:	cld\n"
	"	movl 32(%rbp), %edi\n" /* 0: rbp, 8: return, 16: rax, 24: return, 32: site */
	"	movq 40(%rbp), %rsi\n"
	"	movl %r8d, %edx\n"
	"	call rt_inject\n"
	"	movq %rax, 40(%rbp)\n"
	"	movl $0xe7, %eax\n"
	"	xorl %edx, %edx\n"
	"	cmpl $0, rt_inject_has_xsave(%rip)\n"
	"	je 4f\n"
	"	xrstor64 (%rsp)\n"
	"	jmp 5f\n"
	"4:	fxrstor64 (%rsp)\n"
	"5:\n"
	"	leaq -64(%rbp), %rsp\n"
	"	popq %r11\n"
	"	popq %r10\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rdi\n"
	"	popq %rsi\n"
	"	popq %rdx\n"
	"	popq %rcx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size rt_inject_all, . - rt_inject_all\n");

#define ENTRY(name, bits)                                                                                    \
	__asm__(".globl __raddle_inject_" #name "\n"                                                         \
		".type __raddle_inject_" #name ", @function\n"                                               \
		"__raddle_inject_" #name ":\n"                                                               \
		"	pushq %rax\n"                                                                              \
		"	movl $" #bits ", %eax\n"                                                             \
		"	call rt_inject_all\n"                                                                      \
		"	popq %rax\n"                                                                               \
		"	ret\n"                                                                                     \
		".size __raddle_inject_" #name ", . - __raddle_inject_" #name "\n")

ENTRY(1, 1);
ENTRY(8, 8);
ENTRY(16, 16);
ENTRY(32, 32);
ENTRY(64, 64);
ENTRY(call, 0);
