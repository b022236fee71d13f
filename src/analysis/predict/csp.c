/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Carril and Tichy's CSP model of an execution, in CSP_M.  The model consists of a process
 * for each thread and each synchronisation object, and their parallel composition.  It also
 * contains a race pattern with an assertion for each shared variable, and an assertion for
 * deadlocks.
 *
 * Threads and objects are numbered, because the program's names are not valid in CSP_M.  Comments
 * in the output show the names.  The events of a thread are cut into processes of CHAIN_EVENTS
 * events, because checkers handle deep nesting badly.
 */
#include "predict/csp.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>

/* The number of events in a process; set by hand, because FDR fails at deep nesting. */
#define CHAIN_EVENTS 40

struct csp {
	const struct predict_trace *t;
	const struct exec *x;
	FILE *out;
	/* For each thread, `forked` is true if the trace contains its creation, and `joined` is
	 * true if the trace contains a join of it. */
	uint8_t *forked, *joined;
	uint8_t *wakes;	      /* for each event, true if it is a signal that wakes a thread */
	uint8_t *rwlock;      /* for each lock, true if it is a read-write lock */
	uint32_t **processes; /* the events of each thread */
	size_t *lengths, *capacities;
};

static void find_roles(struct csp *c)
{
	const struct exec *x = c->x;

	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (e->flags & EXEC_PENDING)
			continue;
		if (e->kind == EXEC_FORK)
			c->forked[e->object] = 1;
		else if (e->kind == EXEC_JOIN)
			c->joined[e->object] = 1;
		else if (e->kind == EXEC_WAKE && e->aux < EXEC_MATCH)
			c->wakes[e->aux] = 1;
		else if (e->kind == EXEC_RDLOCK || e->kind == EXEC_WRLOCK)
			c->rwlock[e->object] = 1;
	}
}

static bool is_modelled(const struct csp *c, uint32_t index)
{
	const struct exec_event *e = &c->x->events[index];

	if (e->flags & EXEC_PENDING)
		return false;
	switch (e->kind) {
	case EXEC_READ:
	case EXEC_WRITE:
	case EXEC_UPDATE: return !(e->flags & EXEC_ATOMIC);
	case EXEC_BEGIN: return c->forked[e->thread];
	case EXEC_END: return c->joined[e->thread];
	case EXEC_WAKE: return e->aux < EXEC_MATCH;
	case EXEC_SIGNAL:
	case EXEC_BROADCAST: return c->wakes[index];
	case EXEC_BUSY: return false;
	default: return true;
	}
}

static void put_event(const struct csp *c, uint32_t index)
{
	RD_ASSERT(index < c->x->count);
	static const char *const channels[EXEC_KINDS] = {
		[EXEC_READ] = "read",	      [EXEC_WRITE] = "write",	      [EXEC_LOCK] = "lock",
		[EXEC_RDLOCK] = "rdlock",     [EXEC_WRLOCK] = "lock",	      [EXEC_UNLOCK] = "unlock",
		[EXEC_FORK] = "fork",	      [EXEC_JOIN] = "join",	      [EXEC_ENTER] = "barrier_enter",
		[EXEC_EXIT] = "barrier_exit", [EXEC_POST] = "post",	      [EXEC_TAKE] = "take",
		[EXEC_ONCE_RUN] = "once_run", [EXEC_ONCE_PASS] = "once_pass",
	};
	const struct exec_event *e = &c->x->events[index];

	switch (e->kind) {
	case EXEC_BEGIN: fprintf(c->out, "start.%u", e->thread); break;
	case EXEC_END: fprintf(c->out, "finish.%u", e->thread); break;
	case EXEC_WAIT: fprintf(c->out, "unlock.%u.%u", e->thread, e->aux); break;
	case EXEC_WAKE: fprintf(c->out, "wait.%u.%u", e->thread, e->aux); break;
	case EXEC_SIGNAL:
	case EXEC_BROADCAST: fprintf(c->out, "signal.%u.%u", e->thread, index); break;
	default: fprintf(c->out, "%s.%u.%u", channels[e->kind], e->thread, e->object);
	}
}

static void put_thread(const struct csp *c, uint32_t thread)
{
	RD_ASSERT(thread < c->x->threads);
	size_t n = c->lengths[thread];

	fprintf(c->out, "\n-- %s\n", c->t->model->threads[thread].name);
	fprintf(c->out, "THREAD_%u = THREAD_%u_0\n", thread, thread);
	for (size_t begin = 0; begin <= n; begin += CHAIN_EVENTS) {
		fprintf(c->out, "THREAD_%u_%zu = ", thread, begin / CHAIN_EVENTS);
		for (size_t i = begin; i < n && i < begin + CHAIN_EVENTS; i++) {
			put_event(c, c->processes[thread][i]);
			fputs(" ->\n  ", c->out);
		}
		if (begin + CHAIN_EVENTS <= n)
			fprintf(c->out, "THREAD_%u_%zu\n", thread, begin / CHAIN_EVENTS + 1);
		else
			fputs("SKIP\n", c->out);
	}
}

