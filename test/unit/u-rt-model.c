// SPDX-License-Identifier: Apache-2.0
/*
 * Compares models of library functions with the library.  Each model is called with random strings
 * as input, and must return what the library returns.  Then the bytes of the input are replaced by
 * others.  As long as the conditions that the model noted hold, its expression must give the
 * library's result for them.  Numbers and strings that the driver writes into an input must be read
 * back as intended.
 */
#include "rt-shadow.h"

#include "base/alloc.h"
#include "rt/shadow/model-number.c"
#include "rt/shadow/model-string.c"
#include "symbolic/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SIZE 12

static char texts[2][SIZE + 1]; /* the inputs */
static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
	return shadow_random(&seed) % below;
}

/* Returns the number of calls of each function.  RADDLE_MODEL_CALLS sets it. */
static size_t rounds(void)
{
	const char *wanted = getenv("RADDLE_MODEL_CALLS");

	return wanted ? strtoul(wanted, NULL, 10) : getenv("RADDLE_LONG") ? 20000 : 1500;
}

/* Makes a text of few different letters, so that texts are often alike. */
static void make_text(char *s)
{
	static const char letters[] = "aAbB1z";
	size_t n = draw(SIZE);

	memset(s, 0, SIZE + 1);
	for (size_t i = 0; i < n; i++)
		s[i] = letters[draw(sizeof letters - 1)];
}

static void begin(void)
{
	if (!rt_shadow.shared || rt_shadow.shared->node_count > 4000 || rt_shadow.shared->var_count > 4000 ||
	    rt_shadow.shared->text_used > RADDLE_SHADOW_TEXT / 2)
		shadow_start();
	rt_shadow.shared->step_count = 0;
	for (int i = 0; i < 2; i++) {
		make_text(texts[i]);
		rt_memory_clear((uintptr_t)texts[i], sizeof texts[i]);
		rt_input_bytes(rt_input(RADDLE_INPUT_ARGV, (uint32_t)i + 1, NULL), 0, texts[i],
			       strlen(texts[i]));
	}
}

/* Returns the expression of the result, or 0 if the result is concrete. */
static uint32_t result_of(const void *model)
{
	return __raddle_shadow_call.from == model ? __raddle_shadow_call.result : 0;
}

/* Computes the values of all variables for these bytes of the inputs. */
static void value_all(uint64_t *values, const char now[2][SIZE + 1])
{
	for (uint32_t i = 0; i < rt_shadow.shared->var_count; i++) {
		const struct raddle_shadow_var *v = &rt_shadow.vars[i];
		const char *s = now[v->input] + v->offset;

		switch (v->sort) {
		case RADDLE_VAR_BYTE: values[i] = (uint8_t)*s; break;
		case RADDLE_VAR_LENGTH: values[i] = strlen(s); break;
		case RADDLE_VAR_EQUAL: values[i] = 0; break; /* its length is another variable */
		default: values[i] = (uint64_t)strtol(s, NULL, 10);
		}
	}
}

static uint64_t values[RADDLE_SHADOW_VARS], *nodes;

static void evaluate_all(void)
{
	for (uint32_t i = 1; i < rt_shadow.shared->node_count; i++) {
		const struct raddle_expr *n = &rt_shadow.nodes[i];
		struct raddle_expr_values v = {nodes[n->a], nodes[n->b], nodes[n->c],
					       rt_shadow.nodes[n->a].bits, rt_shadow.nodes[n->b].bits};

		nodes[i] = n->op == RADDLE_EXPR_VAR ? values[n->k] : raddle_expr_apply(n, &v);
	}
}

/* Computes the values of all nodes.  Returns whether the conditions that models noted hold. */
static bool steps_hold(const char now[2][SIZE + 1])
{
	value_all(values, now);
	evaluate_all();
	for (uint32_t i = 0; i < rt_shadow.shared->step_count; i++)
		if (nodes[rt_shadow.steps[i].cond] != rt_shadow.steps[i].taken)
			return false;
	return true;
}

/* Replaces bytes of the inputs by others, but not by 0, so that the lengths stay. */
static void change(char now[2][SIZE + 1])
{
	memcpy(now, texts, sizeof texts);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; now[i][k]; k++)
			if (draw(2))
				now[i][k] = "aAbB1zZ[`{9"[draw(11)];
}

static int sign_of(int64_t r)
{
	return (r > 0) - (r < 0);
}

