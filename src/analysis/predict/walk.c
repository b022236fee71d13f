// SPDX-License-Identifier: Apache-2.0
/*
 * Handles accesses that are unordered in the recorded run itself.  From the model of a trace, it
 * finds pairs of accesses without an order, and makes findings about them.
 *
 * A large run is walked over first, and then only the few parts with such pairs are searched.  So
 * these races are known before the search for others begins.
 */
#include "predict/pass-int.h"

#include "base/clock.h"
#include "base/compare.h"
#include "base/error.h"
#include "finding/schedule.h"
#include "predict/describe-int.h"

#include <stdlib.h>

/* If a run has at least this many events, a search may take so long that the walk comes first.  In
 * a test on a busy machine, no part of memcached's 34 million events was searched within 200 s. */
#define FIRST_EVENTS 1000000

/* The largest number of operations of a short part.  Short parts are searched in the order of the
 * run, before longer ones.  Set by hand. */
#define FIRST_WIDTH 20000

/* The walk may use 1/FIRST_SHARE of the time.  The search of the parts that it found may use
 * 1/FIRST_SHARE of the rest. */
#define FIRST_SHARE 2

/* One of the parts that the walk found may use 1/FIRST_PARTS of the time that remains for these
 * parts or, if fewer parts remain, an equal share.  Most parts need little. */
#define FIRST_PARTS 8

static uint64_t width(const struct model_part *part)
{
	RD_ASSERT(part->from <= part->to);
	return part->to - part->from;
}

/* Sorts pairs.  Pairs with short parts come first, in the order of the run, followed by the others,
 * sorted by length.  Pairs that are certain without a search come last. */
static int compare_unordered(const void *left, const void *right)
{
	const struct predict_unordered *a = left, *b = right;
	uint64_t wide[2] = {width(&a->part), width(&b->part)};

	wide[0] = wide[0] > FIRST_WIDTH ? wide[0] : 0;
	wide[1] = wide[1] > FIRST_WIDTH ? wide[1] : 0;
	RD_BY(a->firm, b->firm);
	RD_BY(wide[0], wide[1]);
	RD_BY(a->part.from, b->part.from);
	return a->sites[0] != b->sites[0] ? (a->sites[0] > b->sites[0]) - (a->sites[0] < b->sites[0])
					  : (a->sites[1] > b->sites[1]) - (a->sites[1] < b->sites[1]);
}

/* Returns true if the part is too long to be read as a whole.  Such a part is not searched first,
 * but only with the rest of the run. */
static bool is_too_long(const struct predict_pass *d, const struct model_part *part)
{
	double share = (double)width(part) / (double)(d->model->last_q + 1);

	return share * (double)d->model->events > (double)pass_items(d->p);
}

void pass_note_firm(struct predict_pass *d, size_t from)
{
	struct rd_umap firm = {0};

	for (size_t i = 0; i < d->unordered.count; i++) {
		const struct predict_unordered *u = &d->unordered.items[i];
		if (u->firm)
			*rd_umap_put(&firm, predict_pair_key(u->sites[0], u->sites[1]), NULL) = i + 1;
	}
	for (size_t i = from; i < d->set->count; i++) {
		const struct schedule *s = d->set->items[i]->schedule;
		const uint64_t *at =
			!s || s->goal_count != 2
				? NULL
				: rd_umap_get(&firm, predict_pair_key(s->goals[0].site, s->goals[1].site));
		if (at && !d->set->items[i]->firm)
			predict_describe_firm(d->model, &d->unordered.items[*at - 1], d->set,
					      d->set->items[i]);
	}
	RD_UMAP_RELEASE(&firm);
}

static bool is_found(const struct predict_pass *d, const struct predict_unordered *u)
{
	const uint64_t *state = rd_umap_get(&d->pairs, predict_pair_key(u->sites[0], u->sites[1]));

	return state && *state;
}

/* Searches the parts of pairs that have no race yet, until the time is over.  Returns the number of
 * searched parts. */
static size_t look_at_unordered(struct predict_pass *d, enum first first, int64_t until_ns, int *err)
{
	const struct predict_unordered_list *list = &d->unordered;
	size_t looked = 0;

	d->first = first;
	for (size_t i = 0; i < list->count && !*err && rd_now_ns() < until_ns; i++) {
		if (is_found(d, &list->items[i]) || is_too_long(d, &list->items[i].part))
			continue;
		d->parts[0].range = list->items[i].part;
		d->deadline_ns =
			pass_share(until_ns, list->count - i < FIRST_PARTS ? list->count - i : FIRST_PARTS);
		trace_set_deadline(d->model->trace, pass_reading_deadline(d->p));
		*err = pass_search_part(d);
		looked++;
	}
	return looked;
}