static void put_threads(struct csp *c)
{
	for (uint32_t i = 0; i < c->x->count; i++) {
		uint32_t t = c->x->events[i].thread;
		if (!is_modelled(c, i))
			continue;
		RD_GROW(c->processes[t], c->capacities[t], c->lengths[t] + 1);
		c->processes[t][c->lengths[t]++] = i;
	}
	for (uint32_t t = 0; t < c->x->threads; t++)
		put_thread(c, t);
	fputs("\nTHREADS = SKIP", c->out);
	for (uint32_t t = 0; t < c->x->threads; t++)
		fprintf(c->out, " |||\n  THREAD_%u", t);
	fputs("\n", c->out);
}

static unsigned last(uint32_t count)
{
	return count ? count - 1 : 0;
}

static void put_channels(const struct csp *c)
{
	const struct exec *x = c->x;

	fprintf(c->out,
		"Threads = {0..%u}\nVariables = {0..%u}\nLocks = {0..%u}\nSignals = {0..%u}\n"
		"Barriers = {0..%u}\nSemaphores = {0..%u}\nOnces = {0..%u}\n\n",
		last(x->threads), last(x->variables), last(x->locks), last((uint32_t)x->count),
		last(x->barriers), last(x->sems), last(x->onces));
	fputs("channel read, write : Threads.Variables\n"
	      "channel lock, rdlock, unlock : Threads.Locks\n"
	      "channel fork, join : Threads.Threads\n"
	      "channel start, finish : Threads\n"
	      "channel signal, wait : Threads.Signals\n"
	      "channel barrier_enter, barrier_exit : Threads.Barriers\n"
	      "channel post, take : Threads.Semaphores\n"
	      "channel once_run, once_pass : Threads.Onces\n"
	      "channel done, race, live\n\n"
	      "Sync = {| lock, rdlock, unlock, fork, join, start, finish, signal, wait,\n"
	      "  barrier_enter, barrier_exit, post, take, once_run, once_pass |}\n",
	      c->out);
}

static void put_patterns(const struct csp *c)
{
	fputs("\n-- Synchronisation\n"
	      "MUTEX(m) = [] t : Threads @ lock.t.m -> unlock.t.m -> MUTEX(m)\n"
	      "RWLOCK(m, r) = ([] t : diff(Threads, r) @ rdlock.t.m -> RWLOCK(m, union(r, {t})))\n"
	      "  [] ([] t : r @ unlock.t.m -> RWLOCK(m, diff(r, {t})))\n"
	      "  [] (empty(r) & [] t : Threads @ lock.t.m -> unlock.t.m -> RWLOCK(m, {}))\n"
	      "FORK(a, b) = fork.a.b -> start.b -> STOP\n"
	      "JOIN(a, b) = finish.b -> join.a.b -> STOP\n"
	      "SIGNAL(t, c, w) = signal.t.c -> (||| u : w @ wait.u.c -> STOP)\n"
	      "BARRIER(b, e, x) = (||| t : e @ barrier_enter.t.b -> SKIP) ;\n"
	      "  (||| t : x @ barrier_exit.t.b -> STOP)\n"
	      "SEM(s, n) = post?t!s -> SEM(s, n + 1) [] n > 0 & take?t!s -> SEM(s, n - 1)\n"
	      "ONCE(o) = once_run?t!o -> PASSED(o)\n"
	      "PASSED(o) = once_pass?t!o -> PASSED(o)\n",
	      c->out);
}

/* Writes the set of threads that do an operation of `kind` on `object`.  For wakes, `object` is
 * compared with the `aux` of the event. */
static void put_users(const struct csp *c, enum exec_kind kind, uint32_t object)
{
	const char *comma = "";

	fputc('{', c->out);
	for (uint32_t i = 0; i < c->x->count; i++) {
		const struct exec_event *e = &c->x->events[i];
		if (e->kind != kind || e->flags & EXEC_PENDING ||
		    (kind == EXEC_WAKE ? e->aux : e->object) != object)
			continue;
		fprintf(c->out, "%s%u", comma, e->thread);
		comma = ", ";
	}
	fputc('}', c->out);
}

static void put_objects(const struct csp *c)
{
	const struct exec *x = c->x;

	fputs("\nSYNC = STOP", c->out);
	for (uint32_t i = 0; i < x->locks; i++)
		fprintf(c->out, c->rwlock[i] ? " |||\n  RWLOCK(%u, {})" : " |||\n  MUTEX(%u)", i);
	for (uint32_t i = 0; i < x->sems; i++)
		fprintf(c->out, " |||\n  SEM(%u, %u)", i, exec_sem_initial(x, i));
	for (uint32_t i = 0; i < x->onces; i++)
		fprintf(c->out, " |||\n  ONCE(%u)", i);
	for (uint32_t i = 0; i < x->barriers; i++) {
		fprintf(c->out, " |||\n  BARRIER(%u, ", i);
		put_users(c, EXEC_ENTER, i);
		fputs(", ", c->out);
		put_users(c, EXEC_EXIT, i);
		fputc(')', c->out);
	}
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (e->kind == EXEC_FORK) {
			fprintf(c->out, " |||\n  FORK(%u, %u)", e->thread, e->object);
		} else if (e->kind == EXEC_JOIN && !(e->flags & EXEC_PENDING)) {
			fprintf(c->out, " |||\n  JOIN(%u, %u)", e->thread, e->object);
		} else if (c->wakes[i]) {
			fprintf(c->out, " |||\n  SIGNAL(%u, %u, ", e->thread, i);
			put_users(c, EXEC_WAKE, i);
			fputc(')', c->out);
		}
	}
	fputs("\n\nPROGRAM = (THREADS ; done -> SKIP) [| union(Sync, {done}) |]\n"
	      "  (SYNC /\\ (done -> SKIP))\n",
	      c->out);
}

