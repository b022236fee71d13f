// SPDX-License-Identifier: Apache-2.0
/*
 * Tries other inputs.  In: a race that, with the recorded input, is harmless or only changes the
 * output.  Out: the worst class over all inputs that lead to the race, and a description of these
 * inputs.
 */
#include "base/error.h"
#include "classify/paths-int.h"
#include "classify/work-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* maximum number of pairs of runs with another input, unless they show something harmful */
#define OTHER_PAIRS 4

/* The search for inputs may make four times as many runs as the classification with the first
 * input, or PATHS_LEAST runs if that is more.  Most programs need a fraction of this.  Both values
 * were chosen by hand. */
#define PATHS_TIMES 4
#define PATHS_LEAST 400

/* Makes the runs with one input.  At first only a few runs are made.  If they show harm, as many
 * runs are made as for the first input. */
static int run_input(struct race_work *w, const struct rd_override *given)
{
	struct rd_buf text = RD_BUF_INIT;
	int err;

	rd_override_format(given, &text);
	w->input_text = given->count ? finding_text(w->set, text.data) : NULL;
	rd_buf_release(&text);
	w->bench.mask = (struct trial_mask){0};
	w->limits.pairs = OTHER_PAIRS;
	err = work_run_pairs(w, NULL);
	w->limits.pairs = w->how->alternates;
	if (!err && next_is_bad(&w->decision)) {
		w->bench.mask = (struct trial_mask){0};
		err = work_run_pairs(w, NULL);
	}
	return err;
}

/* If `again` is set, the threads of the next runs stop at their first access at the place of the race,
 * even if they have accessed its bytes before (`occurrence` 0 in doc/format/schedule.md). */
static void lead_again(void *context, bool again)
{
	struct race_work *w = context;

	w->race.goals = again ? w->again : w->goals;
}

static bool is_led_again(const struct race_work *w)
{
	return w->race.goals == w->again;
}

static int look_at_input(void *context, const struct rd_override *given, bool *bad)
{
	struct race_work *w = context;
	int err = run_input(w, given);

	w->is_other = true;
	if (err)
		return err;
	*bad = w->decision.class == FINDING_SPEC_VIOLATED;
	if (w->decision.class == FINDING_OUTPUT_DIFFERS && !w->found_differs) {
		w->found_differs = true;
		w->differs_again = is_led_again(w);
		rd_override_copy(&w->differs, given);
	}
	if (w->decision.class == FINDING_K_WITNESS_HARMLESS)
		w->k += w->decision.k;
	return RD_OK;
}

/* Returns true if other inputs are worth trying.  Memory models are tried with the recorded input
 * only. */
static bool is_worth(const struct race_work *w)
{
	return w->how->techniques.paths && w->how->paths != 1 && !w->how->models &&
	       (w->decision.class == FINDING_K_WITNESS_HARMLESS ||
		w->decision.class == FINDING_OUTPUT_DIFFERS);
}

static void note_losses(struct race_work *w, const struct paths *p)
{
	for (unsigned i = 0; i < RADDLE_LOSSES; i++)
		if (p->lost[i])
			finding_note(w->set, w->f,
				     finding_textf(w->set, "not followed: %s", sym_loss_text[i]));
	if (p->no_solver)
		finding_note(w->set, w->f,
			     "other inputs were not tried: the solver, libz3.so.4, cannot be loaded");
	if (p->unknown)
		finding_note(w->set, w->f,
			     finding_textf(w->set,
					   "%" PRIu64 " of %" PRIu64
					   " questions to the solver about other inputs took too long",
					   p->unknown, p->queries));
	if (p->equal && p->depends && w->decision.class == FINDING_K_WITNESS_HARMLESS)
		finding_note(
			w->set, w->f,
			finding_textf(
				w->set,
				"on %u of the %u paths both orders write the same for every input that takes "
				"the path, as far as it was followed",
				p->equal, p->primaries));
	if (p->cut)
		finding_note(w->set, w->f, "more branches depend on input than were tried");
}

static void note_lines(struct race_work *w, const char *what, const struct rd_buf *lines)
{
	const char *line = lines->length ? lines->data : "", *end;

	for (; (end = strchr(line, '\n')); line = end + 1)
		finding_note(w->set, w->f, finding_textf(w->set, "%s: %.*s", what, (int)(end - line), line));
}

