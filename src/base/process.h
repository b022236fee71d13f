/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that run other programs. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* An argument vector under construction.  After the first addition, it is terminated by NULL. */
struct rd_argv {
	char **items; /* the strings, owned by the vector */
	size_t count, capacity;
};
#define RD_ARGV_INIT                                                                                         \
	{                                                                                                    \
		0                                                                                            \
	}
void rd_argv_add(struct rd_argv *a, const char *s);
void rd_argv_addf(struct rd_argv *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rd_argv_add_all(struct rd_argv *a, char *const *items); /* adds the items before the NULL */
/* The following functions add an option for another command of Raddle. */

/* Adds --NAME=VALUE, unless the value is NULL. */
void rd_argv_add_text(struct rd_argv *a, const char *name, const char *value);
/* Adds --NAME=NUMBERUNIT, unless the number is 0 or RD_OPTION_UNSET (base/option.h). */
void rd_argv_add_number(struct rd_argv *a, const char *name, uint64_t value, const char *unit);
/* Adds a limit even if it is 0, which means no limit. */
void rd_argv_add_limit(struct rd_argv *a, const char *name, uint64_t ms);
/* Adds --NAME if the flag is set. */
void rd_argv_add_flag(struct rd_argv *a, const char *name, bool set);
void rd_argv_release(struct rd_argv *a);

/* Starts the program argv[0], which is searched for in PATH.  `directory` becomes its working
 * directory; NULL means the current one.  If `output` is not -1, it becomes the child's stdout and
 * stderr. */
int rd_spawn(char *const *argv, const char *directory, int output, pid_t *pid);

/* Waits until a child process has ended, ignoring interruptions by signals, and stores its status
 * as waitpid() does.  Returns false and stores nothing if the process is not a child or SIGCHLD is
 * ignored.  May be called in a signal handler. */
bool rd_reap(pid_t pid, int *status);

/* Waits for the process.  Returns its exit status, 128 + the number of the signal that ended it, or
 * a negative rd_err. */
int rd_wait(pid_t pid);

/* Turns this process, a child that was just forked, into a shell that runs the command. */
_Noreturn void rd_become_shell(const char *command);

/* Replaces the standard streams by /dev/null, for a process that outlives its command.  Otherwise,
 * a program that reads the command's output through a pipe would wait for that process. */
void rd_leave_streams(void);

int rd_run(char *const *argv); /* starts the program, which inherits the streams, and waits */

/* Like rd_run(), but the program gets SIGTERM when rd_now_ns() reaches end_ns.  0 means never. */
int rd_run_until(char *const *argv, int64_t end_ns);

/* Runs a program and appends its stdout and stderr to the buffer.  A program that writes more than
 * `max` bytes is killed, which is an error. */
int rd_run_capture(char *const *argv, uint64_t max, struct rd_buf *output);

#endif
