// SPDX-License-Identifier: Apache-2.0
/*
 * Models of functions that write output.  They list the numbers and strings that were written, as
 * expressions, in the order of writing.  A number is listed as one expression, not as its digits.
 * The driver compares the lists for both orders of a race, and tries inputs for which they would
 * differ.
 */
#include "rt/shadow/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STRING_MAX 256 /* the maximum number of bytes of a string that are listed */

RT_EXPORT int __raddle_sx_printf(const char *format, ...);
RT_EXPORT int __raddle_sx_fprintf(FILE *f, const char *format, ...);
RT_EXPORT int __raddle_sx_dprintf(int fd, const char *format, ...);
RT_EXPORT int __raddle_sx_puts(const char *s);
RT_EXPORT int __raddle_sx_fputs(const char *s, FILE *f);
RT_EXPORT int __raddle_sx_putchar(int c);
RT_EXPORT int __raddle_sx_putc(int c, FILE *f);
RT_EXPORT size_t __raddle_sx_fwrite(const void *p, size_t size, size_t n, FILE *f);
RT_EXPORT ssize_t __raddle_sx_write(int fd, const void *p, size_t n);

/* Called within rt_shadow_enter(). */
static void put_item(int fd, uint32_t node)
{
	struct raddle_shadow *s = rt_shadow.shared;
	uint32_t n = s->output_count;

	if (!node)
		return;
	if (n >= RADDLE_SHADOW_OUTPUT) {
		rt_path_lose(RADDLE_LOST_OUTPUT);
		return;
	}
	rt_shadow.output[n] = (struct raddle_shadow_byte){
		.fd = (uint32_t)fd, .node = node, .offset = n, .step = s->step_count};
	s->output_count = n + 1;
}

static void put_bytes(int fd, const char *p, size_t n)
{
	if (n > STRING_MAX) {
		if (rt_memory_any((uintptr_t)p + STRING_MAX, n - STRING_MAX))
			rt_path_lose(RADDLE_LOST_OUTPUT);
		n = STRING_MAX;
	}
	for (size_t i = 0; i < n; i++)
		put_item(fd, rt_model_byte(p + i));
}

static void put_number(int fd, uint32_t e, uint64_t value, uint32_t bits)
{
	put_item(fd, e ? e : rt_expr_const(value, bits));
}

/* ---- formats ---- */

/* The state of a call that prints.  `next` is the number of its next argument, and `is_long` tells
 * the size of that argument. */
struct printing {
	const void *model;
	int fd;
	uint32_t next;
	bool is_long;
};

static const char *read_flags(const char *f, struct printing *p, va_list *arguments)
{
	p->is_long = false;
	for (; *f && strchr("-+ #0123456789.*'hlqjztL", *f); f++) {
		if (*f == '*') {
			put_number(p->fd, rt_shadow_argument(p->model, p->next++),
				   (uint64_t)va_arg(*arguments, int), 32);
			continue;
		}
		p->is_long |= strchr("lqjzt", *f) != NULL;
	}
	return f;
}

static void put_conversion(char kind, struct printing *p, va_list *arguments)
{
	uint32_t e = rt_shadow_argument(p->model, p->next);
	const char *s;

	if (strchr("diuxXoc", kind)) {
		if (p->is_long)
			put_number(p->fd, e, va_arg(*arguments, uint64_t), 64);
		else
			put_number(p->fd, e, va_arg(*arguments, unsigned), 32);
	} else if (kind == 's') {
		s = va_arg(*arguments, const char *);
		if (s)
			put_bytes(p->fd, s, strnlen(s, STRING_MAX + 1));
	} else if (kind == 'p' || kind == 'n') {
		(void)va_arg(*arguments, void *);
	} else if (strchr("eEfFgGaA", kind)) {
		(void)va_arg(*arguments, double);
	}
	p->next++;
}

