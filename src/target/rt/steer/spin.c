// SPDX-License-Identifier: Apache-2.0
/*
 * Spins: threads that wait in a loop for a value.  In: each access of a thread, in programs built
 * in the flavour `led`.  Out: a certificate, `spin` in raddle/steer.h, and for each slot the number
 * of its spins.
 *
 * A thread keeps a ledger of its accesses since its last operation, except the first few: locations and
 * their values.  As
 * long as all values stay the same, the thread has seen nothing new and has changed nothing.  So
 * only a write by another thread can end its loop.  A loop that ends by counting in a register reports
 * each iteration (rt_spin_progresses()).  The certificate is complete only when a location in the
 * ledger has changed.
 *
 * A thread that waits may change memory, for example if it counts how often it has looked.  Such
 * accesses are *idle* (instr/full/progress.c): what the thread does next does not depend on what they
 * read.  An entry of an idle access whose value changes is *restless*.  Threads that wait for each other
 * are livelocked only if none of them reads what another one changes in each iteration.
 *
 * Only the thread itself uses its ledger.  The spinning thread begins its certificate under the
 * lock of steering, and completes it without the lock.
 */
#include "rt/common/hash.h"
#include "rt/steer/ledger-int.h"
#include "rt/steer/turn-int.h"

#define YIELD_STEADY 50 /* number of yields without news after which come_round() is called */
/* number of yields without news that count as one spin */
#define YIELDS_A_SPIN 16
/* A location counts as on the thread's stack if it is at most so many bytes below or above the current
 * frame.  Stacks of two threads are further apart, and functions in loops that wait need less. */
#define STACK_BELOW 65536
#define STACK_ABOVE 1048576

static void count_spin(const struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;
	uint64_t news = rt_steering()->turns.news;

	slot->spins = slot->news == news ? slot->spins + 1 : 1;
	slot->news = news;
	if (slot->spins == RADDLE_STEER_SPINS)
		rt_expect_shared(t);
}

static uint64_t peek(const struct rt_spin_entry *e)
{
	uint64_t value = 0;

	if (RT_LIKELY(e->size == 4))
		__builtin_memcpy(&value, (const void *)e->address, 4);
	else if (RT_LIKELY(e->size == 8))
		__builtin_memcpy(&value, (const void *)e->address, 8);
	else
		__builtin_memcpy(&value, (const void *)e->address, e->size);
	return value;
}

/* Returns the position in the table at which the search for an entry begins. */
static uint32_t place_of(uintptr_t address, uint32_t site)
{
	return (uint32_t)(rt_hash(address ^ (uint64_t)site << 32) >> 32) % RT_SPIN_TABLE;
}

static bool is_entry(const struct rt_spin_entry *e, uintptr_t address, uint32_t site)
{
	return e->address == address && e->site == site;
}

static struct rt_spin_entry *find(struct rt_spin *s, uintptr_t address, uint32_t site)
{
	uint32_t next = s->entries[s->last].after; /* loops repeat the order */

	if (next < s->count && is_entry(&s->entries[next], address, site)) {
		s->last = next;
		return &s->entries[next];
	}
	if (!s->count)
		return NULL;
	for (uint32_t at = place_of(address, site); s->table[at]; at = (at + 1) % RT_SPIN_TABLE) {
		next = s->table[at] - 1u;
		if (is_entry(&s->entries[next], address, site)) {
			s->entries[s->last].after = (uint8_t)next;
			s->last = next;
			return &s->entries[next];
		}
	}
	return NULL;
}

