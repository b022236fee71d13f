// SPDX-License-Identifier: Apache-2.0
/*
 * The verdict of a reversibility check, for people and as JSON.
 */
#include "report/reversible.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/error.h"
#include "base/name.h"
#include "base/wrap.h"
#include "reversible/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The number of operations of an order that are shown.  These are the last ones, which decide
 * whether the reversal happens.  With -v, all operations are shown. */
#define OPERATIONS_SHOWN 12

/* ---- words ---- */

static bool is_atomic(const struct rev_side *s)
{
	return s->access == REV_ATOMIC_READ || s->access == REV_ATOMIC_WRITE;
}

/* Returns a sentence that describes a reversal. */
static const char *reversible_words(const struct rev_result *x, const struct rev_reversal *v)
{
	const struct rev_side *a = &v->side[0], *b = &v->side[1];
	bool change = a->changes && b->changes && !is_atomic(a) && !is_atomic(b);

	if (is_atomic(a) && is_atomic(b))
		return a->access == REV_ATOMIC_WRITE && b->access == REV_ATOMIC_WRITE
			       ? "two atomic operations: if both only add, the final value is the same, but "
				 "what each one reads is not"
			       : "two atomic operations: what one of them reads depends on the order";
	if (rev_common_lock(&x->run, &v->pair) != REV_NONE)
		return rev_decided_wait(&x->run, &v->pair)
			       ? "a lock keeps them apart, but not in order; if the order only decides "
				 "whether a thread waits for a condition, runs are still the same: raddle "
				 "compare leaves out loop iterations that end in a wait; one run cannot show "
				 "that it decides nothing else, because a trace does not contain the values "
				 "with which a thread would have waited"
		       : change ? "a lock keeps them apart, but not in order; each changes the value it "
				  "reads, so if the changes commute the final value is the same, but what "
				  "each one reads is not"
				: "a lock keeps them apart, but not in order";
	if (a->access == REV_SYNC && b->access == REV_SYNC)
		return "the result of one depends on whether the other came first";
	if (a->access == REV_CALLED && b->access == REV_CALLED)
		return "the functions share hidden state of a library";
	if (a->access == REV_RELEASED || b->access == REV_RELEASED)
		return "memory is released and used in no fixed order";
	return a->access <= REV_WRITE && b->access <= REV_WRITE ? "nothing orders them: a data race"
								: "nothing orders them";
}

/* ---- text ---- */

static void print_place(FILE *out, const struct report_reversible *c, uint32_t site)
{
	struct trace_frame f = rev_frame(c->sites, site);

	if (*f.file)
		fprintf(out, "%s:%" PRIu32 ":%" PRIu32 "%s%s", f.file, f.line, f.column,
			*f.function ? " in " : "", f.function);
	else
		fprintf(out, RD_UNKNOWN_PLACE);
}

static void print_side(FILE *out, const struct report_reversible *c, const struct rev_side *s,
		       const char *how)
{
	fprintf(out, "  %-6s %s: %s", how, s->thread, s->what);
	if (s->size)
		fprintf(out, " of %" PRIu64 " byte%s", s->size, s->size == 1 ? "" : "s");
	fprintf(out, " at ");
	print_place(out, c, s->site);
	putc('\n', out);
	for (size_t i = 0; i < s->frame_count; i++) {
		fprintf(out, "           called at ");
		print_place(out, c, s->frames[i]);
		putc('\n', out);
	}
}

static void print_order(FILE *out, const struct report_reversible *c, const struct rev_reversal *v)
{
	const struct rev_witness *w = v->replay.count ? &v->replay : &v->order;
	size_t first = c->verbose || w->count <= OPERATIONS_SHOWN ? 0 : w->count - OPERATIONS_SHOWN;

	fprintf(out, "  an order in which %s comes first%s:\n", v->side[1].thread,
		v->by_solver ? " (found by the solver)" : "");
	if (first)
		fprintf(out, "    ... %zu operations, which -v shows\n", first);
	for (size_t i = first; i < w->count; i++) {
		RD_ASSERT(w->order[i] < c->result->run.op_count);
		const struct rev_op *op = &c->result->run.ops[w->order[i]];
		const char *object = rev_object_name(c->result, op);

		fprintf(out, "    %s %s%s%s", c->result->names[op->thread], trace_kind(op->event)->name,
			object ? " " : "", object ? object : "");
		if (op->site) {
			fprintf(out, "  ");
			print_place(out, c, op->site);
		}
		putc('\n', out);
	}
	fprintf(out, "    %s %s\n", v->side[1].thread,
		v->meet ? "is at its access, and so is the other thread" : "before the other one");
}

