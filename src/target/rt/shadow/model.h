/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the models of library functions share (raddle/model.inc). */
#ifndef RT_SHADOW_MODEL_H
#define RT_SHADOW_MODEL_H

#include "rt/shadow/shadow.h"

#define RT_MODEL(name) RT_EXPORT __raddle_sx_##name

/* The return address of a model, which is the site of its branches. */
#define RT_MODEL_SITE() ((uint32_t)(uintptr_t)__builtin_return_address(0))

/* Returns the expression of a byte in memory. */
uint32_t rt_model_byte(const void *p);

/* A call of a function such as sscanf(). */
struct rt_scan {
	const char *text, *format;
	int stored; /* the number of conversions that stored a value, as the function returned it */
};
/* Scans a text according to a format, and assigns expressions to the values that the conversions
 * stored.  Call this between rt_shadow_enter() and rt_shadow_leave(). */
void rt_model_scan(struct rt_scan *s, __builtin_va_list arguments);

/* A number that a function has read from `s` up to `end`. */
struct rt_number {
	const char *s, *end;
	uint64_t value;
	int base;
	bool is_unsigned;
};
/* Returns the 64-bit expression of the number, or 0 if the number is concrete. */
uint32_t rt_model_number(const struct rt_number *n);

#endif
