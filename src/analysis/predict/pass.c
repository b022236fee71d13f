// SPDX-License-Identifier: Apache-2.0
/*
 * Implements a pass over one trace (pass.h).  It adds findings to a set, part by part, and totals
 * to the batch.
 *
 * Each call of predict_pass_next() continues at a stage until there is something to report.  The
 * time that the caller spends on findings between two calls does not count as prediction, so the
 * deadlines move by that time.
 */
#include "predict/pass-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/error.h"
#include "predict/describe-int.h"
#include "predict/failure.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

/* 1/DESCRIBE_SHARE of the time is reserved for describing the results.  Set by hand: a search that
 * ends at its deadline has found most of what there is. */
#define DESCRIBE_SHARE 5

/* A part that is searched before the others may use 1/FIRST_WORK of the search steps.  There are
 * many such parts, and the accesses of their races are close together.  Set by hand. */
#define FIRST_WORK 100

void pass_set_arguments(struct finding_set *set, const struct trace_meta *meta)
{
	if (set->argc)
		return;
	set->argv = finding_array(set, meta->argc, sizeof *set->argv);
	for (; set->argc < meta->argc; set->argc++)
		set->argv[set->argc] = finding_text(set, meta->argv[set->argc]);
}

void pass_sum_up(struct predict_batch *p, const struct predict_trace *t, const struct predict_result *r)
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

void pass_sum_up_model(struct predict_batch *p, const struct model *model)
{
	p->events += model->events;
	if (model->thread_count > p->threads)
		p->threads = model->thread_count;
}

int64_t pass_share(int64_t deadline_ns, size_t count)
{
	RD_ASSERT(count > 0);
	return rd_deadline_share(deadline_ns, 1.0 / (double)count);
}

int64_t pass_reading_deadline(const struct predict_batch *p)
{
	return p->deadline_ns && p->latest_ns > p->deadline_ns ? p->latest_ns : p->deadline_ns;
}

/* Returns the deadline of the search, which leaves time to describe the results. */
static int64_t search_deadline(int64_t deadline_ns)
{
	return rd_deadline_share(deadline_ns, 1 - 1.0 / DESCRIBE_SHARE);
}

/* ---- one part of the trace ---- */

/* Describes the results of a part.  The number of speculative findings is limited, so that there is
 * room for those of the parts that follow.  Returns the number of added findings. */
static size_t describe(struct predict_pass *d)
{
	struct predict_batch *p = d->p;
	struct predict_limit limit = {.findings = p->limit,
				      .speculative =
					      p->limit - p->limit / d->count * (d->count - 1 - d->done),
				      .deadline_ns = d->deadline_ns};
	size_t before = d->set->count;

	if (!d->result.race_count && !d->result.deadlock_count)
		return 0;
	p->left_out += predict_describe(&d->trace, &d->result, d->set, limit);
	predict_result_clear(&d->result);
	if (!d->first)
		rd_info("predict: %zu findings so far", d->set->count);
	return d->set->count - before;
}

static int open_steps(struct predict_pass *d)
{
	struct predict_batch *p = d->p;
	int64_t work = (int64_t)p->work * 1000000 / (d->first ? FIRST_WORK : 1);
	struct predict_opts o = {.sound_only = p->sound_only || p->sync_preserving || d->first == FIRST_SOUND,
				 .recorded_order_only = p->sync_preserving,
				 .no_races = p->no_races,
				 .no_deadlocks = p->no_deadlocks || d->first,
				 .window = (uint32_t)p->window,
				 .total_work = work,
				 .work = work / 20,
				 .deadline_ns = search_deadline(d->deadline_ns),
				 .memory = p->memory / PREDICT_CLOCK_SHARE,
				 .pairs = &d->pairs,
				 .wanted = d->first ? &d->wanted : NULL,
				 .begin = d->trace.begin};

	RD_ASSERT(!d->steps);
	return predict_open(&d->steps, &d->trace.x, &o, &d->result);
}

