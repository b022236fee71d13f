// SPDX-License-Identifier: Apache-2.0
/*
 * Replays results of the system: time, random numbers and process IDs.  In: the memory of
 * raddle/world.h.  Out: the results of the recorded run, separately for each thread and source.
 *
 * Invariants:
 * 1. A result depends on the earlier queries of the threads, never on the system.
 * 2. A clock never runs backwards for a thread that could notice it (rt/world/time.c).
 * 3. If no recorded time is left, time advances by itself.  The longer a thread does nothing but
 *    read the clock, the faster the clock advances, so a loop that waits for a certain time ends.
 */
#include "rt/common/bug.h"
#include "rt/common/hash.h"
#include "rt/core/layer.h"
#include "rt/world/world.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These values were chosen by hand: a program that polls the clock until a certain time must not
 * wait forever. */
#define NS_PER_S 1000000000ull
#define STEP_NS 10	   /* how far a clock advances at a query without a recorded time */
#define STEPS 64	   /* number of such queries in a row after which the step doubles */
#define STEPS_MOST 26	   /* maximum number of doublings: a step stays below a second */
#define SOME_TIME 1000000u /* seconds: the time of a clock without any recorded time */

void rt_world_misses(enum raddle_world_lack lack)
{
	atomic_fetch_add_explicit(&rt_giving()->memory->lacks[lack], 1, memory_order_relaxed);
}

void rt_world_passes(uint64_t ns)
{
	if (ns < 1ull << 62)
		atomic_fetch_add(&rt_giving()->passed, ns);
}

/* ---- values ---- */

static uint64_t unit_of(enum raddle_source source)
{
	return source == RADDLE_SOURCE_TIME ? NS_PER_S : source == RADDLE_SOURCE_CLOCK ? 1000 : 1;
}

static bool is_clock(enum raddle_source source)
{
	return source < RADDLE_CLOCKS || source == RADDLE_SOURCE_TIMEOFDAY || source == RADDLE_SOURCE_TIME ||
	       source == RADDLE_SOURCE_CLOCK;
}

/* Stores the thread's next recorded value.  Returns false if no value is left. */
static bool take_value(struct rt_thread *t, enum raddle_source source, uint64_t *value)
{
	struct raddle_world *w = rt_giving()->memory;
	struct rt_replayed *g = rt_replayed(t);
	const struct raddle_world_run *run;

	if (g->position == RADDLE_WORLD_NONE)
		return false;
	RT_ASSERT(g->position < w->thread_count && source < RADDLE_SOURCES);
	run = &raddle_world_threads(w)[g->position].values[source];
	if (g->next[source] >= run->count)
		return false;
	*value = raddle_world_values(w)[run->first + g->next[source]++];
	return true;
}

/* Returns the time that the thread gets: `ns`, or a later time that the thread may already know. */
static uint64_t tell(struct rt_thread *t, enum raddle_source source, uint64_t ns)
{
	uint64_t *known = &rt_replayed(t)->known[source];
	_Atomic uint64_t *last = &rt_giving()->last[source];
	uint64_t latest = atomic_load(last);

	*known = ns > *known ? ns : *known;
	while (latest < *known && !atomic_compare_exchange_weak(last, &latest, *known))
		;
	return *known;
}

/* Stores the first value of the source that some thread received in the recorded run.  Returns
 * false if there is none. */
static bool find_value(enum raddle_source source, uint64_t *value)
{
	struct raddle_world *w = rt_giving()->memory;
	const struct raddle_world_thread *threads = raddle_world_threads(w);

	for (uint32_t i = 0; i < w->thread_count; i++)
		if (threads[i].values[source].count) {
			*value = raddle_world_values(w)[threads[i].values[source].first];
			return true;
		}
	return false;
}

