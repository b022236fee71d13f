/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the on-line detector with a slow and obvious reference.
 *
 * Random executions of a few threads use every primitive.  For each event the reference keeps the
 * set of all events before it, and it compares all pairs of accesses.  It has no clocks, lanes,
 * cells or segments.  The detector sees what the slow path would pass to it: accesses to bytes that
 * are already marked in the segment are not passed, and there is one segment while a thread is
 * alone.  In half of the executions a segment continues over operations that release nothing, as in
 * a replay that keeps no trace.
 *
 *   exact   Each access has its own site.  The racy bytes must be the same, and each reported pair
 *           must be unordered.  In half of these executions accesses are reported byte by byte.
 *   merged  There are few sites, so that cells are merged and races are reported once.  The first
 *           race must be found where it happens, and no report may be false.
 *   lazy    Accesses are collected until their thread's next operation or the end, and sites recur
 *           at the same place.  The racy bytes must be the same in the end.
 *   rough   Edges get lost (a handler interrupts the detector), barriers have more threads than
 *           their count, and threads start without a known creation.  No report may be false.
 *
 * RADDLE_DETECT=n runs n executions of each kind.  A failure prints its seed.
 */
#include "rt/core/rt.h"

#define rt_map map_for_good
#define rt_unmap unmap
#include "rt/core/process/system.c"
#undef rt_map
#undef rt_unmap
long rt_bare_call(long number, const long a[6])
{
	return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#include "rt/detect/arena.c"
#include "rt/detect/clock.c"
#include "rt/detect/shadow.c"
#include "rt/detect/object.c"
#include "rt/detect/detect.c"
#include "rt/detect/report.c"
#include "rt/detect/access.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	EVENTS = 160,
	THREADS = 12,
	MEMORY = 192,
	BASE = 0x7654321000,
	OBJECTS = BASE + 0x10000,
	LOCKS = 3,
	RELEASES = EVENTS,
};

enum mode { EXACT, MERGED, ROUGH, LAZY };

__thread struct raddle_self *__raddle_self;
struct rt rt;
struct rt_tables rt_tables;

/* Memory is not limited in this test. */
bool rt_make_room(size_t size)
{
	(void)size;
	return false;
}
/* Errors need not be reported in this test. */
void rt_refused(int error)
{
	(void)error;
}
/* The clock is the real one. */
struct rt_real rt_real = {.resolved = 1, .clock_gettime = clock_gettime};
void rt_real_resolve_all(void)
{
}

struct raddle_self rt_placeholder;

/* A set of events. */
struct set {
	uint64_t bits[(EVENTS + 63) / 64];
};

static void add_all(struct set *to, const struct set *from)
{
	for (size_t i = 0; i < sizeof to->bits / 8; i++)
		to->bits[i] |= from->bits[i];
}

static void add(struct set *s, uint32_t event)
{
	s->bits[event / 64] |= 1ull << event % 64;
}

static bool has(const struct set *s, uint32_t event)
{
	return s->bits[event / 64] >> event % 64 & 1;
}

struct event {
	struct set before;
	uint32_t thread, offset, size; /* size 0: the event is not an access */
	uint32_t kind;
	uint32_t site;
};

/* The events that released an object, and that an acquisition of it is ordered after. */
struct edge {
	struct set by;
};

enum state { UNBORN, RUNS, WAITS, ENTERS, INSIDE, ENDED, JOINED };

struct thread {
	enum state state;
	struct set past; /* all events before its next one */
	uint8_t seen[MEMORY], written[MEMORY];
	uint32_t holds[LOCKS]; /* by mutex: whether the thread holds it */
	uint32_t reads[LOCKS], writes[LOCKS];
	uint32_t mutex, instance;
	struct rt_thread *rt;
};

struct instance {
	struct set by;
};

struct run {
	enum mode mode;
	uint32_t count;		 /* number of events */
	uint32_t allowed, reach; /* bits of allowed operations; number of bytes in use */
	struct event event[EVENTS];
	struct thread thread[THREADS];
	uint32_t born, others;

	struct edge mutex[LOCKS], cond, sem, once, rwlock[LOCKS], readers[LOCKS], atomic[MEMORY];
	uint32_t owner[LOCKS]; /* thread + 1; 0: free */
	uint32_t writer[LOCKS], reader_count[LOCKS];
	uint32_t sem_value, once_done, signals;

	uint32_t barrier_count, barrier_entered, barrier_inside, instances;
	struct instance instance[EVENTS];

	uint32_t forgotten[MEMORY]; /* by byte: accesses before this event no longer count */
	bool racy[MEMORY], reported[MEMORY], first, by_bytes;
	bool blind; /* only operations that release something end segments */
};

