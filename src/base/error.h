/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors and messages of the tool.
 *
 * A library function returns 0 or a negative enum rd_err.  The function that detects an error
 * reports it with rd_fail().  The message names the subject and the value ("trace: thread-3: chunk
 * 12 at 0x3f80: bad length 0").  Callers return the same code without another message.  Only cmd/
 * decides on the exit status.  A broken invariant of Raddle itself is an RD_BUG(), never an error
 * code.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum rd_err {
	RD_OK = 0,
	RD_ESYSTEM = -1,   /* a system call failed; the message contains strerror() */
	RD_EFORMAT = -2,   /* untrusted bytes do not have the expected format */
	RD_EVERSION = -3,  /* a format version that this Raddle does not know */
	RD_EUSAGE = -4,	   /* the user requested something invalid */
	RD_ETOOL = -5,	   /* a program that we ran (clang, linker) failed */
	RD_ENOTFOUND = -6, /* a required file or object is missing */
	RD_ELIMIT = -7,	   /* a limit of Raddle is exceeded */
	RD_ENOMEM = -8,	   /* memory ran out; returned by rd_context_run() and by calls into libraries */
};

enum rd_level { RD_LOG_ERROR, RD_LOG_WARN, RD_LOG_INFO, RD_LOG_DEBUG };

/* The type of a sink, which is a function that receives messages. rd_log_set() sets the sink that
 * is used outside of any context (context.h); NULL restores the default, which writes "raddle:
 * message" to stderr.  In JSON mode, cmd/ installs a sink that writes {"error": "..."}.  Call
 * rd_log_set() before threads exist. */
typedef void rd_log_fn(void *data, enum rd_level level, const char *message);
void rd_log_set(rd_log_fn *fn, void *data);

/* A sink that drops all messages. */
rd_log_fn rd_log_discard;

/* A sink that keeps a copy of the first error in the `char *` that `data` points to. */
rd_log_fn rd_log_first;

/* Passes a message to the next outer sink.  A sink calls this for each message that it does not
 * handle. */
void rd_log_pass(enum rd_level level, const char *message);

/* Sets the level; less severe messages are dropped.  The default is RD_LOG_WARN. */
void rd_log_level(enum rd_level level);

/* Emits the message as an error and returns `code`. */
int rd_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like rd_fail(RD_ESYSTEM, ...), but appends ": strerror(errno)". */
int rd_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

void rd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rd_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rd_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports a broken invariant of Raddle, with its place in the source, and aborts.  Release builds
 * do that too. */
_Noreturn void rd_bug(const char *file, int line, const char *what);
#define RD_BUG(what) rd_bug(__FILE__, __LINE__, what)
#define RD_ASSERT(condition) ((condition) ? (void)0 : rd_bug(__FILE__, __LINE__, #condition))

#endif
