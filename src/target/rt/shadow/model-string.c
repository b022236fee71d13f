// SPDX-License-Identifier: Apache-2.0
/*
 * Models of functions on strings and memory.  In: a call.  Out: the result of the function, and the
 * expression of that result.
 *
 * A comparison becomes one expression, so that one query of the solver finds the whole string.  If
 * one of the strings is part of the input and the lengths differ, a variable (RADDLE_VAR_EQUAL)
 * represents whether they are equal.  To make them equal, the driver writes the other string into
 * the input.
 */
#include "rt/shadow/model.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

RT_EXPORT size_t __raddle_sx_strlen(const char *s);
RT_EXPORT size_t __raddle_sx_strnlen(const char *s, size_t n);
RT_EXPORT int __raddle_sx_strcmp(const char *a, const char *b);
RT_EXPORT int __raddle_sx_strncmp(const char *a, const char *b, size_t n);
RT_EXPORT int __raddle_sx_strcasecmp(const char *a, const char *b);
RT_EXPORT int __raddle_sx_strncasecmp(const char *a, const char *b, size_t n);
RT_EXPORT int __raddle_sx_memcmp(const void *a, const void *b, size_t n);
RT_EXPORT char *__raddle_sx_strchr(const char *s, int c);
RT_EXPORT char *__raddle_sx_strrchr(const char *s, int c);
RT_EXPORT void *__raddle_sx_memchr(const void *s, int c, size_t n);
RT_EXPORT char *__raddle_sx_strstr(const char *s, const char *of);
RT_EXPORT char *__raddle_sx_strcpy(char *to, const char *from);
RT_EXPORT char *__raddle_sx_stpcpy(char *to, const char *from);
RT_EXPORT char *__raddle_sx_strncpy(char *to, const char *from, size_t n);
RT_EXPORT char *__raddle_sx_strcat(char *to, const char *from);
RT_EXPORT char *__raddle_sx_strncat(char *to, const char *from, size_t n);
RT_EXPORT char *__raddle_sx_strdup(const char *s);
RT_EXPORT char *__raddle_sx_strndup(const char *s, size_t n);
RT_EXPORT void *__raddle_sx_memcpy(void *to, const void *from, size_t n);
RT_EXPORT void *__raddle_sx_mempcpy(void *to, const void *from, size_t n);
RT_EXPORT void *__raddle_sx_memmove(void *to, const void *from, size_t n);
RT_EXPORT void *__raddle_sx_memset(void *p, int c, size_t n);
RT_EXPORT int __raddle_sx_tolower(int c);
RT_EXPORT int __raddle_sx_toupper(int c);
RT_EXPORT int __raddle_sx_isdigit(int c);

uint32_t rt_model_byte(const void *p)
{
	uint32_t e = rt_memory_byte((uintptr_t)p);

	return e ? e : rt_expr_const(*(const uint8_t *)p, 8);
}

/* Returns a concrete result, and passes its expression to the caller. */
#define RESULT(model, e, value)                                                                              \
	do {                                                                                                 \
		rt_shadow_result((const void *)(model), e);                                                  \
		return value;                                                                                \
	} while (0)

/* ---- lengths ---- */

/* Adds steps to the path, which state that no byte before this length is NUL. */
static void assume_string(const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		uint32_t e = rt_memory_byte((uintptr_t)s + i);

		if (e)
			rt_path_step(RADDLE_STEP_ASSUME, 0,
				     rt_expr_binary(RADDLE_EXPR_EQ, e, rt_expr_const(0, 8)), 0);
	}
}

static uint32_t length_of(const char *s, size_t length)
{
	struct rt_text_slot slot;

	if (!rt_shadow_is_on() || !rt_memory_any((uintptr_t)s, length + 1))
		return 0;
	if (rt_slot_of(s, length, &slot))
		return rt_slot_var(&slot, &(struct raddle_shadow_var){
						  .sort = RADDLE_VAR_LENGTH, .bits = 64, .value = length});
	assume_string(s, length);
	return 0;
}

RT_EXPORT size_t __raddle_sx_strlen(const char *s)
{
	size_t n = strlen(s);
	uint32_t e;

	rt_shadow_enter();
	e = length_of(s, n);
	rt_shadow_leave();
	RESULT(__raddle_sx_strlen, e, n);
}

RT_EXPORT size_t __raddle_sx_strnlen(const char *s, size_t most)
{
	size_t n = strnlen(s, most);
	uint32_t e = 0;

	rt_shadow_enter();
	if (n < most)
		e = length_of(s, n);
	if (e) {
		uint32_t bound = rt_expr_const(most, 64);

		e = rt_expr_ite(rt_expr_binary(RADDLE_EXPR_ULT, e, bound), e, bound);
	}
	rt_shadow_leave();
	RESULT(__raddle_sx_strnlen, e, n);
}