typedef int compare_fn(const char now[2][SIZE + 1], size_t n);

static int by_strcmp(const char now[2][SIZE + 1], size_t n)
{
	(void)n;
	return strcmp(now[0], now[1]);
}

static int by_strncmp(const char now[2][SIZE + 1], size_t n)
{
	return strncmp(now[0], now[1], n);
}

static int by_strcasecmp(const char now[2][SIZE + 1], size_t n)
{
	(void)n;
	return strcasecmp(now[0], now[1]);
}

static int by_strncasecmp(const char now[2][SIZE + 1], size_t n)
{
	return strncasecmp(now[0], now[1], n);
}

static int by_memcmp(const char now[2][SIZE + 1], size_t n)
{
	return memcmp(now[0], now[1], n);
}

static int model_compare(int which, size_t n)
{
	switch (which) {
	case 0: return __raddle_sx_strcmp(texts[0], texts[1]);
	case 1: return __raddle_sx_strncmp(texts[0], texts[1], n);
	case 2: return __raddle_sx_strcasecmp(texts[0], texts[1]);
	case 3: return __raddle_sx_strncasecmp(texts[0], texts[1], n);
	default: return __raddle_sx_memcmp(texts[0], texts[1], n);
	}
}

static void test_compare(void **state)
{
	static compare_fn *const real[] = {by_strcmp, by_strncmp, by_strcasecmp, by_strncasecmp, by_memcmp};
	static const void *const models[] = {
		(const void *)__raddle_sx_strcmp, (const void *)__raddle_sx_strncmp,
		(const void *)__raddle_sx_strcasecmp, (const void *)__raddle_sx_strncasecmp,
		(const void *)__raddle_sx_memcmp};
	size_t symbolic = 0;

	(void)state;
	for (size_t i = 0; i < 5 * rounds(); i++) {
		int which = (int)(i % 5), r;
		size_t n = draw(SIZE + 1);
		char now[2][SIZE + 1];
		uint32_t e;

		begin();
		r = model_compare(which, n);
		e = result_of(models[which]);
		assert_int_equal(sign_of(r), sign_of(real[which]((const char(*)[SIZE + 1]) texts, n)));
		if (!e)
			continue;
		symbolic++;
		assert_true(steps_hold((const char(*)[SIZE + 1]) texts));
		assert_int_equal((int)nodes[e], r);
		change(now);
		if (!steps_hold((const char(*)[SIZE + 1]) now))
			continue;
		assert_int_equal((int)nodes[e], sign_of(real[which]((const char(*)[SIZE + 1]) now, n)));
	}
	assert_true(symbolic > rounds());
}

/* Calls a search function, or its model.  The place that it finds depends on conditions, which the
 * model notes. */
static const char *search(int which, const char *s, const char *of, int c, bool model)
{
	switch (which) {
	case 0: return model ? __raddle_sx_strchr(s, c) : strchr(s, c);
	case 1: return model ? __raddle_sx_strrchr(s, c) : strrchr(s, c);
	case 2: return model ? __raddle_sx_memchr(s, c, SIZE) : memchr(s, c, SIZE);
	default: return model ? __raddle_sx_strstr(s, of) : strstr(s, of);
	}
}

static void test_search(void **state)
{
	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < 4 * rounds(); i++) {
		char now[2][SIZE + 1];
		const char *found, *real;
		int c = "aAb1z"[draw(5)], which = (int)(i % 4);

		begin();
		texts[1][2] = 0;
		found = search(which, texts[0], texts[1], c, true);
		assert_ptr_equal(found, search(which, texts[0], texts[1], c, false));
		change(now);
		if (!steps_hold((const char(*)[SIZE + 1]) now))
			continue;
		real = search(which, now[0], now[1], c, false);
		assert_int_equal(found ? found - texts[0] : -1, real ? real - now[0] : -1);
		checked++;
	}
	assert_true(checked > rounds() / 4);
}

