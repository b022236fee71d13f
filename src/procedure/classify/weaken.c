// SPDX-License-Identifier: Apache-2.0
/*
 * Runs under weaker memory models (classify/weaken-int.h).  In: a race, and its runs under
 * sequential consistency.  Out: a run that shows a new effect, with its schedule and its choices of
 * values and threads.
 *
 * At each access that obeys the model there are two choices: which value memory returns, and which
 * thread runs next.  A limited number of runs enumerates these choices after both threads have
 * reached the race.  In further runs, seeds choose schedules and values.  A new effect is
 * attributed to the memory of this race under three conditions: the same schedule without these
 * choices does not show it; the memory of this race is a cause of it (blame-int.h); and it is
 * reproduced every time.
 */
#include "classify/weaken-int.h"

#include "base/error.h"

#include <string.h>

/* All of these values were set by hand.  Smaller values miss outputs that a weak memory model
 * allows, larger ones take time from other races. */
#define EXPLORED_LEAST 8 /* minimum number of runs of an exploration, even if they are long */
/* An exploration ends when all its runs together have this extent (replay/board-int.h).  It
 * corresponds to WEAKEN_EXPLORED runs with 300,000 accesses each.  Native code makes so many
 * accesses in about 3 ms. */
#define EXPLORED_EXTENT 600000
#define UNSURE 4       /* maximum number of times that a run is repeated because timing affected it */
#define REFUTED_MAX 64 /* maximum number of rejected effects that are remembered */
/* Maximum number of explorations for the question whether a race causes an effect.  Any four races
 * need at most this many. */
#define QUESTIONS 16

struct attempt {
	const struct weaken *how;
	struct schedule lists; /* the accesses that obey the model */
	struct weakened *result;
	struct {
		const char *fault; /* the rejected fault, or NULL for an output */
		uint64_t key;
	} refuted[REFUTED_MAX];
	size_t refuted_count;
};

bool weaken_has_explored(const struct replay_search *s, enum variant_group group)
{
	size_t most = group == VARIANT_CONTROL ? WEAKEN_EXPLORED : WEAKEN_EXPLORED_LED;

	return s->runs >= most || (s->runs >= EXPLORED_LEAST && s->extent >= EXPLORED_EXTENT);
}

void weaken_variant(struct variant *v, const struct schedule *lists, const char *memory, uint64_t seed)
{
	v->schedule.memory = memory;
	v->schedule.memory_seed = seed;
	v->schedule.tracks = lists->tracks;
	v->schedule.track_count = lists->track_count;
	v->schedule.watches = lists->watches;
	v->schedule.watch_count = lists->watch_count;
}

static void make(const struct attempt *a, enum variant_group group, size_t number, struct variant *v)
{
	variant_make(v, a->how->race, group, (unsigned)number);
	weaken_variant(v, &a->lists, a->how->memory, number + 1);
}

/* ---- comparing ---- */

/* Returns true if the run shows something that no run under sequential consistency showed. */
static bool is_new(const struct weaken *w, const struct trial *t, bool *sorted)
{
	*sorted = false;
	return t->counts && t->relaxed && decide_is_new(w->usual, t, sorted);
}

static uint64_t key_of(const struct trial *t, bool sorted)
{
	return sorted ? t->sorted_digest : t->digest;
}

static bool is_same(const struct trial *a, const struct trial *b, bool sorted)
{
	if (!a->counts || !b->counts)
		return false;
	if (a->fault || b->fault)
		return a->fault && b->fault && !strcmp(a->fault, b->fault);
	return key_of(a, sorted) == key_of(b, sorted);
}

/* Returns true if the effect was rejected before, so that it need not be verified again. */
static bool is_refuted(const struct attempt *a, const struct trial *t, bool sorted)
{
	for (size_t i = 0; i < a->refuted_count; i++)
		if (t->fault ? a->refuted[i].fault && !strcmp(a->refuted[i].fault, t->fault)
			     : !a->refuted[i].fault && a->refuted[i].key == key_of(t, sorted))
			return true;
	return false;
}

