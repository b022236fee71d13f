// SPDX-License-Identifier: Apache-2.0
/* Words for the parts of a comparison, for text, JSON and the page. */
#include "report/compare-int.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

void compare_view_init(struct compare_view *v, const struct epa_process *p, const struct epa_comparison *c)
{
	RD_ASSERT(p->reference);
	*v = (struct compare_view){
		.process = p,
		.result = c,
		.show = {&c->names, epa_source_sites(epa_reference_source(p->reference))},
		.words = rd_arena_new(),
	};
}

void compare_view_release(struct compare_view *v)
{
	rd_arena_free(v->words);
}

static const char *keep(const struct compare_view *v, struct rd_buf *b)
{
	const char *text = rd_arena_strndup(v->words, b->data, b->length);
	rd_buf_release(b);
	return text;
}

const char *compare_record(const struct compare_view *v, const struct epa_record *r, bool there)
{
	struct rd_buf b = RD_BUF_INIT;
	if (!there)
		return NULL;
	epa_show_record(&v->show, r, &b);
	return keep(v, &b);
}

const char *compare_slot(const struct compare_view *v, const struct epa_record *r, bool there, unsigned slot)
{
	struct rd_buf b = RD_BUF_INIT;
	if (!there || slot >= r->count)
		return NULL;
	epa_show_slot(&v->show, r, slot, &b);
	return keep(v, &b);
}

const struct epa_record *compare_node_record(const struct epa_node *n)
{
	RD_ASSERT(n->has_run || n->has_golden);
	return n->has_run ? &n->run : &n->golden;
}

const char *compare_operation(const struct compare_view *v, const struct epa_node *n)
{
	struct rd_buf b = RD_BUF_INIT;
	struct epa_record r = *compare_node_record(n);
	/* A control node has the site of the last record before the two runs differ. */
	if (r.site != n->site) {
		r.site = n->site;
		r.kind = n->operation;
	}
	if (r.kind == TRACE_FULL_EVENT && !r.event)
		rd_buf_adds(&b, "event");
	else
		epa_show_operation(&v->show, &r, &b);
	return keep(v, &b);
}

const char *compare_name(const struct compare_view *v, struct epa_name name)
{
	struct rd_buf b = RD_BUF_INIT;
	if (!name.who)
		return NULL;
	epa_name_text(v->show.names, v->show.sites, name, &b);
	return keep(v, &b);
}

const char *compare_object(const struct compare_view *v, const struct epa_record *r, bool there)
{
	return there && epa_record_has_address(r) && r->count ? compare_name(v, r->slots[0]) : NULL;
}

const char *compare_place(const struct compare_view *v, uint32_t site)
{
	struct rd_buf b = RD_BUF_INIT;
	epa_show_place(v->show.sites, site, &b);
	return keep(v, &b);
}

const char *compare_thread(const struct compare_view *v, uint32_t name)
{
	return epa_names_text(v->show.names, name);
}

const char *compare_what(const struct compare_view *v, uint32_t number)
{
	const struct trace_site *site = trace_sites_find(v->show.sites, number);
	return site && *site->what ? site->what : NULL;
}

const char *compare_sentence(const struct compare_view *v)
{
	const struct epa_deviation *d = &v->result->first;
	uint32_t own = epa_deviation_own_site(d, v->show.sites);
	struct rd_buf b = RD_BUF_INIT;
	rd_buf_addf(&b, "%s deviation in %s, record %" PRIu64 ", at %s", epa_deviation_name(d->kind),
		    d->thread, d->number, compare_place(v, own));
	if (own != epa_deviation_site(d))
		rd_buf_addf(&b, ", in %s", compare_place(v, epa_deviation_site(d)));
	return keep(v, &b);
}

const char *compare_fault(const struct compare_view *v, const struct epa_fault *fault)
{
	const struct trace_site *site = trace_sites_find(v->show.sites, fault->site);
	bool call = site && site->kind == TRACE_SITE_PREVENTABLE;
	struct rd_buf b = RD_BUF_INIT;
	rd_buf_addf(&b, "%s at %s: ", compare_thread(v, fault->thread), compare_place(v, fault->site));
	if (site && *site->what)
		rd_buf_addf(&b, "%s ", site->what);
	if (call)
		rd_buf_addf(&b, "was not called and returned %" PRIu64, fault->after);
	else
		rd_buf_addf(&b, "0x%" PRIx64 " became 0x%" PRIx64, fault->before, fault->after);
	return keep(v, &b);
}
