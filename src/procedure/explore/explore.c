// SPDX-License-Identifier: Apache-2.0
/*
 * Exploring.  In: a program.  Out: findings, and how far the exploration came.
 *
 * The leader gives out batches of schedules to processes, each of which knows what the leader knew then:
 * which accesses are racy, how long the threads run.  It collects what the runs showed, and when one failed
 * in a new way it runs that again itself: with fewer and fewer decisions, and then three times with those
 * that are left.  Only what comes each time is a finding.
 */
#include "explore/explore.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/map.h"
#include "base/pool.h"
#include "trial/failure.h"
#include "trial/judge.h"
#include "explore/known.h"
#include "explore/log.h"
#include "explore/minimise.h"
#include "explore/mix.h"
#include "explore/stem.h"
#include "run/orphan.h"

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define BATCH 6		    /* schedules of a task, */
#define BATCH_QUICK 30	    /* or of a program that takes */
#define QUICK_NS 20000000   /* less than this, */
#define KNOWN 54	    /* when so many have been run */
#define BATCH_BITS 8	    /* of a task's number: how many; above them is the first schedule */
#define GRACE_NS 1000000000 /* for the last runs to be heard of */
#define STEP_MS 100	    /* between two looks at the time and at signals */
#define LEAST 1500	    /* schedules before it can have settled, */
#define SETTLED 3	    /* and how many times as many as those that brought the last new thing */
#define WINDOW 100	    /* or when of so many schedules */
#define NEW_ONES 10	    /* fewer than these were new */
#define MOST 5000	    /* schedules, if nobody says more */
#define RACES 256	    /* pairs of sites that are remembered */
#define SUGGESTED 64	    /* sites that others suggest */
#define SITES 512	    /* watched */
#define FAILURES 16	    /* kinds of failures */
#define RACY_TIMES 3	    /* schedules of one race */
#define EXTENT 20000	    /* at which a run is ended in any case (replay/board.h), */
#define EXTENT_TIMES 20	    /* or at so many times the longest one that has ended; */
#define EXTENT_UNIT 500	    /* as long as none has, at some times this one, */
#define EXTENT_HINT 4	    /* or so many times the longest one that has ended with other points, */
#define EXTENT_RUNS 1200    /* and if of so many none has, it is enough */
#define AGAIN 3		    /* times that a failure has to come again */
#define MINIMISE 200	    /* runs for leaving out decisions, */
#define MINIMISE_SHARE 5    /* and this part of the time given */

struct exploring {
	const struct explore *how;
	struct finding_set *set;
	struct explore_result *result;
	struct rd_pool *pool;
	struct rd_arena *arena;
	struct rd_umap trails; /* of schedules that were seen */
	struct rd_umap done;   /* schedules that an earlier exploration has run, by number */
	int log;	       /* where notes go; -1: nowhere */
	struct note_race races[RACES];
	size_t race_count;
	uint32_t suggested[SUGGESTED]; /* sites of races that others know */
	size_t suggested_count;
	struct note_thread *threads; /* of the longest run so far */
	size_t thread_count;
	uint64_t length[MIX_POINTS];  /* choices of a typical run */
	uint64_t longest[MIX_POINTS]; /* extent of the runs that have ended, */
	uint64_t cut;		      /* runs that were ended */
	struct stems stems;	      /* runs that showed something new, */
	struct cover plain;	      /* and what those with points at operations only have shown */
	struct note failures[FAILURES];
	size_t failure_count;
	int usual;	/* exit status of the first run; -1: not known */
	uint64_t given; /* schedules */
	int64_t run_ns; /* of the processor, for those that have ended */
	uint64_t window_end,
		window_new; /* schedules are looked at in windows: what was new before this one */
	bool repeats;	    /* of the last window hardly any was new */
	int64_t start_ns;
	struct rd_interrupt signals;
};

bool explore_is_strategy(const char *name)
{
	return mix_strategy(name) >= 0;
}

/* ---- schedules ---- */

/* Whether it is the same site, or one of the same variable. */
static bool is_alike(const struct trace_site *racy, const struct trace_site *site)
{
	return racy == site ||
	       (racy && racy->what && *racy->what && site->what && !strcmp(racy->what, site->what));
}

/* Whether the site accesses something that races, whatever the line. */
static bool is_racy(const struct exploring *x, const struct trace_site *site)
{
	const struct trace_sites *sites = x->how->runs.program->sites;

	for (size_t i = 0; i < 2 * x->race_count; i++)
		if (is_alike(trace_sites_find(sites, x->races[i / 2].site[i % 2]), site))
			return true;
	for (size_t i = 0; i < x->suggested_count; i++)
		if (is_alike(trace_sites_find(sites, x->suggested[i]), site))
			return true;
	return false;
}