static struct raddle_steer *steer;
static struct rt_thread *states[THREADS];
static struct run *run;
static uint64_t random_state;

/* Mappings of the detector, which are unmapped after each run. */
static struct {
	void *at;
	size_t size;
} mappings[64];
static uint32_t mapping_count;
static uint32_t mappings_left = UINT32_MAX;

void *rt_map(size_t size)
{
	if (!mappings_left)
		return NULL;
	mappings_left--;
	assert_true(mapping_count < sizeof mappings / sizeof *mappings);
	mappings[mapping_count].at = map_for_good(size);
	mappings[mapping_count].size = size;
	return mappings[mapping_count++].at;
}

void rt_unmap(void *p, size_t size)
{
	(void)p, (void)size;
	fail();
}

static uint32_t pick(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) % n;
}

/* The twin: events with the sets of events before them. */

static struct event *new_event(uint32_t thread)
{
	struct event *e = &run->event[run->count];

	*e = (struct event){.before = run->thread[thread].past, .thread = thread};
	add(&run->thread[thread].past, run->count++);
	return e;
}

static void twin_release(uint32_t thread, struct set *object)
{
	add_all(object, &run->thread[thread].past);
}

static void twin_acquire(uint32_t thread, const struct set *object)
{
	add_all(&run->thread[thread].past, object);
}

/* Whether event i and the later event k race on the byte. */
static bool twin_race_of(uint32_t i, uint32_t k, uint32_t byte)
{
	const struct event *o = &run->event[i], *e = &run->event[k];

	return byte - o->offset < o->size && byte - e->offset < e->size && i >= run->forgotten[byte] &&
	       !has(&e->before, i) && ((o->kind | e->kind) & RT_ACCESS_WRITE) &&
	       !(o->kind & e->kind & RT_ACCESS_ATOMIC);
}

/* Whether event i races with the latest event on the byte. */
static bool twin_race(uint32_t i, uint32_t byte)
{
	return twin_race_of(i, run->count - 1, byte);
}

/* Finds the races of the latest event.  Returns whether there are any. */
static bool twin_races(void)
{
	const struct event *e = &run->event[run->count - 1];
	bool found = false;

	for (uint32_t i = 0; i + 1 < run->count; i++)
		for (uint32_t b = e->offset; b < e->offset + e->size; b++)
			if (twin_race(i, b))
				found = run->racy[b] = true;
	return found;
}

/* Whether the report may mean this event, as its first or second access. */
static bool is_meant(uint32_t i, const struct raddle_steer_race *r, int which)
{
	const struct event *o = &run->event[i];

	return o->size && o->site == r->site[which] && run->thread[o->thread].rt->number == r->slot[which] &&
	       (o->kind & RT_ACCESS_WRITE) == r->write[which] &&
	       (o->kind & RT_ACCESS_ATOMIC) / 2 == r->atomic[which];
}

static bool is_reported(uint32_t i, const struct raddle_steer_race *r)
{
	return is_meant(i, r, 0);
}

/* Whether an access by the reported thread at the reported site races with the latest event on the
 * byte.  A report names only the first racing bytes of a pair of accesses.  It also stands for the
 * other bytes of the same 64-byte line. */
static bool twin_agrees(const struct raddle_steer_race *r, uint32_t byte)
{
	bool by_bytes = run->by_bytes && !r->atomic[1], found = false;

	for (uint32_t i = 0; i + 1 < run->count; i++) {
		if (!is_reported(i, r) || !twin_race(i, byte))
			continue;
		found = true;
		for (uint32_t b = byte & ~63u; b <= (byte | 63); b++)
			if (!by_bytes && b < MEMORY && twin_race(i, b))
				run->reported[b] = true;
	}
	return found;
}

/* Checks and clears what the detector has reported since the last check. */
static bool check_reports(void)
{
	const struct event *e = &run->event[run->count - 1];
	uint32_t count = atomic_load(&steer->race_count);

	assert_true(count <= RADDLE_STEER_RACES);
	for (uint32_t i = 0; i < count; i++) {
		const struct raddle_steer_race *r = &steer->races[i];
		assert_int_equal(r->slot[1], run->thread[e->thread].rt->number);
		assert_int_equal(r->site[1], e->site);
		assert_int_equal(r->write[1], e->kind & RT_ACCESS_WRITE);
		assert_true(r->write[0] || r->write[1]);
		assert_true(r->size > 0);
		for (uint64_t b = r->address - BASE; b < r->address - BASE + r->size; b++) {
			assert_true(b >= e->offset && b < e->offset + e->size);
			assert_true(twin_agrees(r, (uint32_t)b));
			run->reported[b] = true;
		}
	}
	atomic_store(&steer->race_count, 0);
	if (run->mode == EXACT) {
		memset(rt_detect()->reported, 0, sizeof rt_detect()->reported);
		rt_detect()->reported_count = 0;
	}
	return count > 0;
}

