// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the events of a trace in global order, as text (one line each) or as JSON
 * (doc/format/dump-json.md).  Events are not kept in memory.
 */
#include "dump/dump-int.h"

#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* maximum width of the column of thread names; longer names make ragged lines */
#define THREAD_WIDTH_MAX 14

static const struct trace_site *site_of(const struct dump *d, const struct trace_event *e)
{
	return e->site ? trace_sites_find(d->model->sites, e->site) : NULL;
}

static bool is_plain(const struct trace_event *e)
{
	return raddle_is_access(e->kind) && !raddle_has_q(e->kind);
}

bool dump_event_writes(const struct dump *d, const struct trace_event *e)
{
	const struct trace_site *site = site_of(d, e);
	if (e->kind == RADDLE_ATOMIC)
		return e->values[3] & 1;
	return site && trace_site_writes(site);
}

static uint64_t dump_event_size(const struct dump *d, const struct trace_event *e)
{
	const struct trace_site *site = site_of(d, e);
	return e->kind == RADDLE_RANGE ? e->size : site ? site->size : 0;
}

/* Returns the name to print: "read", "write", "atomic-load", or the name of the kind. */
static const char *dump_event_name(const struct dump *d, const struct trace_event *e)
{
	const struct trace_site *site = site_of(d, e);
	if (is_plain(e))
		return !site ? "access" : trace_site_writes(site) ? "write" : "read";
	if (e->kind != RADDLE_ATOMIC || !site)
		return trace_kind(e->kind)->name;
	switch (site->kind) {
	case TRACE_SITE_ATOMIC_LOAD: return "atomic-load";
	case TRACE_SITE_ATOMIC_STORE: return "atomic-store";
	case TRACE_SITE_ATOMIC_CMPXCHG: return "atomic-cas";
	default: return "atomic-rmw";
	}
}

/* Returns the site that tells where an event happened: its own site, or else that of the innermost
 * call, or 0 if there is neither. */
static uint32_t dump_place(const struct trace_lane *lane)
{
	const struct trace_decoder *d = &lane->stream.decoder;
	if (lane->event.site)
		return lane->event.site;
	return d->depth > 0 ? d->stack[d->depth - 1] : 0;
}

void dump_location(const struct trace_sites *sites, uint32_t number, struct rd_buf *out)
{
	const struct trace_site *site = trace_sites_find(sites, number);
	if (!number)
		return;
	if (!site) {
		rd_buf_addf(out, "site 0x%x", number);
		return;
	}
	if (site->file != TRACE_NO_FILE)
		rd_buf_addf(out, "%s:%u", rd_base_name(trace_sites_file(sites, site->file)), site->line);
	if (*site->function)
		rd_buf_addf(out, "%s%s", site->file != TRACE_NO_FILE ? " " : "", site->function);
}

static void access_what(struct dump *d, const struct trace_lane *lane, struct rd_buf *out)
{
	const struct model *m = d->model;
	const struct trace_event *e = &lane->event;
	const struct trace_site *site = site_of(d, e);
	uint32_t object = model_find_cached(m, &d->cache, e->address, lane->stream.last_q);
	bool global = object != MODEL_NONE && m->objects[object].kind == MODEL_GLOBAL;
	bool named = site && *site->what && !global;
	if (named)
		rd_buf_addf(out, "%s (", site->what);
	if (object == MODEL_NONE)
		rd_buf_addf(out, "0x%llx", (unsigned long long)e->address);
	else
		model_name_place(m, object, e->address - m->objects[object].base, out);
	if (named)
		rd_buf_addc(out, ')');
	if (e->kind == RADDLE_RANGE)
		rd_buf_addf(out, ", %llu bytes", (unsigned long long)e->size);
	if (e->kind == RADDLE_ATOMIC && site && site->kind == TRACE_SITE_ATOMIC_CMPXCHG &&
	    !(e->values[3] & 1))
		rd_buf_adds(out, " failed");
}

static void thread_what(const struct dump *d, uint64_t number, struct rd_buf *out)
{
	uint32_t thread = number <= UINT32_MAX ? model_thread(d->model, (uint32_t)number) : MODEL_NONE;
	if (thread == MODEL_NONE)
		rd_buf_addf(out, "thread %llu", (unsigned long long)number);
	else
		rd_buf_adds(out, d->model->threads[thread].name);
}

