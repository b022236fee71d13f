// SPDX-License-Identifier: Apache-2.0
/*
 * Interposes functions of libglib, for locks, conditions, one-time initialisation and thread pools.
 *
 * libglib implements GMutex and GCond with futexes, and its internal calls bypass the dynamic
 * linker, so no interposed function is called.  In: calls made by the program and by other
 * libraries.  Out: the same operations on pthread mutexes and condition variables, whose functions
 * are interposed.  On systems without futexes, GLib itself uses pthread in this way, in the same
 * memory.  One-time initialisation is left to GLib, with events around it.  Each item of a thread
 * pool carries a semaphore, which orders the thread that submitted it before the thread that works
 * on it.  GThread already uses pthread.
 *
 * Functions are replaced only if GLib itself never calls them on objects of the program, or if all
 * functions of that kind are replaced.  Queues are in rt/core/library/glib-queue.c, one-bit locks
 * in rt/core/library/glib-bit.c.
 */
#include "rt/core/library/front.h"
#include "rt/core/layer.h"

void rt_member_glib(void);
void rt_member_glib_bit(void);
void rt_member_glib_queue(void);
void rt_member_glib(void)
{
	rt_member_glib_bit();
	rt_member_glib_queue();
}

#ifndef RADDLE_STATIC
#define A(p) ((uintptr_t)(p))

/* ---- locks and conditions ---- */

/* The memory of a GMutex or GCond.  It is zero until the object is first used; then it contains a
 * pointer to the pthread object that replaces it. */
union g_object {
	void *_Atomic made;
	unsigned words[2];
};

/* If several threads make the object at the same time, all of them use the one that was stored
 * first. */
static void *made_of(union g_object *o, void *(*make)(void), void (*unmake)(void *))
{
	void *made = atomic_load_explicit(&o->made, memory_order_acquire), *fresh;

	if (made)
		return made;
	fresh = make();
	if (atomic_compare_exchange_strong(&o->made, &made, fresh))
		return fresh;
	unmake(fresh);
	return made;
}

/* The zeroed memory is an initialised pthread object. */
static void *make_mutex(void)
{
	return rt_front_allocate(sizeof(pthread_mutex_t));
}

static void *make_cond(void)
{
	return rt_front_allocate(sizeof(pthread_cond_t));
}

static void unmake(void *p)
{
	REAL(free)(p);
}

static pthread_mutex_t *mutex_of(union g_object *o)
{
	return made_of(o, make_mutex, unmake);
}

static pthread_cond_t *cond_of(union g_object *o)
{
	return made_of(o, make_cond, unmake);
}

/* Defines NAME_init() and NAME_clear(), for a GLib object that a pthread object of TYPE
 * replaces. */