/* Adds an access whose address and site are not yet in the ledger. */
static void add(struct rt_spin *s, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	uint32_t at = place_of(address, site);

	if (s->count == RT_SPIN_ENTRIES)
		s->count = 0;
	if (!s->count)
		__builtin_memset(s->table, 0, sizeof s->table);
	while (s->table[at])
		at = (at + 1) % RT_SPIN_TABLE;
	s->table[at] = (uint8_t)(s->count + 1);
	s->entries[s->last].after = (uint8_t)s->count;
	s->last = s->count;
	s->entries[s->count++] = (struct rt_spin_entry){.address = address,
							.site = site,
							.size = size < 8 ? (uint32_t)size : 8,
							.write = how & RT_ACCESS_WRITE,
							.atomic = how & RT_ACCESS_ATOMIC,
							.idle = how & RT_ACCESS_IDLE};
	s->steady = s->yields = 0;
}

/* Returns true if the access tells the thread nothing new: the location has the same value as at the
 * thread's last access, or the access is idle.  Notes the current value. */
static bool is_same(struct rt_spin_entry *e)
{
	uint64_t now = peek(e);
	bool visited = e->visited, same = now == e->value;

	e->restless |= visited && !same && e->idle;
	e->value = now;
	e->visited = true;
	return visited && (same || e->idle);
}

static bool overlaps(const struct rt_spin_entry *a, const struct rt_spin_entry *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* Returns true if the thread changes the location in each iteration: an idle access found another value
 * than before, the value after a write is not that before it, or two accesses of an iteration find
 * different values and one of them writes. */
static bool is_changing(const struct rt_spin *s, const struct rt_spin_entry *e)
{
	if (e->restless || (e->write && peek(e) != e->value))
		return true;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct rt_spin_entry *other = &s->entries[i];

		if ((e->write || other->write) && overlaps(e, other) &&
		    (other->restless || other->address != e->address || other->size != e->size ||
		     other->value != e->value))
			return true;
	}
	return false;
}

/* Returns true if the location is on the stack of the thread, which calls this.  It may belong to a
 * function that has returned, so only another access shows whether its value has changed. */
static bool is_on_stack(const struct rt_spin_entry *e)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	return e->address < frame ? frame - e->address < STACK_BELOW : e->address - frame < STACK_ABOVE;
}

/* Returns true if the thread would read another value than it has noted, and has not changed it
 * itself. */
static bool is_changed(const struct rt_spin *s, const struct rt_spin_entry *e)
{
	return e->visited && !e->idle && (!e->write || e->atomic) && peek(e) != e->value &&
	       !is_changing(s, e);
}

/* Returns true if all locations that the thread reads still have the values that were noted. */
static bool is_still(const struct rt_spin *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (is_changed(s, &s->entries[i]) && !is_on_stack(&s->entries[i]))
			return false;
	return true;
}

/* Returns true if one thread reads what the other one changes in each iteration. */
static bool reads_changing(const struct rt_spin *reader, const struct rt_spin *writer)
{
	for (uint32_t i = 0; i < writer->count; i++)
		for (uint32_t k = 0; k < reader->count; k++)
			if (!reader->entries[k].idle && overlaps(&writer->entries[i], &reader->entries[k]) &&
			    is_changing(writer, &writer->entries[i]))
				return true;
	return false;
}

bool rt_spin_is_closed(void)
{
	struct rt_spin *const *spins = rt_steering()->spins;
	uint32_t count = rt_slot_count();

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count && spins[i] && rt_turn_may_run(i); k++)
			if (spins[k] && k != i && rt_turn_may_run(k) && reads_changing(spins[i], spins[k]))
				return false;
	return true;
}

/* ---- certificates ---- */

/* Begins the certificate, because the plan waits for this thread and it makes no progress. */
static void certify(struct rt_thread *t, uint32_t site)
{
	struct raddle_steer *steer = rt_steer();
	struct rt_spin *s = &rt_steered(t)->spin;
	uint64_t signals;

	rt_steer_lock(&signals);
	if (rt_steer_phase() == RADDLE_LEADING) {
		steer->spin = (struct raddle_steer_spin){.slot = t->number, .site = site, .looks = s->steady};
		s->notified = true;
		rt_steer_differs(t, RADDLE_CAUSE_SPINS, 0, 0);
	}
	rt_steer_unlock(&signals);
	rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_SPIN); /* lets the stopped threads continue */
}

