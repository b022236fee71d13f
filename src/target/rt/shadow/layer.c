// SPDX-License-Identifier: Apache-2.0
/*
 * Starts the layer `shadow`.  Shadow memory always exists, since instrumented code reads it.
 * Expressions are made only if the driver requests them.  The program's arguments become input
 * here.
 */
#include "rt/shadow/shadow.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void find_parts(char *base)
{
	rt_shadow.nodes = (struct raddle_expr *)(base + RADDLE_SHADOW_NODES_AT);
	rt_shadow.vars = (struct raddle_shadow_var *)(base + RADDLE_SHADOW_VARS_AT);
	rt_shadow.steps = (struct raddle_shadow_step *)(base + RADDLE_SHADOW_STEPS_AT);
	rt_shadow.output = (struct raddle_shadow_byte *)(base + RADDLE_SHADOW_OUTPUT_AT);
	rt_shadow.tables = (uint64_t *)(base + RADDLE_SHADOW_TABLES_AT);
	rt_shadow.text = base + RADDLE_SHADOW_TEXT_AT;
}

static struct raddle_shadow *find_memory(void)
{
	struct raddle_session *session = rt.session;
	struct raddle_shadow *s;

	if (!session || !session->shadow_offset || session->shadow_size < RADDLE_SHADOW_SIZE)
		return NULL;
	s = (struct raddle_shadow *)((char *)session + session->shadow_offset);
	return s->version == RADDLE_SHADOW_VERSION ? s : NULL;
}

static void take_arguments(void)
{
	char **argv = (char **)rt.arguments;

	for (uint32_t i = 1; argv && argv[0] && argv[i]; i++)
		rt_input_bytes(rt_input(RADDLE_INPUT_ARGV, i, NULL), 0, argv[i], __builtin_strlen(argv[i]));
}

static bool setup(void)
{
	static const char message[] = "raddle: no address space for shadow memory\n";
	struct raddle_shadow *s = find_memory();

	if (!rt_memory_setup()) {
		syscall(SYS_write, 2, message, sizeof message - 1);
		syscall(SYS_exit_group, 127);
	}
	if (!s || !(rt_shadow.index = rt_map(RADDLE_SHADOW_NODES * 2u * sizeof *rt_shadow.index)))
		return true;
	find_parts((char *)s);
	s->node_count = 1;
	s->active = 1;
	rt_shadow.shared = s;
	take_arguments();
	return true;
}

/* Input is not followed in the child of a fork, which is not steered. */
static void forked(void)
{
	rt_shadow.shared = NULL;
}

const struct rt_layer rt_layer_shadow = {.number = RT_LAYER_SHADOW, .setup = setup, .forked = forked};
