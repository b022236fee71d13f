// SPDX-License-Identifier: Apache-2.0
/*
 * Learns how OpenMP's libomp orders threads, through its tools interface (OMPT, OpenMP 5.2, chapter
 * 19).
 *
 * libomp is not instrumented, and it implements fork, barriers, tasks and locks with atomics and
 * futexes that are not recorded.  But it looks for ompt_start_tool() in the program and then calls
 * the callbacks of this file.  In: these callbacks.  Out: operations on semaphores and mutexes of
 * this file.  They are made through the interposed functions, so that they are handled like
 * operations of the program.
 *
 * An edge, which orders one thread before another, is a semaphore.  The first thread posts it, and
 * the second takes the token.  The second thread never waits, since libomp has already ordered the
 * two.  At a barrier, each thread has its own semaphore, which all threads of the team post, so
 * that no thread can take a token meant for another.
 *
 * A lock has a mutex around it, which is taken before libomp's lock and released after it.  So
 * libomp's lock is always free, and by means of the mutex a replay can decide which thread gets it.
 * Where libomp itself decides which thread is next (ordered, test locks), the mutex is taken after
 * libomp's lock.
 *
 * The first thread that reaches a `single` executes it.  Each thread tries to take the only token
 * of a semaphore.  The threads that fail continue when the thread that took the token has entered
 * libomp's `single`.  So a replay can also decide which thread executes a `single`.
 *
 * In libomp, a thread that created tasks executes all of them itself if it reaches them before
 * other threads wake up.  Likewise, the thread that created the team is usually the first to reach
 * a `single` or a loop with a dynamic schedule.  Then the threads never interact.  So, the first
 * few times, such a thread waits briefly until another thread has arrived.
 *
 * Memory is never reused, because an edge is identified by its address.  No function here holds a
 * lock of the runtime during a call that can wait.
 */
#include "rt/common/bug.h"
#include "rt/common/hash.h"
#include "rt/core/layer.h"
#include "rt/core/library/front.h"

#include <sched.h>
#include <sys/syscall.h>

/* All these numbers were chosen by hand. */
enum {
	DEPENDENCES = 64,	/* edges per task for reads (`in`), and as many for writes */
	MUTEX_BUCKETS = 256,	/* buckets of the hash table of mutexes */
	MAPPED_BYTES = 1 << 20, /* bytes that are mapped at once */
	TEAM_MAX = 1024,	/* the maximum size of a team; bounds the tokens of a barrier */
	/* Maximum number of checks whether another thread has entered a `single`. */
	ENTERED_LOOKS = 1 << 20,
	NAPS = 10,	 /* how often a process waits for other threads to arrive */
	NAP_PARTS = 100, /* the maximum number of sleeps in such a wait */
	NAP_NS = 200000	 /* nanoseconds of a sleep: a wait takes at most 20 ms */
};

/* The types of the OMPT interface. */
union ompt_data {
	uint64_t value;
	void *ptr;
};
struct ompt_dependence {
	union ompt_data variable;
	int type;
};
typedef void ompt_callback(void);
typedef ompt_callback *ompt_lookup(const char *name);
typedef int ompt_set_callback(int which, ompt_callback *callback);
struct ompt_tool {
	int (*initialize)(ompt_lookup *lookup, int device, union ompt_data *data);
	void (*finalize)(union ompt_data *data);
	union ompt_data data;
};
/* The values of omp-tools.h. */
enum { SCOPE_BEGIN = 1, SCOPE_END };
enum { TASK_INITIAL = 1, TASK_IMPLICIT = 2 };
enum { STATUS_COMPLETE = 1, STATUS_CANCEL = 3, STATUS_EARLY = 5, STATUS_LATE = 6, STATUS_WAITED = 8 };
enum { REGION_TASKWAIT = 5, REGION_TASKGROUP = 6, REGION_REDUCTION = 7 };
enum { WORK_LOOP = 1, WORK_LOOP_DYNAMIC = 11, WORK_LOOP_OTHER = 13 };
enum { MUTEX_TEST = 2, MUTEX_TEST_NEST = 4, MUTEX_ORDERED = 7 };
enum { DEPENDENCE_IN = 1, DEPENDENCE_SOURCE = 5, DEPENDENCE_SINK = 6 };