/* Reads the part d->at and prepares its search.  A part that is too large is cut or, if it is
 * searched before all others, skipped.  If d->steps is NULL afterwards, there is nothing to search.
 * If *again is set, the caller must choose a part again. */
static int open_part(struct predict_pass *d, bool *again)
{
	int64_t begin_ns = rd_now_ns();
	int err = model_load(d->model, d->parts[d->at].range);
	uint64_t pieces;

	*again = !err && trace_is_late(d->model->trace);
	if (*again)
		return RD_OK;
	d->trace = (struct predict_trace){0};
	if (!err)
		err = predict_fill(&d->trace, d->model);
	pieces = err ? 1 : pass_pieces(d);
	if (!d->first)
		pass_note_reading(d, begin_ns);
	*again = pieces > 1;
	if (*again && !d->first)
		pass_cut_again(d, pieces);
	else if (!err && !*again)
		err = open_steps(d);
	return err;
}

/* Ends the part, whether or not it was searched. */
static void close_part(struct predict_pass *d, bool searched)
{
	predict_close(d->steps);
	d->steps = NULL;
	if (searched)
		pass_sum_up(d->p, &d->trace, &d->result);
	d->p->late |= !d->first && rd_deadline_passed(d->deadline_ns);
	predict_result_release(&d->result);
	predict_trace_release(&d->trace);
}

int pass_search_part(struct predict_pass *d)
{
	bool again;
	int err = open_part(d, &again);

	if (again && trace_is_late(d->model->trace))
		return err;
	while (d->steps && predict_next(d->steps))
		describe(d);
	close_part(d, !err && d->steps);
	return err;
}

/* ---- the stages of a pass ---- */

static bool is_late(const struct predict_pass *d)
{
	const struct predict_batch *p = d->p;

	return trace_is_late(d->model->trace) || (d->done && rd_deadline_passed(p->deadline_ns));
}

/* Begins the next part.  After the last part, begins the final stage. */
static void begin_part(struct predict_pass *d)
{
	struct predict_batch *p = d->p;
	bool again;

	d->stage = PASS_END;
	if (d->done == d->count || d->err)
		return;
	if (is_late(d)) {
		p->skipped += d->count - d->done;
		p->late = true;
		return;
	}
	pass_choose(d);
	if (d->count > 1)
		rd_info("predict: part %zu of %zu", d->at + 1, d->count);
	d->deadline_ns = pass_share(p->deadline_ns, d->count - d->done);
	trace_set_deadline(d->model->trace, pass_reading_deadline(p));
	d->err = open_part(d, &again);
	d->stage = d->steps ? PASS_STEPS : PASS_PART;
	if (!d->steps && !trace_is_late(d->model->trace))
		close_part(d, false);
}

/* Does a step of the search.  Returns true if it added findings. */
static bool step(struct predict_pass *d)
{
	bool again;

	RD_ASSERT(d->steps);
	if (predict_next(d->steps))
		return describe(d) > 0;
	close_part(d, true);
	again = trace_is_late(d->model->trace);
	d->parts[d->at].done = !again;
	d->done += !again;
	RD_ASSERT(d->done <= d->count);
	d->stage = PASS_PART;
	return false;
}

/* Returns the signal that ended the failed run, or 0 if the run did not fail. */
static int failure_of(const struct model *model)
{
	const struct trace_meta *meta = trace_get_meta(model->trace);

	if (meta->end == TRACE_SIGNALLED && predict_is_failure(meta->code))
		return meta->code;
	return meta->forked && predict_has_aborted(model) ? SIGABRT : 0;
}

void pass_look_at_end(struct predict_batch *p, const struct model *model, struct finding_set *set)
{
	int signal = failure_of(model);

	if (p->failures && (signal || p->ended))
		p->at_start += !predict_failure(model, signal, set);
}

