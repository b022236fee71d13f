/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Library functions whose effect on pointers and on threads is known (raddle/libc.inc).
 *
 * Effects are written as letters with argument numbers:
 *
 * 	f        the result is fresh memory
 * 	l        the result is memory of the library
 * 	=N       the result is argument N
 * 	rN       the result points into what argument N points into
 * 	nN       *N becomes fresh memory
 * 	oN       *N becomes memory of the library
 * 	sNM      *N points into what M points into
 * 	mNML     L bytes are copied from *M to *N
 * 	cNM      anything in *M may be copied to *N
 * 	kN(ABC)  calls N with the arguments A, B, C
 * 	tN(A)    starts a thread that calls N with A
 * 	hN(A)    N will be called later with A
 * 	HN       functions stored in *N will be called later
 * 	wNL      sends the L bytes at *N to any receiver, if L is a constant
 * 	gNL      receives such bytes; data without a constant length carries no pointers
 * 	p        the result is a function of a plug-in, which may have threads
 * 	jN       *N becomes the result of a thread
 * 	xN       N is the result of this thread
 * 	SN       N is stored as thread-specific data
 * 	G        the result is thread-specific data
 * 	DN       N is called with thread-specific data
 * 	VN       starts a thread that calls a virtual function of the object that *N points to
 *
 * The object of VN is also the argument of the virtual function.  In a list of arguments, "-" means
 * an unknown argument.
 */
#ifndef IR_EXTERN_H
#define IR_EXTERN_H

#include "facts/role.h"

struct ir_extern {
	const char *name;
	enum facts_role role;
	int subject; /* the argument that the role refers to; -1 if there is none */
	const char *effects;
};

/* Returns the row of a function, or NULL if the function is unknown. */
const struct ir_extern *ir_extern_find(const char *name);

#endif