struct edge {
	sem_t sem;
	_Atomic uint32_t tokens;
};

/* One use of a `single` construct, which one thread of the team executes. */
struct single {
	uint32_t number; /* counts the `single` constructs of the team from 0 */
	_Atomic bool entered;
	sem_t sem;
	struct single *next;
};

struct team {
	uint32_t size;
	struct single *_Atomic singles;
	_Atomic uint32_t single_count;
	_Atomic uint32_t loops; /* how many loops a thread other than the first has reached */
	pthread_mutex_t reduction;
	struct edge across; /* orders iterations that wait for others (doacross) */
	struct edge *fork;  /* an edge for each thread */
	/* Two edges for each thread, since successive barriers use them in turn. */
	struct edge *barrier;
};

struct group {
	struct edge done;
	struct group *outer;
};

struct task {
	struct team *team;
	struct task *parent;
	struct task *implicit; /* the implicit task of the thread that runs this task */
	struct group *group;
	struct edge begin;    /* orders the thread that begins or continues this task */
	struct edge children; /* orders waits for children after the children's ends */
	/* The edges of the task's children: first DEPENDENCES edges for reads, then as many for
	 * writes. */
	struct edge *dependences;
	uint64_t in, out; /* its own dependences, as sets of hashes */
	/* The members from here to `taken` are used only in implicit tasks.  `number` is the number
	 * of the task's thread in the team.  `turn` tells which of the two sets of barrier edges is
	 * used next. */
	uint32_t number, turn;
	uint32_t singles; /* how many `single` constructs it has reached */
	uint32_t loops;	  /* how many loops it has reached */
	bool made;	  /* true if it made a task that perhaps no other thread has begun */
	uint32_t seen;	  /* the value of `taken` when it made that task */
	/* The number of tasks that this thread made and another thread began. */
	_Atomic uint32_t taken;
	bool in_barrier, started;
};

struct omp_mutex {
	uint64_t id;
	pthread_mutex_t mutex;
	struct omp_mutex *next;
};

static struct {
	_Atomic uint32_t lock;
	char *memory;
	size_t left;
	struct omp_mutex *mutexes[MUTEX_BUCKETS];
	ompt_callback *_Atomic get_task;
	_Atomic uint32_t naps; /* the number of waits so far */
	struct ompt_tool tool; /* what ompt_start_tool() returns to libomp */
} omp;

_Static_assert(MUTEX_BUCKETS == 1 << 8 && DEPENDENCES == 1 << 6,
	       "indices are the upper 8 and 6 bits of a hash");

/* ---- memory ---- */

static void *take_memory(size_t size)
{
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (size > omp.left) {
		size_t chunk = size > MAPPED_BYTES ? size : MAPPED_BYTES;

		omp.memory = rt_map(chunk);
		omp.left = omp.memory ? chunk : 0;
	}
	if (size > omp.left)
		return NULL;
	RT_ASSERT((uintptr_t)omp.memory % 16 == 0);
	p = omp.memory;
	omp.memory += size;
	omp.left -= size;
	return p;
}

static void *get_memory(size_t size)
{
	uint64_t saved;
	void *p;

	rt_block_signals(&saved);
	rt_spin(&omp.lock);
	p = take_memory(size);
	rt_spin_leave(&omp.lock);
	rt_restore_signals(&saved);
	return p;
}

/* ---- edges ---- */

static void come_first(struct edge *e)
{
	sem_post(&e->sem);
	atomic_fetch_add(&e->tokens, 1);
}

static void come_behind(struct edge *e)
{
	for (uint32_t n = atomic_exchange(&e->tokens, 0); n; n--)
		sem_wait(&e->sem);
}