/* Appends the bytes of a text operand, with control characters made visible. */
static void add_text(const struct trace_event *e, struct rd_buf *out)
{
	for (size_t i = 0; i < e->length; i++) {
		unsigned char c = (unsigned char)e->bytes[i];
		if (c < ' ' || c == 0x7f)
			rd_buf_addf(out, "\\x%02x", c);
		else
			rd_buf_addc(out, (char)c);
	}
}

/* Appends the results and counts, which are the operands other than order, time and object. */
static void other_operands(const struct trace_event *e, struct rd_buf *out)
{
	const struct trace_kind *kind = trace_kind(e->kind);
	RD_ASSERT(out->length > 0); /* it already contains the name of the event */
	for (unsigned i = 0; kind->operands[i]; i++) {
		char name[TRACE_OPERAND_NAME];
		if (kind->operands[i] != 'u')
			continue;
		trace_operand_name(kind, i, name);
		const char *error = strerrorname_np((int)e->values[i]);
		const char *gap = out->data[out->length - 1] == ' ' ? "" : " ";
		if (strcmp(name, "result") != 0)
			rd_buf_addf(out, "%s%s=%llu", gap, name, (unsigned long long)e->values[i]);
		else if (e->values[i] != 0)
			rd_buf_addf(out, "%s-> %s", gap, error ? error : "failed");
	}
}

/* Returns true if the event creates, joins or detaches another thread. */
static bool handles_thread(const struct trace_event *e)
{
	enum raddle_role role = raddle_role(e->kind);

	return role == RADDLE_ROLE_CREATE || role == RADDLE_ROLE_JOIN || role == RADDLE_ROLE_DETACH;
}

/* Appends the object of an allocation or a release.  The object has a name, unless the trace is
 * damaged or began after the allocation. */
static void object_what(const struct model *m, uint32_t object, uint64_t address, struct rd_buf *out)
{
	if (object == MODEL_NONE)
		rd_buf_addf(out, "0x%llx", (unsigned long long)address);
	else
		model_name_object(m, object, out);
}

/* Appends the name of the object or thread that an event concerns. */
static void dump_what(struct dump *d, const struct trace_lane *lane, struct rd_buf *out)
{
	const struct model *m = d->model;
	const struct trace_event *e = &lane->event;
	if (raddle_is_access(e->kind)) {
		access_what(d, lane, out);
	} else if (handles_thread(e)) {
		thread_what(d, e->values[2], out);
	} else if (e->kind == RADDLE_ALLOC) {
		object_what(m, model_find(m, e->address, e->q), e->address, out);
		rd_buf_addf(out, ", %llu bytes", (unsigned long long)e->values[2]);
	} else if (e->kind == RADDLE_FREE) {
		/* At q itself, the object no longer exists, so the search is made at q - 1. */
		object_what(m, e->q ? model_find(m, e->address, e->q - 1) : MODEL_NONE, e->address, out);
	} else if (raddle_is_sync(e->kind)) {
		model_name_address(m, e->address, e->q, out);
	}
}

/* Returns true if nothing is printed about an event but its name and object. */
static bool has_no_details(enum raddle_event kind)
{
	return raddle_is_access(kind) || raddle_class(kind) == RADDLE_CLASS_FENCE || kind == RADDLE_ALLOC ||
	       kind == RADDLE_FREE || raddle_role(kind) == RADDLE_ROLE_START;
}

static void text_details(struct dump *d, const struct trace_event *e, struct rd_buf *out)
{
	if (raddle_is_cond_wait(e->kind)) {
		rd_buf_adds(out, " with ");
		model_name_address(d->model, e->values[3], e->q, out);
	}
	if (handles_thread(e))
		rd_buf_adds(out, trace_result(e) != 0 ? " -> failed" : "");
	else if (e->kind == RADDLE_COND_WAIT)
		rd_buf_adds(out, e->values[4] ? " timed" : "");
	else if (strchr(trace_kind(e->kind)->operands, 'b'))
		add_text(e, out);
	else if (!has_no_details(e->kind))
		other_operands(e, out);
}

