// SPDX-License-Identifier: Apache-2.0
/*
 * Shows a full trace (doc/format/full.md) to people, thread by thread, with one line per record,
 * in the notation of the TraceSanitizer paper (`load 3 ADDRESS`, `call-inc 0`).  Each line also
 * shows the accessed object and the place in the source.  Only the names of threads are kept in
 * memory.
 */
#include "dump/dump-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "trace/check.h"
#include "trace/full.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The maximum number of frames of a call stack that are shown.  Otherwise recursion would fill
 * pages. */
#define STACK_MAX 64

struct full_dump {
	struct trace *trace;
	const struct trace_sites *sites;
	struct trace_layout *layout;
	const struct dump_options *opt;
	FILE *out;
	char **names; /* the name of each thread, by index */
	uint64_t left;
	uint64_t kinds[TRACE_FULL_KINDS];
	struct rd_json json;
	struct rd_buf line;
};

/* --- threads -------------------------------------------------------------------------- */

/* Reads the first record of a thread, which names the thread's parent and contains its number
 * among the parent's children. */
static bool first_event(struct full_dump *d, size_t index, struct trace_event *out)
{
	struct trace_full *f;
	struct trace_record r;
	bool found = false;
	if (trace_full_open(&f, d->trace, d->layout, index, false))
		return false;
	if (trace_full_next(f, &r) > 0 && r.kind == TRACE_FULL_EVENT &&
	    r.event->kind == RADDLE_THREAD_START) {
		*out = *r.event;
		found = true;
	}
	trace_full_close(f);
	return found;
}

static const char *name_of_number(const struct full_dump *d, uint64_t number)
{
	for (size_t i = 0; i < trace_thread_count(d->trace); i++)
		if (trace_thread_number(d->trace, i) == number)
			return d->names[i];
	return NULL;
}

/* Names the threads in ascending order.  This works because parents have smaller numbers than
 * their children. */
static void name_threads(struct full_dump *d)
{
	size_t count = trace_thread_count(d->trace);
	RD_ASSERT(!d->names);
	d->names = rd_xcalloc(count + 1, sizeof *d->names);
	for (size_t i = 0; i < count; i++) {
		uint32_t number = trace_thread_number(d->trace, i);
		struct trace_event e;
		const char *parent = NULL;
		bool known = first_event(d, i, &e);
		if (known && number != 0)
			parent = name_of_number(d, e.values[2]);
		if (number == 0)
			d->names[i] = rd_thread_name(NULL, 0);
		else if (parent)
			d->names[i] = rd_thread_name(parent, e.values[3]);
		else
			d->names[i] = rd_thread_unknown(number);
	}
}

static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (at[n] == ',' || !at[n]))
			return true;
	}
	return false;
}

static bool is_wanted_thread(const struct full_dump *d, size_t index)
{
	char number[16];
	snprintf(number, sizeof number, "%u", trace_thread_number(d->trace, index));
	return !d->opt->threads || is_listed(d->opt->threads, number) ||
	       is_listed(d->opt->threads, d->names[index]);
}

static bool is_wanted_kind(const struct full_dump *d, const struct trace_record *r)
{
	return !d->opt->kinds || is_listed(d->opt->kinds, trace_full_kind_name(r->kind)) ||
	       (r->kind == TRACE_FULL_EVENT && is_listed(d->opt->kinds, trace_kind(r->event->kind)->name));
}

/* --- text ------------------------------------------------------------------------------- */

static void add_bytes(struct rd_buf *out, const uint8_t *p, size_t size)
{
	rd_buf_adds(out, "0x");
	for (size_t i = size; i-- > 0;)
		rd_buf_addf(out, "%02x", p[i]);
}

static int64_t sign_extended(uint64_t v, size_t size)
{
	RD_ASSERT(size > 0 && size <= 8);
	unsigned shift = size < 8 ? 64 - 8 * (unsigned)size : 0;
	return (int64_t)(v << shift) >> shift;
}

static void add_value(struct rd_buf *out, const struct trace_record *r, size_t i)
{
	RD_ASSERT(i < r->value_count);
	const struct trace_value *v = &r->values[i];
	uint64_t bits = trace_record_value(r, i);
	float f;
	double d;
	if (v->type == TRACE_VALUE_POINTER) {
		rd_buf_addf(out, "%" PRIx64, bits);
	} else if (v->type == TRACE_VALUE_INT && v->size <= 8) {
		rd_buf_addf(out, "%" PRId64, sign_extended(bits, v->size));
	} else if (v->type == TRACE_VALUE_FLOAT && v->size == 4) {
		memcpy(&f, r->bytes + v->offset, 4);
		rd_buf_addf(out, "%.9g", (double)f);
	} else if (v->type == TRACE_VALUE_FLOAT && v->size == 8) {
		memcpy(&d, r->bytes + v->offset, 8);
		rd_buf_addf(out, "%.17g", d);
	} else {
		add_bytes(out, r->bytes + v->offset, v->size);
	}
}

