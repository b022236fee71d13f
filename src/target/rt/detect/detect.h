/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The on-line detector of replay: accesses that no operation of the program
 * orders.
 *
 * In: what the threads do, by the calls below.  Out: races in the steering memory.  It does not
 * know gates and goals, so waits that Raddle itself causes order nothing.  The other layers do not
 * call it: it is notified through its table, rt/detect/layer.c, and this header is for its own
 * files and its test.
 *
 * Callers, by function:
 *   - The detector is notified of a releasing operation before it takes effect, and of an acquiring
 *     one when it has succeeded.  So no edge is ever missing.
 *   - The segment of the thread (marks of abi.h) must end with each release: no access may
 *     come between rt_detect_release() and the record that begins the new segment.
 *   - An access is reported when the slow path would write its record, after a goal.  It is
 *     compared with others before the thread's next operation (rt/core/buffer/gather.h), so code
 *     that frees memory must first call rt_detect_flush() or rt_detect_forget(). An access that a
 *     signal handler makes above the encoder (t->busy) is not reported.
 *   - Synchronisation by a handler is always reported, even if the handler interrupted the encoder
 *     or the detector.
 *
 * Guarantee: a byte is reported as racy exactly if two accesses of it that were reported conflict
 * (one writes, not both are atomic) and are not ordered, as long as no eight bytes need more than
 * RT_CELLS_MAX cells and there is memory.  Each unordered pair of sites is one race; of several
 * races of one byte the first is always found.
 */
#ifndef RT_DETECT_H
#define RT_DETECT_H

#include "rt/core/layer.h"

struct raddle_steer;

/* Before the first thread begins, if the flags say RADDLE_STEER_DETECT.  False: no memory. */
bool rt_detect_setup(struct raddle_steer *steer);

/* In the child of a fork: it runs free. */
void rt_detect_stop(void);

/* Memory of the thread is about to be free: before the real free(). */
void rt_detect_flush(struct rt_thread *t);

/* The process is about to end, by this thread: what others have gathered counts too. */
void rt_detect_exit(struct rt_thread *t);

/* Whether something was released since this was last asked: then the thread's segment has to end. */
bool rt_detect_ticked(struct rt_thread *t);

/* Threads.  created(): before the real creation; if that fails, end() for the child by the parent.
 * start(): called first in the thread, also if it was adopted.  end(): called last.  joined():
 * after a join; a number that no thread had is skipped. */
void rt_detect_created(struct rt_thread *parent, struct rt_thread *child);
void rt_detect_start(struct rt_thread *t);
void rt_detect_end(struct rt_thread *t);
void rt_detect_joined(struct rt_thread *t, uint32_t number);

/* Accesses.  update(): a read and then a write, as __raddle_first_update().  stride(): a STRIDE record.
 * block(): bytes of one block of 64, a bit for each, as the marks have them. */
void rt_detect_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t access);
void rt_detect_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites);
void rt_detect_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t access);
void rt_detect_block(struct rt_thread *t, uintptr_t block, uint64_t bits, uint32_t site, uint32_t access);

/* The same for bytes of one block and plain accesses; key and sites as in rt/core/buffer/gather.h. */
void rt_detect_gather(struct rt_thread *t, uint64_t key, uint64_t sites, uint64_t bits);

/* An atomic operation, between its effect and the release of its lock (rt/core/sync/atomic.c): it
 * acquires and releases, unless it is relaxed; then it keeps what others have released, releases if
 * its thread has executed a fence before, and acquires when the thread executes the next one.  An
 * operation that runs without the lock calls rt_detect_release(t, address) before its effect too.
 * The size is 1 if it is not known; `access` may be RT_ACCESS_WRITE combined with what its memory
 * order leaves out. */
void rt_detect_atomic(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t access);
void rt_detect_fence(struct rt_thread *t);

/* Operations that order threads.  Locks: acquire() and release(); readers of a rwlock:
 * acquire_read(), release_read(), and release() where it is not known which thread unlocks.  A wait
 * on a condition variable releases the mutex, a wake acquires the mutex and the variable; signal
 * and broadcast release the variable.  sem_post releases, sem_wait acquires; once: done releases,
 * pass acquires (C++ guards as well). */
void rt_detect_acquire(struct rt_thread *t, uintptr_t object);
void rt_detect_release(struct rt_thread *t, uintptr_t object);
void rt_detect_acquire_read(struct rt_thread *t, uintptr_t object);
void rt_detect_release_read(struct rt_thread *t, uintptr_t object);

/* Barriers: those of one round learn of each other.  A count that is not known (0) makes every
 * enter() precede every later exit(). */
void rt_detect_barrier_init(struct rt_thread *t, uintptr_t object, uint32_t count);
void rt_detect_barrier_enter(struct rt_thread *t, uintptr_t object);
void rt_detect_barrier_exit(struct rt_thread *t, uintptr_t object);

/* A synchronisation object was initialised: what an earlier one here ordered is over.  Not for sem_open(),
 * which may find one that is in use, and not for a destruction: a thread may still be on its way out. */
void rt_detect_fresh(struct rt_thread *t, uintptr_t object);

/* An edge that cannot be known: everything so far is taken as ordered before everything to come. */
void rt_detect_lost(void);

/* Memory that becomes another object: malloc, mmap, munmap (reported when it is the caller's alone, that
 * is after the first two and before the last). */
void rt_detect_forget(struct rt_thread *t, uintptr_t address, uint64_t size);

#endif