/* Marks the bytes on which two events race.  A report may be about these events.  Returns whether
 * `byte`, the byte of the report, is among the marked bytes. */
static bool note_lazy(uint32_t i, uint32_t k, uint64_t byte)
{
	bool found = false;

	for (uint32_t b = 0; b < MEMORY; b++)
		if (i < k ? twin_race_of(i, k, b) : twin_race_of(k, i, b)) {
			run->reported[b] = true;
			found |= b == byte;
		}
	return found;
}

/* Checks the reports of a run with lazy comparison, at the end of the run.  It is a matter of
 * chance which of two accesses the detector compares later. */
static void check_lazy(void)
{
	uint32_t count = atomic_load(&steer->race_count);

	for (uint32_t n = 0; n < count && n < RADDLE_STEER_RACES; n++) {
		const struct raddle_steer_race *r = &steer->races[n];
		bool found = false;
		for (uint32_t i = 0; i < run->count; i++)
			for (uint32_t k = 0; k < run->count && is_meant(i, r, 0); k++)
				if (is_meant(k, r, 1))
					found |= note_lazy(i, k, r->address - BASE);
		assert_true(found);
	}
	if (count <= RADDLE_STEER_RACES)
		assert_memory_equal(run->racy, run->reported, MEMORY);
}

/* Segments, as rt/record/event.c handles them. */

static void segment(uint32_t thread)
{
	if (!run->others || (run->blind && !rt_detect_ticked(run->thread[thread].rt)))
		return;
	memset(run->thread[thread].seen, 0, MEMORY);
	memset(run->thread[thread].written, 0, MEMORY);
}

static bool is_marked(struct thread *t, const struct event *e)
{
	bool write = e->kind & RT_ACCESS_WRITE, all = true;

	for (uint32_t b = e->offset; b < e->offset + e->size; b++) {
		all = all && (write ? t->written[b] : t->seen[b]);
		t->seen[b] = 1;
		t->written[b] |= write;
	}
	return all;
}

/* Operations, done both in the twin and in the detector. */

static uintptr_t object(uint32_t kind, uint32_t index)
{
	return OBJECTS + 1024 * kind + 40 * index;
}

static void release(uint32_t thread, struct set *set, uintptr_t at)
{
	new_event(thread);
	twin_release(thread, set);
	rt_detect_release(run->thread[thread].rt, at);
	segment(thread);
}

static void acquire(uint32_t thread, const struct set *set, uintptr_t at)
{
	twin_acquire(thread, set);
	new_event(thread);
	rt_detect_acquire(run->thread[thread].rt, at);
	segment(thread);
}

static void finish_access(bool said)
{
	bool races = twin_races();

	if (run->mode == LAZY)
		return;

	if (run->mode == MERGED && races && !run->first) {
		run->first = true;
		assert_true(said);
	}
	if (!run->first && run->mode != ROUGH)
		assert_true(!said || races);
}

static uint32_t site_of(uint32_t kind)
{
	const struct event *e = &run->event[run->count - 1];

	if (run->mode == LAZY)
		return 1 + e->offset / 8 + MEMORY / 8 * (e->thread * 4 + kind);
	return run->mode == EXACT ? run->count + 1 : 1 + pick(3) + 3 * kind;
}

/* Passes an access to the detector.  In exact runs, reports are checked after each line or byte,
 * because the detector reports each pair of sites only once. */
static bool tell_access(struct rt_thread *t, const struct event *e)
{
	uint32_t step = run->by_bytes ? 1 : run->mode == EXACT ? 64 : MEMORY;
	bool said = false;

	for (uint32_t b = e->offset, stop; b < e->offset + e->size; b = stop) {
		stop = b / step * step + step;
		stop = stop < e->offset + e->size ? stop : e->offset + e->size;
		rt_detect_access(t, BASE + b, stop - b, e->site, e->kind);
		if (run->mode == LAZY)
			continue;
		rt_detect_flush(t);
		said |= check_reports();
	}
	return said;
}

static void plain(uint32_t thread)
{
	struct thread *t = &run->thread[thread];
	struct event *e = new_event(thread);

	e->size = 1u << pick(5);
	if (!pick(6))
		e->size = 1 + pick(100);
	e->offset = e->size <= 16 ? pick(MEMORY / e->size) * e->size : pick(MEMORY - e->size);
	e->offset %= run->reach;
	e->size = e->offset + e->size > MEMORY ? MEMORY - e->offset : e->size;
	e->kind = pick(2);
	e->site = site_of(e->kind);
	finish_access(!is_marked(t, e) && tell_access(t->rt, e));
}

