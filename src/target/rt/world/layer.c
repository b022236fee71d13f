// SPDX-License-Identifier: Apache-2.0
/* The table of the layer `world` (rt/core/layer.h).  The layer is active if the session requests
 * it. */
#include "rt/core/layer.h"
#include "rt/world/world.h"

static bool gives_back(void)
{
	return rt.session->world_offset != 0;
}

static bool is_deaf(void)
{
	return !rt.session || !gives_back();
}

static bool setup(void)
{
	if (!rt.session)
		return false;
	return gives_back() ? rt_world_give_setup() : rt.session->world && rt_world_note_setup();
}

/* Input is not replayed in a forked process. */
static void forked(void)
{
	if (gives_back())
		rt.outside = NULL;
}

static void begins(struct rt_thread *t)
{
	if (gives_back())
		rt_world_give_begin(t);
	else
		rt_world_note_begin(t);
}

static void ends(struct rt_thread *t)
{
	if (gives_back())
		rt_time_ends(t);
	else
		rt_world_note_end(t);
}

const struct rt_layer rt_layer_world = {
	.number = RT_LAYER_WORLD,
	.listens = true,
	.is_deaf = is_deaf,
	.thread_size = sizeof(union {
		struct rt_noted noted;
		struct rt_replayed given;
	}),
	.setup = setup,
	.forked = forked,
	.begins = begins,
	.ends = ends,
	.callbacks = {.created = rt_time_created,
		      .joined = rt_time_joined,
		      .releasing = rt_time_releasing,
		      .acquired = rt_time_acquired,
		      .atomic = rt_time_atomic},
};