/* Copied bytes have the right values and expressions. */
static void test_copy(void **state)
{
	char *(*volatile real_ncpy)(char *, const char *, size_t) = strncpy;
	char *(*volatile real_ncat)(char *, const char *, size_t) = strncat;

	(void)state;
	for (size_t i = 0; i < 8 * rounds(); i++) {
		char to[4 * SIZE] = "", wanted[4 * SIZE] = "";
		size_t n = draw(SIZE), at = 0;

		begin();
		rt_memory_clear((uintptr_t)to, sizeof to);
		switch (i % 8) {
		case 0: __raddle_sx_strcpy(to, texts[0]), strcpy(wanted, texts[0]); break;
		case 1: __raddle_sx_strncpy(to, texts[0], n), real_ncpy(wanted, texts[0], n); break;
		case 2:
			strcpy(to, "xy"), strcpy(wanted, "xy");
			__raddle_sx_strcat(to, texts[0]), strcat(wanted, texts[0]);
			at = 2;
			break;
		case 3: __raddle_sx_strncat(to, texts[0], n), real_ncat(wanted, texts[0], n); break;
		case 4: __raddle_sx_memcpy(to, texts[0], n), memcpy(wanted, texts[0], n); break;
		case 5:
			assert_int_equal(__raddle_sx_stpcpy(to, texts[0]) - to,
					 stpcpy(wanted, texts[0]) - wanted);
			break;
		case 6:
			assert_int_equal((char *)__raddle_sx_mempcpy(to, texts[0], n) - to,
					 (char *)mempcpy(wanted, texts[0], n) - wanted);
			break;
		default:
			__raddle_sx_memcpy(to, texts[0], SIZE), memcpy(wanted, texts[0], SIZE);
			__raddle_sx_memmove(to + 1, to, n), memmove(wanted + 1, wanted, n);
			at = SIZE;
		}
		assert_memory_equal(to, wanted, sizeof to);
		for (size_t k = 0; at < SIZE && wanted[at + k] && texts[0][k] == wanted[at + k]; k++)
			assert_int_equal(rt_memory_byte((uintptr_t)to + at + k),
					 rt_memory_byte((uintptr_t)texts[0] + k));
		for (size_t k = 0; k < sizeof to; k++)
			if (!wanted[k])
				assert_int_equal(rt_memory_byte((uintptr_t)to + k), 0);
		rt_memory_clear((uintptr_t)to, sizeof to);
	}
}

/* Filled bytes no longer have expressions. */
static void test_fill(void **state)
{
	(void)state;
	for (size_t i = 0; i < rounds(); i++) {
		char wanted[SIZE + 1];
		size_t n = draw(SIZE);

		begin();
		memcpy(wanted, texts[0], sizeof wanted);
		memset(wanted, 'q', n);
		assert_ptr_equal(__raddle_sx_memset(texts[0], 'q', n), texts[0]);
		assert_memory_equal(texts[0], wanted, sizeof wanted);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(rt_memory_byte((uintptr_t)texts[0] + k), 0);
	}
}

static char *duplicate(int which, size_t n, bool model)
{
	if (which == 0)
		return model ? __raddle_sx_strdup(texts[0]) : strdup(texts[0]);
	return model ? __raddle_sx_strndup(texts[0], n) : strndup(texts[0], n);
}

static void test_duplicates(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * rounds(); i++) {
		size_t n = draw(SIZE);
		char *copy, *wanted;

		begin();
		copy = duplicate((int)(i % 2), n, true);
		wanted = duplicate((int)(i % 2), n, false);
		assert_string_equal(copy, wanted);
		for (size_t k = 0; wanted[k]; k++)
			assert_int_equal(rt_memory_byte((uintptr_t)copy + k),
					 rt_memory_byte((uintptr_t)texts[0] + k));
		rt_memory_clear((uintptr_t)copy, strlen(copy) + 1);
		free(copy);
		free(wanted);
	}
}

static void test_lengths(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * rounds(); i++) {
		size_t n = draw(SIZE), length;
		bool limited = i % 2;
		const void *model =
			limited ? (const void *)__raddle_sx_strnlen : (const void *)__raddle_sx_strlen;
		char now[2][SIZE + 1];
		uint32_t e;

		begin();
		length = limited ? __raddle_sx_strnlen(texts[0], n) : __raddle_sx_strlen(texts[0]);
		assert_int_equal(length, limited ? strnlen(texts[0], n) : strlen(texts[0]));
		e = result_of(model);
		change(now);
		if (e && steps_hold((const char(*)[SIZE + 1]) now))
			assert_int_equal(nodes[e], limited ? strnlen(now[0], n) : strlen(now[0]));
	}
}