static void print_wait(FILE *out, const struct report_reversible *c, const struct rev_reversal *v)
{
	const struct rev_op *wait = rev_decided_wait(&c->result->run, &v->pair);

	if (!wait)
		return;
	fprintf(out, "  %s: ",
		rev_notifies(wait) ? "the notification, since no thread waited in this run" : "the wait");
	print_place(out, c, wait->site);
	putc('\n', out);
}

static void print_reversal(FILE *out, const struct report_reversible *c, const struct rev_reversal *v,
			   size_t number)
{
	uint32_t lock = rev_common_lock(&c->result->run, &v->pair);
	struct rd_buf words = RD_BUF_INIT;

	fprintf(out, "\n%zu. %s\n", number, v->object);
	print_side(out, c, &v->side[0], "first");
	print_side(out, c, &v->side[1], "then");
	rd_buf_adds(&words, reversible_words(c->result, v));
	if (lock != REV_NONE && c->result->run.objects[lock].name)
		rd_buf_addf(&words, " (%s)", c->result->run.objects[lock].name);
	fprintf(out, "  ");
	rd_wrap(words.data, 2, 2, out);
	rd_buf_release(&words);
	print_wait(out, c, v);
	print_order(out, c, v);
	if (number == 1 && c->schedule)
		fprintf(out, "  raddle replay %s -- PROGRAM ARGUMENTS enforces it\n", c->schedule);
	else if (!v->replay.count)
		fprintf(out, "  replay cannot lead there: no operation lies between the two\n");
}

static void print_sources(FILE *out, const struct report_reversible *c)
{
	const struct rev_result *x = c->result;

	if (!x->source_count)
		return;
	fprintf(out, "\n%zu place%s where the program receives something that it does not determine:\n",
		x->source_count, x->source_count == 1 ? "" : "s");
	for (size_t i = 0; i < x->source_count; i++) {
		const struct rev_source *s = &x->sources[i];

		fprintf(out, "  %s at ", s->what);
		print_place(out, c, s->site);
		fprintf(out, ": %s (%" PRIu64 " time%s, first in %s)\n",
			rev_source_kind_text((enum rev_source_kind)s->kind), s->count,
			s->count == 1 ? "" : "s", x->names[s->thread]);
	}
}

static void print_counts(FILE *out, const struct rev_result *x)
{
	const char *separator = "ordered by ";

	fprintf(out, "%" PRIu64 " records, %zu thread%s, %zu operation%s\n", x->records, x->threads,
		x->threads == 1 ? "" : "s", x->operations, x->operations == 1 ? "" : "s");
	fprintf(out, "%" PRIu64 " neighbouring dependent accesses, %" PRIu64 " ordered by clocks",
		x->counts.conflicts, x->counts.ordered);
	if (x->counts.solver_never)
		fprintf(out, ", %" PRIu64 " proved by the solver", x->counts.solver_never);
	putc('\n', out);
	for (int i = 0; i < REV_RULES; i++)
		if (x->rules[i]) {
			fprintf(out, "%s%s %" PRIu64, separator, rev_rule_name((enum rev_rule)i),
				x->rules[i]);
			separator = ", ";
		}
	if (*separator == ',')
		putc('\n', out);
}

void report_reversible_text(const struct report_reversible *c, FILE *out)
{
	const struct rev_result *x = c->result;

	switch (x->verdict) {
	case REV_YES:
		fprintf(out, "yes: every schedule has its dependent events in the same order%s\n",
			x->source_count ? ", but see below" : "");
		break;
	case REV_NO:
		fprintf(out, "no: dependent events can change places%s\n",
			x->counts.left ? "; these are the first" : "");
		break;
	default:
		fprintf(out, "unknown: %s\n", x->reason);
		if (x->counts.unknown)
			fprintf(out, "%" PRIu64 " of %" PRIu64 " pairs of segments could not be decided\n",
				x->counts.unknown, x->counts.pairs);
	}
	if (c->signal)
		fprintf(out, "the program was ended by signal %d, so this covers only what it did before\n",
			c->signal);
	print_counts(out, x);
	for (size_t i = 0; i < x->reversal_count; i++)
		print_reversal(out, c, &x->reversals[i], i + 1);
	print_sources(out, c);
}

/* ---- JSON ---- */

static void put_place(struct rd_json *j, const struct report_reversible *c, uint32_t site)
{
	struct trace_frame f = rev_frame(c->sites, site);

	RD_JSON(j, RD_JS("file", *f.file ? f.file : NULL), RD_JU("line", f.line), RD_JU("column", f.column),
		RD_JS("function", *f.function ? f.function : NULL));
}

static void put_side(struct rd_json *j, const struct report_reversible *c, const struct rev_side *s)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("thread", s->thread), RD_JS("op", s->what), RD_JU("size", s->size));
	put_place(j, c, s->site);
	rd_json_array(j, "stack");
	for (size_t i = 0; i < s->frame_count; i++) {
		rd_json_object(j, NULL);
		put_place(j, c, s->frames[i]);
		rd_json_end(j);
	}
	rd_json_end(j);
	rd_json_end(j);
}