static void atomic(uint32_t thread)
{
	struct thread *t = &run->thread[thread];
	uint32_t offset = pick(run->reach / 4) * 4, kind = RT_ACCESS_ATOMIC | pick(2);
	struct event *e;

	twin_acquire(thread, &run->atomic[offset].by);
	e = new_event(thread);
	e->offset = offset;
	e->size = 4;
	e->kind = kind;
	e->site = site_of(kind);
	rt_detect_atomic(t->rt, BASE + offset, 4, e->site, kind & RT_ACCESS_WRITE);
	finish_access(run->mode != LAZY && check_reports());
	if (kind & RT_ACCESS_WRITE)
		twin_release(thread, &run->atomic[offset].by);
	segment(thread);
}

/* Reallocates memory, as malloc() does.  The marks of the caller are cleared, too. */
static void forget(uint32_t thread)
{
	uint32_t size = 1 + pick(MEMORY), offset = pick(MEMORY - size + 1);

	rt_detect_forget(run->thread[thread].rt, BASE + offset, size);
	for (uint32_t b = offset; b < offset + size; b++) {
		run->forgotten[b] = run->count;
		run->atomic[b] = (struct edge){0};
		/* A stale mark of another thread would mean that it uses freed memory. */
		for (uint32_t i = 0; i < run->born; i++)
			run->thread[i].seen[b] = run->thread[i].written[b] = 0;
	}
}

static void mutex(uint32_t thread)
{
	struct thread *t = &run->thread[thread];
	uint32_t i = pick(LOCKS);

	if (t->holds[i]) {
		release(thread, &run->mutex[i].by, object(0, i));
		run->owner[i] = t->holds[i] = 0;
	} else if (!run->owner[i]) {
		acquire(thread, &run->mutex[i].by, object(0, i));
		run->owner[i] = thread + 1;
		t->holds[i] = 1;
	} else {
		new_event(thread); /* an attempt (trylock) that fails */
		segment(thread);
	}
}

static void rwlock_free(uint32_t thread, uint32_t i)
{
	struct thread *t = &run->thread[thread];

	if (t->writes[i]) {
		release(thread, &run->rwlock[i].by, object(1, i));
		t->writes[i] = run->writer[i] = 0;
		return;
	}
	new_event(thread);
	twin_release(thread, &run->readers[i].by);
	rt_detect_release_read(t->rt, object(1, i));
	segment(thread);
	t->reads[i] = 0;
	run->reader_count[i]--;
}

static void rwlock(uint32_t thread)
{
	struct thread *t = &run->thread[thread];
	uint32_t i = pick(LOCKS);

	if (t->writes[i] || t->reads[i]) {
		rwlock_free(thread, i);
	} else if (pick(2) && !run->writer[i] && !run->reader_count[i]) {
		twin_acquire(thread, &run->readers[i].by);
		acquire(thread, &run->rwlock[i].by, object(1, i));
		t->writes[i] = 1;
		run->writer[i] = thread + 1;
	} else if (!run->writer[i]) {
		twin_acquire(thread, &run->rwlock[i].by);
		new_event(thread);
		rt_detect_acquire_read(t->rt, object(1, i));
		segment(thread);
		t->reads[i] = 1;
		run->reader_count[i]++;
	}
}

/* Begins to wait with a mutex that the thread holds, or signals.  The wait ends in cond_wake(). */
static void cond(uint32_t thread)
{
	struct thread *t = &run->thread[thread];
	uint32_t i = pick(LOCKS);

	if (!t->holds[i] || !pick(2)) {
		release(thread, &run->cond.by, object(2, 0));
		run->signals++;
		return;
	}
	release(thread, &run->mutex[i].by, object(0, i));
	run->owner[i] = t->holds[i] = 0;
	t->state = WAITS;
	t->mutex = i;
}

static void cond_wake(uint32_t thread)
{
	struct thread *t = &run->thread[thread];

	if (!run->signals || run->owner[t->mutex])
		return;
	run->signals--;
	run->owner[t->mutex] = thread + 1;
	t->holds[t->mutex] = 1;
	t->state = RUNS;
	twin_acquire(thread, &run->cond.by);
	acquire(thread, &run->mutex[t->mutex].by, object(0, t->mutex));
	rt_detect_acquire(t->rt, object(2, 0));
}

static void sem(uint32_t thread)
{
	if (run->sem_value && pick(2)) {
		run->sem_value--;
		acquire(thread, &run->sem.by, object(3, 0));
	} else {
		run->sem_value++;
		release(thread, &run->sem.by, object(3, 0));
	}
}

