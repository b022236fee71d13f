/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of library functions that no row of libc.inc describes: what a format says of the
 * arguments behind it, what a result points to, and what is reached through a pointer to a pointer.
 * In: a call.  Out: hooks at the builder's place that record its ranges.
 *
 * A format that is not constant or that numbers its arguments is not understood, and nothing is
 * recorded of its arguments.
 */
#include "instr/full.h"

#include <ctype.h>
#include <string.h>

enum way {
	PRINTS,	  /* strings behind the format in argument `argument` are read */
	SCANS,	  /* memory behind it is written */
	RETURNS,  /* the string that the result points to was written */
	GATHERS,  /* the buffers of the iovec in that argument, as many as the next one says, are read */
	SCATTERS, /* they are written, as many bytes as the result says */
	SENDS,	  /* the same with a struct msghdr */
	RECEIVES,
	LEADS, /* as many bytes as the result says and one more, where the pointer in that argument points */
};

static const struct library {
	const char *name;
	enum way way;
	unsigned argument;
} functions[] = {
	{"printf", PRINTS, 0},	      {"fprintf", PRINTS, 1},	     {"dprintf", PRINTS, 1},
	{"sprintf", PRINTS, 1},	      {"snprintf", PRINTS, 2},	     {"asprintf", PRINTS, 1},
	{"syslog", PRINTS, 1},	      {"__printf_chk", PRINTS, 1},   {"__fprintf_chk", PRINTS, 2},
	{"__sprintf_chk", PRINTS, 3}, {"__snprintf_chk", PRINTS, 4}, {"__asprintf_chk", PRINTS, 2},
	{"scanf", SCANS, 0},	      {"fscanf", SCANS, 1},	     {"sscanf", SCANS, 1},
	{"__isoc99_scanf", SCANS, 0}, {"__isoc99_fscanf", SCANS, 1}, {"__isoc99_sscanf", SCANS, 1},
	{"__isoc23_scanf", SCANS, 0}, {"__isoc23_fscanf", SCANS, 1}, {"__isoc23_sscanf", SCANS, 1},
	{"strdup", RETURNS, 0},	      {"__strdup", RETURNS, 0},	     {"strndup", RETURNS, 0},
	{"__strndup", RETURNS, 0},    {"strtok", RETURNS, 0},	     {"strtok_r", RETURNS, 0},
	{"__strtok_r", RETURNS, 0},   {"strsep", RETURNS, 0},	     {"getcwd", RETURNS, 0},
	{"realpath", RETURNS, 0},     {"ctime_r", RETURNS, 0},	     {"asctime_r", RETURNS, 0},
	{"writev", GATHERS, 1},	      {"pwritev", GATHERS, 1},	     {"pwritev64", GATHERS, 1},
	{"readv", SCATTERS, 1},	      {"preadv", SCATTERS, 1},	     {"preadv64", SCATTERS, 1},
	{"sendmsg", SENDS, 1},	      {"recvmsg", RECEIVES, 1},	     {"getline", LEADS, 0},
	{"getdelim", LEADS, 0},	      {"__getdelim", LEADS, 0},	     {"asprintf", LEADS, 0},
	{"vasprintf", LEADS, 0},      {"__asprintf_chk", LEADS, 0},  {"__vasprintf_chk", LEADS, 0},
};

/* One conversion of a format. */
struct conversion {
	bool is_string;
	bool is_counted;  /* scanning: in the result */
	unsigned stars;	  /* printing: arguments that are its width and precision */
	bool takes_limit; /* the last of them is the precision */
	uint64_t limit;	  /* bytes of a string */
	uint64_t size;	  /* bytes written; 0: nothing of ours */
};

/* --- formats --------------------------------------------------------------------- */

static LLVMValueRef const64(struct full_function *x, uint64_t n)
{
	return LLVMConstInt(x->u->i64, n, false);
}

/* The text of a constant string, NULL if it is none.  A place holder of a test may be before it. */
static const char *constant_text(LLVMValueRef v)
{
	size_t n;
	const char *text;
	if (LLVMIsAFreezeInst(v))
		v = LLVMGetOperand(v, 0);
	if (!LLVMIsAGlobalVariable(v) || !LLVMIsGlobalConstant(v) || LLVMGetInitializer(v) == NULL ||
	    !LLVMIsConstantString(LLVMGetInitializer(v)))
		return NULL;
	text = LLVMGetAsString(LLVMGetInitializer(v), &n);
	return memchr(text, '\0', n) != NULL ? text : NULL;
}

