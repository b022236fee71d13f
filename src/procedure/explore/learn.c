// SPDX-License-Identifier: Apache-2.0
/*
 * What an exploration learns from its runs.  In: notes of runs.  Out: races, lengths of runs,
 * prefixes, failures, and the counters of the result.
 */
#include "base/error.h"
#include "explore/state-int.h"

#include <string.h>

/* Schedules are counted in windows of 100.  An exploration ends when fewer than 10 schedules of a
 * window were new, because at that rate of repetition hardly any new schedule is left
 * (doc/design/explore.md). */
#define WINDOW 100
#define WINDOW_NEW 10

void explore_state_init(struct explore_state *s, const struct explore *how, struct explore_result *result)
{
	*s = (struct explore_state){.how = how, .result = result, .usual_status = -1};
}

void explore_state_release(struct explore_state *s)
{
	cover_release(&s->recordable);
	prefixes_release(&s->prefixes);
	RD_UMAP_RELEASE(&s->trails, &s->done);
}

/* Returns the prefix that the run extended, or NULL if it extended none. */
static const struct prefix *prefix_of(const struct explore_state *s, const struct note *n)
{
	return n->from.prefix && n->from.prefix <= s->prefixes.count ? &s->prefixes.items[n->from.prefix - 1]
								     : NULL;
}

/* Returns the draw from which the run was planned, using the number of threads that was known at
 * that time. */
static struct draw draw_of(const struct explore_state *s, const struct note *n)
{
	struct draw draw = explore_draw(s->how, n->number, n->known);
	const struct prefix *prefix = prefix_of(s, n);

	if (prefix)
		draw.points = prefix->points;
	return draw;
}

/* ---- races ---- */

/* Returns the entry of a race, which is added if it is new, or NULL if there is no room. */
static struct note_race *find_race(struct explore_state *s, const struct note *n,
				   const struct note_race *race)
{
	RD_ASSERT(s->race_count <= EXPLORE_RACES);
	for (size_t i = 0; i < s->race_count; i++)
		if (s->races[i].site[0] == race->site[0] && s->races[i].site[1] == race->site[1])
			return &s->races[i];
	if (s->race_count == EXPLORE_RACES)
		return NULL;
	s->result->last_new = n->number + 1;
	s->races[s->race_count] = *race;
	s->races[s->race_count].kept = 0;
	return &s->races[s->race_count++];
}

/* Returns true if the flavour `record` can repeat the run.  A run with points at racy accesses
 * depends on the races that were known at the time.  A weighted run depends on how much its threads
 * still had to do.  A prefix with decisions at accesses cannot be followed either, since `record`
 * instruments other accesses. */
static bool is_recordable(const struct draw *draw, const struct prefix *prefix)
{
	return (prefix ? draw->points == POINTS_OPERATIONS : draw->points != POINTS_RACY) &&
	       draw->strategy.kind != RADDLE_STRATEGY_WEIGHTED;
}

static void learn_race(struct explore_state *s, const struct note *n, const struct note_race *race)
{
	struct explore_result *r = s->result;
	struct draw draw = draw_of(s, n);
	const struct prefix *prefix = prefix_of(s, n);
	struct note_race *known = find_race(s, n, race);

	if (!known || known->kept == EXPLORE_RACY_TIMES || !is_recordable(&draw, prefix))
		return;
	known->kept++;
	RD_ASSERT(known->kept <= EXPLORE_RACY_TIMES);
	if (r->racy_count < EXPLORE_RACY)
		r->racy[r->racy_count++] = (struct explore_racy){.number = n->number,
								 .length = n->length,
								 .threads = n->known,
								 .most = n->most,
								 .prefix = prefix ? prefix->made : NULL,
								 .kept = n->from.kept,
								 .site = {race->site[0], race->site[1]}};
}

/* ---- noting what is new ---- */

/* Keeps a run that showed something new, to be recorded later.  Only the last such runs are
 * kept. */
static void keep_new(struct explore_result *r, const struct note *n)
{
	RD_ASSERT(r->new_count <= EXPLORE_NEW);
	if (r->new_count == EXPLORE_NEW)
		memmove(r->new_ones, r->new_ones + 1, --r->new_count * sizeof *r->new_ones);
	r->new_ones[r->new_count++] = (struct explore_racy){
		.number = n->number, .most = n->most, .prefix = n->made, .kept = PREFIX_DECISIONS};
}

/* Learns the races and conflicting places of a run. */
static void learn_seen(struct explore_state *s, const struct note *n)
{
	struct draw draw = draw_of(s, n);
	struct prefix prefix = {.made = n->made, .mark_count = n->mark_count};
	uint32_t fresh = 0;

	for (uint32_t i = 0; i < n->race_count; i++)
		learn_race(s, n, &n->races[i]);
	for (uint32_t i = 0; i < n->pair_count; i++) {
		fresh += cover_add(&s->result->cover, n->pairs[i], n->number + 1);
		fresh += draw.points == POINTS_OPERATIONS && cover_add(&s->recordable, n->pairs[i], 0);
	}
	prefix.points = draw.points;
	memcpy(prefix.marks, n->marks, sizeof prefix.marks);
	if (fresh && prefixes_add(&s->prefixes, &prefix) && draw.points == POINTS_OPERATIONS)
		keep_new(s->result, n);
}