static bool is_access(const struct trace_site *site)
{
	return site->kind < TRACE_SITE_FENCE; /* reads, writes, ranges, atomics */
}

static void watch_racy(const struct exploring *x, struct schedule *s)
{
	const struct trace_sites *sites = x->how->runs.program->sites;

	for (size_t u = 0; sites && u < sites->unit_count; u++) {
		const struct trace_unit *unit = &sites->units[u];

		for (size_t i = unit->site; i < unit->site + unit->site_count && s->watch_count < SITES; i++)
			if (is_access(&sites->sites[i]) && is_racy(x, &sites->sites[i]))
				mix_watch(s, trace_sites_number(sites, u, &sites->sites[i]));
	}
}

static void make_schedule(const struct exploring *x, const struct mix_draw *draw, struct schedule *s)
{
	schedule_init(s);
	s->turns = true;
	s->seed = draw->seed;
	s->flavour = EXPLORE_FLAVOUR;
	if (draw->points == MIX_RACY)
		watch_racy(x, s);
	if (draw->points == MIX_ALL || (draw->points == MIX_RACY && !s->watch_count))
		mix_watch(s, 0);
}

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., from n = 1 on: who tries again and again for so long does not need many
 * times as long as one who knew how long it takes (Luby, Sinclair, Zuckerman 1993). */
static uint64_t luby(uint64_t n)
{
	for (;;) {
		uint64_t size = 1;

		while (size < n)
			size = 2 * size + 1;
		if (size == n)
			return (size + 1) / 2;
		n -= size / 2;
	}
}

/* What an attempt is given while nobody knows how long runs with such points are: one that ended with other
 * points is a hint. */
static uint64_t extent_unit(const struct exploring *x)
{
	uint64_t unit = EXTENT_UNIT;

	for (int i = 0; i < MIX_POINTS; i++)
		if (unit < EXTENT_HINT * x->longest[i])
			unit = EXTENT_HINT * x->longest[i];
	return unit;
}

/* The extent at which a run is ended: it has lost an update that it waits for, or has no end.  Before any run
 * with such points has ended nobody knows how long they are.  If most have no end, those that have are worth
 * more than a run that takes long.  The first run says what is usual, and is not ended early. */
static uint64_t most_extent(const struct exploring *x, uint64_t number, enum mix_points points)
{
	uint64_t most = EXTENT_TIMES * x->longest[points],
		 least = x->cut > x->result->schedules ? EXTENT_UNIT : EXTENT;

	if (!x->longest[points] && number)
		return extent_unit(x) * luby(mix_position(number));
	return most > least ? most : least;
}

/* ---- in the worker ---- */

struct worker {
	const struct exploring *x;
	struct rd_arena *arena;
	struct trial trial;
	struct note note;
	struct judge judge;
	enum mix_points points;
	struct cover cover, plain; /* what it has told, as struct exploring has it */
	int err;		   /* of the judge */
};

static void copy_races(struct worker *w, const struct replay_result *r)
{
	w->note.races = rd_arena_alloc(w->arena, (r->race_count + 1) * sizeof *w->note.races);
	for (size_t i = 0; i < r->race_count; i++)
		w->note.races[w->note.race_count++] =
			(struct note_race){.address = r->races[i].address,
					   .size = r->races[i].size,
					   .site = {r->races[i].site[0], r->races[i].site[1]}};
}

static void copy_threads(struct worker *w, const struct replay_turns *t)
{
	w->note.threads = rd_arena_alloc(w->arena, (t->thread_count + 1) * sizeof *w->note.threads);
	for (size_t i = 0; i < t->thread_count; i++) {
		struct note_thread *to = &w->note.threads[w->note.thread_count];

		if ((size_t)snprintf(to->name, sizeof to->name, "%s", t->threads[i].thread) >=
		    sizeof to->name)
			continue;
		to->points = t->threads[i].points;
		w->note.thread_count++;
	}
}

