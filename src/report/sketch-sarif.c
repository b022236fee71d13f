// SPDX-License-Identifier: Apache-2.0
/*
 * Failure sketches as SARIF 2.1.0.  Each sketch is a result at the place of the failure.  Its code
 * flow has a thread flow for each thread.  The steps of these flows carry the execution order.
 */
#include "report/sketch.h"

#include "base/error.h"
#include "base/json.h"
#include "report/sarif-parts-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	struct rd_json j;
	const struct sketch_report *report;
	struct uri_root root;
};

static void put_physical(struct writer *w, const char *file, uint32_t line)
{
	sarif_physical(&w->j, &w->root, &(struct sarif_place){.file = file, .line = line});
}

static void put_step(struct writer *w, const struct sketch_step *step, size_t number)
{
	rd_json_object(&w->j, NULL);
	rd_json_object(&w->j, "location");
	put_physical(w, step->file, step->line);
	sarif_text(&w->j, "message", step->event ? step->event : "");
	rd_json_end(&w->j);
	rd_json_unsigned(&w->j, "executionOrder", number);
	rd_json_string(&w->j, "importance",
		       step->marks & (SKETCH_MARK_PREDICTOR | SKETCH_MARK_FAILURE) ? "essential"
										   : "important");
	if (step->value_count) {
		rd_json_object(&w->j, "state");
		sketch_put_values(&w->j, step, sarif_text);
		rd_json_end(&w->j);
	}
	rd_json_end(&w->j);
}

static bool is_first_of(const struct sketch_steps *steps, size_t at)
{
	RD_ASSERT(at < steps->count);
	for (size_t i = 0; i < at; i++)
		if (steps->items[i].thread == steps->items[at].thread)
			return false;
	return true;
}

static void put_flow(struct writer *w, const struct sketch_steps *steps)
{
	rd_json_array(&w->j, "codeFlows");
	rd_json_object(&w->j, NULL);
	rd_json_array(&w->j, "threadFlows");
	for (size_t i = 0; i < steps->count; i++) {
		char id[32];

		if (!is_first_of(steps, i))
			continue;
		snprintf(id, sizeof id, steps->items[i].thread ? "T%" PRIu32 : "main",
			 steps->items[i].thread);
		rd_json_object(&w->j, NULL);
		rd_json_string(&w->j, "id", id);
		rd_json_array(&w->j, "locations");
		for (size_t k = i; k < steps->count; k++)
			if (steps->items[k].thread == steps->items[i].thread)
				put_step(w, &steps->items[k], k + 1);
		rd_json_end(&w->j);
		rd_json_end(&w->j);
	}
	rd_json_end(&w->j);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
}

static void put_result(struct writer *w, const struct sketch *s)
{
	char *text = rd_xasprintf("%s%s%s. %s%s", sketch_title(s), s->failure.what ? ": " : "",
				  s->failure.what ? s->failure.what : "",
				  s->predictors.count ? "Best predictor: "
						      : "Nothing tells failing from passing runs",
				  s->predictors.count ? s->texts[0] : "");

	rd_json_object(&w->j, NULL);
	RD_JSON(&w->j, RD_JS("ruleId", "failure-sketch"), RD_JS("level", "error"));
	sarif_text(&w->j, "message", text);
	rd_json_array(&w->j, "locations");
	rd_json_object(&w->j, NULL);
	put_physical(w, s->failure.file, s->failure.line);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
	rd_json_object(&w->j, "partialFingerprints");
	rd_json_string(&w->j, "signature/v1", s->signature);
	rd_json_end(&w->j);
	put_flow(w, &s->fails);
	rd_json_end(&w->j);
	free(text);
}

static void put_tool(struct writer *w)
{
	rd_json_object(&w->j, "tool");
	rd_json_object(&w->j, "driver");
	rd_json_string(&w->j, "name", "Raddle");
	rd_json_array(&w->j, "rules");
	rd_json_object(&w->j, NULL);
	rd_json_string(&w->j, "id", "failure-sketch");
	sarif_text(&w->j, "shortDescription", "Why a program fails: the steps that lead to a failure");
	rd_json_end(&w->j);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
	rd_json_end(&w->j);
}

int sketch_sarif(const struct sketch_report *r, FILE *out)
{
	struct writer w = {.report = r};

	uri_root_find(&w.root, r->root);
	sarif_begin(&w.j, out, false);
	put_tool(&w);
	rd_json_array(&w.j, "results");
	for (size_t i = 0; i < r->set->count; i++)
		put_result(&w, &r->set->items[i]);
	rd_json_end(&w.j);
	sarif_end(&w.j);
	uri_root_release(&w.root);
	return ferror(out) ? rd_fail_errno("sketch: cannot write the SARIF document") : RD_OK;
}
