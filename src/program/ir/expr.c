/* SPDX-License-Identifier: Apache-2.0 */
/* Parses expressions of C into trees.  It uses recursive descent, and parses binary operators by
 * precedence. */
#include "ir/expr.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 200 }; /* how deep expressions may be nested; set by hand, to limit the stack */

struct expr_parser {
	const char *text, *at;
	struct rd_arena *arena;
	struct rd_buf *why; /* the reason if parsing failed; else empty */
	int depth;
};

static struct ir_expr *parse_choice(struct expr_parser *p);
static struct ir_expr *parse_unary(struct expr_parser *p);

static struct ir_expr *fail(struct expr_parser *p, const char *what)
{
	if (p->why->length == 0)
		rd_buf_addf(p->why, "%s at '%.20s'", what, p->at);
	return NULL;
}

static void skip(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool take(struct expr_parser *p, const char *token)
{
	skip(p);
	size_t n = strlen(token);
	if (strncmp(p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

static struct ir_expr *make(struct expr_parser *p, struct ir_expr e)
{
	struct ir_expr *copy = rd_arena_alloc(p->arena, sizeof *copy);
	*copy = e;
	return copy;
}

/* --- constants ------------------------------------------------------------ */

static struct ir_expr *parse_real(struct expr_parser *p)
{
	char *end;
	double real = strtod(p->at, &end);
	p->at = end + (*end == 'f' || *end == 'F' || *end == 'l' || *end == 'L');
	return make(p, (struct ir_expr){.kind = IR_EXPR_REAL, .real = real, .type = {64, true, true}});
}

/* Returns true if the digits at `at` belong to a number with a point or an exponent. */
static bool is_real(const char *at)
{
	bool hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	while (isalnum((unsigned char)*at)) {
		if (!hexadecimal && (*at == 'e' || *at == 'E'))
			return true;
		at++;
	}
	return *at == '.';
}

static struct ir_expr *parse_number(struct expr_parser *p)
{
	struct ir_expr e = {.kind = IR_EXPR_INTEGER, .type = {32, true, false}};
	char *end;
	bool decimal = *p->at != '0', is_long = false, is_unsigned = false;
	if (is_real(p->at))
		return parse_real(p);
	errno = 0;
	e.value = strtoull(p->at, &end, 0);
	if (errno != 0)
		return fail(p, "the number is too large");
	for (; strchr("uUlL", *end) != NULL && *end != '\0'; end++) {
		is_unsigned |= tolower((unsigned char)*end) == 'u';
		is_long |= tolower((unsigned char)*end) == 'l';
	}
	if (isalnum((unsigned char)*end) || *end == '_')
		return fail(p, "not a number");
	if (is_long || e.value > UINT32_MAX || (e.value > INT32_MAX && decimal && !is_unsigned))
		e.type.bits = 64;
	if (is_unsigned || e.value > (e.type.bits == 32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX))
		e.type.is_signed = false;
	p->at = end;
	return make(p, e);
}

static struct ir_expr *parse_character(struct expr_parser *p)
{
	static const char escapes[] = "n\nt\tr\r0\0\\\\''\"\"a\ab\bf\fv\v";
	int c = (unsigned char)p->at[1];
	size_t length = 2;
	if (c == '\\') {
		char wanted = p->at[2];
		length = 3;
		c = -1;
		for (size_t i = 0; i + 1 < sizeof escapes; i += 2)
			if (escapes[i] == wanted)
				c = escapes[i + 1];
	}
	if (c <= 0 && !(c == 0 && length == 3))
		return fail(p, "not a character");
	if (p->at[length] != '\'')
		return fail(p, "a character constant without its closing quote");
	p->at += length + 1;
	return make(p, (struct ir_expr){
			       .kind = IR_EXPR_INTEGER, .value = (uint64_t)c, .type = {32, true, false}});
}

/* --- casts -------------------------------------------------------------------- */

static size_t word_length(const char *at)
{
	size_t n = 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

/* Words that form the names of arithmetic types.  A word with 0 bits modifies another word. */
static const struct word {
	const char *name;
	struct ir_arithmetic type;
} words[] = {
	{"char", {8, true, false}},	  {"short", {16, true, false}},	    {"int", {32, true, false}},
	{"long", {64, true, false}},	  {"float", {32, true, true}},	    {"double", {64, true, true}},
	{"signed", {0, true, false}},	  {"unsigned", {0, false, false}},  {"_Bool", {1, false, false}},
	{"bool", {1, false, false}},	  {"int8_t", {8, true, false}},	    {"int16_t", {16, true, false}},
	{"int32_t", {32, true, false}},	  {"int64_t", {64, true, false}},   {"uint8_t", {8, false, false}},
	{"uint16_t", {16, false, false}}, {"uint32_t", {32, false, false}}, {"uint64_t", {64, false, false}},
	{"size_t", {64, false, false}},	  {"ssize_t", {64, true, false}},   {"uintptr_t", {64, false, false}},
	{"intptr_t", {64, true, false}},
};

static const struct word *find_word(const char *at, size_t length)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i].name) == length && strncmp(words[i].name, at, length) == 0)
			return &words[i];
	return NULL;
}

/* Parses a cast such as "(unsigned long)".  Stores the type, and moves p->at to the text after the
 * cast.  If there is no cast at p->at, returns false. */
static bool take_cast(struct expr_parser *p, struct ir_arithmetic *type)
{
	const char *start = p->at;
	bool any = false, sign = true;
	*type = (struct ir_arithmetic){0, true, false};
	if (!take(p, "("))
		return false;
	for (;;) {
		skip(p);
		size_t length = word_length(p->at);
		const struct word *w = length != 0 ? find_word(p->at, length) : NULL;
		if (w == NULL)
			break;
		any = true;
		if (w->type.bits == 0)
			sign = w->type.is_signed;
		else if (type->bits == 0 || w->type.bits != 32 || w->type.is_real)
			*type = w->type; /* so "long int" is long */
		p->at += length;
	}
	if (!any || !take(p, ")")) {
		p->at = start;
		return false;
	}
	if (type->bits == 0)
		type->bits = 32;
	type->is_signed &= sign;
	return true;
}

/* Returns true if `at` begins with a type in parentheses.  The parentheses must contain only words
 * and stars.  In addition, a star must come last, or the text after the parentheses must be one
 * that can only be the operand of a cast. */
static bool is_type(const char *at)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789 *:";
	if (*at != '(' || isdigit((unsigned char)at[1]))
		return false;
	const char *inside = at + 1, *end = inside + strspn(inside, letters);
	bool pointer = false;
	for (const char *p = inside; p < end; p++)
		if (*p != ' ')
			pointer = *p == '*';
	if (*end != ')')
		return false;
	end += 1 + strspn(end + 1, " ");
	return pointer || isalnum((unsigned char)*end) || *end == '_' || *end == '(';
}