/* Adds a note for each path, which describes the inputs that take that path.  Also adds one for each of
 * the first inputs with which the race could not be examined. */
static void note_covered(struct race_work *w, const struct paths *p)
{
	if (w->decision.class == FINDING_SPEC_VIOLATED)
		return;
	if (p->depends && w->decision.class == FINDING_K_WITNESS_HARMLESS)
		note_lines(w, "covered", &p->covered);
	note_lines(w, "not examined", &p->dropped);
}

/* Chooses the input with the worst class.  Its runs then decide the class of the race.  If no other
 * input has a worse class than the recorded one, restores the runs with the recorded input. */
static int settle_inputs(struct race_work *w, const struct paths *p, const struct decide_runs *runs,
			 const struct decision *decision)
{
	int err = RD_OK;

	if (p->primaries > 1 && w->decision.class == FINDING_SPEC_VIOLATED && w->input_text)
		return RD_OK;
	lead_again(w, w->found_differs && decision->class != FINDING_OUTPUT_DIFFERS && w->differs_again);
	if (w->found_differs && decision->class != FINDING_OUTPUT_DIFFERS) {
		err = trial_set_input(&w->bench, &w->differs);
		return err ? err : run_input(w, &w->differs);
	}
	w->runs = *runs;
	w->decision = *decision;
	w->input_text = w->race.input;
	w->bench.mask = w->recorded_mask;
	return trial_set_input(&w->bench, &w->base);
}

static int explore_inputs(struct race_work *w, const struct replay_program *shadow)
{
	static const struct sym_selection any;
	struct decide_runs runs = w->runs;
	struct decision decision = w->decision;
	struct paths p = {.bench = &w->bench,
			  .race = &w->race,
			  .shadow = shadow,
			  .wishes = w->how->sym ? w->how->sym : &any,
			  .base = &w->base,
			  .most = w->how->paths ? w->how->paths : CLASSIFY_PATHS,
			  .lead_again = lead_again,
			  .analyse = look_at_input,
			  .context = w};
	uint64_t more = PATHS_TIMES * w->bench.runs;
	int err;

	p.last_run = w->bench.runs + (more > PATHS_LEAST ? more : PATHS_LEAST);
	w->recorded_mask = w->bench.mask;
	w->goals = w->race.goals;
	for (size_t i = 0; i < 2; i++) {
		w->again[i] = w->goals[i];
		w->again[i].occurrence = 0;
	}
	err = paths_explore(&p);
	if (err)
		w->decision.class = FINDING_NO_CLASS;
	if (settle_inputs(w, &p, &runs, &decision))
		err = RD_ESYSTEM;
	note_losses(w, &p);
	note_covered(w, &p);
	finding_stat(w->set, "paths", p.primaries);
	finding_stat(w->set, "solver_seconds", p.solver_seconds);
	paths_release(&p);
	return err;
}

/* Builds the flavour `shadow` and explores other inputs.  The flavour is built only when a race
 * needs it.  If this fails, the class is that for the recorded input. */
static int open_and_explore(struct race_work *w)
{
	struct run_program program = {.kind = "shadow"};
	struct replay_program shadow = {.program = &program, .argv = w->how->runs.program->argv};
	struct run_build how = w->how->runs.program->program->how;
	struct trace_sites *sites = NULL;
	int err;

	how.edits = w->how->runs.program->program->edits;
	how.end_ns = w->how->runs.deadline_ns;
	err = run_program_open(&program, w->how->runs.program->program->path, &how);
	if (!err)
		err = trace_sites_read(&sites, program.flavour.sites);
	shadow.sites = sites;
	if (!err)
		err = explore_inputs(w, &shadow);
	trace_sites_free(sites);
	run_program_close(&program);
	return err;
}

/* If the input cannot be tracked, the class for the recorded input is kept. */
void inputs_follow(struct race_work *w)
{
	if (!is_worth(w) || !open_and_explore(w))
		return;
	finding_note(w->set, w->f,
		     finding_textf(w->set, "other inputs were not tried: %s",
				   w->message ? w->message : "the program could not be run"));
	free(w->message);
	w->message = NULL;
}
