/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the shadow layer of the runtime (its store and its function models) in a test, without a
 * program.  Include this file once.
 */
#ifndef TEST_RT_SHADOW_H
#define TEST_RT_SHADOW_H

#include "rt/shadow/shadow.h"

#include <stdlib.h>
#include <string.h>

/* Variables and functions of the core that the layer uses. */
struct rt rt;
struct rt_guard rt_guard;
struct raddle_self rt_placeholder;
__thread struct raddle_self *__raddle_self = &rt_placeholder;

void *rt_map(size_t size)
{
	return calloc(1, size);
}

struct rt_thread *rt_thread_adopt(void)
{
	return NULL;
}

bool rt_spin(_Atomic uint32_t *lock)
{
	(void)lock;
	return true;
}

void rt_spin_leave(_Atomic uint32_t *lock)
{
	(void)lock;
}

struct raddle_steer *rt_steer_memory(void)
{
	return NULL;
}

uint64_t __raddle_readable(const char *p, uint32_t is_string, uint64_t size)
{
	(void)p;
	(void)is_string;
	return size;
}

#include "rt/shadow/expr.c"
#undef STEPS_MAX
#include "rt/shadow/memory.c"
#include "rt/shadow/path.c"
#include "rt/shadow/hooks.c"

static char *shadow_memory;

/* Starts with an empty store, as the runtime does. */
static void shadow_start(void)
{
	struct raddle_shadow *s;

	if (!shadow_memory) {
		shadow_memory = calloc(1, RADDLE_SHADOW_SIZE);
		rt_shadow.index = calloc(RADDLE_SHADOW_NODES * 2u, sizeof *rt_shadow.index);
		if (!shadow_memory || !rt_shadow.index || !rt_memory_setup())
			abort();
	}
	s = (struct raddle_shadow *)shadow_memory;
	memset(s, 0, sizeof *s);
	memset(rt_shadow.index, 0, RADDLE_SHADOW_NODES * 2u * sizeof *rt_shadow.index);
	memset(rt_shadow.byte_vars, 0, sizeof rt_shadow.byte_vars);
	s->version = RADDLE_SHADOW_VERSION;
	s->active = 1;
	s->node_count = 1;
	rt_shadow.nodes = (struct raddle_expr *)(shadow_memory + RADDLE_SHADOW_NODES_AT);
	rt_shadow.vars = (struct raddle_shadow_var *)(shadow_memory + RADDLE_SHADOW_VARS_AT);
	rt_shadow.steps = (struct raddle_shadow_step *)(shadow_memory + RADDLE_SHADOW_STEPS_AT);
	rt_shadow.output = (struct raddle_shadow_byte *)(shadow_memory + RADDLE_SHADOW_OUTPUT_AT);
	rt_shadow.tables = (uint64_t *)(shadow_memory + RADDLE_SHADOW_TABLES_AT);
	rt_shadow.text = shadow_memory + RADDLE_SHADOW_TEXT_AT;
	rt_shadow.shared = s;
}

static uint64_t shadow_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
