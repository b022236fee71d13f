// SPDX-License-Identifier: Apache-2.0
/* The table of the layer (rt/core/layer.h).  It works in a process whose session asks for it. */
#include "rt/core/layer.h"
#include "rt/world/world.h"

static bool setup(void)
{
	return rt.session && rt.session->world && rt_world_note_setup();
}

static void begins(struct rt_thread *t)
{
	rt_world_note_begin(t);
}

static void ends(struct rt_thread *t)
{
	rt_world_note_end(t);
}

const struct rt_layer rt_layer_world = {
	.number = RT_LAYER_WORLD,
	.thread_size = sizeof(struct rt_noted),
	.setup = setup,
	.begins = begins,
	.ends = ends,
};
