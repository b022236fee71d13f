// SPDX-License-Identifier: Apache-2.0
/*
 * Notifies layers (rt/core/layer.h).  This file determines which layers take part in this process,
 * and makes the notifications that consist of several callbacks.
 *
 * Invariant: the set of listening layers does not change after rt_layers_setup(), except that no
 * layer listens in the child of a fork.  So the recorded threads of a process are either all
 * RT_LISTENED or all RT_PLAIN.
 */
#include "rt/core/layer.h"

static bool is_present(const struct rt_layer *layer)
{
	return !layer->setup || layer->setup();
}

static bool is_listening(const struct rt_layer *layer)
{
	return layer->listens && (!layer->is_deaf || !layer->is_deaf());
}

/* If only one layer has a callback, that layer's function is installed.  If several layers have it,
 * this function is installed, which calls each of them.  The first three calls are outside the
 * loop, so that the processor predicts the target of each separately.  In a loop, this prediction
 * often fails after a switch of threads. */
#define RT_CALLBACK(name, parameters, arguments)                                                             \
	static void tell_##name parameters                                                                   \
	{                                                                                                    \
		rt.lists.name[0] arguments;                                                                  \
		rt.lists.name[1] arguments;                                                                  \
		if (rt.lists.name[2])                                                                        \
			rt.lists.name[2] arguments;                                                          \
		for (size_t i = 3; i < RT_LAYER_COUNT && rt.lists.name[i - 1] && rt.lists.name[i]; i++)      \
			rt.lists.name[i] arguments;                                                          \
	}
#include "rt/common/bug.h"
#include "rt/core/callback.inc"
#undef RT_CALLBACK

static void hear(const struct rt_callbacks *callbacks)
{
#define RT_CALLBACK(name, parameters, arguments)                                                             \
	if (callbacks->name) {                                                                               \
		size_t i = 0;                                                                                \
		while (rt.lists.name[i])                                                                     \
			i++;                                                                                 \
		rt.lists.name[i] = callbacks->name;                                                          \
		rt.callbacks.name = i ? tell_##name : callbacks->name;                                       \
	}
#include "rt/core/callback.inc"
#undef RT_CALLBACK
}

/* Returns true if the layer handles accesses but has no `stops`, so it would miss accesses for
 * which `stops` is called instead of `access` and `touches`. */
static bool needs_two_calls(const struct rt_callbacks *c)
{
	return (c->access || c->touches) && !c->stops;
}

void rt_layers_setup(void)
{
	size_t present = 0, listening = 0;

	for (const struct rt_layer *const *layer = rt_layers; *layer; layer++) {
		if (!is_present(*layer))
			continue;
		RT_ASSERT(present < RT_LAYER_COUNT && (*layer)->number < RT_LAYER_COUNT);
		rt.present[present++] = *layer;
		if (!is_listening(*layer))
			continue;
		rt.listening[listening++] = *layer;
		hear(&(*layer)->callbacks);
	}
	RT_ASSERT(!rt.present[present] && !rt.listening[listening]);
	for (size_t i = 0; i < listening; i++)
		if (needs_two_calls(&rt.listening[i]->callbacks))
			rt.callbacks.stops = NULL;
	if (listening)
		rt_guard.alive = RT_LISTENED;
}

void rt_layers_forked(void)
{
	const struct rt_layer **left = rt.present;

	for (const struct rt_layer **layer = rt.present; *layer; layer++) {
		bool listened = is_listening(*layer);

		if ((*layer)->forked)
			(*layer)->forked();
		else if (listened)
			rt.layer[(*layer)->number] = NULL;
		if (!listened)
			*left++ = *layer;
	}
	*left = rt.listening[0] = NULL;
	rt.callbacks = (struct rt_callbacks){0};
	rt.lists = (struct rt_callback_lists){0};
}

struct rt_thread *rt_handling(uint32_t kind, const volatile void *object)
{
	struct rt_thread *t = rt_self();

	if (t && t->recording == RT_LISTENED)
		RT_NOTIFY(handles, t, kind, (uintptr_t)object);
	return t;
}

/* Accesses. */

void rt_notify_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	if (!t->each) {
		RT_NOTIFY(update, t, address, size, sites);
		return;
	}
	RT_NOTIFY(access, t, address, size, (uint32_t)sites, RT_ACCESS_READ);
	RT_NOTIFY(access, t, address, size, (uint32_t)(sites >> 32), RT_ACCESS_WRITE);
}

void rt_notify_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t how)
{
	uintptr_t address = stride->operand[0];
	bool heeded = false;

	RT_NOTIFY(heeds, t, stride->site, &heeded);
	if (!heeded) {
		RT_NOTIFY(stride, t, stride, size, how);
		return;
	}
	for (uint64_t count = stride->operand[2]; count != 0; count--, address += stride->operand[1])
		RT_NOTIFY(access, t, address, size, stride->site, how);
}

bool rt_notify_segment_ends(struct rt_thread *t)
{
	bool ends = t->each;

	RT_NOTIFY(segment_ends, t, &ends);
	return ends;
}