static void test_letters(void **state)
{
	static const void *const models[] = {(const void *)__raddle_sx_tolower,
					     (const void *)__raddle_sx_toupper,
					     (const void *)__raddle_sx_isdigit};

	(void)state;
	shadow_start();
	for (size_t i = 0; i < 3 * rounds(); i++) {
		char byte = (char)draw(256);
		int which = (int)(i % 3), c = (uint8_t)byte, r;
		uint32_t e;

		if (rt_shadow.shared->step_count > 1000)
			shadow_start();
		rt_input_bytes(rt_input(RADDLE_INPUT_STDIN, 0, NULL), 0, &byte, 1);
		__raddle_shadow_call = (struct raddle_shadow_call){
			.callee = models[which],
			.count = 1,
			.argument = {rt_expr_zext(rt_memory_byte((uintptr_t)&byte), 32)}};
		r = which == 0	 ? __raddle_sx_tolower(c)
		    : which == 1 ? __raddle_sx_toupper(c)
				 : __raddle_sx_isdigit(c);
		assert_int_equal(which == 0   ? tolower(c)
				 : which == 1 ? toupper(c)
					      : isdigit(c) != 0,
				 which == 2 ? r != 0 : r);
		e = result_of(models[which]);
		assert_int_not_equal(e, 0);
		values[0] = (uint8_t)draw(256);
		c = (int)values[0];
		evaluate_all();
		assert_int_equal(nodes[e], which == 2 ? isdigit(c) != 0 : which ? toupper(c) : tolower(c));
		rt_memory_clear((uintptr_t)&byte, 1);
	}
}

/* ---- numbers that the driver writes into an input ---- */

static const char *number_text;

static bool content(void *context, struct rd_override_part *part)
{
	(void)context;
	part->data = rd_xstrdup(number_text);
	part->length = strlen(number_text);
	return true;
}

/* Stores the text that the driver writes for a value in `out`. */
static void rewrite(uint64_t value, char *out, size_t size)
{
	struct rd_override none = {0}, given;
	struct sym_trace t;

	assert_int_equal(sym_trace_read(&t, shadow_memory, RADDLE_SHADOW_SIZE), 0);
	sym_trace_values(&t, values);
	for (size_t i = 0; i < t.var_count; i++)
		if (t.vars[i].sort == RADDLE_VAR_NUMBER)
			values[i] = value;
	sym_input_make(&t, values, &none, content, NULL, &given);
	snprintf(out, size, "%s", given.count ? given.parts[0].data : number_text);
	rd_override_release(&given);
	sym_trace_release(&t);
}

static long read_number(int which, const char *s)
{
	unsigned u = 0;
	int n = 0;
	long l = 0;

	switch (which) {
	case 0: return __raddle_sx_atoi(s);
	case 1: return __raddle_sx_strtol(s, NULL, 10);
	case 2: return (long)__raddle_sx_strtoul(s, NULL, 16);
	case 3: return __raddle_sx_atol(s);
	case 4: return __raddle_sx_sscanf(s, "%d", &n) == 1 ? n : 0;
	case 5: return __raddle_sx_sscanf(s, " x%ld", &l) == 1 ? l : 0;
	default: return __raddle_sx_sscanf(s, "%x", &u) == 1 ? (long)u : 0;
	}
}

static void test_numbers(void **state)
{
	size_t many = getenv("RADDLE_MODEL_CALLS") ? 7 * rounds() : rounds() / 10;

	(void)state;
	for (size_t i = 0; i < many; i++) {
		int which = (int)(i % 7);
		long first = (long)draw(200000) - 100000, second = (long)draw(2000000) - 1000000;
		char text[64], again[128];

		if (which == 2 || which == 6)
			first = labs(first), second = labs(second);
		shadow_start();
		snprintf(text, sizeof text, which == 2 || which == 6 ? "%s%lx%s" : "%s%ld%s",
			 which == 5 ? " x"
			 : draw(2)  ? "  "
				    : "",
			 first, draw(2) ? " rest" : "");
		number_text = text;
		rt_input_bytes(rt_input(RADDLE_INPUT_STDIN, 0, NULL), 0, text, strlen(text));
		assert_int_equal(read_number(which, text), first);
		rewrite((uint64_t)second, again, sizeof again);
		rt_memory_clear((uintptr_t)text, sizeof text);
		assert_int_equal(read_number(which, again), second);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare), cmocka_unit_test(test_search),
		cmocka_unit_test(test_copy),	cmocka_unit_test(test_fill),
		cmocka_unit_test(test_lengths), cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_letters), cmocka_unit_test(test_numbers),
	};

	nodes = calloc(RADDLE_SHADOW_NODES, sizeof *nodes);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
