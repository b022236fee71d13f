// SPDX-License-Identifier: Apache-2.0
/*
 * Spins: threads that wait in a loop for a value.  In: each access of a thread, in programs built
 * in the flavour `led`.  Out: a certificate, `spin` in raddle/steer.h, and for each slot the number
 * of its spins.
 *
 * A thread keeps a ledger of its accesses since its last operation, except the first few: locations and
 * their values.  As
 * long as all values stay the same, the thread has seen nothing new and has changed nothing.  So
 * only a write by another thread, or a counter in a register, can end its loop.  The certificate is
 * complete only when a location in the ledger has changed, which rules out the counter.
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

static uint64_t filter_of(uintptr_t address, uint32_t site)
{
	return 1ull << (rt_hash(address ^ (uint64_t)site << 32) >> 58);
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
	if (!(s->filter & filter_of(address, site)))
		return NULL;
	for (uint32_t i = 0; i < s->count; i++)
		if (is_entry(&s->entries[i], address, site)) {
			s->entries[s->last].after = (uint8_t)i;
			s->last = i;
			return &s->entries[i];
		}
	return NULL;
}

/* Adds an access whose address and site are not yet in the ledger. */
static void add(struct rt_spin *s, uintptr_t address, uint64_t size, uint32_t site)
{
	if (s->count == RT_SPIN_ENTRIES)
		s->count = 0;
	s->filter = (s->count ? s->filter : 0) | filter_of(address, site);
	s->entries[s->last].after = (uint8_t)s->count;
	s->last = s->count;
	s->entries[s->count++] = (struct rt_spin_entry){
		.address = address, .site = site, .size = size < 8 ? (uint32_t)size : 8};
	s->steady = s->yields = 0;
}

/* Returns true if the location has the same value as at the thread's last access, and notes the
 * current value. */
static bool is_same(struct rt_spin_entry *e)
{
	uint64_t now = peek(e);
	bool same = e->visited && now == e->value;

	e->value = now;
	e->visited = true;
	return same;
}

/* Returns true if all locations in the ledger still have the values that were noted.  This may be
 * false although each site finds the same value in every iteration.  For instance, a loop may set
 * and reset a flag; then two sites have noted different values of one address. */
static bool is_still(const struct rt_spin *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->entries[i].visited && peek(&s->entries[i]) != s->entries[i].value)
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

/* Completes the certificate with a location that has changed, if there is one. */
static void complete(struct rt_spin *s)
{
	struct raddle_steer_spin *spin = &rt_steer()->spin;

	for (uint32_t i = 0; i < s->count && s->notified; i++) {
		const struct rt_spin_entry *e = &s->entries[i];

		if (!e->visited || peek(e) == e->value)
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
	complete(s);
	if (s->notified && !find(s, address, site))
		s->notified = false;
}

void rt_spin_complete(struct rt_thread *t)
{
	complete(&rt_steered(t)->spin);
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

void rt_spin_touch(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site)
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
		add(s, address, size, site);
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
