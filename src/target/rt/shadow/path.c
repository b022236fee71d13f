// SPDX-License-Identifier: Apache-2.0
/*
 * Records the path of a run, that is, the directions that branches took, and the variables and
 * inputs.
 */
#include "rt/common/bug.h"
#include "rt/shadow/shadow.h"

#include "raddle/steer.h"

struct rt_shadow rt_shadow;
__thread struct raddle_shadow_call __raddle_shadow_call
	__attribute__((tls_model("initial-exec"), visibility("default")));

void rt_shadow_enter(void)
{
	rt_spin(&rt_shadow.lock);
}

void rt_shadow_leave(void)
{
	rt_spin_leave(&rt_shadow.lock);
}

void rt_path_lose(enum raddle_shadow_loss what)
{
	RT_ASSERT(what < RADDLE_LOSSES);
	if (rt_shadow.shared)
		rt_shadow.shared->lost_count[what]++;
}

static bool has_met(void)
{
	struct raddle_steer *s = rt_steer_memory();

	return s && atomic_load_explicit(&s->met, memory_order_relaxed);
}

void rt_path_step(enum raddle_shadow_step_kind kind, uint32_t site, uint32_t cond, uint32_t taken)
{
	struct raddle_shadow *s = rt_shadow.shared;
	struct rt_thread *t = rt_self();
	uint32_t n = s->step_count;
	uint64_t k;

	if (!cond || rt_expr_is_const(cond, &k))
		return;
	RT_ASSERT(cond < s->node_count);
	if (n >= RADDLE_SHADOW_STEPS) {
		rt_path_lose(RADDLE_LOST_STEPS);
		return;
	}
	rt_shadow.steps[n] = (struct raddle_shadow_step){.site = site,
							 .thread = t ? t->number : UINT32_MAX,
							 .cond = cond,
							 .taken = taken != 0,
							 .kind = (uint8_t)kind,
							 .met = has_met()};
	s->step_count = n + 1;
}

uint32_t rt_path_text(const char *text, size_t length)
{
	struct raddle_shadow *s = rt_shadow.shared;
	uint32_t at = s->text_used;

	RT_ASSERT(at <= RADDLE_SHADOW_TEXT);
	if (length > RADDLE_SHADOW_TEXT - at) {
		rt_path_lose(RADDLE_LOST_VARS);
		return 0;
	}
	__builtin_memcpy(rt_shadow.text + at, text, length);
	s->text_used = at + (uint32_t)length;
	return at;
}

/* ---- inputs ---- */

static bool is_input(const struct raddle_shadow_input *i, enum raddle_shadow_kind kind, uint32_t number,
		     const char *name)
{
	size_t length = name ? __builtin_strlen(name) : 0;

	return i->kind == kind && i->number == number && i->length == length &&
	       !__builtin_memcmp(rt_shadow.text + i->name, name ? name : "", length);
}

uint32_t rt_input(enum raddle_shadow_kind kind, uint32_t number, const char *name)
{
	struct raddle_shadow *s = rt_shadow.shared;
	uint32_t n = s->input_count;

	for (uint32_t i = 0; i < n; i++)
		if (is_input(&s->inputs[i], kind, number, name))
			return i;
	if (n >= RADDLE_SHADOW_INPUTS) {
		rt_path_lose(RADDLE_LOST_INPUT);
		return UINT32_MAX;
	}
	s->inputs[n] =
		(struct raddle_shadow_input){.kind = kind,
					     .number = number,
					     .name = name ? rt_path_text(name, __builtin_strlen(name)) : 0,
					     .length = name ? (uint32_t)__builtin_strlen(name) : 0};
	s->input_count = n + 1;
	return n;
}

/* Adds a new variable; returns its number, or UINT32_MAX. */
static uint32_t add_var(const struct raddle_shadow_var *var)
{
	struct raddle_shadow *s = rt_shadow.shared;
	uint32_t n = s->var_count;

	if (n >= RADDLE_SHADOW_VARS) {
		rt_path_lose(RADDLE_LOST_VARS);
		return UINT32_MAX;
	}
	rt_shadow.vars[n] = *var;
	rt_shadow.vars[n].node = rt_expr_var(n, var->bits, var->input);
	if (!rt_shadow.vars[n].node)
		return UINT32_MAX;
	s->var_count = n + 1;
	return n;
}

/* Returns the number of an existing variable for the same bytes of input, which may be read twice.
 * Returns UINT32_MAX if there is none. */
static uint32_t find_var(const struct raddle_shadow_var *like)
{
	for (uint32_t i = 0; i < rt_shadow.shared->var_count; i++) {
		const struct raddle_shadow_var *v = &rt_shadow.vars[i];

		if (v->sort == like->sort && v->input == like->input && v->offset == like->offset &&
		    v->length == like->length && v->text_length == like->text_length &&
		    v->base == like->base && v->is_unsigned == like->is_unsigned && v->bits == like->bits &&
		    !__builtin_memcmp(rt_shadow.text + v->text, rt_shadow.text + like->text, v->text_length))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t byte_node(uint32_t input, uint64_t offset, uint8_t value)
{
	uint32_t *known = &rt_shadow.byte_vars[input][offset];

	RT_ASSERT(input < RADDLE_SHADOW_INPUTS && offset < RADDLE_SHADOW_BYTES);
	if (!*known)
		*known = add_var(&(struct raddle_shadow_var){.sort = RADDLE_VAR_BYTE,
							     .bits = 8,
							     .input = input,
							     .offset = offset,
							     .length = 1,
							     .value = value}) +
			 1;
	return *known ? rt_shadow.vars[*known - 1].node : 0;
}

void rt_input_bytes(uint32_t input, uint64_t offset, const void *p, size_t size)
{
	const uint8_t *bytes = p;

	if (input == UINT32_MAX)
		return;
	for (size_t i = 0; i < size; i++) {
		if (offset + i >= RADDLE_SHADOW_BYTES) {
			rt_path_lose(RADDLE_LOST_INPUT);
			rt_memory_clear((uintptr_t)p + i, size - i);
			return;
		}
		rt_memory_set_byte((uintptr_t)p + i, byte_node(input, offset + i, bytes[i]));
	}
}

static const struct raddle_shadow_var *var_of(uint32_t e)
{
	const struct raddle_expr *n = &rt_shadow.nodes[e];

	return e && n->op == RADDLE_EXPR_VAR ? &rt_shadow.vars[n->k] : NULL;
}

bool rt_slot_of(const void *p, size_t length, struct rt_text_slot *slot)
{
	for (size_t i = 0; i < length; i++) {
		const struct raddle_shadow_var *v = var_of(rt_memory_byte((uintptr_t)p + i));

		if (!v || v->sort != RADDLE_VAR_BYTE)
			return false;
		if (i == 0)
			*slot = (struct rt_text_slot){v->input, v->offset, (uint32_t)length};
		else if (v->input != slot->input || v->offset != slot->offset + i)
			return false;
	}
	return length > 0;
}

uint32_t rt_slot_var(const struct rt_text_slot *slot, const struct raddle_shadow_var *like)
{
	struct raddle_shadow_var var = *like;
	uint32_t n;

	var.input = slot->input;
	var.offset = slot->offset;
	var.length = slot->length;
	n = find_var(&var);
	if (n == UINT32_MAX)
		n = add_var(&var);
	return n == UINT32_MAX ? 0 : rt_shadow.vars[n].node;
}
