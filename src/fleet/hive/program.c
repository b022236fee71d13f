// SPDX-License-Identifier: Apache-2.0
/*
 * Programs in memory.  From the rows of the store, in their order, this code computes the tallies
 * of candidates, the states of sites, and the weights by which tasks are drawn.  Nothing else is
 * used, so the results are the same in every hive on the same store.
 */
#include "hive/program.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "hive/task-set-int.h"

#include <stdlib.h>
#include <string.h>

uint32_t hive_tau_us(unsigned level)
{
	static const uint32_t tau[HIVE_LEVELS] = {1000, 51000, 101000, 151000, HIVE_TAU_MAX_US};

	RD_ASSERT(level < HIVE_LEVELS);
	return tau[level];
}

void hive_site_key(const char *site, uint64_t key[2])
{
	key[0] = rd_hex_number(site, 16);
	key[1] = rd_hex_number(site + 16, 16);
}

int64_t hive_program_find(const struct hive_program *p, const char *id)
{
	const uint64_t *at =
		rd_is_hex(id, HIVE_CANDIDATE - 1) ? rd_umap_get(&p->by_id, rd_hex_number(id, 16)) : NULL;

	return at ? (int64_t)*at : -1;
}

/* Returns the weight of a candidate before its rank is applied.  It is highest if two threads were
 * seen at the accesses and there is no verdict yet.  A likely false positive is assigned to few
 * sites.  A candidate with a final verdict is retired: its weight is 0. */
static uint32_t base_of(const struct hive_candidate *c)
{
	enum { MET = 256, UNKNOWN = 32, LIKELY_FALSE = 8 };
	enum hive_reason reason;
	enum hive_verdict verdict = hive_tally_verdict(&c->tally, &reason);

	if (verdict == HIVE_TRUE_RACE || c->unguarded || hive_canary_stops(&c->canary))
		return 0;
	if (verdict == HIVE_LIKELY_FALSE)
		return LIKELY_FALSE;
	return c->tally.context & HIVE_TWO_THREADS ? MET : UNKNOWN;
}

/* Returns the divisor of a candidate's weight.  It grows with each answer, so that other
 * candidates are drawn, too.  A run that did not execute both accesses counts as one answer if
 * some run did execute them, and as several if none did. */
static uint64_t share_of(const struct hive_tally *t)
{
	enum { SHARE = 8 };
	uint64_t unseen = t->reports[HIVE_NOT_SEEN];
	uint64_t answers = t->reports[HIVE_NO_RACE] + t->reports[HIVE_TIMEOUT] + unseen;

	return 1 + answers / SHARE + ((t->context & HIVE_BOTH) == HIVE_BOTH ? 0 : unseen);
}

/* Prefers candidates that the analysis ranks high.  The candidate with rank NEAR is drawn half as
 * often as the first one, and the candidate with rank 9 * NEAR a tenth as often.  No candidate is
 * excluded, because the ranks are derived from the code alone. */
static uint32_t weight_of(const struct hive_program *p, size_t place)
{
	enum { FINE = 16, NEAR = 16 };
	const struct hive_candidate *c = &p->candidates[place];
	uint32_t base = base_of(c);
	uint64_t weight = (uint64_t)base * FINE * NEAR / (NEAR + place) / share_of(&c->tally);

	return base && !weight ? 1 : (uint32_t)weight;
}

static void set_weight(struct hive_program *p, size_t i, uint32_t weight)
{
	int64_t more = (int64_t)weight - p->candidates[i].weight;

	RD_ASSERT(i < p->count);
	if (!more)
		return;
	p->candidates[i].weight = weight;
	for (size_t at = i + 1; at <= p->count; at += at & -at)
		p->sums[at] += (uint64_t)more;
}

uint64_t hive_program_total(const struct hive_program *p)
{
	uint64_t total = 0;

	for (size_t at = p->count; at > 0; at -= at & -at)
		total += p->sums[at];
	return total;
}

uint32_t hive_program_pick(const struct hive_program *p, uint64_t at)
{
	size_t found = 0, step = 1;

	RD_ASSERT(at < hive_program_total(p));
	while (step * 2 <= p->count)
		step *= 2;
	for (; step; step /= 2)
		if (found + step <= p->count && p->sums[found + step] <= at) {
			found += step;
			at -= p->sums[found];
		}
	RD_ASSERT(found < p->count && p->candidates[found].weight > at);
	return (uint32_t)found;
}

void hive_program_index(struct hive_program *p)
{
	p->sums = rd_xcalloc(p->count + 1, sizeof *p->sums);
	for (size_t i = 0; i < p->count; i++) {
		*rd_umap_put(&p->by_id, rd_hex_number(p->candidates[i].id, 16), NULL) = i;
		set_weight(p, i, weight_of(p, i));
	}
}

/* Returns the slot of a site, or a free slot if the site has none yet.  The table always has a
 * free slot. */
static size_t slot_of(const struct hive_site *sites, size_t capacity, const uint64_t key[2])
{
	size_t at = (size_t)rd_hash_add(key[0], key[1]) & (capacity - 1);

	RD_ASSERT(capacity && !(capacity & (capacity - 1)));
	while ((sites[at].key[0] || sites[at].key[1]) &&
	       (sites[at].key[0] != key[0] || sites[at].key[1] != key[1]))
		at = (at + 1) & (capacity - 1);
	return at;
}