/* Those that the leader does not know from here, or not of a run that can be recorded. */
static void copy_pairs(struct worker *w, const struct replay_result *r)
{
	const struct exploring *x = w->x;
	bool plain = w->points == MIX_OPERATIONS;

	w->note.pairs = rd_arena_alloc(w->arena, (r->pair_count + 1) * sizeof *w->note.pairs);
	for (size_t i = 0; i < r->pair_count; i++)
		if (!cover_has(plain ? &x->plain : &x->result->cover, r->pairs[i]) &&
		    cover_add(plain ? &w->plain : &w->cover, r->pairs[i], 0))
			w->note.pairs[w->note.pair_count++] = r->pairs[i];
}

/* Whether a run that came to its end failed all the same; NULL: it did not. */
static const char *find_fault(struct worker *w, const struct trial *t)
{
	bool failed = false;

	if (t->fault || t->end != REPLAY_EXITED)
		return NULL;
	if (!w->judge.command)
		return w->x->usual == 0 && t->status != 0 ? FAILURE_STATUS : NULL;
	w->err = judge_run(&w->judge, t, &failed);
	return failed ? FAILURE_JUDGED : NULL;
}

static void look(void *context, const struct replay_result *r)
{
	struct worker *w = context;
	const struct trial *t = &w->trial;

	w->note.run_ns = (int64_t)(r->cpu_seconds * 1e9);
	w->note.trail = r->turns.trail;
	w->note.choices = r->turns.choices;
	w->note.extent = r->turns.extent;
	w->note.counts = t->counts;
	w->note.cut = t->cut;
	w->note.unsure = t->unsure;
	w->note.status = t->end == REPLAY_EXITED ? t->status : -1;
	w->note.why = t->why;
	copy_races(w, r);
	copy_threads(w, &r->turns);
	if (t->counts || t->cut)
		copy_pairs(w, r);
	if (t->counts)
		failure_describe(&w->note.failure, t, r, w->x->how->runs.program->sites, find_fault(w, t),
				 w->arena);
}

/* Runs a schedule and fills the note of it; `made` may be NULL. */
static int run_noted(struct worker *w, struct trial_bench *b, const struct schedule *s, struct schedule *made)
{
	int err;

	w->note = (struct note){.status = -1};
	w->judge.command = w->x->how->fail_if;
	err = trial_run_with(b, s, &(struct trial_hooks){.result = look, .context = w}, &w->trial, made);
	return err ? err : w->err;
}

static struct replay_strategy strategy_of(const struct exploring *x, const struct mix_draw *draw,
					  struct rd_arena *arena)
{
	struct replay_strategy strategy = draw->strategy;
	struct replay_weight *weights = rd_arena_alloc(arena, (x->thread_count + 1) * sizeof *weights);

	strategy.length = x->length[draw->points];
	if (strategy.kind != RADDLE_STRATEGY_WEIGHTED)
		return strategy;
	for (size_t i = 0; i < x->thread_count; i++)
		weights[i] =
			(struct replay_weight){.thread = x->threads[i].name, .points = x->threads[i].points};
	strategy.weights = weights;
	strategy.weight_count = x->thread_count;
	return strategy;
}

/* The schedule of a draw, which has the points of what it begins like from then on. */
static int begin_schedule(const struct exploring *x, struct mix_draw *draw, struct stem_part *from,
			  struct schedule *s)
{
	int err;

	*from = (struct stem_part){0};
	if (!draw->branches || !x->stems.count) {
		make_schedule(x, draw, s);
		return RD_OK;
	}
	err = stems_draw(&x->stems, draw->seed, from, s);
	draw->points = x->stems.items[from->stem - 1].points;
	return err;
}

/* The detector costs less than can be measured beside the turns. */
static int run_number(struct worker *w, struct trial_bench *b, uint64_t number, struct rd_buf *answer)
{
	struct mix_draw draw = mix_draw(number, w->x->how->seed, w->x->how->strategy, w->x->thread_count);
	struct schedule s, made = {0};
	struct rd_buf text = RD_BUF_INIT;
	struct stem_part from;
	int err = begin_schedule(w->x, &draw, &from, &s);

	b->strategy = strategy_of(w->x, &draw, w->arena);
	b->detect = true;
	b->cover = true;
	b->most = most_extent(w->x, number, draw.points);
	w->points = draw.points;
	if (!err)
		err = run_noted(w, b, &s, &made);
	w->note.number = number;
	w->note.length = b->strategy.length;
	w->note.most = b->most;
	w->note.known = w->x->thread_count;
	w->note.from = from;
	if (!w->note.failure.fault && made.decision_count > STEM_DECISIONS)
		made.decision_count = STEM_DECISIONS;
	if (!err && (w->note.failure.fault || w->note.pair_count) && made.turns) {
		schedule_format(&made, &text);
		w->note.made = text.data;
	}
	if (!err)
		note_put(&w->note, answer);
	rd_buf_release(&text);
	schedule_release(&made);
	schedule_release(&s);
	return err;
}