/* Prints the call stack of an event, innermost frame first, including inlined functions. */
static void text_frames(const struct dump *d, uint32_t number, struct rd_buf *out)
{
	const struct trace_sites *sites = d->model->sites;
	const struct trace_site *site = trace_sites_find(sites, number);
	rd_buf_adds(out, "                             ");
	dump_location(sites, number, out);
	rd_buf_addc(out, '\n');
	for (uint32_t i = 0; site && i < site->chain_length; i++) {
		const struct trace_inlined *in = &sites->chains[site->chain + i];
		rd_buf_addf(out, "                             %s:%u %s (inlined)\n",
			    rd_base_name(trace_sites_file(sites, in->file)), in->line, in->function);
	}
}

static void text_stack(const struct dump *d, const struct trace_lane *lane, struct rd_buf *out)
{
	const struct trace_decoder *at = &lane->stream.decoder;
	if (lane->event.site)
		text_frames(d, lane->event.site, out);
	for (size_t i = at->depth; i-- > 0;)
		text_frames(d, at->stack[i], out);
}

static void text_event(struct dump *d, const struct trace_lane *lane, struct rd_buf *out)
{
	const struct trace_event *e = &lane->event;
	const struct model_thread *t = &d->model->threads[model_thread_of_stream(d->model, lane->index)];
	bool has_q = raddle_has_q(e->kind);
	RD_ASSERT(!out->length && d->thread_width > 0);
	if (has_q)
		rd_buf_addf(out, "%7llu ", (unsigned long long)e->q);
	else
		rd_buf_adds(out, "        ");
	if (has_q && e->t)
		rd_buf_addf(out, "%10.6f ", (double)(e->t - d->model->first_t) / 1e9);
	else
		rd_buf_adds(out, "           ");
	rd_buf_addf(out, "%-*s ", d->thread_width, t->name);
	size_t start = out->length;
	rd_buf_adds(out, dump_event_name(d, e));
	if (e->kind == RADDLE_ACCESS || e->kind == RADDLE_ATOMIC)
		rd_buf_addf(out, " %llu", (unsigned long long)dump_event_size(d, e));
	do
		rd_buf_addc(out, ' ');
	while (out->length - start < 15);
	dump_what(d, lane, out);
	text_details(d, e, out);
	uint32_t place = dump_place(lane);
	if (place && !d->opt->stacks) {
		rd_buf_adds(out, "  ");
		dump_location(d->model->sites, place, out);
	}
	while (out->data[out->length - 1] == ' ')
		out->length--;
	RD_ASSERT(out->length > start); /* the name ends with a letter, not with a blank */
	rd_buf_addc(out, '\n');
	if (d->opt->stacks)
		text_stack(d, lane, out);
}

void dump_json_frames(struct rd_json *j, const struct trace_sites *sites, uint32_t number)
{
	const struct trace_site *site = trace_sites_find(sites, number);
	rd_json_object(j, NULL);
	rd_json_unsigned(j, "site", number);
	if (site) {
		const char *file = trace_sites_file(sites, site->file);
		RD_JSON(j, RD_JS("file", *file ? file : NULL), RD_JU("line", site->line),
			RD_JU("column", site->column), RD_JS("function", site->function));
	}
	rd_json_end(j);
	for (uint32_t i = 0; site && i < site->chain_length; i++) {
		const struct trace_inlined *in = &sites->chains[site->chain + i];
		const char *file = trace_sites_file(sites, in->file);
		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("file", *file ? file : NULL), RD_JU("line", in->line),
			RD_JS("function", in->function), RD_JB("inlined", true));
		rd_json_end(j);
	}
}

/* Writes the bytes of a text operand, which have no terminating NUL.  A NUL among them ends the
 * string. */
static void json_bytes(struct rd_json *j, const char *name, const struct trace_event *e)
{
	struct rd_buf text = RD_BUF_INIT;
	rd_buf_add(&text, e->bytes, e->length);
	rd_json_string(j, name, text.data);
	rd_buf_release(&text);
}

static void json_operands(struct rd_json *j, const struct dump *d, const struct trace_event *e)
{
	const struct trace_kind *kind = trace_kind(e->kind);
	if (raddle_is_access(e->kind)) {
		rd_json_unsigned(j, "address", e->address);
		rd_json_unsigned(j, "size", dump_event_size(d, e));
	}
	if (e->kind == RADDLE_ATOMIC)
		rd_json_bool(j, "stored", e->values[3] & 1);
	if (raddle_is_access(e->kind) || e->kind == RADDLE_FENCE)
		return;
	for (unsigned i = 0; kind->operands[i]; i++) {
		char name[TRACE_OPERAND_NAME];
		trace_operand_name(kind, i, name);
		if (kind->operands[i] == 'b')
			json_bytes(j, name, e);
		else if (strcmp(name, "thread") == 0)
			rd_json_unsigned(j, "other", e->values[i]);
		else if (kind->operands[i] != 'q' && kind->operands[i] != 't')
			rd_json_unsigned(j, name, e->values[i]);
	}
}