/* --- terms ---------------------------------------------------------------------- */

static const char *take_name(struct expr_parser *p)
{
	skip(p);
	size_t n = isdigit((unsigned char)*p->at) ? 0 : word_length(p->at);
	const char *name = n != 0 ? rd_arena_strndup(p->arena, p->at, n) : NULL;
	p->at += n;
	return name;
}

static struct ir_expr *parse_name(struct expr_parser *p)
{
	static const struct {
		const char *name;
		uint64_t value;
		struct ir_arithmetic type;
	} constants[] = {{"NULL", 0, {64, true, false}},
			 {"true", 1, {32, true, false}},
			 {"false", 0, {32, true, false}}};
	const char *start = p->at, *name = take_name(p);
	if (name == NULL)
		return fail(p,
			    *p->at != '\0' ? "an expression was expected" : "the expression ends too early");
	if (strcmp(name, "sizeof") == 0) {
		p->at = start;
		return fail(p, "sizeof is not supported");
	}
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (strcmp(name, constants[i].name) == 0)
			return make(p, (struct ir_expr){.kind = IR_EXPR_INTEGER,
							.value = constants[i].value,
							.type = constants[i].type});
	return make(p, (struct ir_expr){.kind = IR_EXPR_NAME, .name = name});
}

static struct ir_expr *parse_primary(struct expr_parser *p)
{
	skip(p);
	if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
		return parse_number(p);
	if (*p->at == '\'')
		return parse_character(p);
	if (is_type(p->at))
		return fail(p, "a cast to this type is not supported");
	if (!take(p, "("))
		return parse_name(p);
	struct ir_expr *e = parse_choice(p);
	return e == NULL || take(p, ")") ? e : fail(p, "no closing parenthesis");
}

static struct ir_expr *parse_member(struct expr_parser *p, struct ir_expr *of)
{
	const char *name = take_name(p);
	if (name == NULL)
		return fail(p, "the name of a member was expected");
	return make(p, (struct ir_expr){.kind = IR_EXPR_MEMBER, .a = of, .name = name});
}

