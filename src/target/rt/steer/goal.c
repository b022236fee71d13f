// SPDX-License-Identifier: Apache-2.0
/*
 * Goals: a thread waits before an access until another thread reaches a conflicting access.  Then
 * the threads have met.  In: accesses.  Out: the two spots at which the threads met, and the order
 * in which they continue.  If the plan names no thread ("anywhere"), each thread that reaches a
 * goal waits there for a moment.  If no other thread arrives, threads wait less and less often.
 */
#include "rt/common/bug.h"
#include "rt/steer/moment-int.h"
#include "rt/steer/turn-int.h"

/* minimum time for which the second thread of a race waits for the access of the first */
#define FIRST_ALONE_MS 20
/* Maximum, if no processor is free for the first thread.  Only a safety net: no thread waits for a
 * processor for a whole minute. */
#define FIRST_LONGEST_MS 60000
#define FIRST_COMPUTES_NS 200000 /* CPU time that is enough for an access */
/* The following lengths are moments (rt/steer/moment-int.h), not real time. */
#define MOMENT_NS 100000000u	   /* how long a thread waits at a goal where it may meet another */
#define LONG_MOMENT_NS 2000000000u /* the same with PATIENT, for rare accesses */
/* The maximum total length of all long waits of a run.  Without it, the waits at a place that is
 * reached often could take minutes. */
#define PATIENCE_NS 3000000000u

void rt_steer_spot_of(const struct rt_thread *t, const struct rt_touch *touch, struct raddle_steer_spot *spot)
{
	const uint32_t *top = t->self.stack_top;

	*spot = (struct raddle_steer_spot){.slot = t->number,
					   .site = touch->site,
					   .address = touch->address,
					   .size = touch->size,
					   .n = rt_steered(t)->n,
					   .write = touch->write,
					   .atomic = touch->atomic};
	if (top > t->encoder.stack_base && (top[-1] & ~RT_STACK_EMITTED) == spot->site)
		top--; /* the call is itself the access, as with free() */
	while (spot->frame_count < RADDLE_STEER_FRAMES && top > t->encoder.stack_base)
		spot->frames[spot->frame_count++] = *--top & ~RT_STACK_EMITTED;
}

static bool meet(const struct raddle_steer_spot *a, const struct raddle_steer_spot *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size &&
	       (a->write || b->write) && !(a->atomic && b->atomic);
}

static bool is_site_of(const struct raddle_steer_goal *goal, uint32_t site)
{
	return goal->site == site || goal->site == RADDLE_STEER_ANY_SITE;
}

static bool has_any_site(const struct raddle_steer *s)
{
	return s->goals[0].site == RADDLE_STEER_ANY_SITE || s->goals[1].site == RADDLE_STEER_ANY_SITE;
}

/* Notes that the thread is at its goal.  Returns false if the thread continues, for one of two
 * reasons.  Its access may not conflict with that of the thread at the other goal.  Or any access
 * reaches its goal, but the other thread is not at its own goal yet.  If this thread then stopped,
 * what the other one does on its way to its goal would come later than in other runs. */
static bool arrive(uint32_t which, const struct raddle_steer_spot *spot)
{
	struct raddle_steer *s = rt_steer();
	bool *waits_at = rt_steering()->waits_at, stay = true;
	uint64_t signals;

	RT_ASSERT(which < RADDLE_STEER_GOALS);
	rt_steer_lock(&signals);
	if (rt_steer_phase() == RADDLE_LEADING) {
		s->spots[which] = *spot;
		if (!waits_at[1 - which] && s->goals[which].site == RADDLE_STEER_ANY_SITE)
			stay = false;
		else if (!waits_at[1 - which])
			waits_at[which] = true;
		else if (has_any_site(s) || meet(spot, &s->spots[1 - which]))
			atomic_store(&s->met, rt_steer_change_phase(RADDLE_LEADING, RADDLE_MET));
		else
			stay = false;
	}
	rt_steer_unlock(&signals);
	return stay;
}

/* What the second thread of a race knows about the first one. */
struct first {
	uint32_t slot;
	clockid_t clock; /* the clock of the first thread's CPU time */
	/* when the second thread began to wait, and the first thread's CPU time then */
	uint64_t begin, computed;
};

/* Returns the kernel's ID of a thread's CPU clock.  It consists of the inverted thread ID and the
 * flags for per-thread (4) and scheduled time (2). */
static clockid_t clock_of(uint32_t slot)
{
	return (clockid_t)(~raddle_steer_slots(rt_steer())[slot].tid << 3 | 6);
}