struct finding_set *predict_pass_unordered(const struct predict_pass *d)
{
	struct finding_set *seen = finding_set_new();

	RD_ASSERT(d->walked);
	for (size_t i = 0; i < d->unordered.count; i++)
		if (d->unordered.items[i].firm)
			predict_describe_unordered(d->model, &d->unordered.items[i],
						   "unordered in the recorded run", seen);
	pass_set_arguments(seen, trace_get_meta(d->model->trace));
	finding_set_finish(seen);
	return seen;
}

bool pass_is_to_walk(const struct predict_pass *d)
{
	const struct predict_batch *p = d->p;

	return d->model->events >= FIRST_EVENTS && !trace_is_late(d->model->trace) && p->deadline_ns &&
	       !p->no_races && !p->window;
}

void pass_walk(struct predict_pass *d)
{
	struct predict_batch *p = d->p;

	d->walked = p->walked = true;
	trace_set_deadline(d->model->trace, pass_share(pass_reading_deadline(p), FIRST_SHARE));
	predict_find_unordered(d->model, p->memory / PREDICT_CLOCK_SHARE, &d->unordered);
}

static void want_pairs(struct predict_pass *d)
{
	const struct predict_unordered_list *list = &d->unordered;

	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, compare_unordered);
	for (size_t i = 0; i < list->count; i++)
		*rd_umap_put(&d->wanted, predict_pair_key(list->items[i].sites[0], list->items[i].sites[1]),
			     NULL) = 1;
}

static void report_pairs(const struct predict_pass *d, size_t looked)
{
	size_t found = 0;

	for (size_t i = 0; i < d->unordered.count; i++)
		found += is_found(d, &d->unordered.items[i]);
	rd_info("predict: %zu pairs of places are unordered in the run; %zu parts that contain them were "
		"searched, and %zu of the pairs can race",
		d->unordered.count, looked, found);
}

/* The first search looks only for sound races. */
int pass_search_unordered(struct predict_pass *d)
{
	struct predict_batch *p = d->p;
	int64_t until_ns = pass_share(pass_reading_deadline(p), FIRST_SHARE);
	struct trace_part part = {0};
	size_t from = d->set->count, looked;
	int err = RD_OK;

	RD_ASSERT(!d->parts);
	want_pairs(d);
	d->parts = &part;
	d->count = 1;
	looked = look_at_unordered(d, FIRST_SOUND, until_ns, &err);
	if (!p->sound_only && !p->sync_preserving)
		looked += look_at_unordered(d, FIRST_ALL, until_ns, &err);
	d->first = FIRST_NOT;
	report_pairs(d, looked);
	d->parts = NULL;
	d->count = d->done = 0;
	trace_set_deadline(d->model->trace, pass_reading_deadline(p));
	pass_note_firm(d, from);
	return err;
}

void pass_walk_last(struct predict_pass *d)
{
	struct predict_batch *p = d->p;

	trace_set_deadline(d->model->trace, pass_reading_deadline(p));
	predict_find_unordered(d->model, p->memory / PREDICT_CLOCK_SHARE, &d->unordered);
}

void pass_list_unordered(struct predict_pass *d)
{
	struct rd_umap described = {0};

	for (size_t i = d->from; i < d->set->count; i++) {
		const struct schedule *s = d->set->items[i]->schedule;
		if (s && s->goal_count == 2)
			*rd_umap_put(&described, predict_pair_key(s->goals[0].site, s->goals[1].site), NULL) =
				1;
	}
	for (size_t i = 0; i < d->unordered.count; i++) {
		const struct predict_unordered *u = &d->unordered.items[i];
		if (rd_umap_get(&described, predict_pair_key(u->sites[0], u->sites[1])))
			continue;
		predict_describe_unordered(d->model, u,
					   is_found(d, u) ? "unordered in the recorded run; a schedule "
							    "was found, but it was not described "
							    "within the limits of the prediction"
							  : "unordered in the recorded run; no order that "
							    "brings the two together was found within "
							    "the limits of the prediction",
					   d->set);
	}
	RD_UMAP_RELEASE(&described);
}