/* Like come_behind(), but for any number of threads: each of them puts the token back. */
static void pass_by(struct edge *e)
{
	if (!atomic_load(&e->tokens))
		return;
	sem_wait(&e->sem);
	sem_post(&e->sem);
}

/* ---- teams ---- */

static struct team *new_team(uint32_t size)
{
	struct team *team;
	size_t n = size ? size : 1;

	n = n > TEAM_MAX ? TEAM_MAX : n;
	team = get_memory(sizeof *team + 3 * n * sizeof(struct edge));
	if (!team)
		return NULL;
	team->size = (uint32_t)n;
	team->fork = (struct edge *)(team + 1);
	team->barrier = team->fork + n;
	return team;
}

static struct task *new_task(struct team *team, struct task *parent)
{
	struct task *task = team ? get_memory(sizeof *task) : NULL;

	if (!task)
		return NULL;
	task->team = team;
	task->parent = parent;
	task->group = parent ? parent->group : NULL;
	task->implicit = parent ? parent->implicit : task;
	return task;
}

static void parallel_begin(union ompt_data *parent, const void *frame, union ompt_data *parallel,
			   unsigned size, int flags, const void *where)
{
	struct team *team = new_team(size);

	(void)parent, (void)frame, (void)flags, (void)where;
	parallel->ptr = team;
	for (uint32_t i = 0; team && i < team->size; i++)
		come_first(&team->fork[i]);
}

static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *where)
{
	struct team *team = parallel->ptr;

	(void)task, (void)flags, (void)where;
	if (!team)
		return;
	come_behind(&team->barrier[0]);
	come_behind(&team->barrier[team->size]);
}

static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *data, unsigned size,
			  unsigned number, int flags)
{
	struct task *task;

	(void)size;
	if (endpoint != SCOPE_BEGIN || !parallel)
		return;
	if (!parallel->ptr && flags & TASK_INITIAL)
		parallel->ptr = new_team(1);
	task = new_task(parallel->ptr, NULL);
	data->ptr = task;
	if (!task)
		return;
	task->number = number < task->team->size ? number : 0;
	task->started = true;
	come_behind(&task->team->fork[task->number]);
}

/* ---- barriers, waiting for tasks ---- */

/* Waits until *number is at least `wanted`, but at most for 20 ms, and only the first few times.
 * Does not wait if all threads run on one kernel thread, since no other thread would arrive
 * meanwhile. */
static void nap_until(const _Atomic uint32_t *number, uint32_t wanted)
{
	int saved = errno;

	if (atomic_fetch_add(&omp.naps, 1) < NAPS && !rt_shares_kernel_thread())
		for (int i = 0; i < NAP_PARTS && atomic_load(number) < wanted; i++)
			syscall(SYS_nanosleep, &(struct timespec){0, NAP_NS}, NULL);
	errno = saved;
}

/* Gives other threads time to take the tasks that the thread has made. */
static void let_others_take(struct task *task)
{
	if (!task->implicit->made || task->team->size == 1)
		return;
	task->implicit->made = false;
	nap_until(&task->implicit->taken, task->implicit->seen + 1);
}

/* Posts a token for every thread of the team.  So a thread that leaves the barrier is ordered after
 * all threads that reached it. */
static void arrive(struct task *task)
{
	struct team *team = task->team;

	RT_ASSERT(task->implicit->turn < 2);
	for (uint32_t i = 0; i < team->size; i++)
		come_first(&team->barrier[task->implicit->turn * team->size + i]);
}

static void barrier(struct task *task, int endpoint, bool known)
{
	struct team *team = task->team;

	if (endpoint != SCOPE_END)
		arrive(task);
	task->in_barrier = endpoint == SCOPE_BEGIN;
	if (endpoint == SCOPE_BEGIN)
		return;
	if (known) /* otherwise the team has continued without this thread */
		come_behind(&team->barrier[task->turn * team->size + task->number]);
	task->turn ^= 1;
}

