// SPDX-License-Identifier: Apache-2.0
/*
 * Prediction as a whole: a trace comes in, findings with schedules go into a set, numbers are summed up.
 * Several traces may go into one set.
 */
#include "predict/batch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/memory.h"
#include "finding/schedule.h"
#include "model/open.h"
#include "model/unordered.h"
#include "predict/describe.h"
#include "predict/failure.h"
#include "predict/hang.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define DESCRIBE_SHARE 5
#define ITEM_BYTES 200 /* that prediction takes for an operation or access, at most (measured) */
#define MEMORY (2ull << 30)
#define CLOCK_SHARE 4  /* of the memory, for clocks of very many threads */
#define EVENT_BYTES 90 /* that it takes for an event beside what it has got when the events are there */
#define PIECES_MAX 64
#define LOOK_COST 3	      /* what reading a part and looking at it take, as a multiple of reading */
#define LEAST_ITEMS (1 << 16) /* of a part, however little memory there is */
#define FIRST_EVENTS 1000000  /* of a trace that takes long: what is unordered in it is looked at first, */
#define FIRST_WIDTH 20000     /* the short parts in the order of the run, */
#define FIRST_SHARE 2	      /* after a walk that has this part of the time, as they have of the rest, */
#define FIRST_PARTS 8	      /* with at most this part of what is left of it each, since most take little, */
#define FIRST_WORK 100	      /* with this part of the work each */
#define LESS_WORK 10	      /* a part of what the first prediction may take: there may be many of these */

static void set_arguments(struct finding_set *set, const struct trace_meta *meta)
{
	if (set->argc)
		return;
	set->argv = finding_array(set, meta->argc, sizeof *set->argv);
	for (; set->argc < meta->argc; set->argc++)
		set->argv[set->argc] = finding_text(set, meta->argv[set->argc]);
}

struct part {
	struct model_part range;
	bool done;
};

/* Whether a part is one of those that are looked at before the others, for some races only. */
enum first { FIRST_NOT, FIRST_SOUND, FIRST_ALL };

/* The prediction of one trace. */
struct prediction {
	struct predict_batch *p;
	struct finding_set *set;
	struct model *model;
	struct part *parts;
	size_t count, done;   /* parts, and how many of them were looked at */
	size_t at;	      /* the one that is looked at */
	double ns_per_q;      /* that reading a part took, at least; 0: none was read yet */
	uint64_t base;	      /* memory that the model takes without histories */
	struct rd_umap pairs; /* of sites with a race */
	const struct predict_trace *trace;
	int64_t deadline_ns; /* of the part */
	enum first first;
	struct rd_umap wanted; /* pairs of sites that are looked for first: */
	struct model_unordered_list unordered;
	bool walked; /* they are what was looked for first */
	size_t from; /* the first finding of this trace */
};

static void sum_up(struct predict_batch *p, const struct predict_trace *t, const struct predict_result *r)
{
	p->considered += t->x.count - t->begin;
	p->searched += r->kept;
	p->dropped += t->dropped;
	if (t->dropped)
		rd_warn("predict: %" PRIu64 " events contradict what synchronisation allows and are left out",
			t->dropped);
	p->unknown += r->stats[0].unknown + r->stats[1].unknown;
	p->late |= r->late;
	p->looked |= r->looked || p->no_races;
	if (!p->window && r->pieces > 1 && r->pieces > p->parts)
		p->parts = r->pieces;
}

static void sum_up_model(struct predict_batch *p, const struct model *model)
{
	p->events += model->events;
	if (model->thread_count > p->threads)
		p->threads = model->thread_count;
}

/* Of the time that is left, the share of one of `count`. */
static int64_t share_of(int64_t deadline_ns, size_t count)
{
	int64_t now = rd_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;

	return deadline_ns ? now + left / (int64_t)count : 0;
}