/* USED is set if a thread uses the variable, SHARED if several threads use it, and WRITTEN if a
 * thread writes it. */
enum { USED = 1, SHARED = 2, WRITTEN = 4 };

static void put_assertions(const struct csp *c)
{
	const struct exec *x = c->x;
	uint8_t *state = rd_xcalloc((size_t)x->variables + 1, 1);
	uint16_t *user = rd_xcalloc((size_t)x->variables + 1, sizeof *user);
	struct rd_buf name = RD_BUF_INIT;

	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (!exec_is_access(e->kind) || e->flags & EXEC_ATOMIC)
			continue;
		if (state[e->object] & USED && user[e->object] != e->thread)
			state[e->object] |= SHARED;
		user[e->object] = e->thread;
		state[e->object] |= USED | (exec_writes(e->kind) ? WRITTEN : 0);
	}
	fputs("\n-- Races: one assertion a variable; a counterexample is a race\n"
	      "Accesses(v) = {read.t.v, write.t.v | t <- Threads}\n"
	      "RACE_ERR(v) =\n"
	      "  ([] a : Threads @ read.a.v -> [] b : diff(Threads, {a}) @ write.b.v -> race -> SKIP)\n"
	      "  [] ([] a : Threads @ write.a.v -> [] b : diff(Threads, {a}) @ read.b.v -> race -> SKIP)\n"
	      "  [] ([] a : Threads @ write.a.v -> [] b : diff(Threads, {a}) @ write.b.v -> race -> SKIP)\n"
	      "RACE(v) = RACE_ERR(v) /\\ ([] x : union(Accesses(v), Sync) @ x -> RACE(v))\n"
	      "CHECKED(v) = (PROGRAM [| union(Accesses(v), Sync) |] RACE(v)) \\ diff(Events, {race})\n",
	      c->out);
	for (uint32_t v = 0; v < x->variables; v++) {
		if ((state[v] & (SHARED | WRITTEN)) != (SHARED | WRITTEN))
			continue;
		rd_buf_clear(&name);
		model_name_place(c->t->model, c->t->variables[v].object, c->t->variables[v].offset, &name);
		fprintf(c->out, "assert STOP [T= CHECKED(%u) -- %s\n", v, name.data);
	}
	fputs("\n-- Deadlocks\n"
	      "LIVE = live -> LIVE\n"
	      "assert LIVE [F= (PROGRAM \\ diff(Events, {live})) ; LIVE\n",
	      c->out);
	rd_buf_release(&name);
	free(state);
	free(user);
}

static void release(struct csp *c)
{
	RD_FREE_EACH(c->processes, c->x->threads);
	RD_FREE(c->processes, c->lengths, c->capacities, c->forked, c->joined, c->wakes, c->rwlock);
}

void predict_write_csp(const struct predict_trace *t, FILE *out)
{
	RD_ASSERT(t->model != NULL && out != NULL);
	struct csp c = {.t = t, .x = &t->x, .out = out};
	size_t threads = (size_t)t->x.threads + 1;

	c.forked = rd_xcalloc(threads, 1);
	c.joined = rd_xcalloc(threads, 1);
	c.wakes = rd_xcalloc(t->x.count + 1, 1);
	c.rwlock = rd_xcalloc((size_t)t->x.locks + 1, 1);
	c.processes = rd_xcalloc(threads, sizeof *c.processes);
	c.lengths = rd_xcalloc(threads, sizeof *c.lengths);
	c.capacities = rd_xcalloc(threads, sizeof *c.capacities);
	find_roles(&c);
	fprintf(out, "-- %s: %zu events of %u threads\n\n", trace_path(t->model->trace), t->x.count,
		t->x.threads);
	put_channels(&c);
	put_threads(&c);
	put_patterns(&c);
	put_objects(&c);
	put_assertions(&c);
	release(&c);
}

int predict_export_csp(struct trace *trace, FILE *out)
{
	struct model *model = NULL;
	struct predict_trace t = {0};
	int err = model_build(&model, trace, MODEL_HISTORIES);
	if (!err)
		err = predict_fill(&t, model);
	if (!err)
		predict_write_csp(&t, out);
	predict_trace_release(&t);
	model_free(model);
	return err;
}
