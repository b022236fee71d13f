/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-written plans for test/prog/steer.c, and runs under them; shared by u-rt-steer.c and
 * u-rt-turn.c.  A file that includes this is a cmocka test with build_steer() as its group setup.
 */
#ifndef TEST_STEER_RUN_H
#define TEST_STEER_RUN_H

#include "base/error.h"
#include "bitcode/flavour.h"
#include "raddle/event.h"
#include "raddle/steer.h"
#include "run/session.h"
#include "trace/sites.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAIN, A, B, THREADS };
enum { OPS_MAX = 32, PATIENCE_MS = 60000 };

struct op {
	uint32_t thread;
	uint64_t n;
	uint32_t kind;
};

struct plan {
	const char *name; /* the scenario that test/prog/steer.c runs */
	struct op ops[OPS_MAX];
	struct {
		const char *function; /* that contains the site; NULL: no goals */
		uint64_t after, occurrence;
		bool write;
	} goals[2]; /* of the threads a and b */
	struct op stops[2];
	uint64_t limits[THREADS]; /* by thread; 0: no limit */
	uint32_t order, flags;
	uint64_t seed, most_yields;
	struct raddle_steer_decision decisions[OPS_MAX]; /* end with the first whose n is 0 */
	struct {
		const char *function; /* that contains the access; NULL: end of the list */
		bool write, stand, note;
	} watches[4];
	bool fast;
};

/* A run of the program, and the contents of the steering memory when it ended. */
struct run {
	struct run_session session;
	struct raddle_steer *steer;
	struct raddle_slot *slots;
	pid_t pid;
	int status;
	char said[256];
};

static struct rd_flavour flavours[2]; /* of the modes quick and fast */
static struct trace_sites *tables[2];

static inline uint32_t count_ops(const struct op *ops, uint32_t max)
{
	uint32_t n = 0;

	while (n < max && ops[n].kind)
		n++;
	return n;
}

static inline uint32_t find_site(const struct trace_sites *sites, const char *function, bool write)
{
	for (size_t u = 0; u < sites->unit_count; u++)
		for (size_t i = 0; i < sites->units[u].site_count; i++) {
			const struct trace_site *s = &sites->sites[sites->units[u].site + i];
			if (s->kind != TRACE_SITE_CALL && !strcmp(s->function, function) &&
			    trace_site_writes(s) == write)
				return (sites->units[u].slot << RADDLE_SITE_LOCAL_BITS) + s->n;
		}
	fail_msg("no site in %s", function);
	return 0;
}

static inline void put_threads(struct raddle_steer *s, const struct plan *p)
{
	struct raddle_steer_thread *threads = raddle_steer_threads(s);
	struct raddle_steer_op *ops = raddle_steer_ops(s);
	uint32_t count = count_ops(p->ops, OPS_MAX), at = 0;

	for (uint32_t t = 0; t < THREADS; t++) {
		threads[t] = (struct raddle_steer_thread){
			.parent = t == MAIN ? RADDLE_STEER_NONE : MAIN,
			.index = t == MAIN ? 0 : t - 1,
			.first = at,
			.limit = p->limits[t] ? p->limits[t] : UINT64_MAX,
			.goal = RADDLE_STEER_NONE,
			.stop = RADDLE_STEER_NONE,
		};
		for (uint32_t i = 0; i < count; i++)
			if (p->ops[i].thread == t)
				ops[at++] = (struct raddle_steer_op){p->ops[i].n, p->ops[i].kind, i};
		threads[t].count = at - threads[t].first;
		if (t != MAIN && p->goals[t - 1].function)
			threads[t].goal = t - 1;
	}
	for (uint32_t i = 0; i < count_ops(p->stops, 2); i++) {
		threads[p->stops[i].thread].stop = 1;
		threads[p->stops[i].thread].stop_n = p->stops[i].n;
		threads[p->stops[i].thread].stop_kind = p->stops[i].kind;
	}
}

static inline void put_turns(struct raddle_steer *s, const struct plan *p)
{
	uint32_t i;

	for (i = 0; i < OPS_MAX && p->decisions[i].n; i++)
		raddle_steer_decisions(s)[i] = p->decisions[i];
	s->decision_count = i;
	for (i = 0; i < 4 && p->watches[i].function; i++)
		raddle_steer_watches(s)[i] = (struct raddle_steer_watch){
			.thread = RADDLE_STEER_NONE,
			.site = find_site(tables[p->fast], p->watches[i].function, p->watches[i].write),
			.after = UINT64_MAX,
			.how = 3,
			.stand = p->watches[i].stand,
			.note = p->watches[i].note};
	s->watch_count = i;
	s->seed = p->seed;
	if (s->flags & RADDLE_STEER_TURNS && !p->goals[0].function && !s->op_count)
		s->phase = RADDLE_GOES_ON;
}

