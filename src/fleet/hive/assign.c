// SPDX-License-Identifier: Apache-2.0
/*
 * Assigns tasks.  A site without a task draws a candidate at random, by weight.  The site keeps
 * its task until it has an answer or the candidate is retired, but at most until the end of the
 * next epoch.  After each time-out the pause becomes longer, and after the longest pause the other
 * order is tried.  A site with many more time-outs than the average gets another candidate.  A
 * site whose guards cost much more than the average rests in about half of the epochs.
 */
#include "hive/assign-int.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum {
	/* A site with this many time-outs may get another candidate.  Set by hand: one or two may
	 * be chance. */
	MANY_TIMEOUTS = 3,
	/* A site whose guards have cost more microseconds than this may rest.  Set by hand: if the
	 * total is below a tenth of a second, comparing it with other sites means nothing. */
	COSTLY_US = 100000,
	BOTH_ORDERS = 1 << HIVE_PRIMARY | 1 << HIVE_ALTERNATE,
};

void hive_task_id(const struct hive_program *p, const struct hive_task *t, char id[PROTOCOL_TASK_ID])
{
	RD_ASSERT(t->candidate < p->count && t->level < HIVE_LEVELS && (t->validate || !t->look));
	snprintf(id, PROTOCOL_TASK_ID, "%s.%c%c%u.%" PRIx64, p->candidates[t->candidate].id,
		 t->order == HIVE_PRIMARY ? 'p' : 'a',
		 t->look       ? 'l'
		 : t->validate ? 'v'
			       : 'o',
		 t->level, t->epoch);
}

bool hive_task_parse(const struct hive_program *p, const char *id, struct hive_task *t)
{
	char candidate[HIVE_CANDIDATE] = "", order, mode;
	unsigned level;
	int end = 0;

	if (strlen(id) >= PROTOCOL_TASK_ID ||
	    sscanf(id, "%16[0-9a-f].%c%c%1u.%" SCNx64 "%n", candidate, &order, &mode, &level, &t->epoch,
		   &end) != 5 ||
	    id[end])
		return false;
	int64_t found = hive_program_find(p, candidate);
	t->candidate = (uint32_t)found;
	t->order = order == 'p' ? HIVE_PRIMARY : HIVE_ALTERNATE;
	t->look = mode == 'l';
	t->validate = mode == 'v' || t->look;
	t->level = level;
	return found >= 0 && (order == 'p' || order == 'a') && (t->validate || mode == 'o') &&
	       level < HIVE_LEVELS;
}

static uint64_t hash(const struct hive_asking *who, uint64_t salt, uint64_t epoch)
{
	const uint64_t words[] = {who->site[0], who->site[1], salt, epoch};

	return XXH3_64bits(words, sizeof words);
}

enum protocol_mode hive_allowed(const struct hive_program *p, const uint64_t site[2])
{
	RD_ASSERT(p->state < PROTOCOL_MODES);
	return XXH3_64bits(site, 2 * sizeof *site) % 100 < p->rollout ? p->state : PROTOCOL_OFF;
}

/* Returns true if `own`, the count of one site, is more than twice the average over all sites.
 * `all` is the sum of the counts of all sites. */
static bool is_more(uint64_t own, uint64_t all, size_t sites)
{
	return own * sites > 2 * all;
}

static bool is_reshuffled(const struct hive_program *p, const struct hive_site *s)
{
	return s && s->timeouts >= MANY_TIMEOUTS && is_more(s->timeouts, p->timeouts, p->site_count);
}

static bool rests(const struct hive_program *p, const struct hive_site *s, const struct hive_asking *who)
{
	return s && s->cost_us > COSTLY_US && is_more(s->cost_us, p->cost_us, p->site_count) &&
	       hash(who, 1, who->epoch) % 2;
}

static bool is_completed(const struct hive_site *s, uint32_t candidate)
{
	return s && s->candidate == candidate && s->done == BOTH_ORDERS;
}

/* Draws a candidate.  The candidate that the site has just completed is drawn again only if there
 * is no other. */
static bool draw(const struct hive_program *p, const struct hive_site *s, const struct hive_asking *who,
		 struct hive_task *task)
{
	enum { TRIES = 4 };
	uint64_t total = hive_program_total(p), salt = s ? s->completed : 0;

	if (!total)
		return false;
	if (is_reshuffled(p, s))
		salt += UINT64_C(1) << 32;
	for (unsigned i = 0; i < TRIES; i++) {
		task->candidate =
			hive_program_pick(p, hash(who, salt + ((uint64_t)i << 40), who->epoch) % total);
		if (!is_completed(s, task->candidate))
			break;
	}
	task->epoch = who->epoch;
	task->order = hash(who, 2 + salt, who->epoch) % 2 ? HIVE_PRIMARY : HIVE_ALTERNATE;
	return true;
}

/* Returns true if the site may continue with the task that it has. */
static bool keeps(const struct hive_program *p, const struct hive_site *s, const struct hive_asking *who,
		  const struct hive_task *held)
{
	return p->candidates[held->candidate].weight && held->epoch <= who->epoch &&
	       who->epoch - held->epoch <= 1 && !is_completed(s, held->candidate);
}

/* Sets the order and the time-out according to the attempts that the site has made with this
 * candidate. */
static void escalate(const struct hive_site *s, struct hive_task *task)
{
	RD_ASSERT(task->order == HIVE_PRIMARY || task->order == HIVE_ALTERNATE);
	task->level = 0;
	if (!s || s->candidate != task->candidate)
		return;
	if (s->done & 1 << task->order)
		task->order = task->order == HIVE_PRIMARY ? HIVE_ALTERNATE : HIVE_PRIMARY;
	task->level = s->level[task->order];
}

bool hive_assign(const struct hive_program *p, const struct hive_asking *who, struct hive_task *task)
{
	const struct hive_site *s = hive_program_site(p, who->site);
	struct hive_task held;
	bool has = who->held && hive_task_parse(p, who->held, &held) && keeps(p, s, who, &held);

	*task = (struct hive_task){0};
	if (!draw(p, s, who, task))
		return false;
	if (has && !is_reshuffled(p, s))
		*task = held;
	escalate(s, task);
	unsigned context = p->candidates[task->candidate].tally.context;
	task->validate = p->state == PROTOCOL_VALIDATE && !hive_canary_stops(&p->canary) &&
			 (context & HIVE_BOTH) == HIVE_BOTH && !rests(p, s, who);
	task->look = task->validate && !(context & HIVE_SAME_ADDRESS);
	if (!task->validate || task->look)
		task->level = 0;
	RD_ASSERT(p->candidates[task->candidate].weight && task->level < HIVE_LEVELS);
	return true;
}

const struct hive_sketch *hive_assign_sketch(const struct hive_program *p, const struct hive_asking *who)
{
	const struct hive_sketch *wanted[HIVE_SKETCHES_MAX];
	size_t count = 0;

	RD_ASSERT(p->sketch_count <= HIVE_SKETCHES_MAX);
	for (size_t i = 0; i < p->sketch_count; i++)
		if (p->sketches[i].state == HIVE_TRACKING)
			wanted[count++] = &p->sketches[i];
	if (!count || (hive_program_total(p) && hash(who, 3, who->epoch) % 4 == 0))
		return NULL;
	return wanted[hash(who, 4, who->epoch) % count];
}

void hive_sketch_task_id(const struct hive_sketch *s, uint64_t epoch, char id[PROTOCOL_TASK_ID])
{
	snprintf(id, PROTOCOL_TASK_ID, "%s.t%" PRIu32 ".%" PRIx64, s->plan.id, s->sigma, epoch);
}
