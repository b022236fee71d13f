// SPDX-License-Identifier: Apache-2.0
/*
 * Checks whether a run is reversible.  It reads the records of a full trace, and returns a verdict
 * with its evidence.
 *
 * There are two walks over the trace.  The first extracts the operations, from which the clocks are
 * computed.  The second follows the accesses and finds dependent pairs whose order the clocks leave
 * open.  decide.c decides those pairs.  If something has to be reported, a third walk collects the
 * details (describe.c).
 */
#include "reversible/reversible.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "reversible/channel-int.h"
#include "reversible/depend-int.h"
#include "reversible/describe.h"
#include "reversible/feed-int.h"
#include "reversible/passes-int.h"

#include <stdlib.h>
#include <string.h>

/* An allocation of more than this many bytes is treated as if it were written at once.  Set by
 * hand. */
#define UNWRITTEN_MAX 4096
#define THREADS_MAX (UINT16_MAX - 2) /* limit of struct exec */

/* ---- the first walk ---- */

/* The libraries, which are all modules except the first.  The first module is the program. */
struct modules {
	struct {
		uint64_t base, size;
	} * list;
	size_t count, capacity;
};

static bool is_library(const struct modules *m, uint64_t address)
{
	for (size_t i = 1; i < m->count; i++)
		if (address - m->list[i].base < m->list[i].size)
			return true;
	return false;
}

static void note_module(struct modules *m, const struct trace_event *e)
{
	RD_GROW(m->list, m->capacity, m->count + 1);
	m->list[m->count].base = e->values[0];
	m->list[m->count++].size = e->values[1];
}

/* Returns true if the site calls a synchronisation operation directly, not a function that uses one
 * internally.  For example, pthread_once() is such an operation. pthread_exit() is not, although it
 * uses one when it loads the unwinder. */
static bool is_called(const struct trace_site *site)
{
	static const char *const words[] = {"mutex", "mtx_", "rwlock",	"spin", "cond",
					    "cnd_",  "sem_", "barrier", "once", "__cxa_guard"};

	for (size_t i = 0; site && i < sizeof words / sizeof *words; i++)
		if (strstr(site->what, words[i]))
			return true;
	return false;
}

/* Notes an object.  Locks inside libraries are left out.  For example, the thread that throws the
 * first exception initialises the unwinder, and nothing else depends on which thread that is.  A
 * semaphore that sem_open() opened may start with any value. */
static void note_object(struct rev_result *x, const struct modules *m, const struct trace_sites *sites,
			const struct trace_record *r)
{
	const struct trace_site *site = trace_sites_find(sites, r->site);
	uint32_t at = r->event->address ? rev_run_find(&x->run, r->event->address) : REV_NONE;
	struct rev_object *o;
	bool foreign;

	if (at == REV_NONE)
		return;
	o = &x->run.objects[at];
	foreign = !is_called(site) && is_library(m, o->address);
	o->foreign = foreign && (o->foreign || !o->known);
	o->known = true;
	if (r->event->kind == RADDLE_SEM_INIT && site && !strcmp(site->what, "sem_open"))
		rev_run_endless(&x->run, at);
}

static void note_event(struct rev_result *x, struct modules *m, const struct trace_sites *sites,
		       uint32_t thread, const struct trace_record *r)
{
	if (r->event->kind == RADDLE_MODULE)
		note_module(m, r->event);
	rev_run_event(&x->run, thread, r->event, r->site);
	if (raddle_is_sync(r->event->kind))
		note_object(x, m, sites, r);
}

static void name_threads(struct rev_result *x, struct epa_walk *walk)
{
	x->names = rd_xcalloc(x->run.thread_count + 1, sizeof *x->names);
	for (size_t i = 0; i < x->run.thread_count; i++) {
		const char *name = epa_thread_name(walk, x->run.threads[i].number);

		x->names[i] = rd_arena_strndup(x->arena, name, strlen(name));
	}
}

/* Returns an array that maps the place of a thread in the walk to its index in the run. */
static uint32_t *index_threads(struct rev_result *x, const struct epa_walk *walk)
{
	uint32_t *index = rd_xcalloc(epa_walk_threads(walk) + 1, sizeof *index);

	for (size_t i = 0; i < epa_walk_threads(walk); i++)
		index[i] = rev_run_thread(&x->run, epa_walk_number(walk, i));
	return index;
}

/* Callbacks for a walk.  `record` receives each record with the index of its thread, and `end`
 * receives the walk itself after the last record. */
