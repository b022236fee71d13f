// SPDX-License-Identifier: Apache-2.0
/*
 * Telling layers (rt/core/layer.h): which take part in this process, and the calls that are more than one
 * callback.
 *
 * Invariant: a process has listening layers from rt_layers_setup() until it ends or forks, so threads
 * are either all RT_TOLD or all RT_PLAIN, as long as they are recorded.
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

/* A callback that several layers have calls each of them; one that a single layer has is that layer's own. */
#define RT_HEARD(name, parameters, arguments)                                                                \
	static void tell_##name parameters                                                                   \
	{                                                                                                    \
		for (const struct rt_layer *const *layer = rt.listening; *layer; layer++)                    \
			if ((*layer)->heard.name)                                                            \
				(*layer)->heard.name arguments;                                              \
	}
#include "rt/core/heard.inc"
#undef RT_HEARD

static void hear(const struct rt_heard *heard)
{
#define RT_HEARD(name, parameters, arguments)                                                                \
	if (heard->name)                                                                                     \
		rt.heard.name = rt.heard.name ? tell_##name : heard->name;
#include "rt/core/heard.inc"
#undef RT_HEARD
}

void rt_layers_setup(void)
{
	size_t present = 0, listening = 0;

	for (const struct rt_layer *const *layer = rt_layers; *layer; layer++) {
		if (!is_present(*layer))
			continue;
		rt.present[present++] = *layer;
		if (!is_listening(*layer))
			continue;
		rt.listening[listening++] = *layer;
		hear(&(*layer)->heard);
	}
	if (listening)
		rt_guard.alive = RT_TOLD;
}

void rt_layers_forked(void)
{
	const struct rt_layer **left = rt.present;

	RT_TELL_ALL(forked);
	for (const struct rt_layer **layer = rt.present; *layer; layer++)
		if (!is_listening(*layer))
			*left++ = *layer;
	*left = rt.listening[0] = NULL;
	rt.heard = (struct rt_heard){0};
}

struct rt_thread *rt_handling(uint32_t kind, const volatile void *object)
{
	struct rt_thread *t = rt_self();

	if (t && t->recording == RT_TOLD)
		RT_TELL(handles, t, kind, (uintptr_t)object);
	return t;
}

/* Accesses. */

void rt_tell_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	if (!t->each) {
		RT_TELL(update, t, address, size, sites);
		return;
	}
	RT_TELL(access, t, address, size, (uint32_t)sites, RT_ACCESS_READ);
	RT_TELL(access, t, address, size, (uint32_t)(sites >> 32), RT_ACCESS_WRITE);
}

void rt_tell_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t how)
{
	uintptr_t address = stride->operand[0];
	bool heeded = false;

	RT_TELL(heeds, t, stride->site, &heeded);
	if (!heeded) {
		RT_TELL(stride, t, stride, size, how);
		return;
	}
	for (uint64_t count = stride->operand[2]; count != 0; count--, address += stride->operand[1])
		RT_TELL(access, t, address, size, stride->site, how);
}

bool rt_tell_segment_ends(struct rt_thread *t)
{
	bool ends = t->each;

	RT_TELL(segment_ends, t, &ends);
	return ends;
}
