// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump --sites` and `--check`: the site table as a list, and the notes of the trace
 * checker.
 */
#include "dump/dump-int.h"
#include "trace/check.h"

#include "base/error.h"

#include <stdio.h>

static void text_site(FILE *out, const struct trace_sites *s, uint32_t number, const struct trace_site *site)
{
	const char *file = trace_sites_file(s, site->file);
	fprintf(out, "0x%08x %-2s %4u  %s:%u:%u %s  %s%s%s\n", number, trace_site_kind_name(site->kind),
		site->size, file, site->line, site->column, site->function, site->what,
		*site->type ? " : " : "", site->type);
	for (uint32_t i = 0; i < site->chain_length; i++) {
		const struct trace_inlined *in = &s->chains[site->chain + i];
		fprintf(out, "                     inlined at %s:%u %s\n", trace_sites_file(s, in->file),
			in->line, in->function);
	}
}

static void json_site(struct rd_json *j, const struct trace_sites *s, uint32_t number,
		      const struct trace_site *site)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JU("site", number), RD_JS("kind", trace_site_kind_name(site->kind)),
		RD_JU("size", site->size), RD_JS("expression", site->what), RD_JS("type", site->type),
		RD_JB("volatile", site->flags & TRACE_SITE_VOLATILE),
		RD_JB("wait_loop", site->flags & TRACE_SITE_WAIT_LOOP),
		RD_JB("thread_local", site->flags & TRACE_SITE_TLS),
		RD_JB("on_stack", site->flags & TRACE_SITE_STACK));
	if (site->order) {
		char order[2] = {site->order, '\0'};
		rd_json_string(j, "order", order);
	}
	rd_json_array(j, "frames");
	dump_json_frames(j, s, number);
	rd_json_end(j);
	rd_json_end(j);
}

static void json_globals(struct rd_json *j, const struct trace_sites *s)
{
	rd_json_array(j, "globals");
	for (size_t i = 0; i < s->global_count; i++) {
		const struct trace_global *g = &s->globals[i];
		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("name", g->name), RD_JS("linkage", g->linkage), RD_JU("size", g->size),
			RD_JS("type", g->type), RD_JS("file", trace_sites_file(s, g->file)),
			RD_JU("line", g->line));
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void json_sites(const struct trace_sites *s, FILE *out)
{
	struct rd_json j;
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", 1);
	rd_json_array(&j, "sites");
	for (size_t u = 0; u < s->unit_count; u++) {
		const struct trace_unit *unit = &s->units[u];
		for (size_t i = 0; i < unit->site_count; i++) {
			const struct trace_site *site = &s->sites[unit->site + i];
			json_site(&j, s, (unit->slot << RADDLE_SITE_LOCAL_BITS) + site->n, site);
		}
	}
	rd_json_end(&j);
	json_globals(&j, s);
	rd_json_end(&j);
	putc('\n', out);
}

void dump_sites(const struct trace_sites *s, bool json, FILE *out)
{
	if (json) {
		json_sites(s, out);
		return;
	}
	for (size_t u = 0; u < s->unit_count; u++) {
		const struct trace_unit *unit = &s->units[u];
		fprintf(out, "unit %s, slot %u, %zu sites\n", unit->name, unit->slot, unit->site_count);
		for (size_t i = 0; i < unit->site_count; i++) {
			const struct trace_site *site = &s->sites[unit->site + i];
			text_site(out, s, (unit->slot << RADDLE_SITE_LOCAL_BITS) + site->n, site);
		}
	}
	for (size_t i = 0; i < s->global_count; i++) {
		const struct trace_global *g = &s->globals[i];
		fprintf(out, "variable %s (%s), %llu bytes, %s:%u\n", g->name, g->type,
			(unsigned long long)g->size, trace_sites_file(s, g->file), g->line);
	}
}

/* The maximum number of notes that are shown about a damaged trace.  The first notes show the
 * cause, and the others follow from it. */
#define NOTES_SHOWN 20

struct notes {
	struct rd_json *j; /* the JSON writer; NULL for text */
	FILE *out;
	uint64_t count;
};

static void show_note(void *context, const struct trace_lane *lane, const char *text)
{
	struct notes *n = context;
	RD_ASSERT(lane->stream.chunks > 0); /* an event was read, so there was a chunk */
	if (++n->count > NOTES_SHOWN)
		return;
	if (n->j) {
		rd_json_object(n->j, NULL);
		RD_JSON(n->j, RD_JU("thread", lane->stream.thread), RD_JU("chunk", lane->stream.chunks - 1),
			RD_JU("q", lane->stream.last_q), RD_JS("text", text));
		rd_json_end(n->j);
		return;
	}
	fprintf(n->out, "note: thread-%u, chunk %u, q %llu, %s: %s\n", lane->stream.thread,
		lane->stream.chunks - 1, (unsigned long long)lane->stream.last_q,
		trace_kind(lane->event.kind)->name, text);
}

static void json_result(struct rd_json *j, const struct trace_check_result *r, FILE *out)
{
	rd_json_end(j);
	RD_JSON(j, RD_JU("note_count", r->notes), RD_JU("events", r->events),
		RD_JU("unknown_sites", r->unknown_sites), RD_JU("truncated_streams", r->truncated),
		RD_JU("broken_streams", r->broken));
	rd_json_end(j);
	putc('\n', out);
}

static void text_result(const struct trace_check_result *r, FILE *out)
{
	if (r->notes > NOTES_SHOWN)
		fprintf(out, "... and %llu more notes\n", (unsigned long long)(r->notes - NOTES_SHOWN));
	if (r->unknown_sites > 0)
		fprintf(out, "%llu events with unknown sites\n", (unsigned long long)r->unknown_sites);
	if (r->truncated > 0)
		fprintf(out, "%zu streams end inside a chunk; everything before it is intact\n",
			r->truncated);
	fprintf(out, "%llu events checked, %llu notes, %s\n", (unsigned long long)r->events,
		(unsigned long long)r->notes, r->err ? "DAMAGED" : "no damage");
}

int dump_check(struct trace *trace, bool json, bool damaged, FILE *out)
{
	struct rd_json j;
	struct notes notes = {.j = json ? &j : NULL, .out = out};
	struct trace_check_result result;
	if (json) {
		rd_json_begin(&j, out);
		rd_json_object(&j, NULL);
		rd_json_number(&j, "version", 1);
		rd_json_array(&j, "notes");
	}
	int err = trace_check(trace, show_note, &notes, &result);
	if (err)
		return err;
	RD_ASSERT(notes.count == result.notes);
	if (!result.err)
		result.err = trace_check_counts(trace, result.events);
	if (!result.err && damaged)
		result.err = RD_EFORMAT;
	if (json)
		json_result(&j, &result, out);
	else
		text_result(&result, out);
	return result.err;
}
