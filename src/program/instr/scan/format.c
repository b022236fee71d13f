/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interprets format strings.  For a call of printf(), scanf() or a related function with a
 * constant format, determines the memory that each conversion reads or writes.
 */
#include "instr/scan/format.h"

#include "base/error.h"
#include <ctype.h>
#include <string.h>

enum way {
	PRINTS, /* reads the strings that follow the format */
	SCANS,	/* writes to the memory that follows the format */
};

static const struct formatter {
	const char *name;
	enum way way;
	unsigned format; /* the number of the argument that is the format */
} formatters[] = {
#define LIBC_FORMAT(name, way, argument) {name, way, argument},
#include "raddle/libc.inc"
};

/* One conversion of a format. */
struct conversion {
	bool is_string;
	bool is_counted;  /* when scanning: true if the conversion counts in the result */
	unsigned stars;	  /* when printing: the number of arguments for width and precision */
	bool takes_limit; /* true if the last of the `stars` arguments is the precision */
	uint64_t limit;	  /* the largest number of bytes of a string to print */
	uint64_t size;	  /* the number of bytes that are written; 0 for nothing or for a string */
};

/* Returns the text of a constant string, or NULL if the value is not a constant string.  The
 * string may be the operand of a freeze instruction, which marks a place where a fault may be
 * injected. */
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

/* Reads a length modifier (hh h l ll L q j z t).  Stores the size of an integer argument, and sets
 * *wide to true for l and ll. */
static const char *read_modifier(const char *p, uint64_t *size, bool *wide)
{
	*size = 4;
	*wide = *p == 'l';
	for (; *p != '\0' && strchr("hlLqjzt", *p) != NULL; p++)
		*size = *p == 'h' ? *size / 2 : 8;
	return p;
}

/* Reads a conversion of a printf format.  *p points after the '%'.  Returns false if the format is
 * not supported.  The caller then ignores the whole format. */
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

struct walk {
	LLVMValueRef call;
	const char *p;
	unsigned at; /* the number of the next argument */
	instr_conversion_fn *found;
	void *context;
};

static bool leads_somewhere(LLVMValueRef call, unsigned argument)
{
	RD_ASSERT(argument < LLVMGetNumArgOperands(call));
	return LLVMGetTypeKind(LLVMTypeOf(LLVMGetArgOperand(call, argument))) == LLVMPointerTypeKind;
}

static void report(struct walk *w, const struct instr_conversion *c)
{
	if (leads_somewhere(w->call, c->argument))
		w->found(w->context, c);
}

static void read_all_printed(struct walk *w)
{
	unsigned n = LLVMGetNumArgOperands(w->call);

	for (; (w->p = strchr(w->p, '%')) != NULL; w->p++) {
		struct conversion c = {0};
		w->p++;
		if (*w->p == '%')
			continue;
		if (!read_printed(&w->p, &c) || w->at + c.stars >= n)
			return;
		w->at += c.stars + 1;
		if (!c.is_string && c.size == 0)
			continue;
		bool limited =
			c.takes_limit && LLVMGetTypeKind(LLVMTypeOf(LLVMGetArgOperand(w->call, w->at - 2))) ==
						 LLVMIntegerTypeKind;
		report(w, &(struct instr_conversion){.argument = w->at - 1,
						     .write = !c.is_string,
						     .is_string = c.is_string,
						     .size = c.is_string ? c.limit : c.size,
						     .limit = limited ? (int)w->at - 2 : -1});
	}
}

static void read_all_scanned(struct walk *w)
{
	unsigned n = LLVMGetNumArgOperands(w->call), counted = 0;

	for (; (w->p = strchr(w->p, '%')) != NULL; w->p++) {
		struct conversion c = {0};
		bool dropped = w->p[1] == '*';
		w->p += dropped ? 2 : 1;
		if (*w->p == '%')
			continue;
		if (!read_scanned(&w->p, &c))
			return;
		if (dropped)
			continue;
		if (w->at >= n)
			return;
		struct instr_conversion scanned = {.argument = w->at++,
						   .write = true,
						   .is_string = c.is_string,
						   .is_scanned = true,
						   .least = counted,
						   .size = c.is_string ? c.limit : c.size,
						   .limit = -1};
		counted += c.is_counted;
		if (c.is_string || c.size != 0)
			report(w, &scanned);
	}
}

void instr_format_read(LLVMValueRef call, const char *name, instr_conversion_fn *found, void *context)
{
	for (size_t i = 0; i < sizeof formatters / sizeof *formatters; i++) {
		const struct formatter *f = &formatters[i];
		struct walk w = {call, NULL, f->format + 1, found, context};
		if (strcmp(f->name, name) != 0 || f->format >= LLVMGetNumArgOperands(call))
			continue;
		w.p = constant_text(LLVMGetArgOperand(call, f->format));
		if (w.p != NULL && f->way == PRINTS)
			read_all_printed(&w);
		else if (w.p != NULL && LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMIntegerTypeKind)
			read_all_scanned(&w);
	}
}
