// SPDX-License-Identifier: Apache-2.0
/* A comparison as JSON (doc/format/compare.md). */
#include "report/compare-int.h"

#include <stdio.h>

static void json_site(struct rd_json *j, const struct compare_view *v, uint32_t number)
{
	const struct trace_site *site = trace_sites_find(v->show.sites, number);
	RD_JSON(j, RD_JU("site", number),
		RD_JS("file", site && site->file != TRACE_NO_FILE
				      ? trace_sites_file(v->show.sites, site->file)
				      : NULL),
		RD_JU("line", site ? site->line : 0), RD_JU("column", site ? site->column : 0),
		RD_JS("function", site && *site->function ? site->function : NULL),
		RD_JS("what", compare_what(v, number)));
}

static void json_frame(struct rd_json *j, const char *name, const struct compare_view *v, uint32_t site)
{
	if (!site) {
		rd_json_null(j, name);
		return;
	}
	rd_json_object(j, name);
	json_site(j, v, site);
	rd_json_end(j);
}

static void json_records(struct rd_json *j, const struct compare_view *v, const struct epa_node *n)
{
	bool values = n->kind != EPA_CONTROL;
	RD_JSON(j, RD_JS("object", compare_object(v, compare_node_record(n), true)),
		RD_JS("golden", compare_record(v, &n->golden, n->has_golden)),
		RD_JS("run", compare_record(v, &n->run, n->has_run)),
		RD_JS("golden_value", compare_slot(v, &n->golden, n->has_golden && values, n->slot)),
		RD_JS("run_value", compare_slot(v, &n->run, n->has_run && values, n->slot)));
}

static void json_first(struct rd_json *j, const struct compare_view *v)
{
	const struct epa_deviation *d = &v->result->first;
	struct epa_node n = {.kind = (uint8_t)d->kind,
			     .site = epa_deviation_site(d),
			     .operation = d->has_run ? d->run.kind : d->golden.kind,
			     .has_golden = d->has_golden,
			     .has_run = d->has_run,
			     .slot = d->slot,
			     .golden = d->golden,
			     .run = d->run};
	if (!v->result->deviated) {
		rd_json_null(j, "first");
		return;
	}
	rd_json_object(j, "first");
	RD_JSON(j, RD_JS("kind", epa_deviation_name(d->kind)), RD_JS("thread", d->thread),
		RD_JU("record", d->number), RD_JS("operation", compare_operation(v, &n)));
	json_site(j, v, n.site);
	json_records(j, v, &n);
	json_frame(j, "own", v, epa_deviation_own_site(d, v->show.sites));
	json_frame(j, "behind", v, d->previous_site);
	rd_json_array(j, "stack");
	for (size_t i = 0; i < d->depth && i < EPA_STACK_MAX; i++)
		json_frame(j, NULL, v, d->stack[i]);
	rd_json_end(j);
	rd_json_end(j);
}

static void json_counts(struct rd_json *j, const uint64_t counts[EPA_DEVIATIONS])
{
	for (unsigned kind = EPA_DATA; kind < EPA_DEVIATIONS; kind++)
		rd_json_unsigned(j, epa_deviation_name(kind), counts[kind]);
}

static void json_threads(struct rd_json *j, const struct compare_view *v)
{
	rd_json_array(j, "threads");
	for (size_t i = 0; i < v->result->thread_count; i++) {
		const struct epa_compared_thread *t = &v->result->threads[i];
		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("thread", compare_thread(v, t->name)), RD_JU("golden", t->golden),
			RD_JU("run", t->run));
		json_counts(j, t->counts.counts);
		if (t->counts.first == UINT64_MAX)
			rd_json_null(j, "first");
		else
			rd_json_unsigned(j, "first", t->counts.first);
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void json_node(struct rd_json *j, const struct compare_view *v, size_t i)
{
	const struct epa_node *n = &v->result->propagation.nodes[i];
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JU("id", i), RD_JS("thread", compare_thread(v, n->thread)),
		RD_JS("kind", epa_deviation_name(n->kind)), RD_JS("operation", compare_operation(v, n)));
	json_site(j, v, n->site);
	rd_json_unsigned(j, "record", n->number);
	rd_json_unsigned(j, "count", n->count);
	json_records(j, v, n);
	rd_json_end(j);
}