const struct hive_site *hive_program_site(const struct hive_program *p, const uint64_t key[2])
{
	size_t at;

	if (!p->site_capacity)
		return NULL;
	at = slot_of(p->sites, p->site_capacity, key);
	return p->sites[at].key[0] || p->sites[at].key[1] ? &p->sites[at] : NULL;
}

static bool grow_sites(struct hive_program *p)
{
	size_t capacity = p->site_capacity ? p->site_capacity * 2 : 64;
	struct hive_site *sites = calloc(capacity, sizeof *sites);

	if (!sites)
		return false;
	for (size_t i = 0; i < p->site_capacity; i++)
		if (p->sites[i].key[0] || p->sites[i].key[1])
			sites[slot_of(sites, capacity, p->sites[i].key)] = p->sites[i];
	free(p->sites);
	p->sites = sites;
	p->site_capacity = capacity;
	return true;
}

/* Adds a site.  Returns NULL if there is no memory.  The site is then treated as if it had not
 * reported. */
static struct hive_site *add_site(struct hive_program *p, const uint64_t key[2])
{
	struct hive_site *s;

	if ((!key[0] && !key[1]) || ((p->site_count + 1) * 4 > p->site_capacity * 3 && !grow_sites(p)))
		return NULL;
	s = &p->sites[slot_of(p->sites, p->site_capacity, key)];
	if (!s->key[0] && !s->key[1]) {
		s->key[0] = key[0];
		s->key[1] = key[1];
		s->candidate = UINT32_MAX;
		p->site_count++;
	}
	RD_ASSERT(p->site_count * 4 <= p->site_capacity * 3); /* so that every search ends */
	return s;
}

static void complete(struct hive_site *s)
{
	s->done = 1 << HIVE_PRIMARY | 1 << HIVE_ALTERNATE;
	s->completed++;
}

static void take_timeout(struct hive_site *s, const struct hive_report *r)
{
	s->timeouts++;
	if (s->level[r->order] + 1 < HIVE_LEVELS)
		s->level[r->order]++;
	if (r->tau_us >= HIVE_TAU_MAX_US || r->tau_capped)
		s->done |= (uint8_t)(1 << r->order);
	if (s->done == (1 << HIVE_PRIMARY | 1 << HIVE_ALTERNATE))
		s->completed++;
}

/* Updates the state of a site's task.  The task ends when there is an answer, when the longest
 * pause has timed out in both orders, or after several runs that did not execute the accesses. */
static void note_task(struct hive_site *s, uint32_t candidate, const struct hive_report *r)
{
	enum { UNSEEN_MAX = 4 };

	if (r->result == HIVE_CONTEXT)
		return;
	if (s->candidate != candidate) {
		s->candidate = candidate;
		memset(s->level, 0, sizeof s->level);
		s->done = s->unseen = 0;
	}
	if (s->done == (1 << HIVE_PRIMARY | 1 << HIVE_ALTERNATE))
		return;
	if (r->result == HIVE_RACE || r->result == HIVE_NO_RACE)
		complete(s);
	else if (r->result == HIVE_TIMEOUT)
		take_timeout(s, r);
	else if (++s->unseen == UNSEEN_MAX)
		complete(s);
}

void hive_program_apply(struct hive_program *p, const struct hive_row *row)
{
	const struct hive_report *r = &row->report;
	int64_t i = hive_program_find(p, r->candidate);
	uint64_t key[2];
	struct hive_site *s;

	if (i < 0)
		return; /* the candidate is not in the present list */
	hive_tally_add(&p->candidates[i].tally, r);
	hive_canary_add(&p->candidates[i].canary, r);
	hive_canary_add(&p->canary, r);
	set_weight(p, (size_t)i, weight_of(p, (size_t)i));
	hive_site_key(row->site, key);
	s = add_site(p, key);
	if (!s)
		return;
	s->reports++;
	s->cost_us += r->pause_us + (uint64_t)r->busy_us;
	p->cost_us += r->pause_us + (uint64_t)r->busy_us;
	p->timeouts += r->result == HIVE_TIMEOUT;
	note_task(s, (uint32_t)i, r);
}

struct hive_sketch *hive_program_sketch(const struct hive_program *p, const char *id)
{
	for (size_t i = 0; i < p->sketch_count; i++)
		if (!strcmp(p->sketches[i].plan.id, id))
			return &p->sketches[i];
	return NULL;
}

void hive_program_release(struct hive_program *p)
{
	for (size_t i = 0; i < p->sketch_count; i++)
		hive_sketch_release(&p->sketches[i]);
	for (size_t i = 0; i < p->count; i++) {
		struct hive_candidate *c = &p->candidates[i];

		RD_FREE(c->object, c->accesses, c->unguarded, c->class_name, c->class_consequence);
	}
	hive_task_cache_free(p->cache);
	RD_UMAP_RELEASE(&p->by_id);
	RD_FREE(p->name, p->unsound, p->candidates, p->sums, p->sites, p->sketches);
	*p = (struct hive_program){0};
}