static void enter(void *context, unsigned slot)
{
	const struct exploring *x = context;

	(void)slot;
	rd_interrupt_end(&x->signals);
}

/* The schedule that is the so-many-th of this shard, from 0. */
static uint64_t number_of(const struct exploring *x, uint64_t n)
{
	return x->how->shards ? n * x->how->shards + x->how->shard : n;
}

/* How many schedules this shard has at most. */
static uint64_t most_of(const struct exploring *x)
{
	uint64_t most = x->how->most ? x->how->most : MOST, shards = x->how->shards;

	return shards ? (most + shards - 1 - x->how->shard) / shards : most;
}

/* As long as little is known tasks are small, because each knows what was known when it was given.  Time is
 * that of the processor, so that a seed gives the same tasks on a busy machine. */
static uint64_t next_batch(const struct exploring *x)
{
	uint64_t left = most_of(x) - x->given;
	bool quick = x->given >= KNOWN && x->run_ns < QUICK_NS * (int64_t)x->result->schedules;
	uint64_t count = !x->given ? 1 : quick ? BATCH_QUICK : BATCH;

	return left < count ? left : count;
}

/* Whether the time has been up for so long. */
static bool is_later(const struct exploring *x, int64_t ns)
{
	return x->how->time && rd_now_ns() - x->start_ns >= (int64_t)x->how->time * 1000000000 + ns;
}

static int work(void *context, uint64_t task, struct rd_buf *answer)
{
	const struct exploring *x = context;
	struct worker w = {.x = x, .arena = rd_arena_new()};
	struct trial_bench b;
	uint64_t first = task >> BATCH_BITS, count = task & ((1u << BATCH_BITS) - 1);
	int err;

	run_orphans_adopt();
	err = trial_open(&b, &x->how->runs, NULL);
	b.copies = true;
	for (uint64_t i = 0; i < count && !err && !is_later(x, 0); i++)
		if (!rd_umap_get(&x->done, number_of(x, first + i)))
			err = run_number(&w, &b, number_of(x, first + i), answer);
	trial_close(&b);
	judge_release(&w.judge);
	cover_release(&w.cover);
	cover_release(&w.plain);
	rd_arena_free(w.arena);
	return err ? 2 : 0;
}

/* ---- what the runs showed ---- */

/* Where the race is known, or will be; NULL: there is no room. */
static struct note_race *find_race(struct exploring *x, const struct note *n, const struct note_race *race)
{
	for (size_t i = 0; i < x->race_count; i++)
		if (x->races[i].site[0] == race->site[0] && x->races[i].site[1] == race->site[1])
			return &x->races[i];
	if (x->race_count == RACES)
		return NULL;
	x->result->last_new = n->number + 1;
	x->races[x->race_count] = *race;
	x->races[x->race_count].kept = 0;
	return &x->races[x->race_count++];
}

/* What the run began like; NULL: nothing. */
static const struct stem *stem_of(const struct exploring *x, const struct note *n)
{
	return n->from.stem && n->from.stem <= x->stems.count ? &x->stems.items[n->from.stem - 1] : NULL;
}

/* The draw of a run, with the points that it had. */
static struct mix_draw draw_of(const struct exploring *x, const struct note *n)
{
	struct mix_draw draw = mix_draw(n->number, x->how->seed, x->how->strategy, x->thread_count);
	const struct stem *stem = stem_of(x, n);

	if (stem)
		draw.points = stem->points;
	return draw;
}

/* One that was stopped at racy accesses knew of races that later ones know more of, and one may have known
 * how much its threads had left to do: those cannot be drawn again.  Nor can decisions at accesses be kept,
 * since the flavour `record` has other ones. */
static bool is_recordable(const struct mix_draw *draw, const struct stem *stem)
{
	return (stem ? draw->points == MIX_OPERATIONS : draw->points != MIX_RACY) &&
	       draw->strategy.kind != RADDLE_STRATEGY_WEIGHTED;
}

