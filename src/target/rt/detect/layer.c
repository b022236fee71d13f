// SPDX-License-Identifier: Apache-2.0
/*
 * The detector's table of callbacks (rt/core/layer.h).  It turns notifications into happens-before
 * edges and accesses (rt/detect/detect.h).
 */
#include "rt/detect/detect.h"

#include "raddle/event.h"
#include "raddle/steer.h"

#include <errno.h>

static bool setup(void)
{
	struct raddle_steer *s = rt_steer_memory();

	return s && s->flags & RADDLE_STEER_DETECT && rt_detect_setup(s);
}

static void acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result)
{
	if (result != 0 && result != EOWNERDEAD)
		return;
	if (kind == RADDLE_BARRIER_EXIT)
		rt_detect_barrier_exit(t, object);
	else if (raddle_role(kind) == RADDLE_ROLE_SHARE)
		rt_detect_acquire_read(t, object);
	else
		rt_detect_acquire(t, object);
}

static void releasing(struct rt_op *op, uint32_t kind, uintptr_t object)
{
	if (kind == RADDLE_BARRIER_ENTER)
		rt_detect_barrier_enter(op->t, object);
	else if (op->shared)
		rt_detect_release_read(op->t, object);
	else
		rt_detect_release(op->t, object);
}

static void abandons(struct rt_thread *t, uintptr_t object)
{
	if (object == RT_NONE)
		rt_detect_lost();
	else
		rt_detect_release(t, object);
}

static void barrier_init(struct rt_thread *t, uintptr_t object, uint32_t count, bool shared)
{
	(void)shared;
	rt_detect_barrier_init(t, object, count);
}

/* Skips atomic operations, which the detector handles when they have happened
 * (rt_detect_atomic()). */
static void access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	if (!t->busy && !(how & RT_ACCESS_ATOMIC))
		rt_detect_access(t, address, size, site, how);
}

static void update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	if (!t->busy)
		rt_detect_update(t, address, size, sites);
}

static void stride(struct rt_thread *t, const struct rt_record *record, uint32_t size, uint32_t how)
{
	if (!t->busy)
		rt_detect_stride(t, record, size, how);
}

static void segment_ends(struct rt_thread *t, bool *ends)
{
	*ends |= rt_detect_ticked(t);
}

const struct rt_layer rt_layer_detect = {
	.number = RT_LAYER_DETECT,
	.listens = true,
	.setup = setup,
	.forked = rt_detect_stop,
	.begins = rt_detect_start,
	.ends = rt_detect_end,
	.callbacks = {.exited = rt_detect_exit,
		      .created = rt_detect_created,
		      .uncreated = rt_detect_end,
		      .joined = rt_detect_joined,
		      .acquired = acquired,
		      .releasing = releasing,
		      .abandons = abandons,
		      .fresh = rt_detect_fresh,
		      .barrier_init = barrier_init,
		      .access = access,
		      .stops = access,
		      .update = update,
		      .stride = stride,
		      .segment_ends = segment_ends,
		      .atomic = rt_detect_atomic,
		      .atomic_alone = rt_detect_release,
		      .fence = rt_detect_fence,
		      .forget = rt_detect_forget,
		      .freeing = rt_detect_flush,
		      .pauses = rt_detect_flush},
};