static void put_reversal(struct rd_json *j, const struct report_reversible *c, const struct rev_reversal *v)
{
	const struct rev_result *x = c->result;

	rd_json_object(j, NULL);
	rd_json_string(j, "object", v->object);
	rd_json_string(j, "words", reversible_words(x, v));
	if (rev_decided_wait(&x->run, &v->pair)) {
		rd_json_object(j, "wait");
		put_place(j, c, rev_decided_wait(&x->run, &v->pair)->site);
		rd_json_end(j);
	}
	rd_json_array(j, "events");
	put_side(j, c, &v->side[0]);
	put_side(j, c, &v->side[1]);
	rd_json_end(j);
	rd_json_array(j, "order");
	for (size_t i = 0; i < v->order.count; i++) {
		const struct rev_op *op = &x->run.ops[v->order.order[i]];

		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("thread", x->names[op->thread]), RD_JU("n", op->n),
			RD_JS("kind", trace_kind(op->event)->name), RD_JS("object", rev_object_name(x, op)));
		rd_json_end(j);
	}
	rd_json_end(j);
	RD_JSON(j, RD_JS("found_by", v->by_solver ? "solver" : "search"),
		RD_JS("replay", !v->replay.count ? NULL
				: v->meet	 ? "meet"
						 : "order"),
		RD_JS("schedule", v == x->reversals ? c->schedule : NULL));
	rd_json_end(j);
}

static void put_sources(struct rd_json *j, const struct report_reversible *c)
{
	const struct rev_result *x = c->result;

	rd_json_array(j, "sources");
	for (size_t i = 0; i < x->source_count; i++) {
		const struct rev_source *s = &x->sources[i];

		rd_json_object(j, NULL);
		rd_json_string(j, "kind", rev_source_kind_name((enum rev_source_kind)s->kind));
		rd_json_string(j, "what", s->what);
		put_place(j, c, s->site);
		rd_json_string(j, "thread", x->names[s->thread]);
		rd_json_unsigned(j, "count", s->count);
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void put_stats(struct rd_json *j, const struct rev_result *x)
{
	rd_json_object(j, "stats");
	RD_JSON(j, RD_JU("records", x->records), RD_JU("accesses", x->accesses), RD_JU("threads", x->threads),
		RD_JU("operations", x->operations), RD_JU("odd_operations", x->odd),
		RD_JU("conflicts", x->counts.conflicts), RD_JU("ordered_by_clocks", x->counts.ordered),
		RD_JU("open_pairs", x->counts.pairs), RD_JU("reversed_by_search", x->counts.searched),
		RD_JU("reversed_by_solver", x->counts.solver_found),
		RD_JU("proved_by_solver", x->counts.solver_never), RD_JU("unknown", x->counts.unknown),
		RD_JU("not_looked_at", x->counts.left));
	rd_json_object(j, "edges");
	for (int i = 0; i < REV_RULES; i++)
		rd_json_unsigned(j, rev_rule_name((enum rev_rule)i), x->rules[i]);
	rd_json_end(j);
	rd_json_end(j);
}

static const char *verdict_name(enum rev_verdict v)
{
	return v == REV_YES ? "yes" : v == REV_NO ? "no" : "unknown";
}

int report_reversible_json(const struct report_reversible *c, FILE *out)
{
	const struct rev_result *x = c->result;
	struct rd_json j;

	rd_json_begin(&j, out);
	j.indent = true;
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JN("version", 1), RD_JS("verdict", verdict_name(x->verdict)),
		RD_JS("reason", x->reason), RD_JS("trace", c->trace));
	rd_json_array(&j, "reversals");
	for (size_t i = 0; i < x->reversal_count; i++)
		put_reversal(&j, c, &x->reversals[i]);
	rd_json_end(&j);
	put_sources(&j, c);
	rd_json_array(&j, "shared");
	for (size_t i = 0; i < x->shared_count; i++) {
		rd_json_object(&j, NULL);
		rd_json_string(&j, "object", x->shared[i].name);
		rd_json_unsigned(&j, "conflicts", x->shared[i].conflicts);
		rd_json_end(&j);
	}
	rd_json_end(&j);
	put_stats(&j, x);
	rd_json_end(&j);
	return RD_OK;
}

void report_certificate_text(const char *name, const struct rev_certificate *c, const char *why, FILE *out)
{
	if (why)
		fprintf(out, "%s does not hold: %s\n", name, why);
	else
		fprintf(out, "%s holds: %zu steps and %zu pairs of the solver order all dependent events\n",
			name, c->step_count, c->proved_count);
}