/* A recorded run may go another way than the explored one, so several schedules are kept. */
static void take_race(struct exploring *x, const struct note *n, const struct note_race *race)
{
	struct mix_draw draw = draw_of(x, n);
	const struct stem *stem = stem_of(x, n);
	struct note_race *known = find_race(x, n, race);

	if (!known || known->kept == RACY_TIMES || !is_recordable(&draw, stem))
		return;
	known->kept++;
	if (x->result->racy_count < EXPLORE_RACY)
		x->result->racy[x->result->racy_count++] =
			(struct explore_racy){.number = n->number,
					      .length = n->length,
					      .threads = n->known,
					      .most = n->most,
					      .stem = stem ? stem->made : NULL,
					      .kept = n->from.kept,
					      .site = {race->site[0], race->site[1]}};
}

/* Of the runs, the one with most threads and points is the best guess at what is to come. */
static void take_threads(struct exploring *x, const struct note *n)
{
	uint64_t old = 0, now = 0;

	for (size_t i = 0; i < x->thread_count; i++)
		old += x->threads[i].points;
	for (size_t i = 0; i < n->thread_count; i++)
		now += n->threads[i].points;
	if (n->thread_count < x->thread_count || (n->thread_count == x->thread_count && now <= old))
		return;
	x->threads = n->threads;
	x->thread_count = n->thread_count;
}

static void take_failure(struct exploring *x, const struct note *n)
{
	for (size_t i = 0; i < x->failure_count; i++)
		if (failure_is_same(&x->failures[i].failure, &n->failure))
			return;
	if (x->failure_count == FAILURES || !n->made)
		return;
	if (!x->result->first_failure || n->number + 1 < x->result->first_failure)
		x->result->first_failure = n->number + 1;
	x->failures[x->failure_count++] = *n;
	x->result->last_new = n->number + 1;
}

static void look_back(struct exploring *x)
{
	const struct explore_result *r = x->result;

	if (r->schedules < x->window_end + WINDOW)
		return;
	x->repeats = r->different - x->window_new < NEW_ONES;
	x->window_end = r->schedules;
	x->window_new = r->different;
}

/* A run that showed something new can be recorded; the last ones are kept. */
static void take_new(struct exploring *x, const struct note *n)
{
	struct explore_result *r = x->result;

	if (r->new_count == EXPLORE_NEW)
		memmove(r->new_ones, r->new_ones + 1, --r->new_count * sizeof *r->new_ones);
	r->new_ones[r->new_count++] = (struct explore_racy){
		.number = n->number, .most = n->most, .stem = n->made, .kept = STEM_DECISIONS};
}

/* What a run did on its way. */
static void take_seen(struct exploring *x, const struct note *n)
{
	struct mix_draw draw = draw_of(x, n);
	uint32_t fresh = 0;

	for (uint32_t i = 0; i < n->race_count; i++)
		take_race(x, n, &n->races[i]);
	for (uint32_t i = 0; i < n->pair_count; i++) {
		fresh += cover_add(&x->result->cover, n->pairs[i], n->number + 1);
		fresh += draw.points == MIX_OPERATIONS && cover_add(&x->plain, n->pairs[i], 0);
	}
	if (fresh && stems_add(&x->stems, n->made, draw.points) && draw.points == MIX_OPERATIONS)
		take_new(x, n);
}

/* Of a run that had no end what it did on its way is true all the same. */
static void take_strayed(struct exploring *x, const struct note *n)
{
	x->result->strayed++;
	x->result->why = x->result->why ? x->result->why : n->why;
	if (!n->cut)
		return;
	x->cut++;
	take_seen(x, n);
}

static void take_note(struct exploring *x, const struct note *n)
{
	struct mix_draw draw = draw_of(x, n);
	struct explore_result *r = x->result;
	bool fresh;

	if (!n->counts) {
		take_strayed(x, n);
		return;
	}
	r->schedules++;
	x->run_ns += n->run_ns;
	if (n->extent > x->longest[draw.points])
		x->longest[draw.points] = n->extent;
	if (n->number == 0)
		x->usual = n->status;
	rd_umap_put(&x->trails, n->trail, &fresh);
	r->different += fresh;
	look_back(x);
	if (n->choices > x->length[draw.points])
		x->length[draw.points] = n->choices;
	take_seen(x, n);
	take_threads(x, n);
	if (n->failure.fault)
		take_failure(x, n);
}

/* Takes a note and adds the line that tells the same again: what was known before it needs no room. */
static void take_new_note(struct exploring *x, struct note *n, struct rd_buf *lines)
{
	size_t races = x->race_count, stems = x->stems.count;

	take_note(x, n);
	if (races == x->race_count)
		n->race_count = 0;
	if (!n->failure.fault && stems == x->stems.count)
		n->made = NULL;
	if (x->threads != n->threads)
		n->thread_count = 0;
	if (x->log >= 0)
		log_put_note(n, lines);
}