/* A part of the time is kept for describing what was found. */
static int64_t search_deadline(int64_t deadline_ns)
{
	int64_t now = rd_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;

	return deadline_ns ? now + left - left / DESCRIBE_SHARE : 0;
}

/* Shows the findings from number `from` on; returns how long that took, which does not count. */
static int64_t show_described(struct prediction *d, size_t from)
{
	struct predict_batch *p = d->p;
	int64_t begin_ns = rd_now_ns(), more_ns;

	if (p->described && d->set->count > from)
		p->described(p->context, d->set, from);
	more_ns = p->deadline_ns ? rd_now_ns() - begin_ns : 0;
	p->deadline_ns += more_ns;
	d->deadline_ns += more_ns;
	return more_ns;
}

/* Speculative findings of one part leave room for those of the others. */
static int64_t describe_news(void *context, struct predict_result *news)
{
	struct prediction *d = context;
	struct predict_batch *p = d->p;
	struct predict_limit limit = {.findings = p->limit,
				      .speculative =
					      p->limit - p->limit / d->count * (d->count - 1 - d->done),
				      .deadline_ns = d->deadline_ns};

	size_t from = d->set->count;

	p->left_out += predict_describe(d->trace, news, d->set, limit);
	predict_result_clear(news);
	if (d->first)
		return 0;
	rd_info("predict: %zu findings so far", d->set->count);
	return show_described(d, from);
}

/* How many q the part that is looked at has. */
static uint64_t width_of(const struct prediction *d)
{
	struct model_part range = d->parts[d->at].range;
	uint64_t end = range.to < d->model->last_q ? range.to : d->model->last_q;

	return end > range.from ? end - range.from : 0;
}

/* Into how many pieces the part has to be cut once more: wide accesses of places that others access piece by
 * piece are many events.  1: it is small enough. */
static uint64_t pieces_of(const struct prediction *d, const struct predict_trace *t)
{
	uint64_t need = rd_memory_used() + t->x.count * EVENT_BYTES - d->base;
	uint64_t most = d->p->memory > d->base ? d->p->memory - d->base : 1;

	if (!d->p->memory || width_of(d) <= PIECES_MAX || t->x.count - t->begin < LEAST_ITEMS || need <= most)
		return 1;
	return need / most + 1 < PIECES_MAX ? need / most + 1 : PIECES_MAX;
}

/* Cuts the part that is looked at, and the others that are to be looked at, which will be like it. */
static void cut_again(struct prediction *d, uint64_t pieces)
{
	size_t count = 0;
	struct part *parts = rd_xcalloc(d->done + (d->count - d->done) * pieces, sizeof *parts);

	for (size_t i = 0; i < d->count; i++) {
		struct model_part range = d->parts[i].range;
		uint64_t last = d->model->last_q, end = range.to < last ? range.to : last + 1;
		uint64_t each = end > range.from ? (end - range.from) / pieces + 1 : 1;

		if (d->parts[i].done) {
			parts[count++] = d->parts[i];
			continue;
		}
		for (uint64_t at = range.from; at == range.from || at < end; at += each)
			parts[count++].range =
				(struct model_part){at, at + each < end ? at + each : range.to};
	}
	free(d->parts);
	d->parts = parts;
	d->count = count;
	d->p->parts = count > d->p->parts ? count : d->p->parts;
}

/* The first, the last, which has the end of the program, and then the others in their order: what is known by
 * then may be all that there is time for. */
static size_t next_part(const struct prediction *d)
{
	size_t next = d->done == 1 ? d->count - 1 : 0;

	while (d->parts[next].done)
		next = (next + 1) % d->count;
	return next;
}

/* A part that could not even be read and looked at in recorded order in the time that is left is cut. */
static void fit_time(struct prediction *d)
{
	int64_t left = d->p->deadline_ns - rd_now_ns();
	double need = LOOK_COST * d->ns_per_q * (double)width_of(d), pieces;

	if (!d->p->deadline_ns || left <= 0 || need <= (double)left || width_of(d) <= PIECES_MAX)
		return;
	pieces = need * 2 / (double)left + 1; /* two of them, at least, are looked at */
	cut_again(d, pieces < PIECES_MAX ? (uint64_t)pieces : PIECES_MAX);
	d->at = next_part(d);
}

