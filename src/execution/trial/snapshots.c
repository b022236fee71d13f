// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the snapshot from which a run continues.  In: schedules, one after the other.  Out: for
 * each schedule, a program that is frozen at a point up to which the run does the same as earlier
 * runs did.
 *
 * If a schedule leads two threads to a race, the program is frozen where they met.  What comes
 * after that (which thread goes first, the seed, decisions and watches) differs from run to run.
 * If a schedule has no goal, the program is frozen before it creates its second thread, because
 * until then there is nothing to decide.  A program is frozen when its key occurs for the second
 * time.  If it is to be frozen where threads met, this has to be the third time, because such a
 * snapshot pays off only for several runs.
 */
#include "trial/snapshots-int.h"

#include "base/error.h"
#include "base/map.h"

#include <stddef.h>

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
	return rd_hash_add(add_text(hash, s->front), s->apart);
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

static enum raddle_freeze freeze_of(const struct schedule *s)
{
	if (!s->turns || s->memory || s->anywhere || s->nowhere || s->looks || s->stop_count)
		return RADDLE_FREEZE_NOWHERE;
	if (s->goal_count)
		return RADDLE_FREEZE_MET;
	return s->op_count || s->limit_count || has_counting_watch(s) ? RADDLE_FREEZE_NOWHERE
								      : RADDLE_FREEZE_CREATION;
}

struct snapshot_place snapshot_place_of(const struct schedule *s, bool detect, bool cover)
{
	struct snapshot_place p = {.freeze = freeze_of(s)};
	uint64_t hash = rd_hash_add(p.freeze, (detect ? 1u : 0) | (cover ? 2u : 0) | (s->notes ? 4u : 0));

	if (p.freeze == RADDLE_FREEZE_NOWHERE)
		return p;
	hash = add_text(add_text(add_text(hash, s->edits), s->input), s->trace);
	hash = rd_hash_add(rd_hash_add(hash, s->keep[0]), s->keep[1]);
	hash = add_goals(add_ops(hash, s), s);
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
	*oldest = (struct trial_snapshot){.key = place->key, .frozen = {.freeze = place->freeze}};
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
	if (!b->told_unfrozen)
		rd_info("runs are started anew, not continued from %s: %s",
			freeze == RADDLE_FREEZE_MET ? "the race" : "the creation of the second thread", why);
	b->told_unfrozen = true;
}

struct replay_snapshot *snapshots_find(struct trial_bench *b, const struct schedule *s, bool traps)
{
	struct snapshot_place place = snapshot_place_of(s, b->detect, b->cover);
	struct trial_snapshot *entry;
	uint64_t least;

	if (!b->copies || b->conditions.no_snapshots || b->record_into || !place.key)
		return NULL;
	if (has_commands(b)) {
		tell(b, place.freeze, "a command runs before or beside each run (--setup, --with)");
		return NULL;
	}
	place.key = rd_hash_add(place.key, traps);
	entry = entry_of(b, &place);
	entry->used = ++b->snapshot_uses;
	/* Threads are created in advance only if the program is frozen before it creates its second
	 * thread.  Where two threads meet, most threads exist already. */
	if (place.freeze == RADDLE_FREEZE_CREATION && b->threads && !entry->frozen.pid)
		entry->frozen.ahead = b->threads - 1;
	least = place.freeze == RADDLE_FREEZE_MET ? 3 : 2;
	return ++entry->wanted >= least && !entry->frozen.off ? &entry->frozen : NULL;
}

void snapshots_report(struct trial_bench *b)
{
	for (size_t i = 0; i < TRIAL_SNAPSHOTS; i++) {
		const struct replay_snapshot *s = &b->snapshots[i].frozen;

		if (s->why)
			tell(b, s->freeze, s->why);
	}
}

void snapshots_close(struct trial_bench *b)
{
	for (size_t i = 0; i < TRIAL_SNAPSHOTS; i++) {
		replay_snapshot_close(&b->snapshots[i].frozen);
		b->snapshots[i] = (struct trial_snapshot){0};
	}
}
