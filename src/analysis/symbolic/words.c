// SPDX-License-Identifier: Apache-2.0
/* Prints the conditions of a path as text, which shows what the path requires of the input. */
#include "symbolic/trace.h"

#include "base/error.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The largest length of a condition in bytes, which is two lines of a terminal.  Longer conditions
 * are only counted.  Set by hand. */
#define LONGEST 160
#define DEEPEST 12 /* the largest depth of nested operators in a condition; set by hand */

const char *const sym_loss_text[RADDLE_LOSSES] = {
#define RADDLE_SHADOW_LOSS(name, text) text,
	RADDLE_SHADOW_LOSSES(RADDLE_SHADOW_LOSS)
#undef RADDLE_SHADOW_LOSS
};

/* Appends the name of an input as users write it: argv[1], stdin, file(in.txt), $HOME. */
static void put_input(const struct sym_trace *t, uint32_t input, struct rd_buf *out)
{
	RD_ASSERT(input < t->input_count);
	const struct raddle_shadow_input *i = &t->inputs[input];

	switch (i->kind) {
	case RADDLE_INPUT_ARGV: rd_buf_addf(out, "argv[%" PRIu32 "]", i->number); break;
	case RADDLE_INPUT_STDIN: rd_buf_adds(out, "stdin"); break;
	case RADDLE_INPUT_FILE: rd_buf_addf(out, "file(%.*s)", (int)i->length, t->text + i->name); break;
	default: rd_buf_addf(out, "$%.*s", (int)i->length, t->text + i->name);
	}
}

static void put_text(const char *s, size_t length, struct rd_buf *out)
{
	rd_buf_addc(out, '"');
	for (size_t i = 0; i < length; i++)
		if (isprint((unsigned char)s[i]) && s[i] != '"' && s[i] != '\\')
			rd_buf_addc(out, s[i]);
		else
			rd_buf_addf(out, "\\x%02x", (unsigned char)s[i]);
	rd_buf_addc(out, '"');
}

static void put_var(const struct sym_trace *t, const struct raddle_shadow_var *v, struct rd_buf *out)
{
	switch (v->sort) {
	case RADDLE_VAR_BYTE:
		put_input(t, v->input, out);
		rd_buf_addf(out, "[%" PRIu64 "]", v->offset);
		return;
	case RADDLE_VAR_NUMBER: rd_buf_adds(out, "number("); break;
	case RADDLE_VAR_LENGTH: rd_buf_adds(out, "length("); break;
	default: rd_buf_adds(out, "(");
	}
	put_input(t, v->input, out);
	if (v->offset || t->inputs[v->input].kind == RADDLE_INPUT_STDIN ||
	    t->inputs[v->input].kind == RADDLE_INPUT_FILE)
		rd_buf_addf(out, " from %" PRIu64, v->offset);
	if (v->sort == RADDLE_VAR_EQUAL) {
		rd_buf_adds(out, " is ");
		put_text(t->text + v->text, v->text_length, out);
	}
	rd_buf_addc(out, ')');
}

static const char *sign_of(uint32_t op)
{
	static const char *const signs[] = {
#define RADDLE_EXPR_SIGN(constant, operands, text) text,
		RADDLE_EXPRS(RADDLE_EXPR_SIGN)
#undef RADDLE_EXPR_SIGN
	};

	return signs[op];
}

static void put_constant(const struct raddle_expr *n, bool as_byte, struct rd_buf *out)
{
	int64_t v = raddle_expr_signed(n->k, n->bits);

	if (as_byte && n->bits == 8 && isprint((int)n->k))
		rd_buf_addf(out, "'%c'", (int)n->k);
	else
		rd_buf_addf(out, "%" PRId64, v);
}

/* Skips extensions and extractions, because users think of the number itself. */
static uint32_t look_through(const struct sym_trace *t, uint32_t e)
{
	for (;;) {
		const struct raddle_expr *n = &t->nodes[e];

		if (n->op == RADDLE_EXPR_ZEXT || n->op == RADDLE_EXPR_SEXT ||
		    (n->op == RADDLE_EXPR_EXTRACT && n->k == 0 && n->bits >= 32))
			e = n->a;
		else
			return e;
	}
}