static void add_values(struct rd_buf *out, const struct trace_record *r, size_t first)
{
	for (size_t i = first; i < r->value_count; i++) {
		rd_buf_addc(out, ' ');
		add_value(out, r, i);
	}
}

static const char *what(const struct trace_site *site)
{
	return site && *site->what ? site->what : RD_UNKNOWN;
}

static void add_call(struct full_dump *d, const struct trace_record *r, const struct trace_site *site)
{
	struct rd_buf *out = &d->line;
	switch (r->kind) {
	case TRACE_FULL_ENTRY: rd_buf_addf(out, "call-%s", what(site)); break;
	case TRACE_FULL_CALL:
	case TRACE_FULL_TAIL:
		rd_buf_addf(out, r->kind == TRACE_FULL_TAIL ? "tail-%s-u" : "call-%s-u", what(site));
		if (r->op->callee)
			rd_buf_addf(out, " *%" PRIx64, r->callee);
		break;
	case TRACE_FULL_RESULT: rd_buf_addf(out, "result-%s", what(site)); break;
	default: rd_buf_adds(out, "ret");
	}
	add_values(out, r, 0);
}

static void add_range(struct full_dump *d, const struct trace_record *r, const struct trace_site *site)
{
	struct rd_buf *out = &d->line;
	rd_buf_addf(out, "%s %" PRIx64 " %" PRIu64 " #%016" PRIx64,
		    site && trace_site_writes(site) ? "range-write" : "range-read", r->address, r->size,
		    r->value);
	RD_ASSERT(r->listed <= RADDLE_FULL_POINTERS);
	for (uint32_t i = 0; i < r->listed; i++)
		rd_buf_addf(out, " +%" PRIu64 "=%" PRIx64, r->pointers[i].offset, r->pointers[i].value);
	if (r->pointer_count > r->listed)
		rd_buf_addf(out, " and %u more pointers", r->pointer_count - r->listed);
}

static void add_event(struct full_dump *d, const struct trace_record *r)
{
	const struct trace_event *e = r->event;
	const struct trace_kind *kind = trace_kind(e->kind);
	rd_buf_adds(&d->line, kind->name);
	for (unsigned i = 0; kind->operands[i]; i++) {
		char name[TRACE_OPERAND_NAME];
		trace_operand_name(kind, i, name);
		if (kind->operands[i] == 'a')
			rd_buf_addf(&d->line, " %s=%" PRIx64, name, e->values[i]);
		else if (kind->operands[i] == 'b')
			rd_buf_addf(&d->line, " %s=%.*s", name, (int)e->length, e->bytes);
		else if (kind->operands[i] != 't')
			rd_buf_addf(&d->line, " %s=%" PRIu64, name, e->values[i]);
	}
}

static void add_access(struct full_dump *d, const struct trace_record *r)
{
	struct rd_buf *out = &d->line;
	rd_buf_adds(out, trace_full_kind_name(r->kind));
	if (r->kind == TRACE_FULL_LOAD || r->kind == TRACE_FULL_STORE || r->kind == TRACE_FULL_FILL) {
		rd_buf_addc(out, ' ');
		if (r->flags & TRACE_RECORD_UNFINISHED)
			rd_buf_addc(out, '?');
		else
			add_value(out, r, 0);
	}
	rd_buf_addf(out, " %" PRIx64, r->address);
	if (r->kind == TRACE_FULL_COPY)
		rd_buf_addf(out, " %" PRIx64, r->value);
	if (r->kind == TRACE_FULL_COPY || r->kind == TRACE_FULL_FILL || r->kind == TRACE_FULL_ALLOCA)
		rd_buf_addf(out, " %" PRIu64, r->size);
}

static void add_atomic(struct full_dump *d, const struct trace_record *r)
{
	rd_buf_addf(&d->line, "atomic q=%" PRIu64 " %" PRIx64, r->q, r->address);
	add_values(&d->line, r, 0);
	if (!(r->flags & TRACE_RECORD_STORED))
		rd_buf_adds(&d->line, " (not stored)");
}