uint64_t rt_steer_time_of(uint32_t slot)
{
	return rt_moment_cpu(clock_of(slot));
}

static struct first watch_first(uint32_t slot)
{
	struct first f = {slot, clock_of(slot), rt_now(), 0};

	f.computed = rt_moment_cpu(f.clock);
	return f;
}

/* Returns true if the second thread keeps waiting so that the first one can run alone.  It waits
 * for FIRST_ALONE_MS, and longer if the first thread is not asleep but has had no processor. */
static bool is_alone(const struct first *f)
{
	uint64_t passed = (rt_now() - f->begin) / 1000000u;

	if (passed < FIRST_ALONE_MS)
		return true;
	return passed < FIRST_LONGEST_MS && rt_moment_cpu(f->clock) - f->computed < FIRST_COMPUTES_NS &&
	       !rt_turn_sleeps(rt_slot_at(f->slot)->tid);
}

/* Keeps the thread where it met the other one until the replayer has examined both.  The thread
 * that has the turn keeps the turn. */
static void stay(struct rt_thread *t)
{
	rt_steer_show(t, RADDLE_SLOT_GOAL);
	for (uint32_t round = 0, seen = rt_steer_seen(t);
	     rt_steer_phase() == RADDLE_MET && atomic_load(&rt_steer()->command) != RADDLE_COMMAND_GO;
	     seen = rt_steer_seen(t))
		rt_steer_nap(t, seen, round++);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
}

/* Lets the threads continue after they met: first one of them and, after its access, the other. */
static void go_on(struct rt_thread *t, uint32_t which)
{
	struct raddle_steer *s = rt_steer();
	struct first first;

	if (s->flags & RADDLE_STEER_STAY)
		stay(t);
	if (rt_takes_turns()) {
		rt_freeze_at(RADDLE_FREEZE_MET);
		rt_turn_go_on(t, s->spots[s->order & 1].slot);
		return;
	}
	if (s->order == which) {
		rt_steered(t)->leads = true;
		return;
	}
	first = watch_first(s->spots[1 - which].slot);
	RT_WAIT_WHILE(t, RADDLE_SLOT_GOAL, rt_steer_phase() == RADDLE_MET && is_alone(&first));
	rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
}

static __attribute__((noinline)) void wait_at_goal(struct rt_thread *t, const struct rt_touch *touch)
{
	uint32_t which = rt_steered(t)->plan->goal;
	struct raddle_steer_spot spot;

	rt_steer_spot_of(t, touch, &spot);
	if (!arrive(which, &spot))
		return;
	RT_WAIT_WHILE(t, RADDLE_SLOT_GOAL, rt_steer_phase() == RADDLE_LEADING);
	rt_steered(t)->goal = NULL;
	if (rt_steer_phase() == RADDLE_MET)
		go_on(t, which);
	if (rt_steer_phase() == RADDLE_GOES_ON)
		rt_steered(t)->leads = true;
}

/* Returns true if the thread, at its access, meets the thread that is stopped at the other goal. */
static bool meets_there(uint32_t which, const struct raddle_steer_spot *spot)
{
	struct raddle_steer *s = rt_steer();

	return s->goals[which].site == spot->site && rt_steering()->waits_at[1 - which] &&
	       s->spots[1 - which].slot != spot->slot && meet(spot, &s->spots[1 - which]);
}

/* Returns true if the thread may wait at this goal.  If threads wait at a goal in vain, they wait
 * there less and less often, so that the program reaches its end. */
static bool is_free(uint32_t which, const struct raddle_steer_spot *spot)
{
	struct rt_steering *g = rt_steering();

	return rt_steer()->goals[which].site == spot->site && !g->waits_at[which] &&
	       g->passed[which]++ >= g->gap[which];
}

/* Returns the goal at which the thread meets another thread or waits for one, or NONE if it
 * continues. */
static uint32_t come_by(const struct raddle_steer_spot *spot)
{
	struct raddle_steer *s = rt_steer();
	uint32_t which = RADDLE_STEER_NONE;
	uint64_t signals;

	rt_steer_lock(&signals);
	for (uint32_t i = 0; i < 2 && rt_steer_phase() == RADDLE_LEADING; i++) {
		if (!meets_there(i, spot))
			continue;
		s->spots[which = i] = *spot;
		rt_steer_change_phase(RADDLE_LEADING, RADDLE_MET);
	}
	for (uint32_t i = 0; i < 2 && which == RADDLE_STEER_NONE && rt_steer_phase() == RADDLE_LEADING; i++) {
		if (!is_free(i, spot))
			continue;
		s->spots[which = i] = *spot;
		rt_steering()->waits_at[i] = true;
	}
	rt_steer_unlock(&signals);
	return which;
}