static void refute(struct attempt *a, const struct trial *t, bool sorted)
{
	RD_ASSERT(a->refuted_count <= REFUTED_MAX);
	if (a->refuted_count == REFUTED_MAX)
		return;
	a->refuted[a->refuted_count].fault = t->fault;
	a->refuted[a->refuted_count++].key = key_of(t, sorted);
}

/* Makes a run of the same schedule under sequential consistency, and sets *shows if this run shows
 * the effect, too. */
static int is_by_schedule(const struct weaken *w, const struct weakened *r, bool *shows)
{
	struct schedule plain = r->schedule;
	struct trial t;
	int err;

	plain.memory = "sc";
	plain.choice_count = 0;
	err = trial_run(w->bench, &plain, &t, NULL);
	*shows = !err && is_same(&t, &r->shows, r->sorted);
	return err;
}

/* ---- the cause of a new effect ---- */

/* The question whether an effect occurs if only the memory of some races obeys the model. */
struct question {
	const struct weaken *how;
	const struct weakened *effect;
	struct track_objects objects;
};

static struct track_objects choose_objects(const struct question *q, uint32_t parts)
{
	struct track_objects chosen = {.count = 0};

	for (size_t i = 0; i < q->objects.count; i++)
		if (parts >> i & 1)
			chosen.names[chosen.count++] = q->objects.names[i];
	return chosen;
}

static int ask(void *context, uint32_t parts, bool *shows)
{
	const struct question *q = context;
	struct track_objects only = choose_objects(q, parts);
	struct replay_search search = {0};
	struct schedule lists;
	struct variant v;
	struct trial t;
	int err = RD_OK;

	schedule_init(&lists);
	tracks_fill(q->how->tracks, &only, &lists);
	variant_make(&v, q->how->race, q->effect->group, 0);
	weaken_variant(&v, &lists, q->how->memory, 0);
	do {
		err = trial_explore(q->how->bench, &v.schedule, &search, &t, NULL);
		*shows = !err && is_same(&t, &q->effect->shows, q->effect->sorted);
	} while (!err && !*shows && replay_search_next(&search) &&
		 !weaken_has_explored(&search, q->effect->group));
	replay_search_release(&search);
	schedule_release(&lists);
	return err;
}

/* Sets *elsewhere if the memory of this race is not a cause of the effect (blame-int.h). */
static int is_elsewhere(const struct weaken *w, const struct weakened *r, bool *elsewhere)
{
	struct question q = {.how = w, .effect = r};
	struct blame b = {.most = QUESTIONS, .shows = ask, .context = &q};
	bool cause = true;
	int err;

	*elsewhere = false;
	if (!w->object)
		return RD_OK;
	*elsewhere = !tracks_objects(w->tracks, &q.objects);
	b.parts = (unsigned)q.objects.count;
	while (b.own < b.parts && strcmp(q.objects.names[b.own], w->object) != 0)
		b.own++;
	if (*elsewhere || b.own == b.parts)
		return RD_OK;
	err = blame_find(&b, &cause);
	*elsewhere = !cause;
	return err;
}

/* ---- checking a new effect ---- */

/* Returns true if time limits may have affected the run.  In that case a different result proves
 * little. */
static bool is_unsure(const struct trial *t)
{
	return t->unsure || t->end == REPLAY_HUNG || t->end == REPLAY_RAN_ON;
}

static int comes_again(const struct weaken *w, struct weakened *r, bool *again)
{
	unsigned unsure = 0;
	struct trial t;
	int err = RD_OK;

	*again = r->schedule.turns;
	for (int i = 0; i < w->replays && *again && !err;) {
		err = trial_run(w->bench, &r->schedule, &t, NULL);
		*again = !err && is_same(&t, &r->shows, r->sorted);
		if (*again || !is_unsure(&t) || unsure++ == UNSURE)
			i++;
		else
			*again = true; /* repeat the run once more */
	}
	return err;
}