static const char *read_number(const char *p, struct conversion *c, uint64_t *n)
{
	*n = 0;
	if (*p == '*') {
		c->stars++;
		return p + 1;
	}
	while (isdigit((unsigned char)*p))
		*n = *n * 10 + (uint64_t)(*p++ - '0');
	return p;
}

/* hh h l ll L q j z t: the bytes of an integer; *wide: l or ll. */
static const char *read_modifier(const char *p, uint64_t *size, bool *wide)
{
	*size = 4;
	*wide = *p == 'l';
	for (; *p != '\0' && strchr("hlLqjzt", *p) != NULL; p++)
		*size = *p == 'h' ? *size / 2 : 8;
	return p;
}

/* Printing: *p is behind a '%'.  False: nothing of the format is to be believed. */
static bool read_printed(const char **p, struct conversion *c)
{
	uint64_t n, size;
	bool wide;
	const char *s = *p + strspn(*p, "-+ #0'I");
	c->limit = UINT64_MAX;
	s = read_number(s, c, &n);
	if (*s == '$')
		return false;
	if (*s == '.') {
		c->takes_limit = s[1] == '*';
		s = read_number(s + 1, c, &n);
		c->limit = n;
	}
	s = read_modifier(s, &size, &wide);
	c->is_string = *s == 's' && !wide;
	c->size = *s == 'n' ? size : 0;
	*p = s;
	return *s != '\0';
}

static uint64_t scanned_size(char letter, uint64_t size, bool wide, bool is_long)
{
	if (strchr("aefgAEFG", letter) != NULL)
		return is_long ? 10 : wide ? 8 : 4;
	if (letter == 'p')
		return 8;
	return strchr("diouxXn", letter) != NULL ? size : 0;
}

static bool read_scanned(const char **p, struct conversion *c)
{
	uint64_t width, size;
	bool wide;
	const char *s = read_number(*p, c, &width);
	bool allocates = *s == 'm';
	if (*s == '$')
		return false;
	s += allocates;
	bool is_long = *s == 'L';
	s = read_modifier(s, &size, &wide);
	c->is_string = *s == 's' || *s == '[';
	c->is_counted = *s != 'n';
	c->limit = width != 0 ? width + 1 : UINT64_MAX;
	c->size = scanned_size(*s, size, wide, is_long);
	if (*s == 'c')
		c->size = width != 0 ? width : 1;
	if (allocates || (wide && (c->is_string || *s == 'c'))) {
		c->is_string = false;
		c->size = allocates ? 8 : 0;
	}
	if (*s == '[')
		for (s += s[1] == '^' ? 2 : 1, s += *s == ']'; *s != '\0' && *s != ']'; s++)
			continue;
	*p = s;
	return *s != '\0';
}

/* --- hooks ------------------------------------------------------------------------- */

struct range {
	LLVMValueRef call, pointer, length;
	bool write, is_string;
};

static void put_range(struct full_function *x, const struct range *r)
{
	struct instr_event event = {.kind = r->write ? EVENT_RANGE_WRITE : EVENT_RANGE_READ,
				    .inst = r->call,
				    .pointer = r->pointer};
	if (LLVMGetTypeKind(LLVMTypeOf(r->pointer)) != LLVMPointerTypeKind)
		return;
	enum instr_hook hook = r->is_string ? (r->write ? HOOK_WRITE_STRING : HOOK_READ_STRING)
					    : (r->write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE);
	instr_hook_call(
		x->u, hook,
		(LLVMValueRef[]){full_self(x), r->pointer, instr_event_site(x->u, &event), r->length});
}

static LLVMValueRef as_number(struct full_function *x, LLVMValueRef v)
{
	return LLVMBuildIntCast2(x->u->builder, v, x->u->i64, true, "");
}

/* n if the result of the call is more than `least`, else 0. */
static LLVMValueRef if_more(struct full_function *x, LLVMValueRef call, uint64_t least, LLVMValueRef n)
{
	LLVMBuilderRef b = x->u->builder;
	LLVMValueRef more = LLVMBuildICmp(b, LLVMIntSGT, as_number(x, call), const64(x, least), "");
	return LLVMBuildSelect(b, more, n, const64(x, 0), "");
}

