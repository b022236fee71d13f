/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A progress line on stderr for long tasks.  It is shown only on a terminal and only after half a
 * second.  It is redrawn at most ten times a second, and erased at the end.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdint.h>

struct rd_progress {
	const char *what;
	uint64_t total; /* the amount of work; 0 if unknown */
	int64_t start_ns, drawn_ns;
	int shown;
};
void rd_progress_start(struct rd_progress *p, const char *what, uint64_t total);
void rd_progress_update(struct rd_progress *p, uint64_t done, const char *detail); /* detail may be NULL */
/* Prints the text and "..." at once.  For work without a count, call this instead of
 * rd_progress_start() and rd_progress_update(). */
void rd_progress_say(struct rd_progress *p, const char *what);

/* Erases the line before other output; the next update draws it again. */
void rd_progress_hide(struct rd_progress *p);

void rd_progress_end(struct rd_progress *p);

#endif