static void add_record(struct full_dump *d, const struct trace_record *r, const struct trace_site *site)
{
	struct rd_buf *out = &d->line;
	switch (r->kind) {
	case TRACE_FULL_ENTRY:
	case TRACE_FULL_CALL:
	case TRACE_FULL_TAIL:
	case TRACE_FULL_RESULT:
	case TRACE_FULL_RETURN: add_call(d, r, site); break;
	case TRACE_FULL_RANGE: add_range(d, r, site); break;
	case TRACE_FULL_ATOMIC: add_atomic(d, r); break;
	case TRACE_FULL_EVENT: add_event(d, r); break;
	case TRACE_FULL_BRANCH: rd_buf_addf(out, "br %" PRIx64, r->value); break;
	case TRACE_FULL_LANDING: rd_buf_addf(out, "landing %" PRIx64, r->frame); break;
	case TRACE_FULL_FENCE: rd_buf_addf(out, "fence q=%" PRIu64, r->q); break;
	case TRACE_FULL_FAULT:
		rd_buf_addf(out, "fault %u: %" PRIx64 " became %" PRIx64, r->fault, r->before, r->after);
		break;
	case TRACE_FULL_VALUE: rd_buf_addf(out, "value %s", what(site)); break;
	default: add_access(d, r);
	}
}

/* Returns true if the record concerns memory.  The expression of its site is then printed in
 * parentheses.  This is not needed for a call, because the text of a call already contains the
 * callee. */
static bool accesses_memory(const struct trace_record *r)
{
	return r->kind == TRACE_FULL_LOAD || r->kind == TRACE_FULL_STORE || r->kind == TRACE_FULL_ALLOCA ||
	       r->kind == TRACE_FULL_COPY || r->kind == TRACE_FULL_FILL || r->kind == TRACE_FULL_RANGE ||
	       r->kind == TRACE_FULL_ATOMIC;
}

static void print_stack(struct full_dump *d, const struct trace_full *f)
{
	uint32_t sites[STACK_MAX];
	size_t depth = trace_full_stack(f, sites, STACK_MAX);
	for (size_t i = 1; i < depth && i < STACK_MAX; i++) {
		rd_buf_clear(&d->line);
		dump_location(d->sites, sites[i], &d->line);
		fprintf(d->out, "    called from %s\n", d->line.data);
	}
}

static void print_record(struct full_dump *d, const struct trace_full *f, const struct trace_record *r,
			 const char *thread)
{
	const struct trace_site *site = trace_sites_find(d->sites, r->site);
	rd_buf_clear(&d->line);
	rd_buf_addf(&d->line, "%-8s ", thread);
	add_record(d, r, site);
	if (accesses_memory(r) && site && *site->what)
		rd_buf_addf(&d->line, " (%s)", site->what);
	if (r->flags & TRACE_RECORD_UNFINISHED)
		rd_buf_adds(&d->line, " [unfinished]");
	while (d->line.length < 64)
		rd_buf_addc(&d->line, ' ');
	rd_buf_adds(&d->line, "  ");
	dump_location(d->sites, r->site, &d->line);
	while (d->line.length && d->line.data[d->line.length - 1] == ' ')
		d->line.data[--d->line.length] = '\0';
	fprintf(d->out, "%s\n", d->line.data);
	if (d->opt->stacks)
		print_stack(d, f);
}

/* --- JSON ------------------------------------------------------------------------------- */

static void json_hex(struct rd_json *j, const char *name, uint64_t v)
{
	char text[24];
	snprintf(text, sizeof text, "0x%" PRIx64, v);
	rd_json_string(j, name, text);
}

static void json_record(struct full_dump *d, const struct trace_record *r, const char *thread)
{
	struct rd_json *j = &d->json;
	const struct trace_site *site = trace_sites_find(d->sites, r->site);
	rd_json_object(j, NULL);
	rd_json_string(j, "thread", thread);
	rd_json_string(j, "kind", trace_full_kind_name(r->kind));
	if (r->kind == TRACE_FULL_EVENT)
		rd_json_string(j, "event", trace_kind(r->event->kind)->name);
	rd_json_unsigned(j, "site", r->site);
	if (site) {
		RD_JSON(j, RD_JS("file", trace_sites_file(d->sites, site->file)), RD_JU("line", site->line),
			RD_JS("function", site->function), RD_JS("what", site->what));
	}
	if (accesses_memory(r)) {
		json_hex(j, "address", r->address);
		rd_json_unsigned(j, "size", r->size);
	}
	if (r->kind == TRACE_FULL_RANGE || r->kind == TRACE_FULL_BRANCH)
		json_hex(j, r->kind == TRACE_FULL_RANGE ? "hash" : "target", r->value);
	if (r->q)
		rd_json_unsigned(j, "q", r->q);
	rd_json_array(j, "values");
	for (size_t i = 0; i < r->value_count; i++) {
		rd_buf_clear(&d->line);
		add_value(&d->line, r, i);
		rd_json_string(j, NULL, d->line.data);
	}
	rd_json_end(j);
	if (r->flags & TRACE_RECORD_UNFINISHED)
		rd_json_bool(j, "unfinished", true);
	rd_json_end(j);
}