/* Strings before the call, what %n writes behind it. */
static void put_printed(struct full_function *x, LLVMValueRef call, unsigned format, bool behind)
{
	const char *p = constant_text(LLVMGetArgOperand(call, format));
	unsigned at = format + 1, n = LLVMGetNumArgOperands(call);
	for (; p != NULL && (p = strchr(p, '%')) != NULL; p++) {
		struct conversion c = {0};
		p++;
		if (*p == '%')
			continue;
		if (!read_printed(&p, &c) || at + c.stars >= n)
			return;
		at += c.stars + 1;
		LLVMValueRef limit = const64(x, c.limit);
		if (behind ? c.size == 0 : !c.is_string)
			continue;
		if (c.takes_limit &&
		    LLVMGetTypeKind(LLVMTypeOf(LLVMGetArgOperand(call, at - 2))) == LLVMIntegerTypeKind)
			limit = as_number(x, LLVMGetArgOperand(call, at - 2));
		put_range(x, &(struct range){.call = call,
					     .pointer = LLVMGetArgOperand(call, at - 1),
					     .length = c.is_string ? limit : const64(x, c.size),
					     .write = behind,
					     .is_string = c.is_string});
	}
}

static void put_scanned(struct full_function *x, LLVMValueRef call, unsigned format)
{
	const char *p = constant_text(LLVMGetArgOperand(call, format));
	unsigned at = format + 1, n = LLVMGetNumArgOperands(call), counted = 0;
	for (; p != NULL && (p = strchr(p, '%')) != NULL; p++) {
		struct conversion c = {0};
		bool dropped = p[1] == '*';
		p += dropped ? 2 : 1;
		if (*p == '%')
			continue;
		if (!read_scanned(&p, &c))
			return;
		if (dropped)
			continue;
		if (at >= n)
			return;
		struct range r = {.call = call, .pointer = LLVMGetArgOperand(call, at++), .write = true};
		uint64_t least = counted;
		counted += c.is_counted;
		if (!c.is_string && c.size == 0)
			continue;
		r.is_string = c.is_string;
		r.length = if_more(x, call, least, const64(x, c.is_string ? c.limit : c.size));
		put_range(x, &r);
	}
}

/* Where the call failed its argument may lead nowhere; then something that can be read stands for it. */
static void put_led(struct full_function *x, LLVMValueRef call, unsigned argument)
{
	LLVMBuilderRef b = x->u->builder;
	LLVMValueRef result = as_number(x, call), self = full_self(x);
	LLVMValueRef good = LLVMBuildICmp(b, LLVMIntSGT, result, const64(x, 0), "");
	LLVMValueRef at = LLVMBuildSelect(b, good, LLVMGetArgOperand(call, argument), self, "");
	put_range(x,
		  &(struct range){.call = call,
				  .pointer = LLVMBuildLoad2(b, x->u->pointer, at, ""),
				  .length = if_more(x, call, 0, LLVMBuildAdd(b, result, const64(x, 1), "")),
				  .write = true});
}

static void put_vector(struct full_function *x, LLVMValueRef call, const struct library *f)
{
	bool write = f->way == SCATTERS || f->way == RECEIVES,
	     message = f->way == SENDS || f->way == RECEIVES;
	struct instr_event event = {.kind = write ? EVENT_RANGE_WRITE : EVENT_RANGE_READ,
				    .inst = call,
				    .pointer = LLVMGetArgOperand(call, f->argument)};
	LLVMValueRef count = const64(x, UINT64_MAX), bytes = const64(x, UINT64_MAX);
	if (f->argument + 1 >= LLVMGetNumArgOperands(call))
		return;
	if (!message)
		count = as_number(x, LLVMGetArgOperand(call, f->argument + 1));
	if (write)
		bytes = if_more(x, call, 0, as_number(x, call));
	instr_hook_call(
		x->u, HOOK_VECTOR,
		(LLVMValueRef[]){full_self(x), event.pointer, instr_event_site(x->u, &event), count, bytes});
}

static void put_function(struct full_function *x, LLVMValueRef call, const struct library *f, bool behind)
{
	LLVMTypeKind result = LLVMGetTypeKind(LLVMTypeOf(call));
	if (f->way != RETURNS && f->argument >= LLVMGetNumArgOperands(call))
		return;
	if (f->way == PRINTS)
		put_printed(x, call, f->argument, behind);
	if (f->way == GATHERS || f->way == SENDS ? !behind
						 : behind && (f->way == SCATTERS || f->way == RECEIVES))
		put_vector(x, call, f);
	if (!behind)
		return;
	if (f->way == SCANS && result == LLVMIntegerTypeKind)
		put_scanned(x, call, f->argument);
	if (f->way == LEADS && result == LLVMIntegerTypeKind)
		put_led(x, call, f->argument);
	if (f->way == RETURNS && result == LLVMPointerTypeKind)
		put_range(x, &(struct range){call, call, const64(x, UINT64_MAX), true, true});
}

void full_library(struct full_function *x, LLVMValueRef call, bool behind)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee == NULL || !ir_is_external(callee))
		return;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, ir_name(callee)) == 0)
			put_function(x, call, &functions[i], behind);
}