static void note_reading(struct prediction *d, int64_t begin_ns)
{
	double each = (double)(rd_now_ns() - begin_ns) / (double)(width_of(d) + 1);

	if (!d->ns_per_q || each < d->ns_per_q)
		d->ns_per_q = each;
}

/* *again: it is too large and was cut. */
static int predict_part(struct prediction *d, bool *again)
{
	struct predict_batch *p = d->p;
	struct predict_opts o = {.sound_only = p->sound_only || p->sync_preserving || d->first == FIRST_SOUND,
				 .recorded_order_only = p->sync_preserving,
				 .no_races = p->no_races,
				 .no_deadlocks = p->no_deadlocks || d->first,
				 .window = (uint32_t)p->window,
				 .total_work = (int64_t)p->work * 1000000 / (d->first ? FIRST_WORK : 1),
				 .work = (int64_t)p->work * 1000000 / (d->first ? FIRST_WORK : 1) / 20,
				 .deadline_ns = search_deadline(d->deadline_ns),
				 .memory = p->memory / CLOCK_SHARE,
				 .pairs = &d->pairs,
				 .wanted = d->first ? &d->wanted : NULL,
				 .found = describe_news,
				 .context = d};
	struct predict_result r = {0};
	struct predict_trace t;
	int64_t begin_ns = rd_now_ns();
	int err = model_load(d->model, d->parts[d->at].range);

	*again = false;
	if (!err && trace_is_late(d->model->trace))
		return RD_OK;
	if (!err)
		err = predict_fill(&t, d->model);
	uint64_t pieces = err ? 1 : pieces_of(d, &t);

	if (!d->first)
		note_reading(d, begin_ns);
	d->trace = &t;
	o.begin = t.begin;
	*again = pieces > 1;
	if (*again && !d->first)
		cut_again(d, pieces);
	else if (!err && !*again)
		err = predict_run(&t.x, &o, &r);
	if (!err && !*again)
		sum_up(p, &t, &r);
	p->late |= !d->first && d->deadline_ns && rd_now_ns() >= d->deadline_ns;
	predict_result_release(&r);
	predict_trace_release(&t);
	return err;
}

uint64_t predict_batch_memory(void)
{
	uint64_t half = rd_memory_total() / 2;

	return half && half < MEMORY ? half : MEMORY;
}

/* How many operations and accesses there is memory for. */
static uint64_t items_of(const struct predict_batch *p)
{
	uint64_t used = rd_memory_used();
	uint64_t items = p->memory > used ? (p->memory - used) / ITEM_BYTES : 0;

	return !p->memory ? UINT64_MAX : items > LEAST_ITEMS ? items : LEAST_ITEMS;
}

/* One part unless there may be too much for the memory; only then it is counted. */
static void cut_parts(struct prediction *d)
{
	uint64_t items = items_of(d->p);
	struct model_part *ranges = NULL;

	d->base = rd_memory_used();
	if (d->model->events > items)
		d->count = model_cut(d->model, items, &ranges);
	else
		d->count = 1;
	d->parts = rd_xcalloc(d->count, sizeof *d->parts);
	for (size_t i = 0; i < d->count; i++)
		d->parts[i].range = ranges ? ranges[i] : MODEL_WHOLE;
	free(ranges);
	if (d->count > 1 && d->count > d->p->parts)
		d->p->parts = d->count;
}

/* A trace that took long to read is looked at for as long, if that is not too late for everything. */
static void put_off(struct predict_batch *p, int64_t begin_ns)
{
	int64_t now = rd_now_ns(), wanted = now + (now - begin_ns);

	if (wanted > p->latest_ns)
		wanted = p->latest_ns;
	if (p->deadline_ns && p->deadline_ns < wanted)
		p->deadline_ns = wanted;
}