static void once(uint32_t thread)
{
	if (run->once_done)
		acquire(thread, &run->once.by, object(4, 0));
	else
		release(thread, &run->once.by, object(4, 0));
	run->once_done = 1;
}

/* Enters the real barrier, which happens later than the notification of the detector. */
static void barrier_real(uint32_t thread)
{
	struct thread *t = &run->thread[thread];

	if (run->barrier_entered == run->barrier_count) {
		run->barrier_entered = 0;
		run->instances++;
	}
	run->barrier_entered++;
	t->instance = run->instances;
	t->state = INSIDE;
	twin_release(thread, &run->instance[t->instance].by);
}

/* In rough runs, more threads than its count may be inside the barrier at a time. */
static void barrier_enter(uint32_t thread)
{
	struct thread *t = &run->thread[thread];

	if (run->mode != ROUGH && run->barrier_inside == run->barrier_count)
		return;
	new_event(thread);
	run->barrier_inside++;
	rt_detect_barrier_enter(t->rt, object(5, 0));
	segment(thread);
	t->state = ENTERS;
}

static void barrier_exit(uint32_t thread)
{
	struct thread *t = &run->thread[thread];

	if (t->instance == run->instances && run->barrier_entered < run->barrier_count)
		return;
	t->state = RUNS;
	run->barrier_inside--;
	twin_acquire(thread, &run->instance[t->instance].by);
	new_event(thread);
	rt_detect_barrier_exit(t->rt, object(5, 0));
	segment(thread);
}

static void birth(uint32_t thread)
{
	struct thread *t = &run->thread[run->born];
	bool nowhere = run->mode == ROUGH && !pick(3);

	if (run->born == THREADS)
		return;
	t->rt = states[run->born];
	t->rt->number = run->born;
	t->rt->parent = nowhere ? UINT32_MAX : thread;
	t->rt->stack_low = BASE - 4096;
	t->rt->stack_high = BASE;
	set_watch(t->rt, NULL);
	run->others++;
	atomic_fetch_add(&rt.others, 1);
	if (nowhere) {
		for (uint32_t i = 0; i < run->count; i++)
			add(&t->past, i);
	} else {
		new_event(thread);
		t->past = run->thread[thread].past;
		rt_detect_created(run->thread[thread].rt, t->rt);
		segment(thread);
	}
	t->state = RUNS;
	rt_detect_start(t->rt);
	run->born++;
}

static void death(uint32_t thread)
{
	struct thread *t = &run->thread[thread];

	for (uint32_t i = 0; i < LOCKS; i++)
		if (t->holds[i] || t->reads[i] || t->writes[i])
			return;
	if (!thread)
		return;
	new_event(thread);
	t->state = ENDED;
	rt_detect_end(t->rt);
}

static void join(uint32_t thread)
{
	uint32_t other = pick(run->born);
	struct thread *t = &run->thread[thread];

	if (run->thread[other].state != ENDED)
		return;
	twin_acquire(thread, &run->thread[other].past);
	new_event(thread);
	rt_detect_joined(t->rt, other);
	segment(thread);
	run->thread[other].state = JOINED;
	run->others--;
	atomic_fetch_sub(&rt.others, 1);
}

/* A signal handler interrupts the detector and posts a semaphore, so the detector misses the
 * edge. */
static void lost(uint32_t thread)
{
	struct thread *t = &run->thread[thread];

	new_event(thread);
	rt_watch(t->rt)->busy = UINTPTR_MAX;
	rt_detect_release(t->rt, object(3, 0));
	rt_watch(t->rt)->busy = 0;
	twin_release(thread, &run->sem.by);
	run->sem_value++;
	rt_watch(t->rt)->ticked = true; /* its record is written later, and then a segment begins */
	segment(thread);
}

static void step(uint32_t thread)
{
	static void (*const operations[])(uint32_t) = {mutex,  rwlock, cond,  sem,   once, barrier_enter,
						       atomic, forget, birth, death, join, lost};
	struct thread *t = &run->thread[thread];
	uint32_t choice;

	if (t->state == WAITS) {
		cond_wake(thread);
	} else if (t->state == ENTERS) {
		barrier_real(thread);
	} else if (t->state == INSIDE) {
		barrier_exit(thread);
	} else if (t->state == RUNS) {
		choice = pick(sizeof operations / sizeof *operations - (run->mode != ROUGH));
		if (run->mode == LAZY && operations[choice] == forget)
			choice = 0; /* collected accesses would be compared with later ones */
		if (pick(2) || !(run->allowed >> choice & 1))
			plain(thread);
		else
			operations[choice](thread);
	}
}