/* Returns the family of a clock.  Clocks that show the same time belong to the same family. */
static uint32_t family_of(enum raddle_source source)
{
	switch (source) {
	case RADDLE_SOURCE_REALTIME:
	case RADDLE_SOURCE_REALTIME_COARSE:
	case RADDLE_SOURCE_TIMEOFDAY:
	case RADDLE_SOURCE_TIME: return 1;
	case RADDLE_SOURCE_MONOTONIC:
	case RADDLE_SOURCE_MONOTONIC_COARSE: return 2;
	default: return 16 + (uint32_t)source;
	}
}

/* Returns the start time of a clock that no thread has read yet: a recorded time of this clock,
 * otherwise the latest time of a clock of its family, otherwise SOME_TIME. */
static uint64_t begin_of(enum raddle_source source)
{
	uint64_t value, latest = 0;

	if (find_value(source, &value))
		return value * unit_of(source);
	for (uint32_t other = 0; other < RADDLE_SOURCES; other++) {
		uint64_t last = atomic_load(&rt_giving()->last[other]);

		if (family_of(other) != family_of(source))
			continue;
		if (!last && find_value(other, &value))
			last = value * unit_of(other);
		latest = last > latest ? last : latest;
	}
	return latest ? latest : SOME_TIME * NS_PER_S;
}

/* Advances a clock beyond its recorded times and returns the new time.  The clock advances by the
 * time that threads slept, and a little for each query. */
static uint64_t go_on(struct rt_thread *t, enum raddle_source source)
{
	struct rt_giving *g = rt_giving();
	uint64_t passed = atomic_load(&g->passed), slept = passed - g->passed_by[source];
	uint32_t times = atomic_fetch_add(&g->in_a_row, 1) / STEPS;
	uint64_t step = (uint64_t)STEP_NS << (times < STEPS_MOST ? times : STEPS_MOST);
	uint64_t from = atomic_load(&g->last[source]);

	g->passed_by[source] = passed;
	return tell(t, source, (from ? from : begin_of(source)) + step + slept);
}

static bool gives_clock(struct rt_thread *t, enum raddle_source source, uint64_t *value)
{
	struct rt_giving *g = rt_giving();

	if (take_value(t, source, value)) {
		*value = tell(t, source, *value * unit_of(source)) / unit_of(source);
		g->passed_by[source] = atomic_load(&g->passed);
		atomic_store(&g->in_a_row, 0);
		return true;
	}
	rt_world_misses(RADDLE_WORLD_LACK_VALUE);
	*value = go_on(t, source) / unit_of(source);
	return true;
}

static bool gives(struct rt_thread *t, enum raddle_source source, uint64_t *value)
{
	if (is_clock(source))
		return gives_clock(t, source, value);
	if (take_value(t, source, value))
		return true;
	rt_world_misses(RADDLE_WORLD_LACK_VALUE);
	return find_value(source, value);
}

/* Returns the latest time that any thread has read from this clock, in nanoseconds, or 0. */
static uint64_t now_of(clockid_t clock)
{
	static const enum raddle_source real[] = {RADDLE_SOURCE_REALTIME, RADDLE_SOURCE_TIMEOFDAY,
						  RADDLE_SOURCE_TIME};
	uint64_t now = 0;

	if (clock == CLOCK_MONOTONIC)
		return atomic_load(&rt_giving()->last[RADDLE_SOURCE_MONOTONIC]);
	for (uint32_t i = 0; i < sizeof real / sizeof *real && clock == CLOCK_REALTIME; i++)
		if (atomic_load(&rt_giving()->last[real[i]]) > now)
			now = atomic_load(&rt_giving()->last[real[i]]);
	return now;
}

static void real_end(clockid_t clock, struct timespec *end)
{
	uint64_t now = now_of(clock), due;
	struct timespec real = {0};
	int saved = errno;

	if (!now || end->tv_sec < 0 || end->tv_nsec < 0 || end->tv_nsec >= (long)NS_PER_S ||
	    (uint64_t)end->tv_sec > UINT64_MAX / NS_PER_S / 4)
		return;
	syscall(SYS_clock_gettime, clock, &real);
	errno = saved;
	due = (uint64_t)end->tv_sec * NS_PER_S + (uint64_t)end->tv_nsec;
	due = due > now ? due - now : 0;
	due += (uint64_t)real.tv_sec * NS_PER_S + (uint64_t)real.tv_nsec;
	*end = (struct timespec){(time_t)(due / NS_PER_S), (long)(due % NS_PER_S)};
}

