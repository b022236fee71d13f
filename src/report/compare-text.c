// SPDX-License-Identifier: Apache-2.0
/* A comparison for people, in 80 columns. */
#include "report/compare-int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 80 /* the width of the narrowest terminal; a deviation fits in one line */

/* Prints a text.  If it does not fit in `room` columns, cuts off its end. */
static void print_cut(FILE *out, const char *text, int room)
{
	if ((int)strlen(text) <= room)
		fprintf(out, "%s\n", text);
	else
		fprintf(out, "%.*s...\n", room - 3, text);
}

static void line(FILE *out, const char *label, const char *text)
{
	if (!text)
		return;
	fprintf(out, "  %-7s ", label);
	print_cut(out, text, COLUMNS - 10);
}

static void print_first(FILE *out, const struct compare_view *v)
{
	const struct epa_deviation *d = &v->result->first;
	for (size_t i = 0; i < v->result->fault_count; i++)
		line(out, "fault", compare_fault(v, &v->result->faults[i]));
	line(out, "golden", compare_record(v, &d->golden, d->has_golden));
	line(out, "run", compare_record(v, &d->run, d->has_run));
	if (d->previous_site)
		line(out, "after", compare_place(v, d->previous_site));
	for (size_t i = 0; i < d->depth && i < EPA_STACK_MAX; i++)
		line(out, i ? "" : "called", compare_place(v, d->stack[i]));
}

static size_t threads_reached(const struct epa_propagation *p)
{
	struct rd_umap seen = RD_UMAP_INIT;
	for (size_t i = 0; i < p->node_count; i++)
		rd_umap_put(&seen, p->nodes[i].thread, NULL);
	size_t count = seen.count;
	rd_umap_release(&seen);
	return count;
}

static void print_counts(FILE *out, const struct epa_propagation *p)
{
	const char *between = "";
	for (unsigned kind = EPA_DATA; kind < EPA_DEVIATIONS; kind++) {
		if (!p->counts[kind])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", between, p->counts[kind], epa_deviation_name(kind));
		between = ", ";
	}
	putc('\n', out);
}

/* Returns the edge by which a node was reached first. */
static const struct epa_edge *edge_to(const struct epa_propagation *p, size_t node)
{
	for (size_t i = 0; i < p->edge_count; i++)
		if (p->edges[i].to == node && p->edges[i].first)
			return &p->edges[i];
	return NULL;
}

/* Prints an indented line below the line of a node. */
static void detail(FILE *out, const char *label, const char *text)
{
	fprintf(out, "      %s ", label);
	print_cut(out, text, COLUMNS - 7 - (int)strlen(label));
}

static void print_change(FILE *out, const struct compare_view *v, const struct epa_node *n)
{
	const char *golden = compare_slot(v, &n->golden, n->has_golden, n->slot);
	const char *run = compare_slot(v, &n->run, n->has_run, n->slot);
	if (n->kind == EPA_CONTROL) {
		detail(out, "went to", compare_place(v, n->run.site));
		detail(out, "and not", compare_place(v, n->golden.site));
	} else if (golden && run && strcmp(golden, run) != 0) {
		detail(out, "is    ", run);
		detail(out, "not   ", golden);
	}
}

static void print_node(FILE *out, const struct compare_view *v, size_t i)
{
	const struct epa_propagation *p = &v->result->propagation;
	const struct epa_node *n = &p->nodes[i];
	const struct epa_edge *e = edge_to(p, i);
	const char *what = compare_what(v, n->site);
	struct rd_buf b = RD_BUF_INIT;
	rd_buf_addf(&b, "%4zu  %-10s %-7s %-30s %s", i + 1, compare_thread(v, n->thread),
		    epa_deviation_name(n->kind), compare_place(v, n->site), compare_operation(v, n));
	if (what && n->operation <= TRACE_FULL_STORE && n->operation >= TRACE_FULL_LOAD)
		rd_buf_addf(&b, " %s", what);
	print_cut(out, b.data, COLUMNS);
	rd_buf_release(&b);
	print_change(out, v, n);
	if (e && p->nodes[e->from].thread != n->thread)
		fprintf(out, "      from %u in %s through %s\n", e->from + 1,
			compare_thread(v, p->nodes[e->from].thread), epa_through_name(e->through));
	else if (e)
		fprintf(out, "      from %u through %s\n", e->from + 1, epa_through_name(e->through));
	else if (epa_node_fault(v->result, i) != SIZE_MAX)
		fputs("      from the injected fault\n", out);
	if (n->count > 1)
		fprintf(out, "      %" PRIu64 " times\n", n->count);
}

static void print_masks(FILE *out, const struct compare_view *v)
{
	const struct epa_propagation *p = &v->result->propagation;
	for (size_t i = 0; i < p->mask_count; i++) {
		const struct epa_mask *m = &p->masks[i];
		const char *object = compare_name(v, m->object);
		fprintf(out, "  masked: the wrong value from %u was %s", m->node + 1,
			m->freed ? "freed" : "overwritten");
		if (m->count > 1)
			fprintf(out, ", %" PRIu64 " times", m->count);
		putc('\n', out);
		if (object)
			detail(out, "in", object);
		if (!m->freed)
			detail(out, "at", compare_place(v, m->site));
	}
	if (p->corrupted)
		fprintf(out, "  %" PRIu64 " word%s of memory %s wrong at the end\n", p->corrupted,
			p->corrupted == 1 ? "" : "s", p->corrupted == 1 ? "is" : "are");
}

static void print_propagation(FILE *out, const struct compare_view *v, uint64_t limit)
{
	const struct epa_propagation *p = &v->result->propagation;
	size_t threads = threads_reached(p);
	fprintf(out, "\n  The error reached %zu place%s in %zu thread%s: ", p->node_count,
		p->node_count == 1 ? "" : "s", threads, threads == 1 ? "" : "s");
	print_counts(out, p);
	for (size_t i = 0; i < p->node_count && i < limit; i++)
		print_node(out, v, i);
	if (p->node_count > limit)
		fprintf(out, "      %zu more; --limit shows them\n", p->node_count - (size_t)limit);
	print_masks(out, v);
}

void report_comparison_text(const struct epa_process *p, const struct epa_comparison *c, uint64_t limit,
			    FILE *out)
{
	struct compare_view v;
	if (!c->deviated) {
		fprintf(out, "%s: no deviation in %" PRIu64 " records\n", p->run, c->records);
		return;
	}
	compare_view_init(&v, p, c);
	fprintf(out, "%s: %s\n", p->run, compare_sentence(&v));
	print_first(out, &v);
	if (c->propagation.node_count)
		print_propagation(out, &v, limit);
	compare_view_release(&v);
}
