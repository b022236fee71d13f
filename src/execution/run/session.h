/* SPDX-License-Identifier: Apache-2.0 */
/* Our end of a session (raddle/session.h): what the runtime in the program gets. */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include "raddle/session.h"

#include <stddef.h>
#include <sys/types.h>

struct run_session {
	struct raddle_session *shared;
	size_t size;
	uint32_t buffers; /* what the program may write over `buffer_count` does not count */
	size_t steer;	  /* offset of the steering memory; 0: none */
	size_t faults;	  /* offset of the fault plan; 0: none */
	size_t world;	  /* offset of what comes from outside; 0: it is not given back */
	size_t shadow;	  /* offset of what the flavour `shadow` writes; 0: none */
	int fd;		  /* inherited by the program; close-on-exec until it is started */
};

/* Makes the session for `program`, with fewer buffers where the limit on
 * address space leaves no room for all.  Behind the buffers there are `steer_size`
 * bytes, zeroed, for steering the program (steer.h). */
int run_session_open(struct run_session *s, const char *program, size_t steer_size);

/* Where those lie; NULL if there are none. */
void *run_session_steer(const struct run_session *s);
/* Makes room for a fault plan (full.h), `size` bytes, zeroed.  Pointers into the session are void. */
int run_session_faults(struct run_session *s, size_t size);
/* The same for what comes from outside (world.h), and where it lies; NULL if there is none. */
int run_session_world(struct run_session *s, size_t size);
void *run_session_outside(const struct run_session *s);

/* The same for the memory of the flavour `shadow` (shadow.h). */
int run_session_shadow(struct run_session *s);

void run_session_close(struct run_session *s);

/* Kills the program, and those of its descendants that it announced in the session. */
void run_session_kill(const struct run_session *s, pid_t pid);

/* Ends recording; the first reason stays. */
void run_session_stop(struct run_session *s, enum raddle_stop_reason reason);

/* What a stop reason is called in meta.json; NULL for none. */
const char *run_stop_text(enum raddle_stop_reason reason);

#endif