static void task_group(struct task *task, int endpoint)
{
	if (endpoint != SCOPE_END) {
		struct group *group = get_memory(sizeof *group);

		if (group) {
			group->outer = task->group;
			task->group = group;
		}
	}
	if (endpoint != SCOPE_BEGIN && task->group) {
		come_behind(&task->group->done);
		task->group = task->group->outer;
	}
}

static void sync_region(int kind, int endpoint, union ompt_data *parallel, union ompt_data *data,
			const void *where)
{
	struct task *task = data ? data->ptr : NULL;

	(void)where;
	if (!task || kind == REGION_REDUCTION)
		return;
	if (endpoint == SCOPE_BEGIN && !atomic_load(&task->implicit->taken))
		let_others_take(task); /* otherwise the thread might execute its last task itself */
	if (kind == REGION_TASKGROUP)
		task_group(task, endpoint);
	else if (kind != REGION_TASKWAIT)
		barrier(task, endpoint, parallel && parallel->ptr);
	else if (endpoint != SCOPE_BEGIN)
		come_behind(&task->children);
}

/* libomp calls this when all tasks of the group are done, before it combines the results of their
 * reductions and ends the region. */
static void region_wait(int kind, int endpoint, union ompt_data *parallel, union ompt_data *data,
			const void *where)
{
	struct task *task = data ? data->ptr : NULL;

	(void)parallel, (void)where;
	if (task && task->group && kind == REGION_TASKGROUP && endpoint == SCOPE_END)
		come_behind(&task->group->done);
}

/* Threads combine partial results one after the other, under a mutex.  In a barrier, a thread
 * combines the results of the threads that have already arrived. */
static void reduction(int kind, int endpoint, union ompt_data *parallel, union ompt_data *data,
		      const void *where)
{
	struct task *task = data ? data->ptr : NULL;

	(void)kind, (void)parallel, (void)where;
	if (!task)
		return;
	if (endpoint == SCOPE_END) {
		pthread_mutex_unlock(&task->team->reduction);
		return;
	}
	if (task->in_barrier)
		pass_by(&task->team->barrier[task->turn * task->team->size + task->number]);
	pthread_mutex_lock(&task->team->reduction);
}

/* ---- tasks ---- */

static struct edge *dependences_of(struct task *parent)
{
	if (parent && !parent->dependences)
		parent->dependences = get_memory(2 * DEPENDENCES * sizeof(struct edge));
	return parent ? parent->dependences : NULL;
}

static void task_create(union ompt_data *parent, const void *frame, union ompt_data *data, int flags,
			int has_dependences, const void *where)
{
	struct task *from = parent ? parent->ptr : NULL, *task;

	(void)frame, (void)has_dependences, (void)where;
	if (flags & (TASK_INITIAL | TASK_IMPLICIT) || !from)
		return;
	let_others_take(from);
	from->implicit->made = true;
	from->implicit->seen = atomic_load(&from->implicit->taken);
	task = new_task(from->team, from);
	data->ptr = task;
	if (task)
		come_first(&task->begin);
}

static void dependences(union ompt_data *data, const struct ompt_dependence *list, int count)
{
	struct task *task = data ? data->ptr : NULL;

	for (int i = 0; task && i < count; i++) {
		uint64_t hash = rt_hash(list[i].variable.value) >> 58;

		if (list[i].type == DEPENDENCE_SOURCE)
			come_first(&task->team->across);
		else if (list[i].type == DEPENDENCE_SINK)
			pass_by(&task->team->across);
		else if (list[i].type == DEPENDENCE_IN)
			task->in |= 1ull << hash;
		else
			task->out |= 1ull << hash;
	}
}

/* Orders the task after the tasks that it depends on.  A reader depends on writers, and a writer on
 * readers and writers. */
static void await_others(struct task *task)
{
	struct edge *edges = task->in | task->out ? dependences_of(task->parent) : NULL;

	for (unsigned i = 0; edges && i < DEPENDENCES; i++) {
		if ((task->in | task->out) >> i & 1)
			pass_by(&edges[DEPENDENCES + i]);
		if (task->out >> i & 1)
			pass_by(&edges[i]);
	}
}