static void json_edge(struct rd_json *j, const struct compare_view *v, const struct epa_edge *e)
{
	const struct epa_propagation *p = &v->result->propagation;
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JU("from", e->from), RD_JU("to", e->to), RD_JS("through", epa_through_name(e->through)),
		RD_JB("threads", p->nodes[e->from].thread != p->nodes[e->to].thread),
		RD_JB("first", e->first), RD_JU("count", e->count),
		RD_JS("object", e->has_object ? compare_name(v, e->object) : NULL));
	rd_json_end(j);
}

static void json_mask(struct rd_json *j, const struct compare_view *v, const struct epa_mask *m)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JU("node", m->node), RD_JS("how", m->freed ? "freed" : "overwritten"),
		RD_JS("object", compare_name(v, m->object)));
	if (!m->freed) {
		rd_json_string(j, "thread", compare_thread(v, m->thread));
		json_site(j, v, m->site);
	}
	rd_json_unsigned(j, "count", m->count);
	rd_json_end(j);
}

/* Writes a root of the graph: an injected fault, and the nodes that directly follow from it. */
static void json_fault(struct rd_json *j, const struct compare_view *v, size_t i)
{
	const struct epa_fault *f = &v->result->faults[i];
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("thread", compare_thread(v, f->thread)), RD_JU("before", f->before),
		RD_JU("after", f->after));
	json_site(j, v, f->site);
	rd_json_array(j, "nodes");
	for (size_t k = 0; k < v->result->propagation.node_count; k++)
		if (epa_node_fault(v->result, k) == i)
			rd_json_unsigned(j, NULL, k);
	rd_json_end(j);
	rd_json_end(j);
}

static void json_propagation(struct rd_json *j, const struct compare_view *v)
{
	const struct epa_propagation *p = &v->result->propagation;
	rd_json_array(j, "faults");
	for (size_t i = 0; i < v->result->fault_count; i++)
		json_fault(j, v, i);
	rd_json_end(j);
	rd_json_array(j, "nodes");
	for (size_t i = 0; i < p->node_count; i++)
		json_node(j, v, i);
	rd_json_end(j);
	rd_json_array(j, "edges");
	for (size_t i = 0; i < p->edge_count; i++)
		json_edge(j, v, &p->edges[i]);
	rd_json_end(j);
	rd_json_array(j, "masked");
	for (size_t i = 0; i < p->mask_count; i++)
		json_mask(j, v, &p->masks[i]);
	rd_json_end(j);
	rd_json_unsigned(j, "corrupted", p->corrupted);
}

static void json_comparison(struct rd_json *j, const struct compare_view *v)
{
	uint64_t counts[EPA_DEVIATIONS] = {0};
	/* With --first, only the first deviation was searched for. */
	if (v->result->deviated && !v->result->propagation.node_count)
		counts[v->result->first.kind] = 1;
	else
		for (unsigned kind = 0; kind < EPA_DEVIATIONS; kind++)
			counts[kind] = v->result->propagation.counts[kind];
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("path", v->process->run), RD_JS("process", v->process->name),
		RD_JU("records", v->result->records), RD_JB("deviated", v->result->deviated));
	json_first(j, v);
	rd_json_object(j, "counts");
	json_counts(j, counts);
	rd_json_end(j);
	json_threads(j, v);
	json_propagation(j, v);
	rd_json_end(j);
}

void report_comparison_json(struct rd_json *j, const struct epa_process *p, const struct epa_comparison *c)
{
	struct compare_view v;
	compare_view_init(&v, p, c);
	json_comparison(j, &v);
	compare_view_release(&v);
}

void report_comparison_json_begin(struct rd_json *j, const char *golden,
				  const struct epa_reference *reference, FILE *out)
{
	rd_json_begin(j, out);
	rd_json_object(j, NULL);
	rd_json_number(j, "version", 1);
	rd_json_object(j, "golden");
	RD_JSON(j, RD_JS("path", golden), RD_JU("records", epa_reference_records(reference)),
		RD_JU("threads", epa_reference_threads(reference)));
	rd_json_end(j);
	rd_json_array(j, "runs");
}

void report_comparison_json_end(struct rd_json *j)
{
	rd_json_end(j);
	rd_json_end(j);
}