#define MADE_OF(name, type)                                                                                  \
	FRONT(void, name##_init, (union g_object * o))                                                       \
	{                                                                                                    \
		atomic_store(&o->made, NULL);                                                                \
	}                                                                                                    \
	FRONT(void, name##_clear, (union g_object * o))                                                      \
	{                                                                                                    \
		type##_t *made = atomic_exchange(&o->made, NULL);                                            \
                                                                                                             \
		if (made)                                                                                    \
			type##_destroy(made);                                                                \
		unmake(made);                                                                                \
	}

/* Defines NAME_lock(), NAME_trylock() and NAME_unlock() by the functions of TYPE.  HOW is rd or wr
 * for a read-write lock. */
#define LOCKS(name, type, how, of)                                                                           \
	FRONT(void, name##_lock, (union g_object * o))                                                       \
	{                                                                                                    \
		type##_##how##lock(of(o));                                                                   \
	}                                                                                                    \
	FRONT(int, name##_trylock, (union g_object * o))                                                     \
	{                                                                                                    \
		return type##_try##how##lock(of(o)) == 0;                                                    \
	}                                                                                                    \
	FRONT(void, name##_unlock, (union g_object * o))                                                     \
	{                                                                                                    \
		type##_unlock(of(o));                                                                        \
	}

MADE_OF(g_mutex, pthread_mutex)
LOCKS(g_mutex, pthread_mutex, , mutex_of)

FRONT(union g_object *, g_mutex_new, (void))
{
	return rt_front_allocate(sizeof(union g_object));
}

FRONT(void, g_mutex_free, (union g_object * m))
{
	g_mutex_clear(m);
	unmake(m);
}

MADE_OF(g_cond, pthread_cond)

FRONT(union g_object *, g_cond_new, (void))
{
	return rt_front_allocate(sizeof(union g_object));
}

FRONT(void, g_cond_free, (union g_object * c))
{
	g_cond_clear(c);
	unmake(c);
}

FRONT(void, g_cond_wait, (union g_object * c, union g_object *m))
{
	pthread_cond_wait(cond_of(c), mutex_of(m));
}

/* `end` is a time of the monotonic clock in microseconds. */
FRONT(int, g_cond_wait_until, (union g_object * c, union g_object *m, int64_t end))
{
	struct timespec time = {.tv_sec = end / 1000000, .tv_nsec = end % 1000000 * 1000};

	return pthread_cond_clockwait(cond_of(c), mutex_of(m), CLOCK_MONOTONIC, &time) != ETIMEDOUT;
}

/* `end` is two longs, seconds and microseconds since 1970, or NULL for no time limit. */
FRONT(int, g_cond_timed_wait, (union g_object * c, union g_object *m, const long *end))
{
	struct timespec time;

	if (!end)
		return pthread_cond_wait(cond_of(c), mutex_of(m)) == 0;
	time = (struct timespec){.tv_sec = end[0], .tv_nsec = end[1] * 1000};
	return pthread_cond_timedwait(cond_of(c), mutex_of(m), &time) != ETIMEDOUT;
}

FRONT(void, g_cond_signal, (union g_object * c))
{
	pthread_cond_signal(cond_of(c));
}

FRONT(void, g_cond_broadcast, (union g_object * c))
{
	pthread_cond_broadcast(cond_of(c));
}

/* GLib creates the following locks with pthread functions, in the thread that first uses them.  A
 * trace would then show a lock that one thread initialises while another uses it. */

static void *make_recursive(void)
{
	static const pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	return __builtin_memcpy(rt_front_allocate(sizeof recursive), &recursive, sizeof recursive);
}

static void *make_rwlock(void)
{
	return rt_front_allocate(sizeof(pthread_rwlock_t));
}

static pthread_mutex_t *recursive_of(union g_object *o)
{
	return made_of(o, make_recursive, unmake);
}

static pthread_rwlock_t *rwlock_of(union g_object *o)
{
	return made_of(o, make_rwlock, unmake);
}

MADE_OF(g_rec_mutex, pthread_mutex)
LOCKS(g_rec_mutex, pthread_mutex, , recursive_of)
MADE_OF(g_rw_lock, pthread_rwlock)
LOCKS(g_rw_lock_writer, pthread_rwlock, wr, rwlock_of)
LOCKS(g_rw_lock_reader, pthread_rwlock, rd, rwlock_of)

/* ---- one-time initialisation, with the same events as for C++ static locals ---- */

static void once_entered(uint32_t code, const volatile void *where)
{
	struct rt_thread *t = rt_self();
	RT_OP(op, code, where);

	if (!t)
		return;
	RT_NOTIFY(acquired, t, code, A(where), 0);
	RT_EVENT(t, code, RT_Q, RT_T, A(where));
	rt_op_end(&op);
}

FRONT(int, g_once_init_enter, (volatile void *where))
{
	int first = BEHIND(int, g_once_init_enter, (volatile void *))(where);

	once_entered(first ? RADDLE_ONCE_RUN : RADDLE_ONCE_PASS, where);
	return first;
}

static void once_done(const volatile void *where)
{
	struct rt_thread *t = rt_self();
	RT_OP(op, RADDLE_ONCE_DONE, where);

	if (!t)
		return;
	rt_op_releasing(&op, RADDLE_ONCE_DONE, A(where));
	RT_EVENT(t, RADDLE_ONCE_DONE, RT_Q, RT_T, A(where), 0);
	rt_op_released(&op, RADDLE_ONCE_DONE, A(where), 0);
	rt_op_end(&op);
}

FRONT(void, g_once_init_leave, (volatile void *where, size_t result))
{
	once_done(where);
	BEHIND(void, g_once_init_leave, (volatile void *, size_t))(where, result);
}

struct g_once {
	int status;
	void *result;
};

struct once_call {
	struct g_once *once;
	void *(*function)(void *);
	void *argument;
	bool ran;
};

static void *run_once(void *context)
{
	struct once_call *call = context;
	void *result;

	call->ran = true;
	once_entered(RADDLE_ONCE_RUN, call->once);
	result = call->function(call->argument);
	once_done(call->once);
	return result;
}

FRONT(void *, g_once_impl, (struct g_once * once, void *(*function)(void *), void *argument))
{
	struct once_call call = {once, function, argument, false};
	void *result = BEHIND(void *, g_once_impl,
			      (struct g_once *, void *(*)(void *), void *))(once, run_once, &call);

	if (!call.ran)
		once_entered(RADDLE_ONCE_PASS, once);
	return result;
}

/* ---- thread pools ---- */

/* The public part of a pool. */
struct g_pool {
	void (*function)(void *, void *);
	void *context;
	int exclusive;
};

struct pool {
	void (*function)(void *, void *);
	void *context;
	void (*free_item)(void *);
	int (*compare)(const void *, const void *, void *);
	void *compare_context;
	sem_t done; /* counts the items that threads have finished */
	_Atomic uint32_t done_count;
};

struct item {
	void *data;
	sem_t given;
};

static void *take_item(struct item *item)
{
	void *data = item->data;

	sem_wait(&item->given);
	sem_destroy(&item->given);
	unmake(item);
	return data;
}

static void work_on(void *data, void *context)
{
	struct pool *pool = context;

	pool->function(take_item(data), pool->context);
	sem_post(&pool->done);
	atomic_fetch_add(&pool->done_count, 1);
}

static void free_item(void *data)
{
	struct item *item = data;
	struct pool *pool = NULL;
	void *given = item->data;

	__builtin_memcpy(&pool, item + 1, sizeof pool);
	take_item(item);
	if (pool->free_item)
		pool->free_item(given);
}

static int compare_items(const void *a, const void *b, void *context)
{
	const struct pool *pool = context;

	return pool->compare(((const struct item *)a)->data, ((const struct item *)b)->data,
			     pool->compare_context);
}

static struct pool *new_pool(void (*function)(void *, void *), void *context, void (*free_data)(void *))
{
	struct pool *pool = rt_front_allocate(sizeof *pool);

	pool->function = function;
	pool->context = context;
	pool->free_item = free_data;
	return pool;
}

FRONT(struct g_pool *, g_thread_pool_new,
      (void (*function)(void *, void *), void *context, int most, int exclusive, void **error))
{
	return BEHIND(struct g_pool *, g_thread_pool_new,
		      (void (*)(void *, void *), void *, int, int, void **))(
		work_on, new_pool(function, context, NULL), most, exclusive, error);
}

FRONT(struct g_pool *, g_thread_pool_new_full,
      (void (*function)(void *, void *), void *context, void (*free_data)(void *), int most, int exclusive,
       void **error))
{
	return BEHIND(struct g_pool *, g_thread_pool_new_full,
		      (void (*)(void *, void *), void *, void (*)(void *), int, int, void **))(
		work_on, new_pool(function, context, free_data), free_item, most, exclusive, error);
}

static struct pool *pool_of(const struct g_pool *pool)
{
	return pool->function == work_on ? pool->context : NULL;
}

FRONT(int, g_thread_pool_push, (struct g_pool * pool, void *data, void **error))
{
	struct pool *ours = pool_of(pool);
	struct item *item;

	if (ours) {
		item = rt_front_allocate(sizeof *item + sizeof ours);
		item->data = data;
		__builtin_memcpy(item + 1, &ours, sizeof ours);
		sem_post(&item->given);
		data = item;
	}
	return BEHIND(int, g_thread_pool_push, (struct g_pool *, void *, void **))(pool, data, error);
}

FRONT(void, g_thread_pool_set_sort_function,
      (struct g_pool * pool, int (*compare)(const void *, const void *, void *), void *context))
{
	struct pool *ours = pool_of(pool);

	if (ours && compare) {
		ours->compare = compare;
		ours->compare_context = context;
		compare = compare_items;
		context = ours;
	}
	BEHIND(void, g_thread_pool_set_sort_function,
	       (struct g_pool *, int (*)(const void *, const void *, void *), void *))
	(pool, compare, context);
}

/* The memory of `ours` is not freed, because threads that this call does not wait for may still use
 * it. */
FRONT(void, g_thread_pool_free, (struct g_pool * pool, int immediate, int wait))
{
	struct pool *ours = pool_of(pool);

	BEHIND(void, g_thread_pool_free, (struct g_pool *, int, int))(pool, immediate, wait);
	for (uint32_t n = ours && wait ? atomic_load(&ours->done_count) : 0; n; n--)
		sem_wait(&ours->done);
}
#endif