struct record_reader {
	void (*record)(void *context, uint32_t thread, const struct trace_record *r);
	void (*end)(void *context, struct epa_walk *walk); /* may be NULL */
	void *context;
};

static int read_all(struct rev_result *x, struct epa_source *source, const struct record_reader *reader)
{
	struct trace_record r;
	struct epa_walk *walk;
	uint32_t *index;
	int err = epa_walk_open(&walk, source);

	if (err)
		return err;
	if (epa_walk_threads(walk) > THREADS_MAX) {
		err = rd_fail(RD_ELIMIT, "reversible: the run has %zu threads; %d is the limit",
			      epa_walk_threads(walk), THREADS_MAX);
		epa_walk_close(walk);
		return err;
	}
	index = index_threads(x, walk);
	while (epa_walk_next(walk, &r) > 0)
		reader->record(reader->context, index[epa_walk_place(walk)], &r);
	if (reader->end)
		reader->end(reader->context, walk);
	epa_walk_close(walk);
	free(index);
	return RD_OK;
}

struct operations {
	struct rev_result *x;
	struct modules modules;
	struct rev_channels channels;
	const struct trace_sites *sites;
};

static void add_operation(void *context, uint32_t thread, const struct trace_record *r)
{
	struct operations *o = context;

	o->x->records++;
	if (r->kind == TRACE_FULL_EVENT)
		note_event(o->x, &o->modules, o->sites, thread, r);
	rev_channels_feed(&o->channels, thread, r);
}

static void end_operations(void *context, struct epa_walk *walk)
{
	struct operations *o = context;
	struct rev_result *x = o->x;

	rev_channels_finish(&o->channels);
	rev_run_finish(&x->run);
	x->damaged = epa_walk_error(walk);
	x->partial = !epa_walk_is_whole(walk);
	name_threads(x, walk);
}

int rev_read_operations(struct rev_result *x, struct epa_source *source)
{
	struct operations o = {.x = x, .sites = epa_source_sites(source)};
	int err;

	rev_channels_init(&o.channels, &x->run, o.sites);
	err = read_all(x, source, &(struct record_reader){add_operation, end_operations, &o});
	rev_channels_release(&o.channels);
	free(o.modules.list);
	return err;
}

struct reversal_caller {
	const struct trace_sites *sites;
	const char **call; /* the function that each thread called last */
	rev_record_fn *fn;
	void *context;
};

static void pass_record(void *context, uint32_t thread, const struct trace_record *r)
{
	struct reversal_caller *c = context;

	if (r->kind == TRACE_FULL_CALL || r->kind == TRACE_FULL_TAIL) {
		const struct trace_site *site = trace_sites_find(c->sites, r->site);

		c->call[thread] = site ? site->what : "";
	}
	c->fn(c->context, thread, r, c->call[thread] ? c->call[thread] : "");
}

int rev_read_records(struct rev_result *x, struct epa_source *source, rev_record_fn *fn, void *context)
{
	struct reversal_caller c = {epa_source_sites(source), NULL, fn, context};
	int err;

	c.call = rd_xcalloc(x->run.thread_count + 1, sizeof *c.call);
	err = read_all(x, source, &(struct record_reader){pass_record, NULL, &c});
	free(c.call);
	return err;
}

/* ---- the second walk ---- */

struct follower {
	struct rev_feed feed;
	struct rev_shadow *shadow;
	struct rev_sources *sources;
};

static bool gives_unwritten(const char *call)
{
	static const char *const names[] = {
#define LIBC_RAW(name) name,
#include "raddle/libc.inc"
	};

	return rd_is_one_of(call, names, sizeof names / sizeof *names);
}

static void apply(struct follower *f, const struct rev_effects *e, const struct trace_record *r,
		  const char *call)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct rev_touch *t = &e->list[i].touch;

		switch (e->list[i].effect) {
		case REV_TOUCH:
			if (r->kind == TRACE_FULL_LOAD && rev_shadow_is_fresh(f->shadow, t->address, t->size))
				rev_sources_unwritten(f->sources, t->u, r->site);
			rev_shadow_touch(f->shadow, t);
			break;
		case REV_ENDS: rev_shadow_end(f->shadow, t, false); break;
		case REV_FREES: rev_shadow_release(f->shadow, t); break;
		case REV_CLEAR:
			rev_shadow_clear(f->shadow, t->address, t->size,
					 r->event->kind == RADDLE_ALLOC && t->size <= UNWRITTEN_MAX &&
						 gives_unwritten(call));
		}
	}
}

