/* SPDX-License-Identifier: Apache-2.0 */
/* Turns addresses, which are operands of the facts, into paths (candidates/path.h). */
#include "candidates/path.h"

#include "base/error.h"

#include <string.h>

/* The number of instructions through which an address is followed back.  Set by hand, to limit the
 * time. */
enum { STEPS_MAX = 64 };

static const struct path nowhere = {.kind = PATH_NONE, .index = FACTS_NONE};

/* A path while it is read backwards, from the address to its root. */
struct reading {
	const struct facts *f;
	/* The offsets in reverse order: the last one of the path comes first. */
	int64_t offsets[PATH_LOADS + 1];
	uint32_t loads, index, index_at;
	int64_t stride;
};

/* Replaces a value by the value from which it is computed.  Returns false if the value is a
 * root. */
static bool step_back(struct reading *r, uint32_t *value)
{
	const struct facts_value *v = &r->f->values[*value];
	struct facts_run run = facts_operands_of(r->f, *value);
	switch (v->kind) {
	case FACTS_ADDRESS:
		if (run.end - run.first > 2 || (run.end - run.first == 2 && r->index != FACTS_NONE))
			return false;
		if (run.end - run.first == 2) {
			r->index = program_strip(r->f, r->f->operands[run.first + 1].operand);
			r->index_at = r->loads;
			r->stride = r->f->operands[run.first + 1].with;
		}
		r->offsets[r->loads] += v->number;
		break;
	case FACTS_CAST:
		if (v->detail != OP_BIT_CAST)
			return false;
		break;
	case FACTS_LOAD:
		if (r->loads == PATH_LOADS)
			return false;
		r->offsets[++r->loads] = 0;
		break;
	default: return false;
	}
	*value = r->f->operands[run.first].operand;
	return true;
}

struct path path_of(const struct facts *f, uint32_t operand)
{
	struct reading r = {.f = f, .index = FACTS_NONE};
	struct path p = nowhere;
	/* In unreachable code, an address may be computed from itself. */
	for (int steps = 0; steps < STEPS_MAX && !(operand & FACTS_CONSTANT) && step_back(&r, &operand);
	     steps++)
		;
	if (operand & FACTS_CONSTANT) {
		const struct facts_constant *c = &f->constants[operand & ~FACTS_CONSTANT];
		if (c->kind != FACTS_CONSTANT_GLOBAL)
			return nowhere;
		p.kind = PATH_GLOBAL;
		p.root = c->target;
		r.offsets[r.loads] += c->number;
	} else {
		p.kind = PATH_VALUE;
		p.root = operand;
	}
	p.loads = r.loads;
	for (uint32_t i = 0; i <= r.loads; i++)
		p.offsets[i] = r.offsets[r.loads - i];
	p.index = r.index;
	p.index_at = r.index != FACTS_NONE ? r.loads - r.index_at : 0;
	p.stride = r.stride;
	return p;
}

bool path_equal(const struct path *a, const struct path *b)
{
	RD_ASSERT(a->loads <= PATH_LOADS && b->loads <= PATH_LOADS);
	return a->kind == b->kind && a->kind != PATH_NONE && a->root == b->root && a->loads == b->loads &&
	       a->index == b->index && a->index_at == b->index_at && a->stride == b->stride &&
	       memcmp(a->offsets, b->offsets, (a->loads + 1) * sizeof *a->offsets) == 0;
}

bool path_rebase(const struct path *p, const struct path *base, enum path_root kind, uint32_t root,
		 struct path *out)
{
	if (p->kind == PATH_NONE || p->kind != base->kind || p->root != base->root || base->loads > p->loads)
		return false;
	for (uint32_t i = 0; i < base->loads; i++)
		if (p->offsets[i] != base->offsets[i])
			return false;
	/* An index must belong to both paths, or only to the rest of `p`. */
	bool inside = base->index != FACTS_NONE;
	if (inside && (p->index != base->index || p->index_at != base->index_at || p->stride != base->stride))
		return false;
	if (!inside && p->index != FACTS_NONE && p->index_at < base->loads)
		return false;
	struct path rest = {.kind = kind, .root = root, .loads = p->loads - base->loads, .index = FACTS_NONE};
	for (uint32_t i = 0; i <= rest.loads; i++)
		rest.offsets[i] = p->offsets[base->loads + i];
	rest.offsets[0] -= base->offsets[base->loads];
	if (!inside && p->index != FACTS_NONE) {
		rest.index = p->index;
		rest.index_at = p->index_at - base->loads;
		rest.stride = p->stride;
	}
	*out = rest;
	return true;
}

bool path_append(const struct path *base, const struct path *rest, struct path *out)
{
	if (base->kind == PATH_NONE || rest->kind == PATH_NONE || base->loads + rest->loads > PATH_LOADS ||
	    (base->index != FACTS_NONE && rest->index != FACTS_NONE))
		return false;
	struct path whole = *base;
	whole.loads += rest->loads;
	whole.offsets[base->loads] += rest->offsets[0];
	for (uint32_t i = 1; i <= rest->loads; i++)
		whole.offsets[base->loads + i] = rest->offsets[i];
	if (rest->index != FACTS_NONE) {
		whole.index = rest->index;
		whole.index_at = base->loads + rest->index_at;
		whole.stride = rest->stride;
	}
	*out = whole;
	return true;
}

size_t path_numbers(const struct path *p, uint32_t numbers[PATH_NUMBERS])
{
	RD_ASSERT(p->loads <= PATH_LOADS);
	size_t n = 0;
	numbers[n++] = p->kind;
	numbers[n++] = p->root;
	numbers[n++] = p->loads;
	for (uint32_t i = 0; i <= p->loads; i++) {
		numbers[n++] = (uint32_t)p->offsets[i];
		numbers[n++] = (uint32_t)((uint64_t)p->offsets[i] >> 32);
	}
	numbers[n++] = p->index;
	numbers[n++] = p->index_at;
	numbers[n++] = (uint32_t)p->stride;
	return n;
}
