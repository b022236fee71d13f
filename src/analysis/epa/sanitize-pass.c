/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path of comparing a run with the golden (fault-free) run.  It receives the golden
 * records as words, and counts how many records of the run equal them.  Since most records are
 * equal, the golden words are compared with the raw bytes of the trace, without creating canonical
 * records.
 */
#include "epa/sanitize-int.h"

#include "raddle/full.h"
#include "trace/full.h"

/* A load or store of one value of at most eight bytes, with its decoded operands. */
struct plain_op {
	const struct trace_op *op;
	const struct trace_value *type;
	uint64_t address, value;
	struct epa_object *object; /* the object at the address */
};

static uint64_t head_of(const struct trace_op *op, unsigned count, uint64_t mask)
{
	return op->site | (uint64_t)op->kind << EPA_KIND_SHIFT | (uint64_t)count << EPA_COUNT_SHIFT |
	       mask << EPA_MASK_SHIFT;
}

enum meaning { NUMBER, NAME, UNSURE };

/* Returns how put_value() would represent a value of at most eight bytes. */
static enum meaning meaning_of(const struct epa_sanitizer *s, const struct plain_op *p)
{
	const struct sanitizer_thread *t = &s->threads[epa_walk_place(s->walk)];
	if (p->type->type == TRACE_VALUE_POINTER)
		return p->value < 4096 || p->value >> 47 ? NUMBER
		       : raddle_may_be_pointer(p->value) ? NAME
							 : UNSURE;
	if (p->type->type == TRACE_VALUE_FLOAT || p->type->size == 1)
		return NUMBER;
	if (s->numbered.count && epa_is_process_number(s, p->value))
		return UNSURE;
	if (t->known && epa_padding_of(t, p->value))
		return UNSURE;
	if (p->type->size < 8)
		return NUMBER;
	if (raddle_looks_like_pointer(p->value))
		return NAME;
	return p->value >> 40 && !(p->value >> 47) ? UNSURE : NUMBER;
}

/* Returns true if all loaded bytes are defined, so that there is no padding among them. */
static bool loads_values(const struct plain_op *p)
{
	const struct epa_object *e = p->object;
	if (p->type->size == 1 || p->type->type == TRACE_VALUE_FLOAT || !epa_object_has_gaps(e))
		return true;
	return !epa_defined_without(&e->defined, p->address - e->start, p->type->size);
}

/* Returns the number of words of the record if it equals `words`.  Returns 0 if it differs, or if
 * this function cannot tell. */
static size_t pass_access(struct epa_sanitizer *s, const struct plain_op *p, const uint64_t *words,
			  size_t left)
{
	struct epa_name name = epa_object_name(p->object, p->address);
	const struct epa_object *target;
	if (left < 4 || words[1] != name.where || words[2] != name.who)
		return 0;
	switch (meaning_of(s, p)) {
	case NUMBER: return words[0] == head_of(p->op, 2, 1) && words[3] == p->value ? 4 : 0;
	case NAME:
		target = epa_objects_plain(s->objects, p->op->site, p->value);
		if (left < 5 || !target || words[0] != head_of(p->op, 2, 3))
			return 0;
		name = epa_object_name(target, p->value);
		return words[3] == name.where && words[4] == name.who ? 5 : 0;
	default: return 0;
	}
}

/* Returns true if the op may load or store a part of an address. */
static bool has_parts(const struct sanitizer_thread *t, const struct plain_op *p)
{
	if (p->op->size >= 8)
		return false;
	if (p->op->kind == TRACE_FULL_STORE)
		return p->op->moved && t->carried_count;
	return t->carried_count ||
	       epa_parts_get(&p->object->parts, p->address - p->object->start, p->op->size);
}

/* Does the same as pass_access() for any op. */
static size_t pass_op(struct epa_sanitizer *s, const struct trace_op *op, const uint8_t *base,
		      const uint64_t *words, size_t left)
{
	struct plain_op p = {.op = op, .type = op->values};
	const struct sanitizer_thread *t;
	size_t n;
	if (op->kind == TRACE_FULL_BRANCH)
		return left && words[0] == head_of(op, 0, 0);
	if ((op->kind != TRACE_FULL_LOAD && op->kind != TRACE_FULL_STORE) || op->value_count != 1 ||
	    op->values->size > 8)
		return 0;
	p.address = (epa_word_at(base + op->offset, 8) - 1) & op->address_mask;
	p.value = epa_word_at(base + op->value_at, 8) & op->value_mask;
	p.object = epa_objects_plain(s->objects, op->site, p.address);
	if (!p.object || (op->kind == TRACE_FULL_LOAD && !loads_values(&p)))
		return 0;
	t = &s->threads[epa_walk_place(s->walk)];
	if (op->kind == TRACE_FULL_STORE && t->known && epa_padding_of(t, p.value))
		return 0;
	if (s->moves && has_parts(t, &p))
		return 0;
	n = pass_access(s, &p, words, left);
	if (n && op->kind == TRACE_FULL_STORE && epa_object_has_gaps(p.object))
		epa_defined_set(&p.object->defined, p.address - p.object->start, op->size, 0);
	/* A record whose value is a name has five words. */
	if (n && op->kind == TRACE_FULL_STORE && s->moves)
		epa_parts_set(&p.object->parts, p.object->size, p.address - p.object->start, op->size,
			      n == 5 ? 0xff : 0);
	return n;
}

void epa_sanitizer_pass(struct epa_sanitizer *s, const uint64_t *words, const uint64_t *end,
			struct epa_passed *passed)
{
	struct trace_full *reader = epa_walk_reader(s->walk);
	size_t place = epa_walk_place(s->walk);
	const uint64_t *at = words;
	struct trace_rest rest;
	size_t n = 1;
	*passed = (struct epa_passed){0};
	if (!reader || (s->delay && !epa_delay_idle(s->delay, place)))
		return;
	while (n && trace_full_rest(reader, &rest)) {
		uint32_t i = 0;
		for (; i < rest.count; i++, at += n) {
			n = pass_op(s, &rest.ops[i], rest.base, at, (size_t)(end - at));
			if (!n)
				break;
		}
		if (!i && rest.count)
			break;
		trace_full_skip(reader, i);
		passed->records += i;
		if (i) {
			passed->site = rest.ops[i - 1].site;
			passed->kind = rest.ops[i - 1].kind;
		}
	}
	passed->words = (size_t)(at - words);
	epa_objects_skip(s->objects, passed->records);
}