/* --- the whole trace ------------------------------------------------------------------------ */

/* Returns true if only counts are shown.  A summary of a full trace consists of counts, because
 * there is no model of it. */
static bool counts_only(const struct full_dump *d)
{
	return d->opt->count || d->opt->summary || d->opt->check;
}

static void show(struct full_dump *d, const struct trace_full *f, const struct trace_record *r,
		 const char *thread)
{
	RD_ASSERT(r->kind < TRACE_FULL_KINDS);
	d->kinds[r->kind]++;
	if (counts_only(d) || !d->left || !is_wanted_kind(d, r))
		return;
	d->left--;
	if (d->opt->json)
		json_record(d, r, thread);
	else
		print_record(d, f, r, thread);
}

static int dump_thread(struct full_dump *d, size_t index)
{
	struct trace_full *f;
	struct trace_record r;
	int err = trace_full_open(&f, d->trace, d->layout, index, d->opt->values);
	if (err)
		return err;
	while ((d->left || counts_only(d)) && (err = trace_full_next(f, &r)) > 0)
		show(d, f, &r, d->names[index]);
	trace_full_close(f);
	return err < 0 ? err : RD_OK;
}

static uint64_t records(const struct full_dump *d)
{
	uint64_t all = 0;
	for (unsigned i = 0; i < TRACE_FULL_KINDS; i++)
		all += d->kinds[i];
	return all;
}

static void end_count(struct full_dump *d, int err)
{
	uint64_t all = records(d);
	if (d->opt->json) {
		rd_json_unsigned(&d->json, "records", all);
		rd_json_bool(&d->json, "sound", !err);
		rd_json_object(&d->json, "kinds");
		for (unsigned i = 0; i < TRACE_FULL_KINDS; i++)
			if (d->kinds[i])
				rd_json_unsigned(&d->json, trace_full_kind_name(i), d->kinds[i]);
		rd_json_end(&d->json);
		return;
	}
	fprintf(d->out, "%" PRIu64 " records", all);
	for (unsigned i = 0; i < TRACE_FULL_KINDS; i++)
		if (d->kinds[i])
			fprintf(d->out, ", %" PRIu64 " %s", d->kinds[i], trace_full_kind_name(i));
	fprintf(d->out, "%s\n", d->opt->check && !err ? "; the trace is sound" : "");
}

static int dump_all(struct full_dump *d)
{
	bool counts = counts_only(d);
	int err = RD_OK;
	if (d->opt->json) {
		rd_json_begin(&d->json, d->out);
		rd_json_object(&d->json, NULL);
		rd_json_number(&d->json, "version", 1);
		if (!counts)
			rd_json_array(&d->json, "records");
	}
	for (size_t i = 0; i < trace_thread_count(d->trace); i++) {
		int one = is_wanted_thread(d, i) ? dump_thread(d, i) : RD_OK;
		err = err ? err : one;
	}
	if (d->opt->json && !counts)
		rd_json_end(&d->json);
	if (d->opt->check && !err)
		err = trace_check_counts(d->trace, records(d));
	if (counts)
		end_count(d, err);
	if (d->opt->json) {
		rd_json_end(&d->json);
		putc('\n', d->out);
	}
	return err;
}

int dump_full(struct trace *trace, const struct dump_options *options, FILE *out)
{
	struct full_dump d = {.trace = trace,
			      .sites = trace_get_sites(trace),
			      .opt = options,
			      .out = out,
			      .left = dump_limit(options),
			      .line = RD_BUF_INIT};
	int err;
	if (!d.sites)
		return rd_fail(RD_ENOTFOUND, "dump: a full trace cannot be read without its site table");
	err = trace_layout_new(&d.layout, d.sites);
	if (!err) {
		name_threads(&d);
		err = dump_all(&d);
	}
	for (size_t i = 0; d.names && i < trace_thread_count(trace); i++)
		free(d.names[i]);
	free(d.names);
	trace_layout_free(d.layout);
	rd_buf_release(&d.line);
	return err;
}