/* By when a part has to be read: what is predicted from less than that would be wrong. */
static int64_t reading_deadline(const struct predict_batch *p)
{
	return p->deadline_ns && p->latest_ns > p->deadline_ns ? p->latest_ns : p->deadline_ns;
}

/* ---- what the run itself shows unordered ---- */

static uint64_t width(const struct model_part *part)
{
	return part->to - part->from;
}

/* What is known already without a search comes last.  Short parts in the order of the run, then the others by
 * their length. */
static int compare_unordered(const void *left, const void *right)
{
	const struct model_unordered *a = left, *b = right;
	uint64_t wide[2] = {width(&a->part), width(&b->part)};

	wide[0] = wide[0] > FIRST_WIDTH ? wide[0] : 0;
	wide[1] = wide[1] > FIRST_WIDTH ? wide[1] : 0;
	RD_BY(a->firm, b->firm);
	RD_BY(wide[0], wide[1]);
	RD_BY(a->part.from, b->part.from);
	return a->sites[0] != b->sites[0] ? (a->sites[0] > b->sites[0]) - (a->sites[0] < b->sites[0])
					  : (a->sites[1] > b->sites[1]) - (a->sites[1] < b->sites[1]);
}

/* Whether a part of those is too long to be read as a whole; it is looked at later, with the others. */
static bool is_too_long(const struct prediction *d, const struct model_part *part)
{
	double share = (double)width(part) / (double)(d->model->last_q + 1);

	return share * (double)d->model->events > (double)items_of(d->p);
}

