/* SPDX-License-Identifier: Apache-2.0 */
/* Raddle's own side of a session (raddle/session.h), the memory that it shares with the runtime. */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include "raddle/session.h"

#include <stddef.h>
#include <sys/types.h>

struct run_session {
	struct raddle_session *shared;
	size_t size;
	uint32_t buffers; /* a trusted copy of `buffer_count`, which the program may overwrite */
	size_t steer;	  /* offset of the steering memory; 0 if absent */
	size_t faults;	  /* offset of the fault plan; 0 if absent */
	size_t world;	  /* offset of the recorded input from outside; 0 if it is not replayed */
	size_t shadow;	  /* offset of the memory of the flavour `shadow`; 0 if absent */
	/* The descriptor that the program inherits.  It is close-on-exec until the program is
	 * started. */
	int fd;
};

/* Creates the session for `program`, with fewer buffers if the address space limit requires it.
 * After the buffers there are `steer_size` zeroed bytes for steering (steer.h). */
int run_session_open(struct run_session *s, const char *program, size_t steer_size);

/* Returns the steering memory, or NULL if there is none. */
void *run_session_steer(const struct run_session *s);
/* Makes room for a fault plan (full.h) of `size` zeroed bytes.  This invalidates pointers into the
 * session. */
int run_session_faults(struct run_session *s, size_t size);
/* Makes room for input from outside (world.h). */
int run_session_world(struct run_session *s, size_t size);
/* Returns the memory for input from outside, or NULL if the session has no room for it. */
void *run_session_outside(const struct run_session *s);

/* Makes room for the memory of the flavour `shadow` (shadow.h). */
int run_session_shadow(struct run_session *s);

void run_session_close(struct run_session *s);

/* Kills the program and those of its descendants that the session lists. */
void run_session_kill(const struct run_session *s, pid_t pid);

/* Ends recording.  Only the first reason is kept. */
void run_session_stop(struct run_session *s, enum raddle_stop_reason reason);

/* Returns the name of a stop reason in meta.json, or NULL if recording was not stopped. */
const char *run_stop_text(enum raddle_stop_reason reason);

#endif