static bool put(const struct sym_trace *t, uint32_t e, unsigned depth, struct rd_buf *out);

static bool put_binary(const struct sym_trace *t, const struct raddle_expr *n, unsigned depth,
		       struct rd_buf *out)
{
	bool compares = raddle_expr_is_compare(n->op), good;

	if (!compares)
		rd_buf_addc(out, '(');
	good = put(t, n->a, depth, out);
	rd_buf_addf(out, " %s ", sign_of(n->op));
	good = good && put(t, n->b, depth, out);
	if (!compares)
		rd_buf_addc(out, ')');
	return good;
}

static bool put(const struct sym_trace *t, uint32_t e, unsigned depth, struct rd_buf *out)
{
	const struct raddle_expr *n;

	if (!depth || out->length > 4 * LONGEST)
		return false;
	e = look_through(t, e);
	n = &t->nodes[e];
	if (raddle_expr_is_binary(n->op))
		return put_binary(t, n, depth - 1, out);
	switch (n->op) {
	case RADDLE_EXPR_VAR: put_var(t, &t->vars[n->k], out); return true;
	case RADDLE_EXPR_CONST: put_constant(n, true, out); return true;
	case RADDLE_EXPR_TABLE:
		rd_buf_addf(out, "table%" PRIu64 "[", n->k);
		if (!put(t, n->a, depth - 1, out))
			return false;
		rd_buf_addc(out, ']');
		return true;
	case RADDLE_EXPR_ITE:
		rd_buf_addc(out, '(');
		if (!put(t, n->a, depth - 1, out))
			return false;
		rd_buf_adds(out, " ? ");
		if (!put(t, n->b, depth - 1, out))
			return false;
		rd_buf_adds(out, " : ");
		if (!put(t, n->c, depth - 1, out))
			return false;
		rd_buf_addc(out, ')');
		return true;
	default: return false;
	}
}

/* Returns the operator of a comparison.  It is negated if `holds` is false, and mirrored if
 * `swapped` is true. */
static const char *sign_for(uint32_t op, bool holds, bool swapped)
{
	switch (op) {
	case RADDLE_EXPR_EQ: return holds ? "==" : "!=";
	case RADDLE_EXPR_ULT: return holds ? (swapped ? ">u" : "<u") : swapped ? "<=u" : ">=u";
	case RADDLE_EXPR_ULE: return holds ? (swapped ? ">=u" : "<=u") : swapped ? "<u" : ">u";
	case RADDLE_EXPR_SLT: return holds ? (swapped ? ">" : "<") : swapped ? "<=" : ">=";
	default: return holds ? (swapped ? ">=" : "<=") : swapped ? "<" : ">";
	}
}

/* Removes negations, which are exclusive ors of a one-bit condition with a constant. */
static uint32_t positive(const struct sym_trace *t, uint32_t e, bool *holds)
{
	for (;;) {
		const struct raddle_expr *n = &t->nodes[e];

		if (n->op != RADDLE_EXPR_XOR || n->bits != 1 || t->nodes[n->b].op != RADDLE_EXPR_CONST)
			return e;
		*holds ^= t->nodes[n->b].k & 1;
		e = n->a;
	}
}

bool sym_words_condition(const struct sym_trace *t, uint32_t node, bool holds, struct rd_buf *out)
{
	RD_ASSERT(node < t->node_count);
	struct rd_buf text = RD_BUF_INIT;
	const struct raddle_expr *n;
	bool good;

	node = positive(t, node, &holds);
	n = &t->nodes[node];
	if (raddle_expr_is_compare(n->op)) {
		bool swapped = t->nodes[n->a].op == RADDLE_EXPR_CONST;

		good = put(t, swapped ? n->b : n->a, DEEPEST, &text);
		rd_buf_addf(&text, " %s ", sign_for(n->op, holds, swapped));
		good = good && put(t, swapped ? n->a : n->b, DEEPEST, &text);
	} else {
		rd_buf_adds(&text, holds ? "" : "not ");
		good = put(t, node, DEEPEST, &text);
	}
	good = good && text.length <= LONGEST;
	if (good)
		rd_buf_add(out, text.data, text.length);
	rd_buf_release(&text);
	return good;
}
