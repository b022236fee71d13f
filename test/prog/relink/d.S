// SPDX-License-Identifier: Apache-2.0
// The assembler file of the program that is hard to relink; see a.c.
#define CALLED called_by_assembler
	.text
	.globl	from_assembler
	.type	from_assembler, @function
from_assembler:
	subq	$8, %rsp
	call	CALLED@PLT
	addl	addend(%rip), %eax
	addq	$8, %rsp
	ret
	.size	from_assembler, .-from_assembler
	.data
addend:	.long	2
	.section .note.GNU-stack, "", @progbits