static void printed(struct printing *p, const char *f, va_list list)
{
	va_list arguments;

	if (!rt_shadow_is_on())
		return;
	va_copy(arguments, list);
	rt_shadow_enter();
	for (; *f; f++) {
		if (*f != '%')
			continue;
		f = read_flags(f + 1, p, &arguments);
		if (!*f || (f[-1] == 'L' && strchr("eEfFgGaA", *f)))
			break; /* a long double is passed differently, so the rest is not listed */
		if (*f != '%')
			put_conversion(*f, p, &arguments);
	}
	rt_shadow_leave();
	va_end(arguments);
}

#define PRINTS(name, descriptor, before, ...)                                                                \
	do {                                                                                                 \
		struct printing p_ = {(const void *)(name), descriptor, before, false};                      \
		va_list arguments_;                                                                          \
		int r_;                                                                                      \
		va_start(arguments_, format);                                                                \
		printed(&p_, format, arguments_);                                                            \
		va_end(arguments_);                                                                          \
		va_start(arguments_, format);                                                                \
		r_ = __VA_ARGS__;                                                                            \
		va_end(arguments_);                                                                          \
		rt_shadow_result((const void *)(name), 0);                                                   \
		return r_;                                                                                   \
	} while (0)

RT_EXPORT int __raddle_sx_printf(const char *format, ...)
{
	PRINTS(__raddle_sx_printf, STDOUT_FILENO, 1, vprintf(format, arguments_));
}

RT_EXPORT int __raddle_sx_fprintf(FILE *f, const char *format, ...)
{
	PRINTS(__raddle_sx_fprintf, fileno(f), 2, vfprintf(f, format, arguments_));
}

RT_EXPORT int __raddle_sx_dprintf(int fd, const char *format, ...)
{
	PRINTS(__raddle_sx_dprintf, fd, 2, vdprintf(fd, format, arguments_));
}

/* ---- bytes ---- */

static void written(int fd, const void *p, size_t n)
{
	if (!rt_shadow_is_on())
		return;
	rt_shadow_enter();
	put_bytes(fd, p, n);
	rt_shadow_leave();
}

static void character(const void *model, int fd, int c)
{
	uint32_t e = rt_shadow_is_on() ? rt_shadow_argument(model, 0) : 0;

	if (!rt_shadow_is_on())
		return;
	rt_shadow_enter();
	put_number(fd, e ? rt_expr_extract(e, 0, 8) : 0, (uint8_t)c, 8);
	rt_shadow_leave();
}

RT_EXPORT int __raddle_sx_puts(const char *s)
{
	written(STDOUT_FILENO, s, strlen(s));
	rt_shadow_result((const void *)__raddle_sx_puts, 0);
	return puts(s);
}

RT_EXPORT int __raddle_sx_fputs(const char *s, FILE *f)
{
	written(fileno(f), s, strlen(s));
	rt_shadow_result((const void *)__raddle_sx_fputs, 0);
	return fputs(s, f);
}

RT_EXPORT int __raddle_sx_putchar(int c)
{
	character((const void *)__raddle_sx_putchar, STDOUT_FILENO, c);
	rt_shadow_result((const void *)__raddle_sx_putchar, 0);
	return putchar(c);
}

RT_EXPORT int __raddle_sx_putc(int c, FILE *f)
{
	character((const void *)__raddle_sx_putc, fileno(f), c);
	rt_shadow_result((const void *)__raddle_sx_putc, 0);
	return putc(c, f);
}

RT_EXPORT size_t __raddle_sx_fwrite(const void *p, size_t size, size_t n, FILE *f)
{
	written(fileno(f), p, size * n);
	rt_shadow_result((const void *)__raddle_sx_fwrite, 0);
	return fwrite(p, size, n, f);
}

RT_EXPORT ssize_t __raddle_sx_write(int fd, const void *p, size_t n)
{
	written(fd, p, n);
	rt_shadow_result((const void *)__raddle_sx_write, 0);
	return write(fd, p, n);
}
