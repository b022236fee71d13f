// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the choices that a memory model leaves open and, in an exploration, chooses which thread
 * continues.  The plan in the session's memory decides (raddle/memory.h).  In: the number of
 * alternatives.  Out: the alternative taken, and the list `made` of that memory.
 *
 * The caller has the turn, so there is no lock.
 */
#include "rt/common/hash.h"
#include "rt/core/control/choose.h"

#include "rt/common/bug.h"
#include "raddle/steer.h"

struct raddle_memory *rt_memory_plan(void)
{
	struct raddle_steer *s = rt_steer_memory();

	return s && s->memory_at ? (struct raddle_memory *)((char *)s + s->memory_at) : NULL;
}

/* Returns a random number that depends only on the seed and on the number of the choice, not on the
 * choices made so far. */
static uint64_t draw(const struct raddle_memory *m, uint32_t at)
{
	return rt_mixed(m->seed * RT_GOLDEN + (uint64_t)at * 0xd1342543de82ef95ull);
}

/* The first alternative is what sequential consistency requires, and the last one differs most from
 * it.  One seed in four always takes the last alternative. */
static uint32_t by_seed(const struct raddle_memory *m, uint32_t at, uint32_t from)
{
	uint64_t n = draw(m, at);

	RT_ASSERT(from > 0);
	if (m->seed % 4 == 1 || n % 3 == 0)
		return from - 1;
	return n % 3 == 1 ? 0 : (uint32_t)((n >> 8) % from);
}

static bool is_next(const struct raddle_choice *c)
{
	return c->kind == RADDLE_CHOICE_NEXT;
}

static uint32_t by_plan(struct raddle_memory *m, uint32_t past, const struct raddle_choice *c)
{
	const struct raddle_choice *wanted = &m->plan[past];

	if (wanted->at != c->at || is_next(wanted) != is_next(c))
		return 0;
	atomic_store(&m->past_count, past + 1);
	if (wanted->from == c->from && wanted->taken < c->from) {
		if (c->kind == RADDLE_CHOICE_FLUSH && wanted->taken)
			atomic_store(&m->delays, 1);
		return wanted->taken;
	}
	if (!atomic_load(&m->strayed))
		atomic_store(&m->strayed, c->at);
	return 0;
}

/* Returns the alternative for a choice after the end of the plan. */
static uint32_t by_default(const struct raddle_memory *m, const struct raddle_choice *c)
{
	if (m->explores)
		return c->kind == RADDLE_CHOICE_FLUSH && atomic_load(&m->delays) ? c->from - 1 : 0;
	return m->seed && !is_next(c) ? by_seed(m, c->at, c->from) : 0;
}

static void list(struct raddle_memory *m, const struct raddle_choice *c)
{
	struct raddle_steer *s = rt_steer_memory();
	uint32_t made = atomic_load(&m->made_count);

	atomic_store(&s->trail, rt_hash_add(rt_hash_add(atomic_load(&s->trail), c->at), c->taken));
	if (!c->taken && !m->explores)
		return;
	if (made < RADDLE_MEMORY_CHOICES)
		m->made[made] = *c;
	atomic_store(&m->made_count, made + 1);
}

uint32_t rt_choose(struct raddle_choice c)
{
	struct raddle_memory *m = rt_memory_plan();
	uint32_t past, count;

	if (!m || c.from < 2)
		return 0;
	past = atomic_load(&m->past_count);
	count = m->plan_count < RADDLE_MEMORY_CHOICES ? m->plan_count : RADDLE_MEMORY_CHOICES;
	c.at = atomic_fetch_add(is_next(&c) ? &m->nexts : &m->choices, 1) + 1;
	c.taken = past < count ? by_plan(m, past, &c) : by_default(m, &c);
	if (m->explores)
		RT_NOTIFY(states, &c.state);
	if (c.taken && !is_next(&c))
		atomic_fetch_add(&m->relaxed, 1);
	list(m, &c);
	return c.taken;
}
