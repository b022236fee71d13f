// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of the tool.  Facts come in as printf formats from wherever they
 * became known; one whole line goes out per message, in a single write so that
 * lines of several processes do not mix.  Messages may come from any thread;
 * the sink is set once, before threads exist.
 */
#include "base/error.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_line(void *context, enum rd_level level, const char *message);

static rd_log_fn *sink = write_line;
static void *sink_context;
static enum rd_level max_level = RD_LOG_WARN;

static void write_line(void *context, enum rd_level level, const char *message)
{
	static const char *const prefix[] = {"", "warning: ", "", "debug: "};
	struct rd_buf line = RD_BUF_INIT;

	(void)context;
	rd_buf_addf(&line, "raddle: %s%s\n", prefix[level], message);
	/* If stderr cannot be written there is nobody left to tell. */
	if (write(STDERR_FILENO, line.data, line.length) < 0)
		errno = 0;
	rd_buf_release(&line);
}

void rd_log_set(rd_log_fn *fn, void *context)
{
	sink = fn ? fn : write_line;
	sink_context = context;
}

void rd_log_level(enum rd_level level)
{
	max_level = level;
}

/* Formats before it looks at `error`, so that callers keep errno as it was. */
static void emit(enum rd_level level, int error, const char *format, va_list ap)
{
	struct rd_buf message = RD_BUF_INIT;
	int saved = errno;

	if (level > max_level)
		return;
	rd_buf_vaddf(&message, format, ap);
	if (error)
		rd_buf_addf(&message, ": %s", strerror(error));
	sink(sink_context, level, message.data);
	rd_buf_release(&message);
	errno = saved;
}

int rd_fail(int code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	emit(RD_LOG_ERROR, 0, format, ap);
	va_end(ap);
	return code;
}

int rd_fail_errno(const char *format, ...)
{
	int error = errno;
	va_list ap;

	va_start(ap, format);
	emit(RD_LOG_ERROR, error, format, ap);
	va_end(ap);
	return RD_ESYSTEM;
}

void rd_warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	emit(RD_LOG_WARN, 0, format, ap);
	va_end(ap);
}

void rd_info(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	emit(RD_LOG_INFO, 0, format, ap);
	va_end(ap);
}

void rd_debug(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	emit(RD_LOG_DEBUG, 0, format, ap);
	va_end(ap);
}

void rd_bug(const char *file, int line, const char *what)
{
	fprintf(stderr, "raddle: bug in Raddle: %s:%d: %s\n", file, line, what);
	abort();
}