static void finish(struct task *task)
{
	struct edge *edges = task->in | task->out ? dependences_of(task->parent) : NULL;

	for (unsigned i = 0; edges && i < DEPENDENCES; i++) {
		if (task->in >> i & 1)
			come_first(&edges[i]);
		if (task->out >> i & 1)
			come_first(&edges[DEPENDENCES + i]);
	}
	if (task->parent)
		come_first(&task->parent->children);
	if (task->group)
		come_first(&task->group->done);
	if (task->implicit->in_barrier)
		arrive(task);
}

static void task_schedule(union ompt_data *first, int status, union ompt_data *second)
{
	struct task *from = first ? first->ptr : NULL, *to = second ? second->ptr : NULL;

	if (status == STATUS_EARLY || !from)
		return;
	if (status == STATUS_WAITED) {
		await_others(from);
		return;
	}
	if (status == STATUS_LATE)
		come_behind(&from->begin);
	if (status == STATUS_COMPLETE || status == STATUS_CANCEL || status == STATUS_LATE)
		finish(from);
	else
		come_first(&from->begin);
	if (status == STATUS_LATE || !to)
		return;
	if (to->parent)
		to->implicit = from->implicit;
	come_behind(&to->begin);
	if (!to->started) {
		if (to->parent && to->parent->implicit != to->implicit)
			atomic_fetch_add(&to->parent->implicit->taken, 1);
		await_others(to);
	}
	to->started = true;
}

/* ---- locks ---- */

static struct omp_mutex *find_mutex(uint64_t id)
{
	struct omp_mutex **bucket = &omp.mutexes[rt_hash(id) >> 56], *m;
	uint64_t saved;

	rt_block_signals(&saved);
	rt_spin(&omp.lock);
	for (m = *bucket; m && m->id != id; m = m->next)
		;
	if (!m && (m = take_memory(sizeof *m)) != NULL) {
		*m = (struct omp_mutex){
			.id = id, .mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .next = *bucket};
		*bucket = m;
	}
	rt_spin_leave(&omp.lock);
	rt_restore_signals(&saved);
	return m;
}

static void lock(uint64_t id)
{
	struct omp_mutex *m = find_mutex(id);

	if (m)
		pthread_mutex_lock(&m->mutex);
}

static void unlock(uint64_t id)
{
	struct omp_mutex *m = find_mutex(id);

	if (m)
		pthread_mutex_unlock(&m->mutex);
}

static bool is_taken_late(int kind)
{
	return kind == MUTEX_TEST || kind == MUTEX_TEST_NEST || kind == MUTEX_ORDERED;
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t id, const void *where)
{
	(void)hint, (void)implementation, (void)where;
	rt_local.tries = kind == MUTEX_TEST_NEST;
	if (!is_taken_late(kind))
		lock(id);
}

static void mutex_acquired(int kind, uint64_t id, const void *where)
{
	(void)where;
	if (is_taken_late(kind))
		lock(id);
}

static void mutex_released(int kind, uint64_t id, const void *where)
{
	(void)kind, (void)where;
	unlock(id);
}

static void nest_lock(int endpoint, uint64_t id, const void *where)
{
	(void)where;
	if (endpoint == SCOPE_END)
		unlock(id);
	else if (rt_local.tries)
		lock(id);
}

/* ---- loops ---- */

/* Threads share the iterations of a loop without a static schedule.  So the first thread waits
 * briefly until another thread has reached the loop. */
static void work(int kind, int endpoint, union ompt_data *parallel, union ompt_data *data, uint64_t count,
		 const void *where)
{
	struct task *task = data ? data->ptr : NULL;
	bool dealt = kind == WORK_LOOP || (kind >= WORK_LOOP_DYNAMIC && kind <= WORK_LOOP_OTHER);

	(void)parallel, (void)count, (void)where;
	if (!task || !dealt || endpoint != SCOPE_BEGIN || task->team->size == 1)
		return;
	task->loops++;
	if (task->number)
		atomic_store(&task->team->loops, task->loops);
	else
		nap_until(&task->team->loops, task->loops);
}

