/* SPDX-License-Identifier: Apache-2.0 */
/* Packs canonical records into words, unpacks words into records, and computes their keys. */
#include "epa/sanitize-int.h"

#include "base/error.h"

_Static_assert(TRACE_FULL_KINDS <= 24, "kinds of unfinished records need numbers of their own");

/* In packed records, the kinds of unfinished records are numbered from UNFINISHED on.  Only loads,
 * stores, copies and fills can be unfinished. */
#define UNFINISHED 24
static const uint8_t unfinished[] = {TRACE_FULL_LOAD, TRACE_FULL_STORE, TRACE_FULL_COPY, TRACE_FULL_FILL};

static uint64_t kind_code(const struct epa_record *r)
{
	for (unsigned i = 0; r->unfinished && i < sizeof unfinished; i++)
		if (r->kind == unfinished[i])
			return UNFINISHED + i;
	return r->kind;
}

uint64_t epa_record_key(const struct epa_record *r)
{
	return r->site | (uint64_t)r->kind << EPA_KIND_SHIFT | (uint64_t)r->event << EPA_EVENT_SHIFT;
}

uint64_t epa_packed_key(uint64_t head)
{
	uint64_t key = head & ((1ull << EPA_COUNT_SHIFT) - 1), kind = head >> EPA_KIND_SHIFT & 31;
	if (kind >= UNFINISHED)
		key += ((uint64_t)unfinished[kind & 3] - kind) << EPA_KIND_SHIFT;
	return key;
}

size_t epa_record_pack(const struct epa_record *r, uint64_t words[EPA_WORDS])
{
	RD_ASSERT(r->count <= EPA_SLOTS);
	uint64_t mask = 0;
	size_t n = 1;
	for (unsigned i = 0; i < r->count; i++) {
		words[n++] = r->slots[i].where;
		if (r->slots[i].who) {
			words[n++] = r->slots[i].who;
			mask |= 1ull << i;
		}
	}
	words[0] = r->site | kind_code(r) << EPA_KIND_SHIFT | (uint64_t)r->event << EPA_EVENT_SHIFT |
		   (uint64_t)r->count << EPA_COUNT_SHIFT | mask << EPA_MASK_SHIFT;
	return n;
}

void epa_record_unpack(struct epa_record *r, const uint64_t *words)
{
	uint64_t head = *words++, mask = head >> EPA_MASK_SHIFT;
	unsigned kind = head >> EPA_KIND_SHIFT & 31;
	r->site = head & RADDLE_SITE_MAX;
	r->unfinished = kind >= UNFINISHED;
	r->kind = kind >= UNFINISHED ? unfinished[kind & 3] : (uint8_t)kind;
	r->event = head >> EPA_EVENT_SHIFT & 127;
	r->count = head >> EPA_COUNT_SHIFT & 31;
	for (unsigned i = 0; i < r->count; i++) {
		r->slots[i].where = *words++;
		r->slots[i].who = mask >> i & 1 ? *words++ : 0;
	}
}