/* ---- comparisons ---- */

static uint32_t lower(uint32_t e)
{
	uint32_t is_upper =
		rt_expr_binary(RADDLE_EXPR_ULT, rt_expr_binary(RADDLE_EXPR_SUB, e, rt_expr_const('A', 8)),
			       rt_expr_const(26, 8));

	return rt_expr_ite(is_upper, rt_expr_binary(RADDLE_EXPR_ADD, e, rt_expr_const(32, 8)), e);
}

static uint32_t upper(uint32_t e)
{
	uint32_t is_lower =
		rt_expr_binary(RADDLE_EXPR_ULT, rt_expr_binary(RADDLE_EXPR_SUB, e, rt_expr_const('a', 8)),
			       rt_expr_const(26, 8));

	return rt_expr_ite(is_lower, rt_expr_binary(RADDLE_EXPR_SUB, e, rt_expr_const(32, 8)), e);
}

struct comparison {
	const char *a, *b;
	size_t length; /* the number of bytes that are compared */
	/* The lengths of the strings, limited to the bytes that may be compared. */
	size_t a_length, b_length;
	bool folds; /* true if upper and lower case are treated as equal */
};

/* Returns the expression of the result, which is -1, 0 or 1, depending on the first bytes that
 * differ. */
static uint32_t compare_bytes(const struct comparison *c)
{
	uint32_t less = rt_expr_const(~0ull, 32), more = rt_expr_const(1, 32), e = rt_expr_const(0, 32);

	for (size_t i = c->length; i-- > 0;) {
		uint32_t x = rt_model_byte(c->a + i), y = rt_model_byte(c->b + i);

		if (c->folds)
			x = lower(x), y = lower(y);
		e = rt_expr_ite(rt_expr_binary(RADDLE_EXPR_EQ, x, y), e,
				rt_expr_ite(rt_expr_binary(RADDLE_EXPR_ULT, x, y), less, more));
	}
	return e;
}

/* Returns a variable that represents whether a string of the input equals another string.  In this
 * run their lengths differ.  Returns 0 if the first string is not part of the input. */
static uint32_t equals(const char *s, size_t length, const char *other, size_t other_length)
{
	struct raddle_shadow_var var = {
		.sort = RADDLE_VAR_EQUAL, .bits = 1, .text_length = (uint32_t)other_length};
	struct rt_text_slot slot;

	if (length == other_length || rt_memory_any((uintptr_t)other, other_length + 1) ||
	    !rt_slot_of(s, length, &slot))
		return 0;
	var.text = rt_path_text(other, other_length);
	return rt_slot_var(&slot, &var);
}

static uint32_t compare(const struct comparison *c)
{
	uint32_t e, same;

	if (!rt_shadow_is_on() ||
	    (!rt_memory_any((uintptr_t)c->a, c->length) && !rt_memory_any((uintptr_t)c->b, c->length)))
		return 0;
	e = compare_bytes(c);
	same = equals(c->a, c->a_length, c->b, c->b_length);
	if (!same)
		same = equals(c->b, c->b_length, c->a, c->a_length);
	if (same)
		e = rt_expr_ite(same, rt_expr_const(0, 32), e);
	return e;
}

static int sign(int r)
{
	return (r > 0) - (r < 0);
}

static int compared(const void *model, struct comparison c, int r)
{
	uint64_t k;
	uint32_t e;

	rt_shadow_enter();
	e = compare(&c);
	rt_shadow_leave();
	if (e && rt_expr_is_const(e, &k))
		e = 0;
	RESULT(model, e, e ? sign(r) : r);
}

