// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of the tool.  In: printf formats.  Out: one line per message, in a single write, so that
 * lines of several processes do not mix.  A message goes to the innermost context of its thread
 * that has a sink (context.h), or else to the sink of the process.
 */
#include "base/error.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/context.h"
#include "base/printable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_line(void *context, enum rd_level level, const char *message);

/* The sink of the process; set before threads exist. */
static struct {
	struct rd_context sink;
	enum rd_level max_level;
} process = {{.log = write_line}, RD_LOG_WARN};

static void write_line(void *data, enum rd_level level, const char *message)
{
	static const char *const prefix[] = {"", "warning: ", "", "debug: "};
	struct rd_buf line = RD_BUF_INIT;

	(void)data;
	rd_buf_addf(&line, "raddle: %s%s\n", prefix[level], message);
	rd_make_printable(line.data, line.length, true);
	/* If stderr cannot be written, there is no other channel to report that. */
	if (write(STDERR_FILENO, line.data, line.length) < 0)
		errno = 0;
	rd_buf_release(&line);
}

void rd_log_discard(void *data, enum rd_level level, const char *message)
{
	(void)data;
	(void)level;
	(void)message;
}

void rd_log_set(rd_log_fn *fn, void *data)
{
	process.sink.log = fn ? fn : write_line;
	process.sink.data = data;
}

void rd_log_level(enum rd_level level)
{
	RD_ASSERT(level <= RD_LOG_DEBUG);
	process.max_level = level;
}

/* Returns the innermost context whose sink is not being called.  So a message from within a sink
 * goes to the next outer sink. */
static struct rd_context *innermost_sink(void)
{
	struct rd_context *first = rd_context_current();

	for (struct rd_context *c = first; c; c = c->outer)
		if (c->in_sink)
			first = c->outer;
	while (first && !first->log)
		first = first->outer;
	return first;
}

void rd_log_first(void *data, enum rd_level level, const char *message)
{
	char **first = data;

	if (level == RD_LOG_ERROR && !*first)
		*first = rd_xstrdup(message);
}

void rd_log_pass(enum rd_level level, const char *message)
{
	RD_ASSERT(level <= RD_LOG_DEBUG && message != NULL);
	struct rd_context *c = innermost_sink();

	if (!c) {
		process.sink.log(process.sink.data, level, message);
		return;
	}
	c->in_sink = true;
	c->log(c->data, level, message);
	c->in_sink = false;
}

static void release(void *buf)
{
	rd_buf_release(buf);
}

/* Emits a message.  Does not change errno. */
static void emit(enum rd_level level, int error, const char *format, va_list ap)
{
	struct rd_buf message = RD_BUF_INIT;
	struct rd_cleanup cleanup;
	int saved = errno;

	if (level > process.max_level)
		return;
	rd_cleanup_add(&cleanup, release, &message);
	rd_buf_vaddf(&message, format, ap);
	if (error)
		rd_buf_addf(&message, ": %s", strerror(error));
	rd_log_pass(level, message.data);
	rd_cleanup_remove(&cleanup);
	rd_buf_release(&message);
	errno = saved;
}

int rd_fail(int code, const char *format, ...)
{
	RD_ASSERT(code < 0);
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