/* Called when the thread leaves the goal.  If it met no other thread, later threads wait there less
 * often. */
static void leave_goal(uint32_t which)
{
	struct rt_steering *g = rt_steering();
	uint64_t signals;

	RT_ASSERT(which < RADDLE_STEER_GOALS);
	rt_steer_lock(&signals);
	if (rt_steer_phase() == RADDLE_LEADING) {
		g->waits_at[which] = false;
		g->passed[which] = 0;
		g->gap[which] = 2 * g->gap[which] + 1;
	}
	rt_steer_unlock(&signals);
}

/* Returns true if there is another thread to meet.  A lone thread would only lose time by
 * waiting. */
static bool has_company(void)
{
	return atomic_load_explicit(&rt_steer()->slot_count, memory_order_relaxed) > 1;
}

static uint64_t long_moment(void)
{
	uint64_t spent = atomic_load_explicit(&rt_steering()->patience_ns, memory_order_relaxed);

	if (spent >= PATIENCE_NS)
		return MOMENT_NS;
	return spent + LONG_MOMENT_NS < PATIENCE_NS ? LONG_MOMENT_NS : PATIENCE_NS - spent;
}

static void spend_patience(const struct rt_moment *m)
{
	atomic_fetch_add_explicit(&rt_steering()->patience_ns, m->length, memory_order_relaxed);
}

static __attribute__((noinline)) void wait_anywhere(struct rt_thread *t, const struct rt_touch *touch)
{
	struct raddle_steer_spot spot;
	struct rt_moment waited;
	bool patient = rt_steer()->flags & RADDLE_STEER_PATIENT;
	uint64_t moment = patient ? long_moment() : MOMENT_NS;
	uint32_t which;

	rt_steered(t)->anywhere = rt_steer_phase() == RADDLE_LEADING;
	if (t->busy || !rt_steered(t)->anywhere || !has_company())
		return;
	rt_steer_spot_of(t, touch, &spot);
	which = come_by(&spot);
	if (which == RADDLE_STEER_NONE)
		return;
	waited = rt_moment_begin(t->number);
	RT_WAIT_WHILE(t, RADDLE_SLOT_GOAL,
		      rt_steer_phase() == RADDLE_LEADING && rt_moment_lasts(&waited, moment));
	if (patient)
		spend_patience(&waited);
	leave_goal(which);
	if (rt_steer_phase() == RADDLE_MET && rt_steer()->spots[which].slot == t->number)
		go_on(t, which);
}

static bool is_at_goal(uint32_t site)
{
	return site == rt_steer()->goals[0].site || site == rt_steer()->goals[1].site;
}

static void keep_order(struct rt_thread *t, uint32_t site)
{
	struct raddle_steer *s = rt_steer();
	uint64_t moment = long_moment();
	struct rt_moment waited;

	if (atomic_load_explicit(&s->kept, memory_order_relaxed) || t->busy || !rt_steer_is_leading())
		return;
	if (site == s->keep[0])
		rt_steered(t)->keeps = true;
	else if (site == s->keep[1]) {
		waited = rt_moment_begin(t->number);
		RT_WAIT_WHILE(t, RADDLE_SLOT_LIMIT,
			      rt_steer_is_leading() && !atomic_load(&s->kept) &&
				      rt_moment_lasts(&waited, moment));
		spend_patience(&waited);
	}
}

static void count_accesses(struct rt_thread *t, uint64_t count)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	if (slot)
		atomic_store_explicit(&slot->accesses,
				      atomic_load_explicit(&slot->accesses, memory_order_relaxed) + count,
				      memory_order_relaxed);
}

void rt_steer_count(struct rt_thread *t, uint64_t count)
{
	count_accesses(t, count);
	if (rt_steered(t)->leads)
		rt_steer_come_back(t, rt_steered(t)->n);
	if (rt_steered(t)->keeps)
		rt_steer_pass_kept(t);
}

/* In the phase LEADING no thread loses the turn here. */
void rt_steer_emit(struct rt_thread *t)
{
	rt_steer_count(t, 0);
	if (rt_steered(t)->sees_all)
		rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_OUTPUT);
}