/* Marks the targets of pointers that are passed to a library, because the library may write to
 * them. */
static void escape_pointers(struct follower *f, const struct trace_record *r)
{
	for (size_t i = 0; i < r->value_count; i++)
		if (r->values[i].type == TRACE_VALUE_POINTER)
			rev_shadow_fill(f->shadow, trace_record_value(r, i));
}

static void follow(void *context, uint32_t thread, const struct trace_record *r)
{
	struct follower *f = context;
	struct rev_effects e;
	const char *call;

	rev_sources_feed(f->sources, thread, r);
	call = rev_sources_call(f->sources, thread);
	rev_feed_record(&f->feed, thread, r, call, &e);
	if (r->kind == TRACE_FULL_CALL || r->kind == TRACE_FULL_TAIL)
		escape_pointers(f, r);
	apply(f, &e, r, call);
}

static int read_accesses(struct rev_result *x, struct epa_source *source, struct follower *f)
{
	int err = read_all(x, source, &(struct record_reader){follow, NULL, f});

	if (err)
		return err;
	x->accesses = f->feed.accesses;
	x->sources = rev_sources_take(f->sources, &x->source_count);
	return 0;
}

/* ---- the check ---- */

struct rev_result *rev_result_new(void)
{
	struct rev_result *x = rd_xcalloc(1, sizeof *x);

	x->arena = rd_arena_new();
	rev_run_init(&x->run);
	return x;
}

static void move_decision(struct rev_result *x, struct rev_decision *d)
{
	x->verdict = d->verdict;
	x->reason = d->reason;
	x->counts = d->counts;
	x->proved = d->proved;
	d->proved = NULL;
	x->reversals = rd_xcalloc(d->found_count + 1, sizeof *x->reversals);
	x->reversal_count = d->found_count;
	for (size_t i = 0; i < d->found_count; i++) {
		struct rev_found *f = &d->found[i];

		x->reversals[i] = (struct rev_reversal){.pair = f->pair,
							.order = f->order,
							.replay = f->replay,
							.meet = f->meet,
							.by_solver = f->by_solver};
		f->order = f->replay = (struct rev_witness){0};
	}
	rev_decision_release(d);
}

static int check(struct rev_result *x, struct epa_source *source, const struct rev_options *options)
{
	struct follower f = {0};
	struct rev_decision d;
	int err;

	rev_order_build(&x->run, options->log);
	memcpy(x->rules, x->run.order->used, sizeof x->rules);
	rev_feed_init(&f.feed, &x->run, epa_source_sites(source));
	f.shadow = rev_shadow_new(&x->run);
	f.sources = rev_sources_new(&x->run, epa_source_sites(source), epa_source_layout(source));
	rev_depend(&x->run, f.shadow);
	err = read_accesses(x, source, &f);
	if (!err) {
		rev_decide(&d, &x->run, f.shadow, options->solver_ms, options->limit);
		move_decision(x, &d);
		if (x->verdict == REV_YES && (x->partial || f.feed.shortened)) {
			x->verdict = REV_OPEN;
			x->reason = x->partial ? "the trace does not reach the end of the run"
					       : "an access of more than 64 MB was not checked completely";
		}
	}
	rev_shadow_free(f.shadow);
	rev_sources_free(f.sources);
	rev_feed_release(&f.feed);
	return err;
}

void rev_result_free(struct rev_result *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->reversal_count; i++) {
		rev_witness_release(&x->reversals[i].order);
		rev_witness_release(&x->reversals[i].replay);
	}
	RD_FREE(x->reversals, x->proved, x->sources, x->shared, x->names);
	rev_order_free(&x->run);
	rev_run_release(&x->run);
	rd_arena_free(x->arena);
	free(x);
}

int rev_check(struct rev_result **result, struct epa_source *source, const struct rev_options *options)
{
	RD_ASSERT(result != NULL && source != NULL && options != NULL);
	struct rev_result *x = rev_result_new();
	int err;

	err = rev_read_operations(x, source);
	if (!err)
		err = check(x, source, options);
	if (!err && (x->reversal_count || options->objects))
		err = rev_describe(x, source, options->objects);
	x->threads = x->run.thread_count;
	x->operations = x->run.op_count;
	x->odd = x->run.odd;
	if (err)
		rev_result_free(x);
	else
		*result = x;
	return err;
}