static void json_event(struct rd_json *j, struct dump *d, const struct trace_lane *lane, struct rd_buf *what)
{
	const struct trace_event *e = &lane->event;
	const struct trace_decoder *at = &lane->stream.decoder;
	const struct trace_site *site = site_of(d, e);
	rd_json_object(j, NULL);
	rd_json_string(j, "event", dump_event_name(d, e));
	rd_json_string(j, "thread", d->model->threads[model_thread_of_stream(d->model, lane->index)].name);
	if (raddle_has_q(e->kind)) {
		rd_json_unsigned(j, "q", e->q);
		if (e->t)
			rd_json_unsigned(j, "t", e->t);
	}
	dump_what(d, lane, what);
	if (what->length > 0)
		rd_json_string(j, "object", what->data);
	if (site && *site->what)
		rd_json_string(j, "expression", site->what);
	json_operands(j, d, e);
	if (dump_place(lane)) {
		rd_json_array(j, "stack");
		if (e->site)
			dump_json_frames(j, d->model->sites, e->site);
		for (size_t i = at->depth; d->opt->stacks && i-- > 0;)
			dump_json_frames(j, d->model->sites, at->stack[i]);
		if (!d->opt->stacks && !e->site)
			dump_json_frames(j, d->model->sites, dump_place(lane));
		rd_json_end(j);
	}
	rd_json_end(j);
}

static bool wanted(const struct dump *d, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	RD_ASSERT(e->kind <= RADDLE_ACCESS); /* the reader rejects other kinds */
	if (d->threads && !d->threads[model_thread_of_stream(d->model, lane->index)])
		return false;
	if (d->kinds[e->kind])
		return true;
	if (!is_plain(e) || d->reads == d->writes)
		return is_plain(e) && d->reads;
	return d->writes == dump_event_writes(d, e);
}

static void text_header(struct dump *d)
{
	d->thread_width = 6;
	for (size_t i = 0; i < d->model->thread_count; i++) {
		int width = (int)strlen(d->model->threads[i].name);
		if (width > d->thread_width && width <= THREAD_WIDTH_MAX)
			d->thread_width = width;
	}
	const struct trace_meta *m = trace_get_meta(d->trace);
	fprintf(d->out, "# trace %s:", trace_path(d->trace));
	for (size_t i = 0; i < m->argc; i++)
		fprintf(d->out, " %s", m->argv[i]);
	fprintf(d->out, "\n# %zu threads, %llu events\n", d->model->thread_count,
		(unsigned long long)d->model->events);
	fprintf(d->out, "#     q    seconds %-*s event          what, where\n", d->thread_width, "thread");
}

int dump_events(struct dump *d)
{
	struct trace_merge merge;
	struct rd_json j;
	struct rd_buf out = RD_BUF_INIT;
	uint64_t printed = 0;
	int err = trace_merge_open(&merge, d->trace);
	if (err)
		return err;
	if (d->opt->json) {
		rd_json_begin(&j, d->out);
		rd_json_object(&j, NULL);
		rd_json_number(&j, "version", 1);
		dump_json_trace(&j, d);
		dump_json_threads(&j, d);
		rd_json_array(&j, "events");
	} else {
		text_header(d);
	}
	for (struct trace_lane *lane = trace_merge_next(&merge); lane && printed < dump_limit(d->opt);
	     lane = trace_merge_next(&merge)) {
		if (!wanted(d, lane))
			continue;
		printed++;
		rd_buf_clear(&out);
		if (d->opt->json) {
			json_event(&j, d, lane, &out);
			continue;
		}
		text_event(d, lane, &out);
		fwrite(out.data, 1, out.length, d->out);
	}
	if (d->opt->json) {
		rd_json_end(&j);
		rd_json_end(&j);
		putc('\n', d->out);
	}
	trace_merge_close(&merge);
	rd_buf_release(&out);
	return d->model->err;
}