static void begin_run(enum mode mode)
{
	memset(run, 0, sizeof *run);
	run->mode = mode;
	run->by_bytes = mode == EXACT && pick(2);
	run->blind = pick(2);
	atomic_store(&rt.others, 0);
	run->allowed = pick(3) ? pick(1u << 12) & pick(1u << 12) : UINT32_MAX;
	run->reach = pick(2) ? MEMORY : 8u << pick(4);
	run->barrier_count = 2 + pick(2);
	rt_detect_setup(steer);
	atomic_store(&steer->race_count, 0);
	run->thread[0].state = RUNS;
	run->thread[0].rt = states[0];
	states[0]->number = states[0]->parent = 0;
	set_watch(states[0], NULL);
	run->born = 1;
	__raddle_self = &states[0]->self;
	rt_detect_start(states[0]);
	rt_detect_barrier_init(states[0], object(5, 0), run->barrier_count);
	for (uint32_t i = pick(4); i > 0; i--)
		birth(0);
}

static void end_run(void)
{
	if (run->mode == LAZY) {
		rt_detect_exit(states[0]);
		check_lazy();
	}
	if (run->mode == EXACT)
		assert_memory_equal(run->racy, run->reported, MEMORY);
	assert_false(atomic_load(&rt_detect()->dead));
	rt_detect_stop();
	for (; mapping_count; mapping_count--)
		unmap(mappings[mapping_count - 1].at, mappings[mapping_count - 1].size);
}

static uint32_t racy_runs;

static void one(enum mode mode)
{
	uint32_t length = 10 + pick(EVENTS - 20);

	begin_run(mode);
	for (uint32_t tries = 0; run->count < length && tries < 10 * EVENTS; tries++)
		step(pick(run->born)); /* it may do nothing, if all threads wait */
	for (uint32_t b = 0; b < MEMORY; b++)
		if (run->racy[b]) {
			racy_runs++;
			break;
		}
	end_run();
}

static uint32_t executions(void)
{
	const char *n = getenv("RADDLE_DETECT");

	return n ? (uint32_t)strtoul(n, NULL, 10) : getenv("RADDLE_LONG") ? 5000 : 750;
}

static uint64_t seed;
static bool complete;

static void many(enum mode mode)
{
	uint32_t count = executions();

	racy_runs = 0;
	complete = false;
	for (uint32_t i = 0; i < count; i++) {
		random_state = seed = (uint64_t)i * 4 + mode + 1;
		one(mode);
	}
	complete = true;
	/* The test means something only if there are runs with and without races. */
	assert_in_range(racy_runs, count / 20, count - count / 20);
}

static int say_seed(void **state)
{
	(void)state;
	if (!complete)
		fprintf(stderr, "failed in the execution with seed %llu\n", (unsigned long long)seed);
	return 0;
}

static void test_exact(void **state)
{
	(void)state;
	many(EXACT);
}

static void test_merged(void **state)
{
	(void)state;
	many(MERGED);
}

static void test_lazy(void **state)
{
	(void)state;
	many(LAZY);
}

static void test_rough(void **state)
{
	(void)state;
	many(ROUGH);
}

/* Single situations, one for each test. */

static void access_now(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t access)
{
	rt_detect_access(t, address, size, site, access);
	rt_detect_flush(t);
}

static struct rt_thread *child_of(struct rt_thread *parent, struct rt_thread *t, uint32_t number)
{
	t->number = number;
	t->parent = parent->number;
	t->stack_low = t->stack_high = 0;
	atomic_fetch_add(&rt.others, 1);
	rt_detect_created(parent, t);
	rt_detect_start(t);
	return t;
}

static void test_bytes(void **state)
{
	struct rt_thread *a = states[0], *b;

	(void)state;
	random_state = 1;
	begin_run(MERGED);
	b = child_of(a, states[THREADS - 1], 40);
	for (uint32_t i = 0; i < 64; i += 2) {
		access_now(a, BASE + 1024 + i, 1, 7, RT_ACCESS_WRITE);
		access_now(b, BASE + 1024 + i + 1, 1, 8, RT_ACCESS_WRITE);
	}
	rt_detect_block(a, BASE + 2048, 0x5555, 7, RT_ACCESS_WRITE);
	rt_detect_block(b, BASE + 2048, 0xaaaa, 8, RT_ACCESS_WRITE);
	assert_int_equal(steer->race_count, 0);
	access_now(b, BASE + 1024 + 60, 2, 9, RT_ACCESS_READ);
	assert_int_equal(steer->race_count, 1);
	assert_int_equal(steer->races[0].address, BASE + 1024 + 60);
	assert_int_equal(steer->races[0].size, 1);
	assert_int_equal(steer->races[0].slot[0], 0);
	assert_int_equal(steer->races[0].slot[1], 40);
	end_run();
}

