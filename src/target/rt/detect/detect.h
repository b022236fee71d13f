/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The on-line detector of a replay.  It finds conflicting accesses that are not ordered by any
 * operation of the program, and writes these races to the steering memory.
 *
 * The functions below tell the detector about the accesses and operations of threads.  The
 * detector is not notified of gates and goals, so waits that Raddle itself causes do not order
 * threads.  Other layers do not call the detector; it is notified through its table of callbacks
 * (rt/detect/layer.c).  Only its own files and its test use this header.
 *
 * Rules for the callers:
 * - The detector is notified of a releasing operation before it takes effect, and of an acquiring
 *   one when it has succeeded.  So no happens-before edge is missing.
 * - The segment of the thread (marks of abi.h) must end with each release.  The thread must make
 *   no access between rt_detect_release() and the record that begins the new segment.
 * - An access is reported when the slow path would write its record.  If the access is a goal, it
 *   is reported after the thread was stopped there.  It is compared with other accesses before the
 *   thread's next operation (rt/core/buffer/gather.h), so code that frees memory must first call
 *   rt_detect_flush() or rt_detect_forget().  An access of a signal handler that interrupted the
 *   encoder (t->busy) is not reported.
 * - Synchronisation by a handler is always reported, even if the handler interrupted the encoder
 *   or the detector.
 *
 * Guarantee: a race on a byte is reported if and only if two reported accesses to it conflict (one
 * writes, and not both are atomic) and are not ordered.  This holds as long as there is memory, no
 * group of eight bytes needs more than RT_CELLS_MAX cells, and nothing is forgiven
 * (rt/detect/watch.h).  Each unordered pair of sites is one race.  If a byte has several races,
 * the first is always found.
 */
#ifndef RT_DETECT_H
#define RT_DETECT_H

#include "rt/core/layer.h"

struct raddle_steer;

/* Called before the first thread begins, if RADDLE_STEER_DETECT is set.  Returns false if there is
 * no memory. */
bool rt_detect_setup(struct raddle_steer *steer);

/* Called in the child of a fork, which the detector does not examine. */
void rt_detect_stop(void);

/* Called when the thread is about to free memory, before the real free(). */
void rt_detect_flush(struct rt_thread *t);

/* Called when this thread is about to end the process.  Examines the accesses that all threads have
 * gathered. */
void rt_detect_exit(struct rt_thread *t);

/* Returns true if the thread has done a releasing operation since the last call of this function.
 * If so, its segment must end. */
bool rt_detect_ticked(struct rt_thread *t);

/* Called before a thread is really created.  If the creation fails, the parent calls
 * rt_detect_end() for the child. */
void rt_detect_created(struct rt_thread *parent, struct rt_thread *child);
/* Called first in a thread, even if the thread was adopted. */
void rt_detect_start(struct rt_thread *t);
/* Called last in a thread. */
void rt_detect_end(struct rt_thread *t);
/* Called after a join.  A number that no thread had is ignored. */
void rt_detect_joined(struct rt_thread *t, uint32_t number);

/* Reports accesses to the detector. update() reports a read followed by a write of the same bytes,
 * as in __raddle_first_update(). stride() reports the accesses of a STRIDE record. block() reports
 * accesses to bytes of one block of 64 bytes, with one bit for each byte, as in the marks. */
void rt_detect_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t access);
void rt_detect_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites);
void rt_detect_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t access);
void rt_detect_block(struct rt_thread *t, uintptr_t block, uint64_t bits, uint32_t site, uint32_t access);

/* Handles plain accesses to bytes of one block; key and sites are as in rt/core/buffer/gather.h. */
void rt_detect_gather(struct rt_thread *t, uint64_t key, uint64_t sites, uint64_t bits);

/* Handles an atomic operation that has taken effect but still holds its lock
 * (rt/core/sync/atomic.c).  If the operation is not relaxed, it acquires and, if it writes, also
 * releases.  A relaxed operation does not clear the object's clock.  It releases only if the
 * thread has executed a fence before, and acquires only when the thread executes its next fence.
 *
 * If an operation runs without the lock, rt_detect_release(t, address) must also be called before
 * the operation takes effect.  `access` may combine RT_ACCESS_WRITE, RT_ACCESS_ACQUIRES_NOT and
 * RT_ACCESS_RELEASES_NOT. */
void rt_detect_atomic(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t access);
void rt_detect_fence(struct rt_thread *t);

/* Operations that order threads.  The callers use them as follows:
 *
 * - lock: acquire() and release()
 * - reader of a read-write lock: acquire_read() and release_read(), or release() if it is unknown
 *   whether a reader or a writer unlocks
 * - condition variable: a wait releases the mutex, and a wake acquires the mutex and the variable;
 *   signal and broadcast release the variable
 * - semaphore: sem_post releases, and sem_wait acquires
 * - one-time initialisation, including C++ guards: the end of the routine releases, and a thread
 *   that finds the initialisation done acquires */
void rt_detect_acquire(struct rt_thread *t, uintptr_t object);
void rt_detect_release(struct rt_thread *t, uintptr_t object);
void rt_detect_acquire_read(struct rt_thread *t, uintptr_t object);
void rt_detect_release_read(struct rt_thread *t, uintptr_t object);

/* Operations on a barrier.  In each round, every enter() precedes every exit().  If the number of
 * threads in a round is unknown (0), every enter() precedes every later exit(). */
void rt_detect_barrier_init(struct rt_thread *t, uintptr_t object, uint32_t count);
void rt_detect_barrier_enter(struct rt_thread *t, uintptr_t object);
void rt_detect_barrier_exit(struct rt_thread *t, uintptr_t object);

/* Called when a synchronisation object was initialised or destroyed.  Earlier operations at its
 * address then no longer order later ones.  Not called for sem_open(), which may return a
 * semaphore that is already in use. */
void rt_detect_fresh(struct rt_thread *t, uintptr_t object);

/* Called when something may have ordered threads in a way that is not known.  The detector then
 * treats everything that has happened as ordered before everything that happens later. */
void rt_detect_lost(void);

/* Called when the memory of one object is about to become that of another, at a time when only the
 * caller can use it: after malloc and mmap, and before munmap. */
void rt_detect_forget(struct rt_thread *t, uintptr_t address, uint64_t size);

#endif