static int take_answer(struct exploring *x, const struct rd_pool_event *e)
{
	const char *at = e->answer, *end = e->answer + e->length;
	struct rd_buf lines = RD_BUF_INIT;
	struct note n;
	int err = RD_OK;

	while (at < end && note_get(&n, &at, end, x->arena))
		take_new_note(x, &n, &lines);
	if (lines.length && rd_write_all(x->log, lines.data, lines.length))
		err = rd_fail_errno("%s: cannot write it", x->how->log);
	rd_buf_release(&lines);
	return err;
}

/* Runs whose process ended are runs that say nothing, as many as it had been given. */
static void take_lost(struct exploring *x, const struct rd_pool_event *e)
{
	struct explore_result *r = x->result;

	r->strayed += e->task & ((1u << BATCH_BITS) - 1);
	r->why = r->why ? r->why : "the process that made the runs ended before them";
}

static int hear(struct exploring *x)
{
	struct rd_pool_event event;

	rd_pool_next(x->pool, STEP_MS, &event);
	if (event.what == RD_POOL_DONE)
		return take_answer(x, &event);
	if (event.what == RD_POOL_LOST && x->how->fail_if)
		return rd_fail(RD_ESYSTEM, "explore: runs could not be judged");
	if (event.what == RD_POOL_LOST && x->result->schedules == 0)
		return rd_fail(RD_ESYSTEM, "explore: the program could not be run");
	if (event.what == RD_POOL_LOST)
		take_lost(x, &event);
	return RD_OK;
}

/* ---- when it is enough ---- */

static enum explore_stop find_stop(const struct exploring *x)
{
	const struct explore *how = x->how;
	const struct explore_result *r = x->result;
	uint64_t enough = SETTLED * r->last_new, least = how->least ? how->least : LEAST,
		 given = number_of(x, x->given);

	if (is_later(x, 0))
		return EXPLORE_TIME;
	if (x->failure_count && !how->go_on)
		return EXPLORE_FAILED;
	if (x->given >= most_of(x))
		return EXPLORE_ENOUGH;
	if (!r->schedules && x->cut >= EXTENT_RUNS)
		return EXPLORE_SETTLED;
	if (!how->most && (x->repeats || given >= (enough > least ? enough : least)))
		return EXPLORE_SETTLED;
	return how->collect ? EXPLORE_TIME : EXPLORE_GOES_ON;
}

static void show(const struct exploring *x)
{
	double left = (double)x->how->time - (double)(rd_now_ns() - x->start_ns) / 1e9;
	struct explore_progress so_far = {.schedules = x->result->schedules,
					  .different = x->result->different,
					  .failures = x->failure_count,
					  .seconds_left = x->how->time && left > 0 ? left : 0};

	if (x->how->progress)
		x->how->progress(x->how->context, &so_far);
}

/* The first task is waited for: the others rest on what it shows. */
static int give_tasks(struct exploring *x)
{
	int err = RD_OK;

	while (!err && rd_pool_has_room(x->pool) && find_stop(x) == EXPLORE_GOES_ON) {
		uint64_t count = next_batch(x);

		if (x->given && !x->result->schedules && !x->result->strayed && rd_pool_busy(x->pool))
			break;
		err = rd_pool_submit(x->pool, x->given << BATCH_BITS | count);
		x->given += count;
	}
	return err;
}

static int run_tasks(struct exploring *x)
{
	bool interrupted = false;
	int err = RD_OK;

	rd_interrupt_begin(&x->signals);
	while (!err && !interrupted) {
		enum explore_stop stop = find_stop(x);

		err = give_tasks(x);
		if (err || !rd_pool_busy(x->pool) || stop == EXPLORE_FAILED || is_later(x, GRACE_NS))
			break;
		err = hear(x);
		interrupted = rd_interrupt_wait(&x->signals, 0) != 0;
		show(x);
	}
	rd_pool_stop(x->pool);
	rd_interrupt_end(&x->signals);
	x->result->stop = interrupted ? EXPLORE_INTERRUPTED : find_stop(x);
	x->result->extent = most_extent(x, 0, MIX_OPERATIONS);
	return err;
}

/* ---- failures again ---- */

struct repeat {
	struct worker worker;
	struct trial_bench *bench;
	const struct note *failure;
	const struct schedule *whole;
	struct schedule_decision *decisions; /* room for those of `whole` */
	int64_t until_ns;		     /* that decisions are left out; 0: any time */
	int err;
};

