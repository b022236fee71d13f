// SPDX-License-Identifier: Apache-2.0
/*
 * Prefixes.  In: schedules of runs that showed something new, and a seed.  Out: a schedule that
 * begins like one of them and continues as the seed determines.
 *
 * A schedule branches off where a run showed something new (a mark), because what follows is hardly
 * explored.  After some marks nothing is left to decide, for instance if the new step made a thread
 * return.  All runs from there have the same trail, so other marks are preferred.
 */
#include "explore/prefix.h"

#include "base/error.h"
#include "base/random.h"

#include <string.h>

/* How many places are compared for each schedule.  Of 6 explorations for a failure that needs four
 * ordered preemptions, 1 found it with one place, 5 with four places, and 5 with eight. */
#define PLACES_COMPARED 8

bool prefixes_add(struct prefixes *p, const struct prefix *prefix)
{
	if (!prefix->made || p->count == PREFIXES)
		return false;
	p->items[p->count++] = *prefix;
	return true;
}

/* ---- marks ---- */

static bool is_same_point(const struct schedule_decision *a, const struct schedule_decision *b)
{
	return a->n == b->n && a->count == b->count && !strcmp(a->point, b->point) &&
	       !strcmp(a->thread, b->thread);
}

/* Several marks at the same point count as one.  If there are still too many, evenly spread ones
 * are kept. */
size_t prefix_choose_marks(struct replay_mark *marks, size_t count)
{
	size_t different = 0;

	for (size_t i = 0; i < count; i++)
		if (!different || !is_same_point(&marks[different - 1].last, &marks[i].last))
			marks[different++] = marks[i];
	if (different <= PREFIX_MARKS)
		return different;
	for (size_t i = 0; i < PREFIX_MARKS; i++)
		marks[i] = marks[(i + 1) * different / PREFIX_MARKS - 1];
	return PREFIX_MARKS;
}

size_t prefix_add_marks(const struct schedule *made, const struct replay_mark *marks, uint32_t *mark_count,
			struct schedule_decision *to, uint32_t *at)
{
	size_t count = 0, next = 0;

	for (size_t i = 0; i <= made->decision_count; i++) {
		for (; next < *mark_count && marks[next].made == i; next++) {
			if (!count || !is_same_point(&to[count - 1], &marks[next].last))
				to[count++] = marks[next].last;
			at[next] = (uint32_t)count;
		}
		if (i < made->decision_count)
			to[count++] = made->decisions[i];
	}
	*mark_count = (uint32_t)next;
	return count;
}

/* ---- drawing ---- */

static uint64_t mixed(uint64_t seed, uint64_t n)
{
	return rd_mixed(seed + n * RD_RANDOM_STEP);
}

int prefix_begin(const char *made, uint64_t kept, uint64_t seed, struct schedule *schedule)
{
	int err = schedule_parse(schedule, made, strlen(made), "the run");

	if (err)
		return err;
	if (schedule->decision_count > kept)
		schedule->decision_count = kept;
	schedule->seed = seed;
	return RD_OK;
}

void prefixes_learn(struct prefixes *p, const struct prefix_part *part, bool is_new)
{
	struct prefix *prefix;
	uint32_t at = 0;

	if (!part->prefix || part->prefix > p->count)
		return;
	prefix = &p->items[part->prefix - 1];
	while (at < prefix->mark_count && prefix->marks[at] != part->kept)
		at++;
	if (at && at == prefix->mark_count)
		return;
	prefix->tries[at]++;
	prefix->news[at] += is_new;
}

/* A place at which a run can branch off: a prefix and one of its marks. */
struct branch {
	const struct prefix *prefix;
	uint32_t mark;
};

/* The last prefix was the hardest to reach, so about every second draw chooses it. */
static struct branch draw_branch(const struct prefixes *p, uint64_t place)
{
	uint64_t which = mixed(place, 1) % (2 * p->count);
	const struct prefix *prefix = &p->items[which < p->count ? which : p->count - 1];

	return (struct branch){prefix,
			       prefix->mark_count ? (uint32_t)(mixed(place, 3) % prefix->mark_count) : 0};
}

/* Returns true if a larger share of the runs that branched off at `a` was new than of those that
 * branched off at `b`. */