/* What the run shows firmly unordered is said of its finding. */
static void note_firm(struct prediction *d, size_t from)
{
	struct rd_umap firm = {0};

	for (size_t i = 0; i < d->unordered.count; i++) {
		const struct model_unordered *u = &d->unordered.items[i];
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

static bool is_found(const struct prediction *d, const struct model_unordered *u)
{
	const uint64_t *state = rd_umap_get(&d->pairs, predict_pair_key(u->sites[0], u->sites[1]));

	return state && *state;
}

/* Looks at the parts of the pairs that no race was found of yet, until it is too late; returns how many were.
 */
static size_t look_at_unordered(struct prediction *d, const struct model_unordered_list *list,
				int64_t until_ns, int *err)
{
	size_t looked = 0;
	bool again;

	for (size_t i = 0; i < list->count && !*err && rd_now_ns() < until_ns; i++) {
		if (is_found(d, &list->items[i]) || is_too_long(d, &list->items[i].part))
			continue;
		d->parts[0].range = list->items[i].part;
		d->deadline_ns =
			share_of(until_ns, list->count - i < FIRST_PARTS ? list->count - i : FIRST_PARTS);
		trace_set_deadline(d->model->trace, reading_deadline(d->p));
		*err = predict_part(d, &again);
		looked++;
	}
	return looked;
}

/* What needs no search is told before it. */
static void show_walked(struct prediction *d)
{
	struct finding_set *seen = finding_set_new();

	for (size_t i = 0; i < d->unordered.count; i++)
		if (d->unordered.items[i].firm)
			predict_describe_unordered(d->model, &d->unordered.items[i],
						   "unordered in the recorded run", seen);
	set_arguments(seen, trace_get_meta(d->model->trace));
	finding_set_finish(seen);
	d->p->walked_over(d->p->context, seen);
}

/* One walk over the whole run, and a look at the few parts in which it shows accesses unordered: what is
 * found there is known before the search for more begins.  What is certain to happen comes first. */
static int look_first(struct prediction *d)
{
	struct predict_batch *p = d->p;
	struct model_unordered_list *list = &d->unordered;
	struct part part = {0};
	size_t from = d->set->count, looked, found = 0;
	int64_t until_ns;
	int err = RD_OK;

	d->walked = p->walked = true;
	trace_set_deadline(d->model->trace, share_of(reading_deadline(p), FIRST_SHARE));
	model_find_unordered(d->model, p->memory / CLOCK_SHARE, list);
	if (p->walked_over)
		show_walked(d);
	until_ns = share_of(reading_deadline(p), FIRST_SHARE);
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, compare_unordered);
	for (size_t i = 0; i < list->count; i++)
		*rd_umap_put(&d->wanted, predict_pair_key(list->items[i].sites[0], list->items[i].sites[1]),
			     NULL) = 1;
	d->parts = &part;
	d->count = 1;
	d->first = FIRST_SOUND;
	looked = look_at_unordered(d, list, until_ns, &err);
	d->first = FIRST_ALL;
	if (!p->sound_only && !p->sync_preserving)
		looked += look_at_unordered(d, list, until_ns, &err);
	d->first = FIRST_NOT;
	for (size_t i = 0; i < list->count; i++)
		found += is_found(d, &list->items[i]);
	rd_info("predict: %zu pairs of places are unordered in the run; %zu parts that have them were looked "
		"at: "
		"%zu of the pairs can race",
		list->count, looked, found);
	d->parts = NULL;
	d->count = d->done = 0;
	trace_set_deadline(d->model->trace, reading_deadline(p));
	note_firm(d, from);
	if (!err)
		show_described(d, from);
	return err;
}

/* The walk alone, for a trace that is not large: what came unordered in the run is a race whatever replays
 * show. */
static void look_last(struct prediction *d)
{
	struct predict_batch *p = d->p;

	trace_set_deadline(d->model->trace, reading_deadline(p));
	model_find_unordered(d->model, p->memory / CLOCK_SHARE, &d->unordered);
}

/* What the run itself shows unordered is said in any case, also if there was no time to search for an order
 * that leads there, or to describe it. */
static void list_unordered(struct prediction *d)
{
	struct rd_umap described = {0};

	for (size_t i = d->from; i < d->set->count; i++) {
		const struct schedule *s = d->set->items[i]->schedule;
		if (s && s->goal_count == 2)
			*rd_umap_put(&described, predict_pair_key(s->goals[0].site, s->goals[1].site), NULL) =
				1;
	}
	for (size_t i = 0; i < d->unordered.count; i++) {
		const struct model_unordered *u = &d->unordered.items[i];
		if (rd_umap_get(&described, predict_pair_key(u->sites[0], u->sites[1])))
			continue;
		predict_describe_unordered(d->model, u,
					   is_found(d, u) ? "unordered in the recorded run, and it can "
							    "happen at once; it was not described "
							    "within the limits of the prediction"
							  : "unordered in the recorded run; no order that "
							    "brings the two together was found within "
							    "the limits of the prediction",
					   d->set);
	}
	RD_UMAP_RELEASE(&described);
}

static int predict_model(struct predict_batch *p, struct model *model, struct finding_set *set,
			 int64_t begin_ns)
{
	struct prediction d = {.p = p, .set = set, .model = model, .from = set->count};
	bool again = false;
	int err = RD_OK;

	sum_up_model(p, model);
	set_arguments(set, trace_get_meta(model->trace)); /* what is told at once has them too */
	put_off(p, begin_ns);
	if (model->events >= FIRST_EVENTS && !trace_is_late(model->trace) && p->deadline_ns && !p->no_races &&
	    !p->window)
		err = look_first(&d);
	cut_parts(&d);
	while (d.done < d.count && !err) {
		if (trace_is_late(model->trace) ||
		    (d.done && p->deadline_ns && rd_now_ns() >= p->deadline_ns)) {
			p->skipped += d.count - d.done;
			p->late = true;
			break;
		}
		d.at = next_part(&d);
		fit_time(&d);
		if (d.count > 1)
			rd_info("predict: part %zu of %zu", d.at + 1, d.count);
		d.deadline_ns = share_of(p->deadline_ns, d.count - d.done);
		trace_set_deadline(model->trace, reading_deadline(p));
		err = predict_part(&d, &again);
		again |= trace_is_late(model->trace);
		d.parts[d.at].done = !again;
		d.done += !again;
	}
	if (!err && !p->unlisted && !p->no_races && !d.walked)
		look_last(&d);
	note_firm(&d, d.from);
	if (!err && !p->unlisted && d.walked)
		list_unordered(&d);
	if (!err)
		set->tool = RADDLE_VERSION;
	p->not_recorded += trace_get_meta(model->trace)->left_out;
	model_unordered_release(&d.unordered);
	RD_UMAP_RELEASE(&d.pairs, &d.wanted);
	free(d.parts);
	return err;
}

/* The signal by which the run failed; 0: none. */
static int failure_of(const struct model *model)
{
	const struct trace_meta *meta = trace_get_meta(model->trace);

	if (meta->end == TRACE_SIGNALLED && predict_is_failure(meta->code))
		return meta->code;
	return meta->forked && predict_has_aborted(model) ? SIGABRT : 0;
}

static void look_at_end(struct predict_batch *p, const struct model *model, struct finding_set *set)
{
	int signal = failure_of(model);

	if (p->failures && (signal || p->ended))
		p->at_start += !predict_failure(model, signal, set);
}

int predict_batch_run(struct predict_batch *p, const char *path, struct finding_set *set)
{
	struct model_file in;
	int64_t begin_ns = rd_now_ns();
	int err = model_open_parts(&in, path, p->force, reading_deadline(p));

	bool whole = !err && !trace_is_late(in.trace);

	for (size_t i = 0; !err && i < in.model->module_count; i++)
		rd_argv_add(&p->modules, in.model->modules[i].path);
	if (!err)
		err = predict_model(p, in.model, set, begin_ns);
	if (!err && whole) {
		trace_set_deadline(in.trace, 0);
		look_at_end(p, in.model, set);
	}
	if (!err)
		err = in.model->err; /* what could be read was looked at */
	model_close(&in);
	return err;
}

int predict_batch_again(void *context, const char *path, struct finding_set *set)
{
	struct predict_batch less = *(const struct predict_batch *)context;
	int err;

	less.work = (less.work + LESS_WORK - 1) / LESS_WORK;
	less.failures = false;
	less.described = NULL;
	less.walked_over = NULL;
	less.unlisted = true; /* what has no schedule is of no use to replays */
	less.modules = (struct rd_argv)RD_ARGV_INIT;
	err = predict_batch_run(&less, path, set);
	rd_argv_release(&less.modules);
	if (!err)
		finding_set_finish(set);
	return err;
}

int predict_batch_look(struct predict_batch *p, const char *path, struct finding_set *set)
{
	struct model_unordered_list list = {0};
	struct model_file in;
	int err = model_open_parts(&in, path, p->force, p->deadline_ns);

	if (!err)
		model_find_unordered(in.model, p->memory / CLOCK_SHARE, &list);
	for (size_t i = 0; i < list.count; i++)
		predict_describe_unordered(
			in.model, &list.items[i],
			"unordered in a further recorded run; no order that brings the two "
			"together was looked for",
			set);
	if (!err && !trace_is_late(in.trace))
		look_at_end(p, in.model, set);
	if (!err)
		set_arguments(set, trace_get_meta(in.trace));
	model_unordered_release(&list);
	model_close(&in);
	finding_set_finish(set);
	return err;
}

bool predict_batch_shows(const char *trace, const uint32_t sites[2])
{
	struct model_unordered_list list = {0};
	struct model_file in;
	uint64_t wanted = predict_pair_key(sites[0], sites[1]);
	bool shown = false;

	if (model_open_parts(&in, trace, false, 0) == RD_OK)
		model_find_unordered(in.model, predict_batch_memory() / CLOCK_SHARE, &list);
	for (size_t i = 0; i < list.count && !shown; i++)
		shown = list.items[i].firm &&
			predict_pair_key(list.items[i].sites[0], list.items[i].sites[1]) == wanted;
	model_unordered_release(&list);
	model_close(&in);
	return shown;
}

/* ---- numbers ---- */

unsigned predict_batch_models(const struct predict_batch *p)
{
	return p->sync_preserving ? PREDICT_COUNT_SYNC_PRESERVING + 1
	       : p->sound_only	  ? PREDICT_COUNT_SOUND + 1
				  : PREDICT_COUNT_MODELS;
}

static void put_stats(struct finding_set *set, const char *model, const struct predict_count *c, bool pairs)
{
	const struct {
		const char *name;
		double value;
	} stats[] = {{"racy_events", (double)c->events},       {"racy_locations", (double)c->locations},
		     {"racy_variables", (double)c->variables}, {"deadlocks", (double)c->deadlocks},
		     {"unknown", (double)c->unknown},	       {"cpu_seconds", c->event_seconds},
		     {"location_pairs", (double)c->pairs},     {"pairs_cpu_seconds", c->pair_seconds}};

	for (size_t i = 0; i < sizeof stats / sizeof *stats - (pairs ? 0 : 2); i++)
		finding_stat(set, finding_textf(set, "%s.%s", model, stats[i].name), stats[i].value);
}

static int count_trace(struct predict_batch *p, const struct predict_trace *t, struct finding_set *set,
		       bool pairs)
{
	struct predict_count_opts o = {.no_races = p->no_races,
				       .no_deadlocks = p->no_deadlocks,
				       .window = (uint32_t)p->window,
				       .pairs = pairs};
	int err = RD_OK;

	for (unsigned i = 0; i < predict_batch_models(p) && !err; i++) {
		err = predict_count(t, i, &o, &p->counts[i]);
		put_stats(set, predict_count_name(i), &p->counts[i], pairs);
		p->unknown += p->counts[i].unknown;
	}
	return err;
}

int predict_batch_count(struct predict_batch *p, const char *path, struct finding_set *set, bool pairs)
{
	struct predict_trace t = {0};
	struct predict_result none = {0};
	struct model_file in;
	int err = model_open(&in, path, p->force);

	if (!err)
		err = predict_fill(&t, in.model);
	p->reading_seconds = (double)clock() / CLOCKS_PER_SEC;
	if (!err)
		err = count_trace(p, &t, set, pairs);
	if (!err) {
		sum_up_model(p, in.model);
		sum_up(p, &t, &none);
		set->tool = RADDLE_VERSION;
		set_arguments(set, trace_get_meta(in.trace));
		finding_stat(set, "reading_cpu_seconds", p->reading_seconds);
		err = in.model->err;
	}
	predict_trace_release(&t);
	model_close(&in);
	return err;
}

void predict_batch_stats(const struct predict_batch *p, struct finding_set *set)
{
	finding_stat(set, "events", (double)p->events);
	finding_stat(set, "considered", (double)p->considered);
	finding_stat(set, "searched", (double)p->searched);
	finding_stat(set, "dropped", (double)p->dropped);
	finding_stat(set, "unknown", (double)p->unknown);
	finding_stat(set, "late", p->late);
	if (p->parts) {
		finding_stat(set, "parts", (double)p->parts);
		finding_stat(set, "parts_skipped", (double)p->skipped);
	}
}

bool predict_batch_hang(const char *trace, const struct predict_sleepers *sleepers, FILE *out)
{
	struct finding_set *set = finding_set_new();
	struct model_file f;
	bool stands = model_open(&f, trace, false) == RD_OK && predict_hang(f.model, sleepers, set) &&
		      finding_write(set, out) == RD_OK;

	model_close(&f);
	finding_set_free(set);
	return stands;
}
