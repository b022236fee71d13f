// SPDX-License-Identifier: Apache-2.0
/*
 * Models of functions that read numbers from text.  A number in the input becomes one variable, not
 * a formula over its digits.  To try another value, the driver writes that value into the input as
 * text.
 */
#include "rt/shadow/model.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

RT_EXPORT int __raddle_sx_atoi(const char *s);
RT_EXPORT long __raddle_sx_atol(const char *s);
RT_EXPORT long __raddle_sx_strtol(const char *s, char **end, int base);
RT_EXPORT unsigned long __raddle_sx_strtoul(const char *s, char **end, int base);
RT_EXPORT int __raddle_sx_sscanf(const char *s, const char *format, ...);

/* Finds the text of a number.  This is the text that was converted or, if no digits were found, the
 * word at that place.  Returns false if the text is empty. */
static bool find_text(const struct rt_number *n, const char **from, size_t *length)
{
	const char *s = n->s, *end = n->end;

	while (isspace((unsigned char)*s))
		s++;
	if (end <= s)
		for (end = s; *end && !isspace((unsigned char)*end); end++)
			;
	*from = s;
	*length = (size_t)(end - s);
	return end > s;
}

uint32_t rt_model_number(const struct rt_number *n)
{
	struct raddle_shadow_var var = {.sort = RADDLE_VAR_NUMBER,
					.bits = 64,
					.base = n->base == 16 || n->base == 8 ? (uint8_t)n->base : 10,
					.is_unsigned = n->is_unsigned,
					.value = n->value};
	struct rt_text_slot slot;
	const char *from;
	size_t length;

	if (!rt_shadow_is_on() || !find_text(n, &from, &length) || !rt_memory_any((uintptr_t)from, length))
		return 0;
	/* The driver can write a number in the base that the function reads. */
	if ((n->base == 0 || n->base == var.base) && rt_slot_of(from, length, &slot))
		return rt_slot_var(&slot, &var);
	for (size_t i = 0; i < length; i++)
		if (rt_memory_byte((uintptr_t)from + i)) {
			rt_path_lose(RADDLE_LOST_CALL);
			break;
		}
	return 0;
}

static uint32_t number(const char *s, const char *end, uint64_t value, int base)
{
	struct rt_number n = {s, end, value, base, false};
	uint32_t e;

	rt_shadow_enter();
	e = rt_model_number(&n);
	rt_shadow_leave();
	return e;
}

/* If the base is invalid, the real function does not store *end. */
RT_EXPORT long __raddle_sx_strtol(const char *s, char **end, int base)
{
	char *last = NULL;
	long v = strtol(s, &last, base);

	if (end && last)
		*end = last;
	rt_shadow_result((const void *)__raddle_sx_strtol, last ? number(s, last, (uint64_t)v, base) : 0);
	return v;
}

RT_EXPORT unsigned long __raddle_sx_strtoul(const char *s, char **end, int base)
{
	char *last = NULL;
	unsigned long v = strtoul(s, &last, base);
	struct rt_number n = {s, last, v, base, true};
	uint32_t e;

	if (end && last)
		*end = last;
	rt_shadow_enter();
	e = last ? rt_model_number(&n) : 0;
	rt_shadow_leave();
	rt_shadow_result((const void *)__raddle_sx_strtoul, e);
	return v;
}

RT_EXPORT long __raddle_sx_atol(const char *s)
{
	char *last;
	long v = strtol(s, &last, 10);

	rt_shadow_result((const void *)__raddle_sx_atol, number(s, last, (uint64_t)v, 10));
	return v;
}

/* The real function reads a long and returns its lower half. */
RT_EXPORT int __raddle_sx_atoi(const char *s)
{
	char *last;
	long v = strtol(s, &last, 10);
	uint32_t e = number(s, last, (uint64_t)v, 10);

	rt_shadow_enter();
	if (e)
		e = rt_expr_extract(e, 0, 32);
	rt_shadow_leave();
	rt_shadow_result((const void *)__raddle_sx_atoi, e);
	return (int)v;
}

/* ---- formats ---- */

/* A conversion of a format. */
struct conversion {
	bool skips; /* true if it stores no value (%*d) */
	unsigned width;
	unsigned size; /* the size of a number in bytes */
	char kind;
	const char *set, *set_end; /* the characters of a set, as in %[a-z] */
};

static const char *read_size(const char *f, struct conversion *c)
{
	c->size = 4;
	for (; *f && strchr("hlqjzt", *f); f++)
		c->size = *f == 'h' ? c->size / 2 : 8;
	return f;
}

/* Reads a conversion, starting after the %.  Returns its end, or NULL if it is incomplete. */
static const char *read_conversion(const char *f, struct conversion *c)
{
	*c = (struct conversion){0};
	if (*f == '*')
		c->skips = true, f++;
	for (; *f >= '0' && *f <= '9'; f++)
		c->width = c->width * 10 + (unsigned)(*f - '0');
	f = read_size(f, c);
	c->kind = *f;
	if (*f != '[')
		return *f ? f + 1 : NULL;
	c->set = ++f;
	if (*f == '^')
		f++;
	if (*f == ']')
		f++;
	while (*f && *f != ']')
		f++;
	c->set_end = f;
	return *f ? f + 1 : NULL;
}