/* ---- random numbers ---- */

/* Returns a pseudo-random byte if no recorded one is left.  It depends on the thread and on how
 * many such bytes the thread got before. */
static uint8_t made_up(struct rt_replayed *g)
{
	uint64_t number = ((uint64_t)g->position << 40) + g->made_up++ + 1;

	return (uint8_t)rt_mixed(number * RT_GOLDEN);
}

static bool gives_random(struct rt_thread *t, void *to, size_t length)
{
	struct raddle_world *w = rt_giving()->memory;
	struct rt_replayed *g = rt_replayed(t);
	const struct raddle_world_run *run =
		g->position == RADDLE_WORLD_NONE ? NULL : &raddle_world_threads(w)[g->position].random;
	uint8_t *out = to;

	for (size_t i = 0; i < length; i++)
		out[i] = run && g->next_random < run->count
				 ? ((const uint8_t *)w)[run->first + g->next_random++]
				 : made_up(g);
	if (run ? g->next_random >= run->count && g->made_up : length)
		rt_world_misses(RADDLE_WORLD_LACK_RANDOM);
	return true;
}

/* ---- the process ---- */

static const struct rt_outside table = {
	.gives = gives,
	.gives_random = gives_random,
	.real_end = real_end,
	.passes = rt_world_passes,
};

static const struct rt_outside table_with_sockets = {
	.gives = gives,
	.gives_random = gives_random,
	.real_end = real_end,
	.passes = rt_world_passes,
	.accepted = rt_world_accepted,
	.closing = rt_world_closing,
	.duplicated = rt_world_duplicated,
	.opens = rt_world_opens,
	.opened = rt_world_opened,
	.binds = rt_world_binds,
	.connects = rt_world_connects,
	.sends = rt_world_sends,
	.received = rt_world_received,
	.names = rt_world_names,
	.has_option = rt_world_has_option,
	.awaits = rt_world_awaits,
	.polls = rt_world_polls,
	.moves = rt_world_moves,
	.idle = rt_world_idle,
};

bool rt_world_give_setup(void)
{
	struct raddle_world *w = (void *)((char *)rt.session + rt.session->world_offset);
	struct rt_giving *g = rt_map(sizeof *g);

	if (!g || w->version != RADDLE_WORLD_VERSION)
		return false;
	rt.layer[RT_LAYER_WORLD] = g;
	g->memory = w;
	for (uint32_t i = 0; i < RT_LINEAGE; i++)
		g->position_of[i] = RADDLE_WORLD_NONE;
	if (!rt_time_setup() || (w->sockets && !rt_world_sockets_setup()))
		return false;
	rt.outside = w->sockets ? &table_with_sockets : &table;
	return true;
}

/* Finds the corresponding thread of the recorded run: the one that has the same parent and was the
 * parent's n-th child there, too. */
void rt_world_give_begin(struct rt_thread *t)
{
	struct rt_giving *g = rt_giving();
	struct rt_replayed *given = rt_replayed(t);
	const struct raddle_world_thread *threads = raddle_world_threads(g->memory);
	uint32_t parent = t->number && t->parent < RT_LINEAGE ? g->position_of[t->parent] : RADDLE_WORLD_NONE;

	given->position = RADDLE_WORLD_NONE;
	for (uint32_t i = 0; i < g->memory->thread_count; i++)
		if (t->number ? parent != RADDLE_WORLD_NONE && threads[i].parent == parent &&
					threads[i].index == t->index
			      : threads[i].parent == RADDLE_WORLD_NONE)
			given->position = i;
	if (t->number < RT_LINEAGE)
		g->position_of[t->number] = given->position;
}