static bool is_better(const struct branch *a, const struct branch *b)
{
	uint64_t tries_a = a->prefix->tries[a->mark] + 1u, tries_b = b->prefix->tries[b->mark] + 1u;

	return (a->prefix->news[a->mark] + 1u) * tries_b > (b->prefix->news[b->mark] + 1u) * tries_a;
}

/* Chooses the place at which a run branches off.  After some places all runs are the same, so the
 * best of several places is chosen. */
static struct branch choose_branch(const struct prefixes *p, const struct prefix_draw *draw)
{
	struct branch best = draw_branch(p, draw->place), next;

	for (uint64_t i = 1; draw->is_long && i < PLACES_COMPARED; i++) {
		next = draw_branch(p, mixed(draw->place, 4 + i));
		if (is_better(&next, &best))
			best = next;
	}
	return best;
}

/* Returns true if the schedule has only records that explorations write.  A log that a user has
 * edited may have others. */
static bool is_explored(const struct schedule *s)
{
	return !s->op_count && !s->limit_count && !s->goal_count && !s->stop_count && !s->track_count &&
	       !s->choice_count;
}

/* Parses a prefix into an unused entry. */
static int parse_into(struct prefix_parsed *to, const char *made)
{
	int err = schedule_parse(&to->schedule, made, strlen(made), "the run");

	if (!err && !is_explored(&to->schedule))
		err = rd_fail(RD_EFORMAT,
			      "explore: a schedule of the log has records that explorations do not write");
	to->made = err ? NULL : made;
	return err;
}

/* Returns the parsed prefix, or NULL if its text is invalid. */
static const struct schedule *parse_once(struct prefixes *p, const char *made)
{
	struct prefix_parsed *oldest = p->parsed;

	p->draws++;
	for (struct prefix_parsed *at = p->parsed; at < p->parsed + PREFIXES_PARSED; at++) {
		if (at->made == made) {
			at->used = p->draws;
			return &at->schedule;
		}
		if (at->used < oldest->used)
			oldest = at;
	}
	schedule_release(&oldest->schedule);
	*oldest = (struct prefix_parsed){.used = p->draws};
	return parse_into(oldest, made) ? NULL : &oldest->schedule;
}

void prefixes_release(struct prefixes *p)
{
	for (size_t i = 0; i < PREFIXES_PARSED; i++) {
		schedule_release(&p->parsed[i].schedule);
		p->parsed[i] = (struct prefix_parsed){0};
	}
}

/* Stores in *to a schedule whose lists belong to it, but whose strings belong to `from`. */
static void borrow(const struct schedule *from, uint64_t kept, uint64_t seed, struct schedule *to)
{
	size_t watches = from->watch_count * sizeof *to->watches, decisions = kept * sizeof *to->decisions;

	RD_ASSERT(kept <= from->decision_count);
	*to = *from;
	to->arena = NULL;
	to->seed = seed;
	to->watch_capacity = from->watch_count + 1;
	to->decision_count = kept;
	to->decision_capacity = kept + 1;
	to->watches = rd_xcalloc(to->watch_capacity, sizeof *to->watches);
	to->decisions = rd_xcalloc(to->decision_capacity, sizeof *to->decisions);
	if (watches)
		memcpy(to->watches, from->watches, watches);
	if (decisions)
		memcpy(to->decisions, from->decisions, decisions);
}

int prefixes_draw(struct prefixes *p, const struct prefix_draw *draw, struct prefix_part *part,
		  struct schedule *schedule)
{
	RD_ASSERT(p->count > 0 && p->count <= PREFIXES);
	struct branch b = choose_branch(p, draw);
	const struct schedule *parsed = parse_once(p, b.prefix->made);

	*schedule = (struct schedule){0};
	*part = (struct prefix_part){.prefix = (uint64_t)(b.prefix - p->items) + 1};
	if (!parsed)
		return RD_EFORMAT;
	part->kept = draw->is_long && b.prefix->mark_count
			     ? b.prefix->marks[b.mark]
			     : mixed(draw->place, 3) % (parsed->decision_count + 1);
	if (part->kept > parsed->decision_count)
		part->kept = parsed->decision_count;
	borrow(parsed, part->kept, draw->seed, schedule);
	return RD_OK;
}