static int verify(const struct attempt *a, struct weakened *r, bool *means)
{
	bool no = false, again;
	int err = comes_again(a->how, r, &again);

	r->lost |= !again;
	if (!err && again)
		err = is_by_schedule(a->how, r, &no);
	if (!err && again && !no) {
		err = is_elsewhere(a->how, r, &no);
		r->elsewhere |= no;
	}
	*means = !err && again && !no;
	return err;
}

/* ---- runs ---- */

static enum finding_class class_of(const struct trial *t)
{
	return t->fault ? FINDING_SPEC_VIOLATED : FINDING_OUTPUT_DIFFERS;
}

/* Judges a run, and takes ownership of its schedule `made`.  A fault replaces an output that was
 * found before. */
static int judge(struct attempt *a, const struct trial *t, enum variant_group group, struct schedule *made)
{
	struct weakened *r = a->result, found = *r;
	bool means = false, sorted;
	int err;

	r->k += t->counts && t->relaxed;
	r->over = r->over ? r->over : t->over;
	if (!is_new(a->how, t, &sorted) || (r->class != FINDING_NO_CLASS && !t->fault) ||
	    is_refuted(a, t, sorted)) {
		schedule_release(made);
		return RD_OK;
	}
	found.schedule = *made;
	found.shows = *t;
	found.sorted = sorted;
	found.group = group;
	err = verify(a, &found, &means);
	r->lost |= found.lost;
	r->elsewhere |= found.elsewhere;
	if (!means) {
		refute(a, t, sorted);
		schedule_release(&found.schedule);
		return err;
	}
	schedule_release(&r->schedule);
	found.class = class_of(t);
	RD_ASSERT(t->counts && t->relaxed > 0 && found.schedule.turns);
	*r = found;
	return err;
}

static bool is_enough(const struct attempt *a)
{
	return a->result->class == FINDING_SPEC_VIOLATED;
}

/* Enumerates the choices after the threads have met, up to the maximum number of runs.  Uses the
 * schedule without a seed. */
static int explore(struct attempt *a, enum variant_group group)
{
	struct replay_search search = {0};
	struct schedule made;
	struct variant v;
	struct trial t;
	int err;

	do {
		make(a, group, 0, &v);
		v.schedule.memory_seed = 0;
		err = trial_explore(a->how->bench, &v.schedule, &search, &t, &made);
		if (!err)
			err = judge(a, &t, group, &made);
	} while (!err && !is_enough(a) && replay_search_next(&search) &&
		 !weaken_has_explored(&search, group));
	replay_search_release(&search);
	return err;
}

/* Makes a run whose schedule and choices come from seeds. */
static int try_seed(struct attempt *a, enum variant_group group, size_t number)
{
	struct schedule made;
	struct variant v;
	struct trial t;
	int err;

	make(a, group, number, &v);
	err = trial_run(a->how->bench, &v.schedule, &t, &made);
	return err ? err : judge(a, &t, group, &made);
}

/* Returns true if the threads could be brought together.  If they could not, only runs without
 * goals are made. */
static bool has_met(const struct decide_runs *usual)
{
	for (size_t i = 0; i < usual->count; i++)
		if (usual->items[VARIANT_FIRST][i].counts || usual->items[VARIANT_SECOND][i].counts)
			return true;
	return false;
}

int weaken(const struct weaken *w, struct weakened *result)
{
	struct attempt a = {.how = w, .result = result};
	unsigned first = has_met(w->usual) ? VARIANT_FIRST : VARIANT_CONTROL;
	int err = RD_OK;

	*result = (struct weakened){0};
	schedule_init(&a.lists);
	tracks_fill(w->tracks, NULL, &a.lists);
	for (unsigned g = first; g < VARIANT_GROUPS && !err && !is_enough(&a); g++)
		err = explore(&a, g);
	for (size_t n = 0; n < w->most && !err && !is_enough(&a); n++)
		for (unsigned g = first; g < VARIANT_GROUPS && !err && !is_enough(&a); g++)
			err = try_seed(&a, g, n);
	schedule_release(&a.lists);
	return err;
}