/* When the memory of an object is freed, its past releases no longer order anything. */
static void test_forgotten_objects(void **state)
{
	struct rt_thread *a = states[0], *b;

	(void)state;
	random_state = 1;
	begin_run(MERGED);
	b = child_of(a, states[THREADS - 1], 40);
	access_now(a, BASE + 1024, 8, 7, RT_ACCESS_WRITE);
	rt_detect_release(a, BASE + 2048);
	rt_detect_forget(a, BASE + 2040, 16);
	rt_detect_acquire(b, BASE + 2048);
	access_now(b, BASE + 1024, 8, 8, RT_ACCESS_WRITE);
	assert_int_equal(steer->race_count, 1);
	end_run();
}

/* Threads that meet in one round of a barrier are not ordered after threads of an earlier round. */
static void test_rounds(void **state)
{
	struct rt_thread *a = states[0], *t[6];

	(void)state;
	random_state = 1;
	begin_run(MERGED);
	rt_detect_barrier_init(a, BASE + 2048, 2);
	for (uint32_t i = 0; i < 6; i++)
		t[i] = child_of(a, states[THREADS - 1 - i], 40 + i);
	access_now(t[0], BASE + 1024, 8, 7, RT_ACCESS_WRITE);
	for (uint32_t i = 0; i < 6; i += 2) {
		rt_detect_barrier_enter(t[i], BASE + 2048);
		rt_detect_barrier_enter(t[i + 1], BASE + 2048);
		rt_detect_barrier_exit(t[i], BASE + 2048);
		rt_detect_barrier_exit(t[i + 1], BASE + 2048);
	}
	access_now(t[1], BASE + 1024, 8, 8, RT_ACCESS_READ);
	assert_int_equal(steer->race_count, 0);
	access_now(t[5], BASE + 1024, 8, 9, RT_ACCESS_READ);
	assert_int_equal(steer->race_count, 1);
	end_run();
}

/* Each pair of sites is reported once, in either order.  Races for which there is no room are
 * counted. */
static void test_reports(void **state)
{
	struct rt_thread *a = states[0], *b;

	(void)state;
	random_state = 1;
	begin_run(MERGED);
	b = child_of(a, states[THREADS - 1], 40);
	for (uint32_t i = 0; i < 300; i++) {
		access_now(a, BASE + 1024 + 8 * i, 8, 1000 + i, RT_ACCESS_WRITE);
		access_now(b, BASE + 1024 + 8 * i, 8, 2000 + i, RT_ACCESS_WRITE);
		access_now(a, BASE + 1024 + 8 * i, 8, 1000 + i, RT_ACCESS_WRITE);
	}
	assert_int_equal(steer->race_count, 300);
	assert_int_equal(steer->races[RADDLE_STEER_RACES - 1].site[1], 2000 + RADDLE_STEER_RACES - 1);
	end_run();
}

/* 1500 threads read the same bytes and all but one are joined.  The race with that one is found. */
static void test_many_threads(void **state)
{
	enum { MANY = 1500 };
	struct rt_thread *a = states[0], **t = calloc(MANY, sizeof *t);

	(void)state;
	random_state = 1;
	begin_run(MERGED);
	for (uint32_t i = 0; i < MANY; i++) {
		t[i] = map_for_good(sizeof **t);
		child_of(a, t[i], 100 + i);
		access_now(t[i], BASE + 4096, 4, 5, RT_ACCESS_READ);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		rt_detect_release(t[i], OBJECTS);
		rt_detect_acquire(t[i], OBJECTS);
		if (i == 700)
			access_now(t[i], BASE + 4096, 4, 5, RT_ACCESS_READ);
		rt_detect_end(t[i]);
		if (i != 700)
			rt_detect_joined(a, 100 + i);
	}
	assert_int_equal(steer->race_count, 0);
	access_now(a, BASE + 4096, 4, 6, RT_ACCESS_WRITE);
	assert_int_equal(steer->race_count, 1);
	assert_int_equal(steer->races[0].slot[0], 800);
	for (uint32_t i = 0; i < MANY; i++)
		unmap(t[i], sizeof **t);
	free(t);
	end_run();
}

