// SPDX-License-Identifier: Apache-2.0
/*
 * Failure sketches for ui.perfetto.dev, in the JSON trace format that it shares with Chrome.  A run
 * is shown as a process with its threads.  Each step gets one millisecond, because a sketch has an
 * order but no times.  Arrows lead from the writer of a value to its reader, and along the steps of
 * the best predictor.
 */
#include "report/sketch.h"

#include "base/error.h"
#include "base/json.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdlib.h>

/* The time that a step gets, and the length of the bar that shows it (a "slice" in Perfetto), in
 * microseconds.  The bar is shorter, so that there is a gap before the next one. */
enum { STEP_US = 1000, SLICE_US = 900 };

struct writer {
	struct rd_json j;
	const struct sketch_report *report;
	uint64_t run;  /* the process ID of the current run */
	uint64_t flow; /* the number of the next arrow */
};

/* Writes the members that all events have. */
static void begin(struct writer *w, const char *phase, const char *name, uint32_t thread)
{
	rd_json_object(&w->j, NULL);
	RD_JSON(&w->j, RD_JS("ph", phase), RD_JS("name", name), RD_JU("pid", w->run),
		RD_JU("tid", thread + 1));
}

static void put_name(struct writer *w, const char *what, const char *name, uint32_t thread)
{
	begin(w, "M", what, thread);
	rd_json_object(&w->j, "args");
	rd_json_string(&w->j, "name", name);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
}

static void put_threads(struct writer *w, const struct sketch_steps *steps)
{
	struct rd_umap seen = RD_UMAP_INIT;
	char name[32];

	for (size_t i = 0; i < steps->count; i++) {
		bool fresh;

		rd_umap_put(&seen, steps->items[i].thread, &fresh);
		if (!fresh)
			continue;
		snprintf(name, sizeof name, steps->items[i].thread ? "thread %" PRIu32 : "main",
			 steps->items[i].thread);
		put_name(w, "thread_name", name, steps->items[i].thread);
	}
	rd_umap_release(&seen);
}

static void put_step(struct writer *w, const struct sketch_step *step, size_t number)
{
	char *source = sketch_source(w->report, step);

	begin(w, "X", source ? source : step->event ? step->event : "", step->thread);
	RD_JSON(&w->j, RD_JS("cat", step->marks & SKETCH_MARK_FAILURE ? "failure" : "step"),
		RD_JU("ts", number * STEP_US), RD_JU("dur", SLICE_US));
	rd_json_object(&w->j, "args");
	RD_JSON(&w->j, RD_JU("step", number), RD_JS("file", step->file), RD_JU("line", step->line),
		RD_JS("function", step->function), RD_JS("event", step->event),
		RD_JB("predictor", step->marks & SKETCH_MARK_PREDICTOR),
		RD_JB("differs", step->marks & SKETCH_MARK_DIFFERS));
	sketch_put_values(&w->j, step, rd_json_string);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
	free(source);
}

/* Draws an arrow from the middle of one slice to the beginning of another.  `from` and `to` are the
 * numbers of steps, counted from 1. */
static void put_arrow(struct writer *w, const struct sketch_steps *steps, size_t from, size_t to,
		      const char *name)
{
	RD_ASSERT(from > 0 && from < to && to <= steps->count);
	const struct sketch_step *a = &steps->items[from - 1], *b = &steps->items[to - 1];

	begin(w, "s", name, a->thread);
	RD_JSON(&w->j, RD_JS("cat", "flow"), RD_JU("id", w->flow),
		RD_JU("ts", from * STEP_US + SLICE_US / 2));
	rd_json_end(&w->j);
	begin(w, "f", name, b->thread);
	RD_JSON(&w->j, RD_JS("cat", "flow"), RD_JU("id", w->flow++), RD_JS("bp", "e"),
		RD_JU("ts", to * STEP_US + 1));
	rd_json_end(&w->j);
}

static void put_arrows(struct writer *w, const struct sketch_steps *steps)
{
	size_t last = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const struct sketch_step *step = &steps->items[i];

		for (size_t k = 0; step->writers && k < step->value_count; k++)
			if (step->writers[k] && step->writers[k] <= i)
				put_arrow(w, steps, step->writers[k], i + 1, step->values[k].name);
		if (!(step->marks & SKETCH_MARK_PREDICTOR))
			continue;
		if (last)
			put_arrow(w, steps, last, i + 1, "predictor");
		last = i + 1;
	}
}

static void put_run(struct writer *w, const struct sketch *s, const struct sketch_steps *steps,
		    const char *name)
{
	char text[256];

	if (!steps->count)
		return;
	snprintf(text, sizeof text, "%s: %s", name, s->signature);
	put_name(w, "process_name", text, 0);
	put_threads(w, steps);
	for (size_t i = 0; i < steps->count; i++)
		put_step(w, &steps->items[i], i + 1);
	put_arrows(w, steps);
	w->run++;
}

int sketch_perfetto(const struct sketch_report *r, FILE *out)
{
	struct writer w = {.report = r, .run = 1, .flow = 1};

	rd_json_begin(&w.j, out);
	rd_json_object(&w.j, NULL);
	rd_json_string(&w.j, "displayTimeUnit", "ms");
	rd_json_array(&w.j, "traceEvents");
	for (size_t i = 0; i < r->set->count; i++) {
		put_run(&w, &r->set->items[i], &r->set->items[i].fails, "fails");
		put_run(&w, &r->set->items[i], &r->set->items[i].passes, "passes");
	}
	rd_json_end(&w.j);
	rd_json_end(&w.j);
	return ferror(out) ? rd_fail_errno("sketch: cannot write the document") : RD_OK;
}