/* Completes the certificate with a location that has changed, if there is one.  `now` is the entry of the
 * access that the thread is about to make, or NULL. */
static void complete(struct rt_spin *s, const struct rt_spin_entry *now)
{
	struct raddle_steer_spin *spin = &rt_steer()->spin;

	for (uint32_t i = 0; i < s->count && s->notified; i++) {
		const struct rt_spin_entry *e = &s->entries[i];

		if (!is_changed(s, e) || (is_on_stack(e) && e != now))
			continue;
		spin->address = e->address;
		spin->size = e->size;
		spin->site = e->site;
		atomic_store(&spin->changed, 1);
		s->notified = false;
	}
}

static void go_on(struct rt_spin *s, uintptr_t address, uint32_t site)
{
	const struct rt_spin_entry *now = find(s, address, site);

	complete(s, now);
	if (!now)
		s->notified = false;
}

void rt_spin_complete(struct rt_thread *t)
{
	complete(&rt_steered(t)->spin, NULL);
	rt_steered(t)->spin.notified = false;
}

/* Returns true if all runnable threads spin, and the plan waits for this one. */
static bool is_one_of_many(struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;
	uint64_t signals;
	bool all;

	if (!slot || !rt_steered(t)->goal || slot->spins < RADDLE_STEER_SPINS ||
	    slot->news != rt_steering()->turns.news)
		return false;
	rt_steer_lock(&signals);
	all = rt_turn_all_spin();
	rt_steer_unlock(&signals);
	return all;
}

/* The thread has seen nothing new for so long that it is considered spinning.  It lets other
 * threads run.  If no other thread can continue, or all of them spin, it certifies the spin. */
static void come_round(struct rt_thread *t, uint32_t site)
{
	if (rt_steer_phase() != RADDLE_LEADING)
		return;
	if (rt_turn_is_alone(t) || is_one_of_many(t))
		certify(t, site);
	else
		rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_SPIN);
}

void rt_spin_progresses(struct rt_thread *t)
{
	struct rt_spin *s = &rt_steered(t)->spin;

	if (!rt_takes_turns() || t->busy)
		return;
	s->notified = false;
	s->steady = s->yields = 0;
	rt_spin_news(t);
}

void rt_spin_touch(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	struct rt_spin *s = &rt_steered(t)->spin;
	struct rt_spin_entry *e;

	if (!rt_takes_turns() || t->busy)
		return;
	if (s->notified) {
		go_on(s, address, site);
		return;
	}
	e = find(s, address, site);
	if (!e) {
		add(s, address, size, site, how);
		rt_spin_news(t);
	} else if (!is_same(e)) {
		s->steady = s->yields = 0;
		rt_spin_news(t);
	} else if (++s->steady % RADDLE_STEER_STEADY == 0) {
		/* While threads are led, accesses are not points, so rt_spin_comes_round() counts
		 * no spins.  If they were not counted here, no thread would be found to wait while
		 * several threads spin. */
		if (rt_steer_phase() == RADDLE_LEADING && rt_steered(t)->slot && is_still(s))
			count_spin(t);
		come_round(t, site);
	}
}

void rt_spin_yields(struct rt_thread *t)
{
	struct rt_spin *s = &rt_steered(t)->spin;

	s->fresh = 0;
	if (s->notified || !s->count || !s->steady)
		return;
	if (++s->yields % YIELD_STEADY == 0)
		come_round(t, s->entries[0].site);
	if (s->yields % YIELDS_A_SPIN == 0 && rt_steered(t)->slot && is_still(s))
		count_spin(t);
}

void rt_spin_comes_round(struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	if (!slot)
		return;
	if (rt_steered(t)->spin.steady >= RADDLE_STEER_LOOKS / 2 && is_still(&rt_steered(t)->spin))
		count_spin(t);
	else
		slot->spins = 0;
}