static bool is_in_set(const struct conversion *c, char x)
{
	bool inverse = *c->set == '^', in = false;
	const char *p = c->set + inverse;

	for (; p < c->set_end; p++) {
		if (p + 2 < c->set_end && p[1] == '-') {
			in |= (unsigned char)x >= (unsigned char)p[0] &&
			      (unsigned char)x <= (unsigned char)p[2];
			p += 2;
		} else {
			in |= *p == x;
		}
	}
	return in != inverse;
}

/* Returns the end of the number at s, or s if there is no number. */
static const char *number_end(char kind, const char *s)
{
	char *end = (char *)s;

	switch (kind) {
	case 'd':
	case 'u': (void)strtol(s, &end, 10); break;
	case 'i': (void)strtol(s, &end, 0); break;
	case 'x':
	case 'X':
	case 'p': (void)strtoul(s, &end, 16); break;
	case 'o': (void)strtoul(s, &end, 8); break;
	case 'e':
	case 'f':
	case 'g':
	case 'a': (void)strtod(s, &end); break;
	default: break;
	}
	return end;
}

static bool is_taken(const struct conversion *c, char x)
{
	return x && (c->kind == 'c' || (c->kind == 's' ? !isspace((unsigned char)x) : is_in_set(c, x)));
}

/* Returns the end of the text that a conversion consumes, or NULL if the text does not match. */
static const char *take(const struct conversion *c, const char *s)
{
	size_t most = c->width ? c->width : c->kind == 'c' ? 1 : SIZE_MAX, n = 0;
	const char *end;

	if (strchr("cs[", c->kind)) {
		while (n < most && is_taken(c, s[n]))
			n++;
		return n == 0 || (c->kind == 'c' && n < most) ? NULL : s + n;
	}
	end = number_end(c->kind, s);
	if (end == s)
		return NULL;
	return (size_t)(end - s) > most ? s + most : end;
}

/* Assigns an expression to the value that a conversion has stored. */
static void store(const struct conversion *c, const char *s, const char *end, void *to)
{
	bool is_hex = c->kind == 'x' || c->kind == 'X';
	struct rt_number n = {.s = s,
			      .end = end,
			      .base = is_hex	       ? 16
				      : c->kind == 'o' ? 8
						       : 10,
			      .is_unsigned = c->kind != 'd' && c->kind != 'i'};
	uint32_t e;

	if (strchr("cs[", c->kind)) {
		rt_memory_copy((uintptr_t)to, (uintptr_t)s, (uint64_t)(end - s));
		return;
	}
	if (!strchr("diuxXo", c->kind)) {
		rt_path_lose(RADDLE_LOST_FLOAT);
		return;
	}
	__builtin_memcpy(&n.value, to, c->size);
	if (!n.is_unsigned)
		n.value = (uint64_t)raddle_expr_signed(n.value, c->size * 8);
	e = rt_model_number(&n);
	rt_memory_store((uintptr_t)to, c->size, e ? rt_expr_extract(e, 0, c->size * 8) : 0);
}

/* Handles one conversion.  Returns false if the text does not match it. */
static bool convert(struct rt_scan *x, const struct conversion *c, const char **s, va_list *arguments)
{
	const char *end;

	if (c->kind == 'n') {
		(void)va_arg(*arguments, void *);
		return true;
	}
	if (!strchr("c[", c->kind))
		while (isspace((unsigned char)**s))
			(*s)++;
	end = take(c, *s);
	if (!end)
		return false;
	if (!c->skips) {
		store(c, *s, end, va_arg(*arguments, void *));
		x->stored--;
	}
	*s = end;
	return true;
}

void rt_model_scan(struct rt_scan *x, __builtin_va_list list)
{
	const char *f = x->format, *s = x->text;
	struct conversion c;
	va_list arguments;
	bool going = true;

	va_copy(arguments, list);
	while (*f && going && x->stored > 0) {
		if (isspace((unsigned char)*f)) {
			while (isspace((unsigned char)*s))
				s++;
			f++;
		} else if (*f != '%' || f[1] == '%') {
			f += *f == '%';
			going = *f++ == *s++;
		} else {
			f = read_conversion(f + 1, &c);
			going = f && convert(x, &c, &s, &arguments);
		}
	}
	va_end(arguments);
}

RT_EXPORT int __raddle_sx_sscanf(const char *s, const char *format, ...)
{
	struct rt_scan x = {s, format, 0};
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = vsscanf(s, format, arguments);
	va_end(arguments);
	x.stored = r;
	va_start(arguments, format);
	rt_shadow_enter();
	if (r > 0 && rt_shadow_is_on() && rt_memory_any((uintptr_t)s, strlen(s) + 1))
		rt_model_scan(&x, arguments);
	rt_shadow_leave();
	va_end(arguments);
	rt_shadow_result((const void *)__raddle_sx_sscanf, 0);
	return r;
}