/* A signal handler that interrupted the encoder cannot be stopped, but its records are counted. */
static void pass_goal(struct rt_thread *t, const struct rt_touch *touch)
{
	const struct raddle_steer_goal *goal = rt_steered(t)->goal;

	RT_ASSERT(rt_steered(t)->goal != NULL);
	if (!goal->occurrence && rt_steered(t)->n == goal->after && !t->every)
		rt_see_again(t);
	if (rt_steered(t)->n != goal->after || !is_site_of(goal, touch->site) ||
	    ++rt_steered(t)->seen < goal->occurrence || t->busy)
		return;
	wait_at_goal(t, touch);
}

/* Examines an access.  If marks make the thread skip repeated accesses, they are cleared after each
 * access, so that every access is examined. */
static inline void see(struct rt_thread *t, const struct rt_touch *touch)
{
	rt_turn_access(t, touch);
	if (!t->every)
		rt_see_again(t);
}

/* Returns true if the access can matter only for the thread's turn. */
static inline bool is_only_seen(const struct rt_thread *t)
{
	const struct rt_steered *d = rt_steered(t);

	return d->sees_all && d->slot && !d->leads && !d->keeps && !rt_steer()->keep[0];
}

/* Returns true if the thread continues because there are no watches.  This is a shortcut: see() and
 * rt_turn_access() would come to the same result. */
static inline bool is_unwatched(struct rt_thread *t)
{
	const struct raddle_steer *s = rt_steer();
	struct rt_steered *d = rt_steered(t);

	if (!rt.one || !t->every || t->busy || s->watch_count || s->memory_at ||
	    atomic_load_explicit(&s->running, memory_order_relaxed) != t->number ||
	    d->looks + 1 >= RADDLE_STEER_LOOKS)
		return false;
	d->looks++;
	return true;
}

bool rt_steer_goes_past(struct rt_thread *t, uint32_t site)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	if (!is_only_seen(t) || !is_unwatched(t))
		return false;
	count_accesses(t, 1);
	atomic_store_explicit(&slot->touched, site, memory_order_relaxed);
	return true;
}

void rt_steer_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	const struct rt_touch touch = {address, size, site, how & RT_ACCESS_WRITE, how & RT_ACCESS_ATOMIC};

	if (RT_LIKELY(is_only_seen(t))) {
		struct raddle_slot *slot = rt_steered(t)->slot;

		count_accesses(t, 1);
		atomic_store_explicit(&slot->touched, site, memory_order_relaxed);
		if (how & RT_ACCESS_ATOMIC)
			rt_spin_touch(t, address, size, site, how);
		if (!is_unwatched(t))
			see(t, &touch);
		return;
	}
	/* The first access of a call is complete only when the call has been made. */
	if (how & RT_ACCESS_SAME_CALL)
		count_accesses(t, 1);
	else
		rt_steer_count(t, 1);
	if (rt_steered(t)->slot)
		atomic_store_explicit(&rt_steered(t)->slot->touched, site, memory_order_relaxed);
	if (how & RT_ACCESS_ATOMIC)
		rt_spin_touch(t, address, size, site, how);
	if (RT_UNLIKELY(rt_steer()->keep[0]))
		keep_order(t, site);
	if (rt_steered(t)->sees_all)
		see(t, &touch);
	else if (rt_steered(t)->goal)
		pass_goal(t, &touch);
	else if (rt_steered(t)->anywhere && is_at_goal(site))
		wait_anywhere(t, &touch);
}

/* Two uses of a synchronisation object do not race, so a use is treated as atomic. */
void rt_steer_handle(struct rt_thread *t, uint32_t kind, uintptr_t object)
{
	enum raddle_handling handling = raddle_handling(kind);
	struct rt_touch touch;

	if (handling == RADDLE_HANDLES_NOT)
		return;
	rt_steer_count(t, 1);
	/* a shortcut: without watches, rt_turn_handle() would do nothing */
	if (RT_LIKELY(rt_steered(t)->sees_all && !rt_steer()->watch_count))
		return;
	touch = (struct rt_touch){.site = rt_call_site(t),
				  .address = object,
				  .size = raddle_object_size(kind),
				  .write = handling != RADDLE_USES,
				  .atomic = handling == RADDLE_USES};
	if (rt_steered(t)->sees_all)
		rt_turn_handle(t, &touch);
	else if (rt_steered(t)->goal)
		pass_goal(t, &touch);
}

bool rt_steer_heeds(const struct rt_thread *t, uint32_t site)
{
	const struct rt_steered *d = rt_steered(t);

	const struct raddle_steer *s = rt_steer();

	return d->sees_all || (d->goal && is_site_of(d->goal, site)) || (d->anywhere && is_at_goal(site)) ||
	       (s->keep[0] && (site == s->keep[0] || site == s->keep[1]));
}
