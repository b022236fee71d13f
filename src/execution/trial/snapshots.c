// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the snapshot from which a run continues.  In: schedules, one after the other.  Out: for
 * each schedule, a program that is frozen at a point up to which the run does the same as earlier
 * runs did.
 *
 * If a schedule leads two threads to a race, the program is frozen where they met.  What comes
 * after that (which thread goes first, the seed, decisions and watches) differs from run to run.
 * If a schedule has no goal, the program is frozen before it creates its second thread, because
 * until then there is nothing to decide.  If the caller announces that several schedules are equal
 * up to the point of a decision (`branch`), the program is frozen there.  Under a memory model it
 * is never frozen at a decision, and elsewhere only if the model has made no choice before that
 * point (rt/steer/freeze.c).  It is frozen when its key occurs for the third time.
 */
#include "trial/snapshots-int.h"

#include "base/error.h"
#include "base/map.h"

#include <stddef.h>

/* If a run has more threads than earlier ones, later runs may have even more.  So 1/SPARE_PART of their
 * number is made in advance in addition.  Chosen by hand: a few threads cost less than a run that has
 * to be repeated. */
#define SPARE_PART 4

/* A program is frozen when its key occurs for this time.  Chosen by hand: a snapshot has to be compared
 * with a run that was made anew, so it pays off only for several runs. */
#define WANTED_LEAST 3

/* ---- keys ---- */

static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = rd_hash_add(hash, (unsigned char)*text);
	return rd_hash_add(hash, text ? 1 : 2);
}

static uint64_t add_ops(uint64_t hash, const struct schedule *s)
{
	for (size_t i = 0; i < s->op_count; i++) {
		hash = add_text(add_text(hash, s->ops[i].thread), s->ops[i].kind);
		hash = rd_hash_add(hash, s->ops[i].n);
	}
	for (size_t i = 0; i < s->limit_count; i++)
		hash = rd_hash_add(add_text(hash, s->limits[i].thread), s->limits[i].n);
	return hash;
}

static uint64_t add_goals(uint64_t hash, const struct schedule *s)
{
	for (size_t i = 0; i < s->goal_count; i++) {
		const struct schedule_goal *g = &s->goals[i];

		hash = rd_hash_add(add_text(hash, g->thread), g->after);
		hash = rd_hash_add(rd_hash_add(hash, g->occurrence), g->site);
		hash = rd_hash_add(add_text(hash, g->place.file), g->write);
		hash = rd_hash_add(rd_hash_add(hash, g->place.line), g->place.column);
	}
	return add_text(hash, s->front);
}

/* Adds the watches to the hash, since they determine what is a point in the runs. */
static uint64_t add_watches(uint64_t hash, const struct schedule *s)
{
	for (size_t i = 0; i < s->watch_count; i++) {
		const struct schedule_watch *w = &s->watches[i];

		hash = rd_hash_add(add_text(add_text(hash, w->thread), w->object), w->site);
		hash = rd_hash_add(add_text(hash, w->place.file), w->place.line);
		hash = rd_hash_add(rd_hash_add(hash, w->place.column), w->after);
		hash = rd_hash_add(rd_hash_add(hash, w->address), w->bytes);
		hash = rd_hash_add(hash, (w->reads ? 1u : 0) | (w->writes ? 2u : 0));
	}
	return hash;
}

/* Adds the memory model and the accesses that obey it to the hash.  The watches count, too, since
 * an exploration of the model also chooses the next thread, and does so at watched accesses. */
static uint64_t add_memory(uint64_t hash, const struct schedule *s)
{
	hash = add_text(hash, s->memory);
	for (size_t i = 0; i < s->track_count; i++) {
		const struct schedule_track *t = &s->tracks[i];

		hash = rd_hash_add(rd_hash_add(hash, t->site), t->write);
		hash = rd_hash_add(add_text(hash, t->place.file), t->place.line);
		hash = rd_hash_add(hash, t->place.column);
	}
	return add_watches(hash, s);
}

/* Adds the decisions that schedules have in common to the hash: the first `count`, and the point of
 * the next one. */
static uint64_t add_decisions(uint64_t hash, const struct schedule *s, size_t count)
{
	for (size_t i = 0; i <= count; i++) {
		const struct schedule_decision *d = &s->decisions[i];

		hash = add_text(add_text(hash, d->thread), d->point);
		hash = rd_hash_add(rd_hash_add(hash, d->n), d->count);
		hash = add_text(hash, i < count ? d->next : NULL);
	}
	return hash;
}

/* Returns true if a watch counts accesses.  Such a watch would miss the accesses that came before
 * the program was frozen. */
static bool has_counting_watch(const struct schedule *s)
{
	for (size_t i = 0; i < s->watch_count; i++)
		if (s->watches[i].occurrence || s->watches[i].stand)
			return true;
	return false;
}

static enum raddle_freeze freeze_of(const struct schedule *s, size_t branch)
{
	if (!s->turns || s->anywhere || s->nowhere || s->looks || s->stop_count)
		return RADDLE_FREEZE_NOWHERE;
	if (s->goal_count)
		return RADDLE_FREEZE_MET;
	if (s->op_count || s->limit_count || has_counting_watch(s))
		return RADDLE_FREEZE_NOWHERE;
	return branch && branch <= s->decision_count && !s->memory ? RADDLE_FREEZE_DECISION
								   : RADDLE_FREEZE_CREATION;
}