/* If memory runs out, at any moment, the detector stops and reports that. */
static void test_no_memory(void **state)
{
	struct rt_thread *a = states[0], *b;

	(void)state;
	for (uint32_t n = 0; n < 6; n++) {
		memset(steer, 0, sizeof *steer);
		mappings_left = n;
		rt_detect_setup(steer);
		set_watch(a, NULL);
		set_watch(states[1], NULL);
		a->number = a->parent = 0;
		__raddle_self = &a->self;
		if (rt_detect()) {
			rt_detect_start(a);
			b = child_of(a, states[1], 40);
			for (uint64_t i = 0; i < 2000; i++) {
				rt_detect_access(a, BASE + 4096 * i, 8, 1, RT_ACCESS_WRITE);
				rt_detect_release(b, BASE + 4096 * i + 64);
				rt_detect_forget(b, BASE + 4096 * i + 1024, 64);
			}
			rt_detect_end(b);
			rt_detect_joined(a, 40);
			rt_detect_exit(a);
			rt_detect_stop();
		}
		assert_int_equal(steer->detect_over, 1);
		for (; mapping_count; mapping_count--)
			unmap(mappings[mapping_count - 1].at, mappings[mapping_count - 1].size);
	}
	mappings_left = UINT32_MAX;
}

/* Threads that run one after the other share a lane, and are ordered. */
static void test_lanes(void **state)
{
	struct rt_thread *a = states[0], *t = states[1];

	(void)state;
	random_state = 3;
	begin_run(MERGED);
	for (uint32_t i = 0; i < 1000; i++) {
		child_of(a, t, 100 + i);
		access_now(t, BASE + 4096, 4, 5, RT_ACCESS_WRITE);
		rt_detect_end(t);
		rt_detect_joined(a, 100 + i);
	}
	assert_true(atomic_load(&rt_detect()->lane_count) <= 6);
	child_of(a, t, 2000);
	access_now(t, BASE + 4096, 4, 5, RT_ACCESS_WRITE);
	assert_int_equal(steer->race_count, 0);
	access_now(a, BASE + 4096, 4, 6, RT_ACCESS_WRITE);
	assert_int_equal(steer->race_count, 1);
	assert_int_equal(steer->races[0].slot[0], 2000);
	end_run();
}

/* With real concurrent threads, accesses under the lock are never reported, and others always
 * are. */
enum { HAMMERS = 4, BLOWS = 20000 };

static void *hammer(void *state)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct rt_thread *t = state;
	uint64_t r = t->number;

	__raddle_self = &t->self;
	rt_detect_start(t);
	for (uint32_t i = 0; i < BLOWS; i++) {
		r = r * 6364136223846793005ull + 1442695040888963407ull;
		rt_detect_access(t, BASE + 65536 + 8 * t->number, 8, 10 + t->number, RT_ACCESS_WRITE);
		pthread_mutex_lock(&lock);
		rt_detect_acquire(t, OBJECTS);
		rt_detect_access(t, BASE + 4096 + (r >> 40) % 4096, 1 + (r >> 60), 20 + t->number,
				 r >> 33 & 1);
		if (!(i & 63))
			rt_detect_forget(t, BASE + 4096 + (r >> 40) % 4096, 256);
		rt_detect_release(t, OBJECTS);
		pthread_mutex_unlock(&lock);
	}
	rt_detect_access(t, BASE + 32768, 8, 30 + t->number, RT_ACCESS_WRITE);
	rt_detect_end(t);
	return NULL;
}

static void test_threads(void **state)
{
	struct rt_thread *a = states[0];
	pthread_t thread[HAMMERS];

	(void)state;
	random_state = 1;
	begin_run(MERGED);
	for (uint32_t i = 0; i < HAMMERS; i++) {
		struct rt_thread *t = states[THREADS - 1 - i];
		t->number = 40 + i;
		t->parent = 0;
		t->stack_low = t->stack_high = 0;
		atomic_fetch_add(&rt.others, 1);
		rt_detect_created(a, t);
		assert_int_equal(pthread_create(&thread[i], NULL, hammer, t), 0);
	}
	for (uint32_t i = 0; i < HAMMERS; i++) {
		pthread_join(thread[i], NULL);
		rt_detect_joined(a, 40 + i);
	}
	for (uint32_t i = 0; i < steer->race_count; i++)
		assert_int_equal(steer->races[i].address, BASE + 32768);
	assert_true(steer->race_count >= HAMMERS - 1);
	steer->race_count = 0;
	access_now(a, BASE + 4096, 4096, 99, RT_ACCESS_WRITE);
	assert_int_equal(steer->race_count, 0);
	end_run();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_forgotten_objects),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_threads),
		cmocka_unit_test_teardown(test_exact, say_seed),
		cmocka_unit_test_teardown(test_merged, say_seed),
		cmocka_unit_test_teardown(test_lazy, say_seed),
		cmocka_unit_test_teardown(test_rough, say_seed),
	};

	rt.page = 4096;
	steer = calloc(1, sizeof *steer);
	run = malloc(sizeof *run);
	for (uint32_t i = 0; i < THREADS; i++)
		states[i] = map_for_good(sizeof *states[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