/* Whether it fails in the same way under a schedule. */
static bool fails_by(struct repeat *r, const struct schedule *s)
{
	if (r->err)
		return false;
	r->err = run_noted(&r->worker, r->bench, s, NULL);
	return !r->err && failure_is_same(&r->worker.note.failure, &r->failure->failure);
}

static struct schedule with_decisions(struct repeat *r, const size_t *kept, size_t count)
{
	struct schedule s = *r->whole;

	for (size_t i = 0; i < count; i++)
		r->decisions[i] = r->whole->decisions[kept[i]];
	s.decisions = r->decisions;
	s.decision_count = count;
	return s;
}

static bool fails(void *context, const size_t *kept, size_t count)
{
	struct repeat *r = context;
	struct schedule s = with_decisions(r, kept, count);

	return (!r->until_ns || rd_now_ns() < r->until_ns) && fails_by(r, &s);
}

static int report_failure(struct exploring *x, struct repeat *r, const size_t *kept, size_t count)
{
	struct schedule s = with_decisions(r, kept, count);
	struct failure described;
	bool again = true;
	char seen[200];

	r->bench->copies = false; /* as the user will run it */
	for (int i = 0; i < AGAIN && again; i++)
		again = fails_by(r, &s);
	if (r->err)
		return r->err;
	x->result->unrepeated += !again;
	if (!again)
		return RD_OK;
	snprintf(seen, sizeof seen,
		 "first seen in schedule %" PRIu64 "; with %zu decisions it came again in %d of %d runs",
		 r->failure->number + 1, count, AGAIN, AGAIN);
	described = r->failure->failure;
	described.loops = r->worker.note.failure.loops;
	return failure_add(x->set, &described, &s, seen);
}

static int repeat_failure(struct exploring *x, struct trial_bench *b, const struct note *failure)
{
	struct schedule whole = {0};
	int err = schedule_parse(&whole, failure->made, strlen(failure->made), "the run");
	struct repeat r = {.worker = {.x = x, .arena = x->arena}, .bench = b, .failure = failure};
	size_t *kept = rd_xcalloc(whole.decision_count + 1, sizeof *kept), count = whole.decision_count;

	b->copies = true;
	b->most = failure->most;
	if (x->how->time)
		r.until_ns = rd_now_ns() + (int64_t)(x->how->time * 1000000000 / MINIMISE_SHARE);
	r.whole = &whole;
	r.decisions = rd_xcalloc(whole.decision_count + 1, sizeof *r.decisions);
	for (size_t i = 0; i < count; i++)
		kept[i] = i;
	if (!err && fails(&r, kept, count))
		count = minimise(kept, count, fails, &r, MINIMISE);
	if (!err)
		err = report_failure(x, &r, kept, count);
	RD_FREE(kept, r.decisions);
	judge_release(&r.worker.judge);
	schedule_release(&whole);
	return err;
}

static int repeat_failures(struct exploring *x)
{
	struct trial_bench b;
	int err = trial_open(&b, &x->how->runs, NULL);

	for (size_t i = 0; i < x->failure_count && !err; i++)
		err = repeat_failure(x, &b, &x->failures[i]);
	trial_close(&b);
	return err;
}

/* ---- the log ---- */

/* Numbers of sites mean the same in two programs that agree in this. */
static uint64_t digest_sites(const struct trace_sites *sites)
{
	uint64_t digest = 0;

	for (size_t i = 0; sites && i < sites->site_count; i++) {
		const struct trace_site *s = &sites->sites[i];
		uint32_t what[] = {s->n, s->kind, s->line, s->column, s->size};

		digest = XXH64(what, sizeof what, digest);
	}
	return digest;
}

static struct log_head head_of(const struct explore *how)
{
	char **argv = how->runs.program->argv;
	struct log_head head = {.argv = (const char **)argv,
				.program = digest_sites(how->runs.program->sites),
				.seed = how->seed,
				.strategy = how->strategy,
				.fail_if = how->fail_if,
				.with = how->runs.companion,
				.setup = how->runs.setup};

	while (argv[head.argc])
		head.argc++;
	return head;
}

static void take_old_note(void *context, const struct note *n)
{
	struct exploring *x = context;

	take_note(x, n);
	rd_umap_put(&x->done, n->number, NULL);
}

static int open_log(struct exploring *x, const char *path, int flags)
{
	x->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
	return x->log < 0 ? rd_fail_errno("%s: cannot write it", path) : RD_OK;
}