static uint64_t points_of(const struct note_thread *threads, size_t count)
{
	uint64_t points = 0;

	for (size_t i = 0; i < count; i++)
		points += threads[i].points;
	return points;
}

/* Remembers the threads of the run that best predicts later runs.  This is the run with the most
 * threads and, among runs with equally many threads, the one with the most points. */
static void learn_threads(struct explore_state *s, const struct note *n)
{
	if (n->thread_count < s->thread_count ||
	    (n->thread_count == s->thread_count &&
	     points_of(n->threads, n->thread_count) <= points_of(s->threads, s->thread_count)))
		return;
	s->threads = n->threads;
	s->thread_count = n->thread_count;
}

static void learn_failure(struct explore_state *s, const struct note *n)
{
	RD_ASSERT(s->failure_count <= EXPLORE_FAILURES);
	for (size_t i = 0; i < s->failure_count; i++)
		if (failure_is_same(&s->failures[i].failure, &n->failure))
			return;
	if (s->failure_count == EXPLORE_FAILURES || !n->made)
		return;
	if (!s->result->first_failure || n->number + 1 < s->result->first_failure)
		s->result->first_failure = n->number + 1;
	s->failures[s->failure_count++] = *n;
	s->result->last_new = n->number + 1;
}

static void close_window(struct explore_state *s)
{
	const struct explore_result *r = s->result;

	RD_ASSERT(r->different >= s->window_new);
	if (r->schedules < s->window_end + WINDOW)
		return;
	s->repeats = r->different - s->window_new < WINDOW_NEW;
	s->window_end = r->schedules;
	s->window_new = r->different;
}

/* ---- notes ---- */

/* Learns from a run that does not count.  If the run was ended early, what it showed until then is
 * valid. */
static void learn_discarded(struct explore_state *s, const struct note *n)
{
	s->result->discarded++;
	s->result->why = s->result->why ? s->result->why : n->why;
	prefixes_learn(&s->prefixes, &n->from, false);
	s->strayed += n->from.kept && !n->cut;
	if (!n->cut)
		return;
	s->cut++;
	learn_seen(s, n);
}

static void learn_lengths(struct explore_state *s, const struct note *n)
{
	enum draw_points points = draw_of(s, n).points;

	RD_ASSERT(points < POINTS_KINDS);
	if (n->extent > s->longest[points])
		s->longest[points] = n->extent;
	if (n->choices > s->length[points])
		s->length[points] = n->choices;
}

static void learn_run(struct explore_state *s, const struct note *n)
{
	struct explore_result *r = s->result;
	bool fresh;

	s->branches += n->from.kept != 0;
	if (!n->counts) {
		learn_discarded(s, n);
		return;
	}
	r->schedules++;
	s->run_ns += n->run_ns;
	s->run_extent += n->extent;
	if (n->number == 0)
		s->usual_status = n->status;
	rd_umap_put(&s->trails, n->trail, &fresh);
	r->different += fresh;
	prefixes_learn(&s->prefixes, &n->from, fresh);
	RD_ASSERT(r->different <= r->schedules);
	close_window(s);
	learn_lengths(s, n);
	learn_seen(s, n);
	learn_threads(s, n);
	if (n->failure.fault)
		learn_failure(s, n);
}

/* Returns how many races, failures and conflicting places are known. */
static size_t count_known(const struct explore_state *s)
{
	return s->race_count + s->failure_count + s->result->cover.count;
}

void explore_learn(struct explore_state *s, const struct note *n)
{
	size_t known = count_known(s);

	learn_run(s, n);
	if (count_known(s) > known) {
		s->quiet_work = s->quiet_runs = 0;
		return;
	}
	s->quiet_work += EXPLORE_RUN_WORK + n->extent;
	s->quiet_runs++;
}

void explore_learn_new(struct explore_state *s, struct note *n)
{
	size_t races = s->race_count, racy = s->result->racy_count, prefixes = s->prefixes.count;

	explore_learn(s, n);
	if (races == s->race_count && racy == s->result->racy_count)
		n->race_count = 0;
	if (!n->failure.fault && prefixes == s->prefixes.count) {
		n->made = NULL;
		n->mark_count = 0;
	}
	if (s->threads != n->threads)
		n->thread_count = 0;
}

void explore_learn_lost(struct explore_state *s, uint64_t count)
{
	struct explore_result *r = s->result;

	r->discarded += count;
	r->why = r->why ? r->why : "the process that makes the runs ended unexpectedly";
}
