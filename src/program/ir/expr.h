/* SPDX-License-Identifier: Apache-2.0 */
/* The subset of C expressions that predicates may use: no assignment, no call, no comma, no
 * sizeof. */
#ifndef IR_EXPR_H
#define IR_EXPR_H

#include "base/alloc.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum ir_expr_kind {
	IR_EXPR_INTEGER,
	IR_EXPR_REAL,
	IR_EXPR_NAME,
	IR_EXPR_UNARY,	/* `op` applied to `a`; op is one of - + ! ~ * & */
	IR_EXPR_BINARY, /* `op` applied to `a` and `b` */
	IR_EXPR_CHOICE, /* a ? b : c */
	IR_EXPR_MEMBER, /* a.name */
	IR_EXPR_INDEX,	/* a[b] */
	IR_EXPR_CAST,	/* `a` converted to the arithmetic type `type` */
};

/* An operator of one character is represented by that character.  The operators below have two
 * characters. */
enum ir_expr_op { IR_OP_EQ = 256, IR_OP_NE, IR_OP_LE, IR_OP_GE, IR_OP_AND, IR_OP_OR, IR_OP_SHL, IR_OP_SHR };

struct ir_arithmetic {
	unsigned bits;
	bool is_signed, is_real;
};

struct ir_expr {
	enum ir_expr_kind kind;
	int op;
	struct ir_expr *a, *b, *c;
	const char *name;
	uint64_t value;
	double real;
	struct ir_arithmetic type; /* the type of a constant, or of the result of a cast */
};

/* Parses `text`, and returns the expression, which lives in the arena.  If the text is not an
 * expression, returns NULL and appends the reason to `why`. */
struct ir_expr *ir_expr_parse(const char *text, struct rd_arena *arena, struct rd_buf *why);

#endif