static void end(struct predict_pass *d)
{
	struct predict_batch *p = d->p;

	if (!d->err && !p->scheduled_only && !p->no_races && !d->walked)
		pass_walk_last(d);
	pass_note_firm(d, d->from);
	if (!d->err && !p->scheduled_only && d->walked)
		pass_list_unordered(d);
	if (!d->err)
		d->set->tool = RADDLE_VERSION;
	p->not_recorded += trace_get_meta(d->model->trace)->left_out;
	if (!d->err && d->whole) {
		trace_set_deadline(d->model->trace, 0);
		pass_look_at_end(p, d->model, d->set);
	}
	if (!d->err)
		d->err = d->model->err; /* findings were made from the readable part */
	d->stage = PASS_OVER;
}

/* Does the next piece of work.  Returns true if the caller must be informed of *event. */
static bool advance(struct predict_pass *d, enum predict_event *event)
{
	size_t before = d->set->count;

	*event = PREDICT_FOUND;
	switch (d->stage) {
	case PASS_WALK:
		pass_walk(d);
		d->stage = PASS_FIRST;
		*event = PREDICT_WALKED;
		return true;
	case PASS_FIRST:
		d->err = pass_search_unordered(d);
		d->stage = PASS_CUT;
		return !d->err && d->set->count > before;
	case PASS_CUT:
		pass_cut(d);
		d->stage = PASS_PART;
		return false;
	case PASS_PART: begin_part(d); return false;
	case PASS_STEPS: return step(d);
	case PASS_END: end(d); return false;
	case PASS_OVER: *event = PREDICT_OVER; return true;
	}
	RD_BUG("the stage of a pass");
}

/* Moves the deadlines by the time that the caller took for findings. */
static void resume_after_caller(struct predict_pass *d)
{
	int64_t more_ns = d->caller_since_ns && d->p->deadline_ns ? rd_now_ns() - d->caller_since_ns : 0;

	d->caller_since_ns = 0;
	d->p->deadline_ns += more_ns;
	d->deadline_ns += more_ns;
	if (d->steps)
		predict_extend_deadline(d->steps, more_ns);
}

int predict_pass_next(struct predict_pass *d, enum predict_event *event)
{
	resume_after_caller(d);
	while (!advance(d, event))
		;
	if (*event == PREDICT_FOUND)
		d->caller_since_ns = rd_now_ns();
	return *event == PREDICT_OVER ? d->err : RD_OK;
}

/* ---- opening and closing ---- */

/* Extends the deadline if reading took long.  The search then gets as much time as the reading
 * took, but not beyond latest_ns. */
static void extend_deadline(struct predict_batch *p, int64_t begin_ns)
{
	int64_t now = rd_now_ns(), wanted = now + (now - begin_ns);

	if (wanted > p->latest_ns)
		wanted = p->latest_ns;
	if (p->deadline_ns && p->deadline_ns < wanted)
		p->deadline_ns = wanted;
}

int predict_pass_open(struct predict_pass **pass, struct predict_batch *p, const char *path,
		      struct finding_set *set)
{
	struct predict_pass *d = rd_xcalloc(1, sizeof *d);
	int64_t begin_ns = rd_now_ns();
	int err = model_open_parts(&d->in, path, p->force, pass_reading_deadline(p));

	*pass = NULL;
	if (err) {
		model_close(&d->in);
		free(d);
		return err;
	}
	d->p = p;
	d->set = set;
	d->model = d->in.model;
	d->from = set->count;
	d->whole = !trace_is_late(d->in.trace);
	for (size_t i = 0; i < d->model->module_count; i++)
		rd_argv_add(&p->modules, d->model->modules[i].path);
	pass_sum_up_model(p, d->model);
	/* This is done early, so that findings that are reported early also have the arguments. */
	pass_set_arguments(set, trace_get_meta(d->model->trace));
	extend_deadline(p, begin_ns);
	d->stage = pass_is_to_walk(d) ? PASS_WALK : PASS_CUT;
	*pass = d;
	return RD_OK;
}

void predict_pass_close(struct predict_pass *d)
{
	if (!d)
		return;
	if (d->steps)
		close_part(d, false);
	predict_unordered_release(&d->unordered);
	RD_UMAP_RELEASE(&d->pairs, &d->wanted);
	free(d->parts);
	model_close(&d->in);
	free(d);
}