/* ---- single ---- */

#ifndef RADDLE_STATIC
typedef int ompt_get_task_info(int level, int *flags, union ompt_data **task, void **frame,
			       union ompt_data **parallel, int *number);

static struct single *find_single(struct team *team, uint32_t number)
{
	struct single *first = atomic_load(&team->singles), *s, *fresh = NULL;

	for (;;) {
		for (s = first; s && s->number != number; s = s->next)
			;
		if (s)
			return s;
		if (!fresh) {
			fresh = get_memory(sizeof *fresh);
			if (!fresh)
				return NULL;
			fresh->number = number;
			sem_init(&fresh->sem, 0, 1);
		}
		fresh->next = first;
		if (atomic_compare_exchange_strong(&team->singles, &first, fresh)) {
			atomic_fetch_add(&team->single_count, 1);
			return fresh;
		}
	}
}

/* Returns the `single` that the thread has reached, or NULL if it is unknown or no other thread can
 * reach it. */
static struct single *next_single(void)
{
	ompt_get_task_info *get = (ompt_get_task_info *)atomic_load(&omp.get_task);
	union ompt_data *data = NULL, *parallel;
	struct task *task;
	int flags, number;
	void *frame;

	if (!get || get(0, &flags, &data, &frame, &parallel, &number) < 1 || !data || !data->ptr)
		return NULL;
	task = data->ptr;
	if (task->team->size == 1)
		return NULL;
	if (task->number == 0 && task->singles % 2 == 0)
		nap_until(&task->team->single_count, task->singles + 1);
	return find_single(task->team, task->singles++);
}

FRONT(int, __kmpc_single, (void *where, int thread))
{
	int saved = errno, r;
	struct single *s = next_single();
	bool first = s && !sem_trywait(&s->sem);

	int looks = rt_shares_kernel_thread() ? 0 : ENTERED_LOOKS;

	for (int i = 0; s && !first && !atomic_load(&s->entered) && i < looks; i++)
		syscall(SYS_sched_yield);
	errno = saved;
	r = BEHIND(int, __kmpc_single, (void *, int))(where, thread);
	if (first)
		atomic_store(&s->entered, true);
	return r;
}
#endif

/* ---- the tool ---- */

static int initialize(ompt_lookup *lookup, int device, union ompt_data *data)
{
	static const struct {
		int which;
		ompt_callback *callback;
	} callbacks[] = {
		{3, (ompt_callback *)parallel_begin},  {4, (ompt_callback *)parallel_end},
		{5, (ompt_callback *)task_create},     {6, (ompt_callback *)task_schedule},
		{7, (ompt_callback *)implicit_task},   {16, (ompt_callback *)region_wait},
		{17, (ompt_callback *)mutex_released}, {18, (ompt_callback *)dependences},
		{20, (ompt_callback *)work},	       {23, (ompt_callback *)sync_region},
		{26, (ompt_callback *)mutex_acquire},  {27, (ompt_callback *)mutex_acquired},
		{28, (ompt_callback *)nest_lock},      {31, (ompt_callback *)reduction},
	};
	ompt_set_callback *set = (ompt_set_callback *)lookup("ompt_set_callback");

	(void)device, (void)data;
	for (size_t i = 0; set && i < sizeof callbacks / sizeof callbacks[0]; i++)
		set(callbacks[i].which, callbacks[i].callback);
	atomic_store(&omp.get_task, lookup("ompt_get_task_info"));
	return set != NULL;
}

static void finalize(union ompt_data *data)
{
	(void)data;
}

struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

/* libomp calls this when it starts. */
__attribute__((weak, visibility("default"))) struct ompt_tool *ompt_start_tool(unsigned version,
									       const char *runtime)
{
	(void)version, (void)runtime;
	if (!rt.session)
		return NULL;
	omp.tool = (struct ompt_tool){initialize, finalize, {0}};
	return &omp.tool;
}

void rt_member_ompt(void);
void rt_member_ompt(void)
{
}
