// SPDX-License-Identifier: Apache-2.0
/*
 * The owner graph.  In: a board.  Out: the largest set of threads that wait in operations of
 * the program and that nobody outside the set can release.
 *
 * It begins with all that wait and loses, until nothing changes, each one that may go
 * on: whose lock has no owner in the set, whose joined thread is not in it, who waits for
 * a notification while some thread outside is alive.  A thread that stands at a gate
 * of ours is alive: it would go on without us, so nothing is called a deadlock that we
 * brought about ourselves.  An owner that is not known releases; one that has ended never
 * does.
 */
#include "replay/graph.h"

#include "raddle/event.h"

#include <string.h>

enum wait_class { WAIT_NONE, WAIT_LOCK, WAIT_READ, WAIT_JOIN, WAIT_NOTE, WAIT_SEM };

static bool holds(const struct board_row *r, uint64_t lock, bool *shared)
{
	for (uint32_t i = 0; i < r->held_count && lock; i++) {
		if ((r->held[i] & ~1ull) == lock) {
			*shared = r->held[i] & 1;
			return true;
		}
	}
	return false;
}

static bool is_held(const struct board *b, uint64_t lock)
{
	bool shared;

	for (size_t i = 0; i < b->count; i++)
		if (b->rows[i].state != RADDLE_SLOT_UNUSED && holds(&b->rows[i], lock, &shared))
			return true;
	return false;
}

/* A woken condition wait wants its mutex back. */
static enum wait_class class_of(const struct board *b, const struct board_row *r)
{
	if (r->state != RADDLE_SLOT_BLOCKED || r->timed)
		return WAIT_NONE;
	if (raddle_is_limited(r->kind))
		return WAIT_NONE;
	if (raddle_is_cond_wait(r->kind))
		return is_held(b, r->object) ? WAIT_LOCK : WAIT_NOTE;
	switch (raddle_role(r->kind)) {
	case RADDLE_ROLE_SHARE:
		return WAIT_READ;
	case RADDLE_ROLE_JOIN:
		return WAIT_JOIN;
	case RADDLE_ROLE_WAIT:
	case RADDLE_ROLE_WAKE:
	case RADDLE_ROLE_PASS:
		return WAIT_NOTE;
	case RADDLE_ROLE_ACQUIRE:
		return raddle_is_lock(r->kind)			   ? WAIT_LOCK
		       : raddle_class(r->kind) == RADDLE_CLASS_SEM ? WAIT_SEM
								   : WAIT_NOTE;
	default:
		return WAIT_NONE;
	}
}

/* Whether some holder of the lock never lets go of it. */
static bool is_kept(const struct board *b, const bool *closed, uint64_t lock, bool exclusive_only)
{
	bool shared;

	for (size_t i = 0; i < b->count; i++) {
		const struct board_row *r = &b->rows[i];

		if ((closed[i] || r->state == RADDLE_SLOT_ENDED) && holds(r, lock, &shared) &&
		    !(shared && exclusive_only))
			return true;
	}
	return false;
}

/* A lock may let readers in again only after a writer that waits. */
static bool has_writer_in_wait(const struct board *b, const bool *closed, uint64_t lock)
{
	for (size_t i = 0; i < b->count; i++)
		if (closed[i] && b->rows[i].kind == RADDLE_RWLOCK_WRLOCK && b->rows[i].object == lock)
			return true;
	return false;
}

static bool is_anybody_left(const struct board *b, const bool *closed)
{
	for (size_t i = 0; i < b->count; i++)
		if (board_is_alive(&b->rows[i]) && !closed[i])
			return true;
	return b->strangers || b->others;
}

static bool stays(const struct board *b, const bool *closed, const struct board_row *r)
{
	switch (class_of(b, r)) {
	case WAIT_LOCK:
		return is_kept(b, closed, r->object, false);
	case WAIT_READ:
		return is_kept(b, closed, r->object, true) ||
		       (is_kept(b, closed, r->object, false) && has_writer_in_wait(b, closed, r->object));
	case WAIT_JOIN:
		return r->object < b->count && closed[r->object];
	case WAIT_NOTE:
		return !is_anybody_left(b, closed);
	case WAIT_SEM:
		return !is_anybody_left(b, closed) && !b->catches;
	case WAIT_NONE:
		break;
	}
	return false;
}

size_t graph_closed(const struct board *b, bool *closed)
{
	size_t count = 0;
	bool again = true;

	for (size_t i = 0; i < b->count; i++)
		count += closed[i] = class_of(b, &b->rows[i]) != WAIT_NONE;
	while (again && count) {
		again = false;
		for (size_t i = 0; i < b->count; i++) {
			if (!closed[i] || stays(b, closed, &b->rows[i]))
				continue;
			closed[i] = false;
			count--;
			again = true;
		}
	}
	return count;
}

uint32_t graph_owner(const struct board *b, const bool *closed, uint32_t number)
{
	const struct board_row *r = &b->rows[number];
	enum wait_class class = class_of(b, r);
	uint32_t found = RADDLE_STEER_NONE;
	bool shared;

	if (class == WAIT_JOIN)
		return r->object < b->count ? (uint32_t)r->object : RADDLE_STEER_NONE;
	if (class != WAIT_LOCK && class != WAIT_READ)
		return RADDLE_STEER_NONE;
	for (uint32_t i = 0; i < b->count; i++) {
		if (b->rows[i].state == RADDLE_SLOT_UNUSED || !holds(&b->rows[i], r->object, &shared))
			continue;
		if (found == RADDLE_STEER_NONE || (closed && closed[i] && !closed[found]))
			found = i;
	}
	return found;
}

/* Whether following owners leads back; every step has one owner, so count steps. */
static bool is_on_cycle(const struct board *b, const bool *closed, uint32_t number)
{
	uint32_t at = graph_owner(b, closed, number);

	for (size_t steps = 0; at != RADDLE_STEER_NONE && steps <= b->count; steps++) {
		if (at == number)
			return true;
		at = graph_owner(b, closed, at);
	}
	return false;
}

/* A thread whose owner has ended, or whose wait has no owner, is a cause too. */
void graph_core(const struct board *b, const bool *closed, bool *core)
{
	for (uint32_t i = 0; i < b->count; i++) {
		uint32_t owner = closed[i] ? graph_owner(b, closed, i) : RADDLE_STEER_NONE;

		core[i] = closed[i] &&
			  (owner == RADDLE_STEER_NONE || !closed[owner] || is_on_cycle(b, closed, i));
	}
}
