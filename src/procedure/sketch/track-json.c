// SPDX-License-Identifier: Apache-2.0
/* A tracked run as a part of a document (doc/format/slice.md). */
#include "sketch/track.h"

static void write_failure(const struct sketch_run *run, const struct track_end *end, struct rd_json *j)
{
	if (end->file == NULL) {
		rd_json_null(j, "failure");
		return;
	}
	rd_json_object(j, "failure");
	RD_JSON(j, RD_JU("thread", run->failed_thread), RD_JS("file", end->file), RD_JU("line", end->line),
		RD_JS("function", end->function), RD_JN("signal", end->signal), RD_JU("address", end->fault),
		RD_JS("message", end->message));
	rd_json_end(j);
}

static void write_events(const struct sketch_runs *runs, struct rd_json *j)
{
	const struct sketch_run *run = &runs->items[0];
	RD_JSON_OBJECTS (j, "events", i, run->count) {
		const struct sketch_event *e = &run->events[i];
		RD_JSON(j, RD_JU("thread", e->thread), RD_JU("statement", e->statement),
			RD_JU("address", e->address), RD_JU("value", e->value), RD_JU("size", e->size));
	}
}

void track_json(const struct track *t, const struct sketch_runs *runs, const struct track_end *end,
		struct rd_json *j)
{
	const struct sketch_run *run = &runs->items[0];
	rd_json_object(j, "run");
	RD_JSON(j, RD_JS("outcome", sketch_outcome_name(run->outcome)), RD_JS("signature", run->signature),
		RD_JB("perturbed", run->perturbed), RD_JB("cut", run->cut), RD_JU("seen", end->seen),
		RD_JU("spent", end->spent), RD_JU("watched", end->watched), RD_JU("hits", end->hits),
		RD_JB("no_hardware", end->no_hardware), RD_JS("flavour", t->program.flavour.executable));
	write_failure(run, end, j);
	RD_JSON_OBJECTS (j, "gates", i, t->gates.count) {
		RD_JSON(j, RD_JN("lead", (int32_t)t->gates.items[i].statement),
			RD_JN("near", (int32_t)t->gates.items[i].near),
			RD_JU("group", facts_function_at(t->slice->facts, t->gates.items[i].value)));
	}
	RD_JSON_OBJECTS (j, "statements", i, runs->statement_count) {
		slice_statement_json(&runs->statements[i], j);
		RD_JSON(j, RD_JU("distance", runs->statements[i].distance),
			RD_JB("found", runs->statements[i].found));
	}
	write_events(runs, j);
	rd_json_end(j);
}