static struct ir_expr *parse_postfix(struct expr_parser *p)
{
	struct ir_expr *e = parse_primary(p);
	while (e != NULL) {
		skip(p);
		if (*p->at == '(')
			return fail(p, "a call cannot be evaluated");
		if (take(p, "++") || take(p, "--"))
			return fail(p, "a predicate cannot change anything");
		if (take(p, "->")) {
			e = parse_member(p,
					 make(p, (struct ir_expr){.kind = IR_EXPR_UNARY, .op = '*', .a = e}));
		} else if (take(p, "[")) {
			struct ir_expr *index = parse_choice(p);
			if (index == NULL || !take(p, "]"))
				return fail(p, "no closing bracket");
			e = make(p, (struct ir_expr){.kind = IR_EXPR_INDEX, .a = e, .b = index});
		} else if (*p->at == '.') {
			p->at++;
			e = parse_member(p, e);
		} else {
			break;
		}
	}
	return e;
}

static struct ir_expr *parse_operand(struct expr_parser *p)
{
	struct ir_arithmetic type;
	skip(p);
	if (take(p, "++") || take(p, "--"))
		return fail(p, "a predicate cannot change anything");
	if (*p->at != '\0' && strchr("-+!~*&", *p->at) != NULL) {
		int op = *p->at++;
		struct ir_expr *a = parse_unary(p);
		return a != NULL ? make(p, (struct ir_expr){.kind = IR_EXPR_UNARY, .op = op, .a = a}) : NULL;
	}
	if (*p->at == '(' && take_cast(p, &type)) {
		struct ir_expr *a = parse_unary(p);
		return a != NULL ? make(p, (struct ir_expr){.kind = IR_EXPR_CAST, .a = a, .type = type})
				 : NULL;
	}
	return parse_postfix(p);
}

static struct ir_expr *parse_unary(struct expr_parser *p)
{
	if (p->depth >= DEPTH)
		return fail(p, "too deeply nested");
	p->depth++;
	struct ir_expr *e = parse_operand(p);
	p->depth--;
	return e;
}

/* --- operators ------------------------------------------------------------------ */

/* Binary operators.  Those with two characters come before those with one, so that the longest
 * match is found. */
static const struct binary {
	const char *text;
	int op, rank;
} operators[] = {
	{"||", IR_OP_OR, 1},  {"&&", IR_OP_AND, 2}, {"==", IR_OP_EQ, 6}, {"!=", IR_OP_NE, 6},
	{"<<", IR_OP_SHL, 8}, {">>", IR_OP_SHR, 8}, {"<=", IR_OP_LE, 7}, {">=", IR_OP_GE, 7},
	{"|", '|', 3},	      {"^", '^', 4},	    {"&", '&', 5},	 {"<", '<', 7},
	{">", '>', 7},	      {"+", '+', 9},	    {"-", '-', 9},	 {"*", '*', 10},
	{"/", '/', 10},	      {"%", '%', 10},
};

static const struct binary *next_operator(struct expr_parser *p)
{
	skip(p);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (strncmp(p->at, operators[i].text, strlen(operators[i].text)) == 0)
			return &operators[i];
	return NULL;
}

static struct ir_expr *parse_binary(struct expr_parser *p, int rank)
{
	RD_ASSERT(rank >= 1);
	struct ir_expr *left = parse_unary(p);
	const struct binary *o;
	while (left != NULL && (o = next_operator(p)) != NULL && o->rank >= rank) {
		p->at += strlen(o->text);
		if (*p->at == '=')
			return fail(p, "a predicate cannot change anything");
		struct ir_expr *right = parse_binary(p, o->rank + 1);
		if (right == NULL)
			return NULL;
		left = make(p, (struct ir_expr){.kind = IR_EXPR_BINARY, .op = o->op, .a = left, .b = right});
	}
	return left;
}

static struct ir_expr *parse_choice(struct expr_parser *p)
{
	if (p->depth >= DEPTH)
		return fail(p, "too deeply nested");
	p->depth++;
	struct ir_expr *e = parse_binary(p, 1);
	if (e != NULL && take(p, "?")) {
		struct ir_expr *b = parse_choice(p), *c = NULL;
		if (b != NULL && !take(p, ":"))
			fail(p, "no ':' after '?'");
		else if (b != NULL)
			c = parse_choice(p);
		e = c == NULL ? NULL
			      : make(p, (struct ir_expr){.kind = IR_EXPR_CHOICE, .a = e, .b = b, .c = c});
	}
	p->depth--;
	return e;
}

struct ir_expr *ir_expr_parse(const char *text, struct rd_arena *arena, struct rd_buf *why)
{
	RD_ASSERT(text != NULL && why != NULL);
	struct expr_parser p = {.text = text, .at = text, .arena = arena, .why = why};
	struct ir_expr *e = parse_choice(&p);
	skip(&p);
	if (e == NULL)
		return NULL;
	if (*p.at == '=')
		return fail(&p, "a predicate cannot change anything");
	return *p.at == '\0' ? e : fail(&p, "unexpected text after the expression");
}
