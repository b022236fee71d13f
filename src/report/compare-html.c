// SPDX-License-Identifier: Apache-2.0
/* Converts a comparison to the form from which report/propagation-int.h makes a page. */
#include "report/compare-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "report/propagation-int.h"

#include <stdlib.h>

static struct propagation_place place_of(const struct compare_view *v, uint32_t number, uint32_t thread)
{
	const struct trace_site *site = trace_sites_find(v->show.sites, number);
	struct propagation_place p = {.thread = compare_thread(v, thread)};
	if (!site)
		return p;
	p.file = site->file != TRACE_NO_FILE ? trace_sites_file(v->show.sites, site->file) : NULL;
	p.function = site->function;
	p.line = site->line;
	p.column = site->column;
	return p;
}

static struct propagation_node node_of(const struct compare_view *v, const struct epa_node *n)
{
	const struct epa_record *r = compare_node_record(n);
	bool control = n->kind == EPA_CONTROL;
	return (struct propagation_node){
		.place = place_of(v, n->site, n->thread),
		.kind = epa_deviation_name(n->kind),
		.what = compare_operation(v, n),
		.object = control ? NULL : compare_object(v, r, true),
		.golden = control ? compare_record(v, &n->golden, n->has_golden)
				  : compare_slot(v, &n->golden, n->has_golden, n->slot),
		.run = control ? compare_record(v, &n->run, n->has_run)
			       : compare_slot(v, &n->run, n->has_run, n->slot),
		.record = n->number,
		.count = n->count,
	};
}

/* Makes the node of a fault.  Faults precede all other nodes. */
static struct propagation_node fault_node(const struct compare_view *v, const struct epa_fault *f)
{
	return (struct propagation_node){.place = place_of(v, f->site, f->thread),
					 .kind = "fault",
					 .what = compare_fault(v, f),
					 .count = 1};
}

static size_t roots_of(const struct compare_view *v)
{
	size_t count = 0;
	for (size_t i = 0; i < v->result->propagation.node_count; i++)
		count += epa_node_fault(v->result, i) != SIZE_MAX;
	return count;
}

static const enum propagation_way ways[EPA_THROUGHS] = {
	[EPA_MEMORY] = PROPAGATION_MEMORY,  [EPA_REGISTER] = PROPAGATION_REGISTER,
	[EPA_CALL] = PROPAGATION_CALL,	    [EPA_RETURN] = PROPAGATION_RETURN,
	[EPA_BRANCH] = PROPAGATION_CONTROL, [EPA_CREATION] = PROPAGATION_THREAD,
};

static void fill(const struct compare_view *v, struct propagation_node *nodes, struct propagation_edge *edges,
		 struct propagation_end *ends)
{
	const struct epa_propagation *p = &v->result->propagation;
	size_t faults = v->result->fault_count;
	for (size_t i = 0; i < faults; i++)
		*nodes++ = fault_node(v, &v->result->faults[i]);
	for (size_t i = 0; i < p->node_count; i++) {
		size_t fault = epa_node_fault(v->result, i);
		nodes[i] = node_of(v, &p->nodes[i]);
		if (fault != SIZE_MAX)
			*edges++ = (struct propagation_edge){fault, faults + i, PROPAGATION_REGISTER, NULL};
	}
	for (size_t i = 0; i < p->edge_count; i++) {
		const struct epa_edge *e = &p->edges[i];
		edges[i] = (struct propagation_edge){faults + e->from, faults + e->to, ways[e->through],
						     e->has_object ? compare_name(v, e->object) : NULL};
	}
	for (size_t i = 0; i < p->mask_count; i++) {
		const struct epa_mask *m = &p->masks[i];
		ends[i] = (struct propagation_end){
			.place = m->freed ? place_of(v, p->nodes[m->node].site, p->nodes[m->node].thread)
					  : place_of(v, m->site, m->thread),
			.object = compare_name(v, m->object),
			.how = m->freed ? "freed" : "overwritten",
			.count = m->count};
	}
}

static int write_page(const struct compare_view *v, FILE *out)
{
	const struct epa_propagation *p = &v->result->propagation;
	size_t faults = v->result->fault_count, roots = roots_of(v);
	struct propagation_node *nodes = rd_xcalloc(faults + p->node_count + 1, sizeof *nodes);
	struct propagation_edge *edges = rd_xcalloc(roots + p->edge_count + 1, sizeof *edges);
	struct propagation_end *ends = rd_xcalloc(p->mask_count + 1, sizeof *ends);
	struct propagation page = {.golden = v->process->golden,
				   .run = v->process->run,
				   .first = v->result->deviated ? compare_sentence(v) : NULL,
				   .nodes = nodes,
				   .fault = faults ? compare_fault(v, v->result->faults) : NULL,
				   .node_count = faults + p->node_count,
				   .edges = edges,
				   .edge_count = roots + p->edge_count,
				   .ends = ends,
				   .end_count = p->mask_count};
	int err;
	RD_ASSERT(roots <= p->node_count);
	fill(v, nodes, edges, ends);
	err = report_propagation_html(&page, out);
	RD_FREE(nodes, edges, ends);
	return err;
}

int report_comparison_html(const struct epa_process *p, const struct epa_comparison *c, FILE *out)
{
	struct compare_view v;
	compare_view_init(&v, p, c);
	int err = write_page(&v, out);
	compare_view_release(&v);
	return err;
}