/* Returns the length of the string, but at most `most`, which may exceed the address space. */
static size_t length_up_to(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

static struct comparison strings(const char *a, const char *b, size_t most)
{
	size_t la = length_up_to(a, most), lb = length_up_to(b, most), n = (la < lb ? la : lb) + 1;

	return (struct comparison){a, b, n < most ? n : most, la, lb, false};
}

RT_EXPORT int __raddle_sx_strcmp(const char *a, const char *b)
{
	return compared((const void *)__raddle_sx_strcmp, strings(a, b, PTRDIFF_MAX), strcmp(a, b));
}

RT_EXPORT int __raddle_sx_strncmp(const char *a, const char *b, size_t n)
{
	return compared((const void *)__raddle_sx_strncmp, strings(a, b, n), strncmp(a, b, n));
}

RT_EXPORT int __raddle_sx_strcasecmp(const char *a, const char *b)
{
	struct comparison c = strings(a, b, PTRDIFF_MAX);

	c.folds = true;
	return compared((const void *)__raddle_sx_strcasecmp, c, strcasecmp(a, b));
}

RT_EXPORT int __raddle_sx_strncasecmp(const char *a, const char *b, size_t n)
{
	struct comparison c = strings(a, b, n);

	c.folds = true;
	return compared((const void *)__raddle_sx_strncasecmp, c, strncasecmp(a, b, n));
}

RT_EXPORT int __raddle_sx_memcmp(const void *a, const void *b, size_t n)
{
	return compared((const void *)__raddle_sx_memcmp, (struct comparison){a, b, n, n, n, false},
			memcmp(a, b, n));
}

/* ---- searches: the position found is concrete; each examined byte is a branch ---- */

struct search {
	const char *s;
	size_t length; /* the number of bytes that were examined */
	uint32_t what, site;
	bool found; /* true if the last of them matches */
};

static void searched(const struct search *x)
{
	if (!rt_shadow_is_on() || (!x->what && !rt_memory_any((uintptr_t)x->s, x->length)))
		return;
	for (size_t i = 0; i < x->length; i++)
		rt_path_step(RADDLE_STEP_BRANCH, x->site,
			     rt_expr_binary(RADDLE_EXPR_EQ, rt_model_byte(x->s + i), x->what),
			     x->found && i == x->length - 1);
}

/* Returns the expression of the byte that is searched for, which is passed as an int. */
static uint32_t sought(const void *model, int c)
{
	uint32_t e = rt_shadow_is_on() ? rt_shadow_argument(model, 1) : 0;

	return !rt_shadow_is_on() ? 0 : e ? rt_expr_extract(e, 0, 8) : rt_expr_const((uint8_t)c, 8);
}

static size_t looked_at(const char *s, const char *found, size_t length)
{
	return found ? (size_t)(found - s) + 1 : length;
}

RT_EXPORT char *__raddle_sx_strchr(const char *s, int c)
{
	char *found = strchr(s, c);

	rt_shadow_enter();
	searched(&(struct search){s, looked_at(s, found, strlen(s)),
				  sought((const void *)__raddle_sx_strchr, c), RT_MODEL_SITE(), found});
	rt_shadow_leave();
	RESULT(__raddle_sx_strchr, 0, found);
}

RT_EXPORT void *__raddle_sx_memchr(const void *s, int c, size_t n)
{
	void *found = memchr(s, c, n);

	rt_shadow_enter();
	searched(&(struct search){s, looked_at(s, found, n), sought((const void *)__raddle_sx_memchr, c),
				  RT_MODEL_SITE(), found});
	rt_shadow_leave();
	RESULT(__raddle_sx_memchr, 0, found);
}

/* strrchr() searches from the end, so no byte after the position found matches. */
RT_EXPORT char *__raddle_sx_strrchr(const char *s, int c)
{
	char *found = strrchr(s, c);
	const char *from = found ? found : s;

	rt_shadow_enter();
	if (found)
		searched(&(struct search){found, 1, sought((const void *)__raddle_sx_strrchr, c),
					  RT_MODEL_SITE(), true});
	searched(&(struct search){from + (found != NULL), strlen(from + (found != NULL)),
				  sought((const void *)__raddle_sx_strrchr, c), RT_MODEL_SITE(), false});
	rt_shadow_leave();
	RESULT(__raddle_sx_strrchr, 0, found);
}

/* Adds a branch for each position that was tried.  Its condition is that the string is at that
 * position. */
RT_EXPORT char *__raddle_sx_strstr(const char *s, const char *of)
{
	char *found = strstr(s, of);
	size_t n = strlen(of), length = strlen(s), last = found ? (size_t)(found - s) : length - n;

	rt_shadow_enter();
	for (size_t i = 0; rt_shadow_is_on() && n && n <= length && i <= last &&
			   (rt_memory_any((uintptr_t)s, length) || rt_memory_any((uintptr_t)of, n));
	     i++) {
		struct comparison c = {s + i, of, n, n, n, false};

		rt_path_step(RADDLE_STEP_BRANCH, RT_MODEL_SITE(),
			     rt_expr_binary(RADDLE_EXPR_EQ, compare_bytes(&c), rt_expr_const(0, 32)),
			     found && i == last);
	}
	rt_shadow_leave();
	RESULT(__raddle_sx_strstr, 0, found);
}

/* ---- copies ---- */

static void copied(void *to, const void *from, size_t n)
{
	__raddle_shadow_copied(to, from, n);
}

RT_EXPORT char *__raddle_sx_strcpy(char *to, const char *from)
{
	size_t n = strlen(from);

	strcpy(to, from);
	copied(to, from, n + 1);
	RESULT(__raddle_sx_strcpy, 0, to);
}

RT_EXPORT char *__raddle_sx_stpcpy(char *to, const char *from)
{
	RESULT(__raddle_sx_stpcpy, 0, __raddle_sx_strcpy(to, from) + strlen(to));
}

RT_EXPORT char *__raddle_sx_strncpy(char *to, const char *from, size_t n)
{
	size_t length = strnlen(from, n);

	strncpy(to, from, n);
	copied(to, from, length < n ? length + 1 : n);
	if (length + 1 < n)
		__raddle_shadow_filled(to + length + 1, 0, n - length - 1);
	RESULT(__raddle_sx_strncpy, 0, to);
}

RT_EXPORT char *__raddle_sx_strcat(char *to, const char *from)
{
	__raddle_sx_strcpy(to + strlen(to), from);
	RESULT(__raddle_sx_strcat, 0, to);
}

RT_EXPORT char *__raddle_sx_strncat(char *to, const char *from, size_t n)
{
	size_t at = strlen(to), length = strnlen(from, n);

	strncat(to, from, n);
	copied(to + at, from, length);
	__raddle_shadow_filled(to + at + length, 0, 1);
	RESULT(__raddle_sx_strncat, 0, to);
}

RT_EXPORT char *__raddle_sx_strndup(const char *s, size_t n)
{
	char *copy = strndup(s, n);

	if (copy)
		copied(copy, s, strlen(copy));
	RESULT(__raddle_sx_strndup, 0, copy);
}

RT_EXPORT char *__raddle_sx_strdup(const char *s)
{
	char *copy = strdup(s);

	if (copy)
		copied(copy, s, strlen(copy) + 1);
	RESULT(__raddle_sx_strdup, 0, copy);
}

/* The bytes are moved before their expressions.  If source and destination overlap, some source
 * bytes have been overwritten by then, which rt_memory_copy() allows for. */
RT_EXPORT void *__raddle_sx_memmove(void *to, const void *from, size_t n)
{
	memmove(to, from, n);
	copied(to, from, n);
	RESULT(__raddle_sx_memmove, 0, to);
}

RT_EXPORT void *__raddle_sx_memcpy(void *to, const void *from, size_t n)
{
	return __raddle_sx_memmove(to, from, n);
}

RT_EXPORT void *__raddle_sx_mempcpy(void *to, const void *from, size_t n)
{
	return (char *)__raddle_sx_memmove(to, from, n) + n;
}

RT_EXPORT void *__raddle_sx_memset(void *p, int c, size_t n)
{
	uint32_t e = rt_shadow_is_on() ? rt_shadow_argument((const void *)__raddle_sx_memset, 1) : 0;

	memset(p, c, n);
	__raddle_shadow_filled(p, e ? rt_expr_extract(e, 0, 8) : 0, n);
	RESULT(__raddle_sx_memset, 0, p);
}

/* ---- characters, in the C locale ---- */

static int letter(const void *model, int c, int r, uint32_t (*of)(uint32_t e))
{
	uint32_t e = rt_shadow_is_on() ? rt_shadow_argument(model, 0) : 0, byte;

	rt_shadow_enter();
	if (e) {
		byte = rt_expr_extract(e, 0, 8);
		rt_path_step(RADDLE_STEP_ASSUME, 0, rt_expr_binary(RADDLE_EXPR_EQ, rt_expr_zext(byte, 32), e),
			     (c & 0xff) == c);
		e = (c & 0xff) == c ? rt_expr_zext(of(byte), 32) : 0;
	}
	rt_shadow_leave();
	RESULT(model, e, r);
}

RT_EXPORT int __raddle_sx_tolower(int c)
{
	int (*volatile real)(int) = tolower;

	return letter((const void *)__raddle_sx_tolower, c, real(c), lower);
}

RT_EXPORT int __raddle_sx_toupper(int c)
{
	int (*volatile real)(int) = toupper;

	return letter((const void *)__raddle_sx_toupper, c, real(c), upper);
}

static uint32_t digit(uint32_t e)
{
	uint32_t is_digit =
		rt_expr_binary(RADDLE_EXPR_ULT, rt_expr_binary(RADDLE_EXPR_SUB, e, rt_expr_const('0', 8)),
			       rt_expr_const(10, 8));

	return rt_expr_zext(is_digit, 8);
}

RT_EXPORT int __raddle_sx_isdigit(int c)
{
	return letter((const void *)__raddle_sx_isdigit, c, c >= '0' && c <= '9', digit);
}