static int begin_log(struct exploring *x, const char *path)
{
	const struct log_head head = head_of(x->how);
	struct rd_buf line = RD_BUF_INIT;
	int err = open_log(x, path, O_TRUNC);

	log_put_head(&head, &line);
	if (!err && rd_write_all(x->log, line.data, line.length))
		err = rd_fail_errno("%s: cannot write it", path);
	rd_buf_release(&line);
	return err;
}

/* A log that is not there has nothing to say. */
static int read_log(struct exploring *x, const char *path, uint64_t *length)
{
	const struct log_head now = head_of(x->how);
	struct log_head then = {0};
	int err;

	*length = 0;
	if (!rd_file_exists(path))
		return RD_OK;
	err = log_read(path, &then, x->arena, take_old_note, x, length);
	if (!err && then.program != now.program)
		err = rd_fail(RD_EUSAGE, "%s: the program is another one now; explore it anew", path);
	return err;
}

static int read_shards(struct exploring *x)
{
	char *pattern = rd_xasprintf("%s.[0-9]*", x->how->log);
	glob_t found = {0};
	uint64_t length;
	int err = RD_OK, missing = glob(pattern, 0, NULL, &found);

	for (size_t i = 0; !missing && i < found.gl_pathc && !err; i++)
		err = read_log(x, found.gl_pathv[i], &length);
	globfree(&found);
	free(pattern);
	return err;
}

/* The log of a shard lies beside that of the whole, which it knows. */
static int resume_log(struct exploring *x)
{
	const struct explore *how = x->how;
	char *own = how->shards ? rd_xasprintf("%s.%u", how->log, how->shard) : rd_xstrdup(how->log);
	uint64_t length;
	int err = read_log(x, how->log, &length);

	if (!err)
		err = how->shards ? read_log(x, own, &length) : read_shards(x);
	if (!err)
		err = length ? open_log(x, own, 0) : begin_log(x, own);
	if (!err && length && ftruncate(x->log, (off_t)length))
		err = rd_fail_errno("%s: cannot write it", own);
	while (rd_umap_get(&x->done, number_of(x, x->given)))
		x->given++;
	free(own);
	return err;
}

static void remove_shards(const char *log)
{
	char *pattern = rd_xasprintf("%s.[0-9]*", log);
	glob_t found = {0};
	int missing = glob(pattern, 0, NULL, &found);

	for (size_t i = 0; !missing && i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
	free(pattern);
}

static int prepare_log(struct exploring *x)
{
	if (!x->how->log)
		return RD_OK;
	if (x->how->resume)
		return resume_log(x);
	remove_shards(x->how->log);
	return begin_log(x, x->how->log);
}

/* ---- the whole ---- */

static void copy_seen(const struct exploring *x)
{
	struct explore_result *r = x->result;

	r->seen_count = x->race_count;
	r->seen = rd_arena_alloc(x->arena, (x->race_count + 1) * sizeof *r->seen);
	for (size_t i = 0; i < x->race_count; i++)
		memcpy(r->seen[i], x->races[i].site, sizeof *r->seen);
}

int explore_run(const struct explore *how, struct finding_set *set, struct explore_result *result)
{
	struct exploring x = {.how = how, .set = set, .result = result, .usual = -1, .log = -1};
	struct rd_pool_opts pool = {.workers = how->jobs ? how->jobs : 1,
				    .fresh = true,
				    .enter = enter,
				    .work = work,
				    .context = &x};
	int err;

	result->arena = x.arena = rd_arena_new();
	x.start_ns = rd_now_ns();
	signal(SIGCHLD, SIG_DFL);
	if (how->suggested)
		x.suggested_count =
			explore_suggested(how->suggested, how->runs.program->sites, x.suggested, SUGGESTED);
	err = prepare_log(&x);
	rd_pool_open(&x.pool, &pool);
	if (!err)
		err = run_tasks(&x);
	rd_pool_close(x.pool);
	if (!err && !how->shards)
		err = repeat_failures(&x);
	if (x.log >= 0 && close(x.log) && !err)
		err = rd_fail_errno("%s: cannot write it", how->log);
	copy_seen(&x);
	cover_describe(&result->cover, how->runs.program->sites, set);
	cover_release(&x.plain);
	RD_UMAP_RELEASE(&x.trails, &x.done);
	return err;
}

void explore_result_release(struct explore_result *result)
{
	if (result->arena)
		rd_arena_free(result->arena);
	cover_release(&result->cover);
	*result = (struct explore_result){0};
}