static inline void put_plan(struct raddle_steer *s, const struct plan *p)
{
	s->version = RADDLE_STEER_VERSION;
	s->flags = p->flags;
	s->order = p->order;
	s->most_yields = p->most_yields;
	s->thread_count = THREADS;
	s->op_count = count_ops(p->ops, OPS_MAX);
	s->stop_count = count_ops(p->stops, 2);
	s->threads_at = sizeof *s;
	s->ops_at = s->threads_at + (THREADS + RADDLE_STEER_ROOM) * sizeof(struct raddle_steer_thread);
	s->watches_at = s->ops_at + OPS_MAX * sizeof(struct raddle_steer_op);
	s->decisions_at = s->watches_at + RADDLE_STEER_WATCHES * sizeof(struct raddle_steer_watch);
	s->made_at = s->decisions_at + RADDLE_STEER_DECISIONS * sizeof(struct raddle_steer_decision);
	s->slots_at = s->made_at + RADDLE_STEER_DECISIONS * sizeof(struct raddle_steer_decision);
	put_turns(s, p);
	put_threads(s, p);
	for (uint32_t i = 0; i < 2 && p->goals[i].function; i++) {
		s->goal_count = i + 1;
		s->goals[i] = (struct raddle_steer_goal){
			.after = p->goals[i].after,
			.occurrence = p->goals[i].occurrence,
			.thread = A + i,
			.site = find_site(tables[p->fast], p->goals[i].function, p->goals[i].write),
			.write = p->goals[i].write,
		};
	}
}

static inline void start_program(struct run *r, const struct plan *p, int out)
{
	char number[16];

	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid != 0)
		return;
	snprintf(number, sizeof number, "%d", r->session.fd);
	setenv(RADDLE_SESSION_ENV, number, 1);
	fcntl(r->session.fd, F_SETFD, 0);
	dup2(out, STDOUT_FILENO);
	alarm(PATIENCE_MS / 1000);
	execl(flavours[p->fast].executable, "steer", p->name, (char *)NULL);
	_exit(126);
}

static inline struct run begin(const struct plan *p, int *out)
{
	struct run r = {0};
	size_t size = sizeof *r.steer + (THREADS + RADDLE_STEER_ROOM) * sizeof(struct raddle_steer_thread) +
		      OPS_MAX * sizeof(struct raddle_steer_op) +
		      RADDLE_STEER_WATCHES * sizeof(struct raddle_steer_watch) +
		      2 * RADDLE_STEER_DECISIONS * sizeof(struct raddle_steer_decision) +
		      RADDLE_SLOTS * sizeof(struct raddle_slot);
	int pipes[2];

	assert_int_equal(run_session_open(&r.session, "steer", size), RD_OK);
	r.session.shared->discard = 1;
	r.steer = run_session_steer(&r.session);
	put_plan(r.steer, p);
	r.slots = raddle_steer_slots(r.steer);
	assert_int_equal(pipe(pipes), 0);
	start_program(&r, p, pipes[1]);
	close(pipes[1]);
	*out = pipes[0];
	return r;
}

static inline void finish(struct run *r, int out)
{
	ssize_t n = 0;

	while ((n = read(out, r->said + strlen(r->said), 1)) > 0)
		;
	close(out);
	waitpid(r->pid, &r->status, 0);
}

static inline struct run run_plan(const struct plan *p)
{
	int out;
	struct run r = begin(p, &out);

	finish(&r, out);
	return r;
}

static inline void nap(void)
{
	nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Waits until the slots of the threads a and b are in the given states. */
static inline void await(const struct run *r, uint32_t a, uint32_t b)
{
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (atomic_load(&r->slots[A].state) == a && atomic_load(&r->slots[B].state) == b)
			return;
		nap();
	}
	fail_msg("a is in state %u, b in %u", atomic_load(&r->slots[A].state),
		 atomic_load(&r->slots[B].state));
}

static inline void end_run(struct run *r)
{
	run_session_close(&r->session);
}

static inline int build_steer(void **state)
{
	const char *root = getenv("ROOT"), *raddle = getenv("RADDLE");
	char command[4096];

	(void)state;
	if (!root || !raddle)
		return -1;
	snprintf(command, sizeof command,
		 "'%s' cc -D_GNU_SOURCE -g -O2 -pthread -o steer '%s/test/prog/steer.c'", raddle, root);
	if (system(command) != 0)
		return -1;
	for (int fast = 0; fast < 2; fast++) {
		struct rd_flavour_opts opts = {.name = "record", .fast = fast};
		if (rd_flavour_build("./steer", &opts, &flavours[fast]) != RD_OK ||
		    trace_sites_read(&tables[fast], flavours[fast].sites) != RD_OK)
			return -1;
	}
	return 0;
}

#endif