struct snapshot_place snapshot_place_of(const struct schedule *s, const struct snapshot_shared *shared)
{
	struct snapshot_place p = {.freeze = freeze_of(s, shared->branch)};
	uint64_t hash = rd_hash_add(p.freeze, (shared->detect ? 1u : 0) | (shared->cover ? 2u : 0) |
						      (s->notes ? 4u : 0));

	if (p.freeze == RADDLE_FREEZE_NOWHERE)
		return p;
	hash = add_text(add_text(add_text(hash, s->edits), s->input), s->trace);
	hash = rd_hash_add(rd_hash_add(hash, s->keep[0]), s->keep[1]);
	hash = add_goals(add_ops(hash, s), s);
	if (s->memory)
		hash = rd_hash_add(add_memory(hash, s), shared->explores);
	if (p.freeze == RADDLE_FREEZE_DECISION) {
		p.after = (uint32_t)shared->branch - 1;
		hash = add_decisions(add_watches(hash, s), s, p.after);
	}
	p.key = hash ? hash : 1;
	return p;
}

/* ---- snapshots ---- */

/* Returns the entry with this key.  If there is none, reuses the entry that has been unused for the
 * longest time. */
static struct trial_snapshot *entry_of(struct trial_bench *b, const struct snapshot_place *place)
{
	struct trial_snapshot *oldest = b->snapshots;

	for (size_t i = 0; i < TRIAL_SNAPSHOTS; i++) {
		if (b->snapshots[i].key == place->key)
			return &b->snapshots[i];
		if (b->snapshots[i].used < oldest->used)
			oldest = &b->snapshots[i];
	}
	replay_snapshot_close(&oldest->frozen);
	*oldest = (struct trial_snapshot){.key = place->key,
					  .frozen = {.freeze = place->freeze, .after = place->after}};
	return oldest;
}

/* Returns true if commands run before or beside the program.  With copies, they would see one start
 * of the program and several ends. */
static bool has_commands(const struct trial_bench *b)
{
	return b->conditions.setup || b->conditions.companion;
}

/* Tells the user, once, why runs are not copied. */
static void tell(struct trial_bench *b, enum raddle_freeze freeze, const char *why)
{
	static const char *const places[] = {[RADDLE_FREEZE_CREATION] = "the creation of the second thread",
					     [RADDLE_FREEZE_MET] = "the race",
					     [RADDLE_FREEZE_DECISION] = "a decision"};

	if (!b->told_unfrozen)
		rd_info("runs are started anew, not continued from %s: %s", places[freeze], why);
	b->told_unfrozen = true;
}

/* Ends a frozen program for which too few threads were made in advance.  The next run freezes it again. */
static void renew(struct replay_snapshot *s)
{
	struct replay_snapshot old = *s;

	if (!s->pid)
		return;
	replay_snapshot_close(s);
	s->off = false;
	s->compared = old.compared;
	s->resets = old.resets;
	s->why_single = old.why_single;
	s->repeated = old.repeated;
}

/* Returns the snapshot at this place, or NULL if there is none yet, or there cannot be one. */
static struct replay_snapshot *find_at(struct trial_bench *b, struct snapshot_place place, bool traps)
{
	struct trial_snapshot *entry;

	if (!place.key)
		return NULL;
	place.key = rd_hash_add(place.key, traps);
	entry = entry_of(b, &place);
	entry->used = ++b->snapshot_uses;
	if (b->threads > entry->frozen.ahead + 1) {
		renew(&entry->frozen);
		entry->frozen.ahead = b->threads - 1 + (entry->wanted ? b->threads / SPARE_PART : 0);
	}
	return ++entry->wanted >= WANTED_LEAST && !entry->frozen.off ? &entry->frozen : NULL;
}

struct replay_snapshot *snapshots_find(struct trial_bench *b, const struct schedule *s, bool traps,
				       bool explores)
{
	struct snapshot_shared shared = {b->detect, b->cover, explores, b->branch};
	struct snapshot_place place = snapshot_place_of(s, &shared);
	struct replay_snapshot *found;

	if (!b->copies || b->conditions.no_snapshots || b->record_into || !place.key)
		return NULL;
	if (has_commands(b)) {
		tell(b, place.freeze, "a command runs before or beside each run (--setup, --with)");
		return NULL;
	}
	found = find_at(b, place, traps);
	if (found || place.freeze != RADDLE_FREEZE_DECISION)
		return found;
	shared.branch = 0;
	return find_at(b, snapshot_place_of(s, &shared), traps);
}

/* Reports once why each copy makes only one run. */
static void tell_single(struct trial_bench *b, const char *why)
{
	if (!b->told_single)
		rd_info("each copy of the program makes one run: %s", why);
	b->told_single = true;
}

void snapshots_report(struct trial_bench *b)
{
	for (size_t i = 0; i < TRIAL_SNAPSHOTS; i++) {
		const struct replay_snapshot *s = &b->snapshots[i].frozen;

		if (s->why)
			tell(b, s->freeze, s->why);
		if (s->why_single)
			tell_single(b, s->why_single);
	}
}

void snapshots_close(struct trial_bench *b)
{
	for (size_t i = 0; i < TRIAL_SNAPSHOTS; i++) {
		replay_snapshot_close(&b->snapshots[i].frozen);
		b->snapshots[i] = (struct trial_snapshot){0};
	}
}
