// SPDX-License-Identifier: Apache-2.0
/*
 * Prints canonical records as text.  The types of values come from the layout or from the site
 * table.  A number of unknown type is shown as a signed integer.
 */
#include "epa/show.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "trace/event.h"

#include <inttypes.h>
#include <string.h>

static const char *what(const struct trace_site *site)
{
	return site && *site->what ? site->what : RD_UNKNOWN;
}

/* Returns the type of the value in a slot, or NULL if there is none or the value occupies several
 * slots. */
static const struct trace_value *value_of(const struct epa_record *r, unsigned slot)
{
	unsigned first = epa_record_has_address(r) || (r->op && r->op->callee) ? 1 : 0;
	if (!r->op || slot < first || slot - first >= r->op->value_count)
		return NULL;
	for (unsigned i = 0; i <= slot - first; i++)
		if (r->op->values[i].size > 8)
			return NULL;
	return &r->op->values[slot - first];
}

static void add_float(uint64_t bits, size_t size, struct rd_buf *out)
{
	float f;
	double d;
	if (size == 4) {
		uint32_t low = (uint32_t)bits;
		memcpy(&f, &low, 4);
		rd_buf_addf(out, "%.9g", (double)f);
	} else {
		memcpy(&d, &bits, 8);
		rd_buf_addf(out, "%.17g", d);
	}
}

static void add_number(const struct epa_show *show, const struct epa_record *r, unsigned slot,
		       struct rd_buf *out)
{
	const struct trace_value *v = value_of(r, slot);
	const struct trace_site *site = trace_sites_find(show->sites, r->site);
	uint64_t bits = r->slots[slot].where;
	bool access = (r->kind == TRACE_FULL_LOAD || r->kind == TRACE_FULL_STORE) && slot == 1;
	size_t size = v ? v->size : access && site ? site->size : 8;
	if ((v && v->type == TRACE_VALUE_FLOAT && (size == 4 || size == 8)) ||
	    (!v && access && site &&
	     (strcmp(site->type, "double") == 0 || strcmp(site->type, "float") == 0))) {
		add_float(bits, size, out);
	} else if (v && v->type == TRACE_VALUE_POINTER) {
		rd_buf_addf(out, "%" PRIx64, bits);
	} else {
		unsigned shift = size && size < 8 ? 64 - 8 * (unsigned)size : 0;
		rd_buf_addf(out, "%" PRId64, (int64_t)(bits << shift) >> shift);
	}
}

void epa_show_slot(const struct epa_show *show, const struct epa_record *r, unsigned slot, struct rd_buf *out)
{
	RD_ASSERT(slot < r->count);
	if (r->slots[slot].who)
		epa_name_text(show->names, show->sites, r->slots[slot], out);
	else if (r->kind == TRACE_FULL_RANGE && slot == 2)
		rd_buf_addf(out, "#%016" PRIx64, r->slots[slot].where);
	else
		add_number(show, r, slot, out);
}

void epa_show_operation(const struct epa_show *show, const struct epa_record *r, struct rd_buf *out)
{
	const struct trace_site *site = trace_sites_find(show->sites, r->site);
	switch (r->kind) {
	case TRACE_FULL_ENTRY: rd_buf_addf(out, "call-%s", what(site)); break;
	case TRACE_FULL_CALL: rd_buf_addf(out, "call-%s-u", what(site)); break;
	case TRACE_FULL_TAIL: rd_buf_addf(out, "tail-%s-u", what(site)); break;
	case TRACE_FULL_RESULT: rd_buf_addf(out, "result-%s", what(site)); break;
	case TRACE_FULL_FAULT:
		rd_buf_addf(out, site && site->kind == TRACE_SITE_READ ? "changed-%s" : "prevented-%s-u",
			    what(site));
		break;
	case TRACE_FULL_RETURN: rd_buf_adds(out, "ret"); break;
	case TRACE_FULL_BRANCH: rd_buf_adds(out, "br"); break;
	case TRACE_FULL_RANGE:
		rd_buf_adds(out, site && trace_site_writes(site) ? "range-write" : "range-read");
		break;
	case TRACE_FULL_EVENT:
		rd_buf_adds(out, trace_kind(r->event)->name ? trace_kind(r->event)->name : "event");
		break;
	default: rd_buf_adds(out, trace_full_kind_name(r->kind));
	}
}

void epa_show_record(const struct epa_show *show, const struct epa_record *r, struct rd_buf *out)
{
	bool access = r->kind == TRACE_FULL_LOAD || r->kind == TRACE_FULL_STORE;
	epa_show_operation(show, r, out);
	/* In the paper the value comes before the address. */
	if (access) {
		for (unsigned i = 1; i < r->count; i++) {
			rd_buf_addc(out, ' ');
			epa_show_slot(show, r, i, out);
		}
		if (r->unfinished)
			rd_buf_adds(out, " ?");
	}
	for (unsigned i = 0; i < (access && r->count ? 1 : r->count); i++) {
		rd_buf_addc(out, ' ');
		epa_show_slot(show, r, i, out);
	}
	if (r->unfinished)
		rd_buf_adds(out, " (unfinished)");
}

void epa_show_place(const struct trace_sites *sites, uint32_t number, struct rd_buf *out)
{
	const struct trace_site *site = trace_sites_find(sites, number);
	if (!site) {
		rd_buf_addc(out, '?');
		return;
	}
	if (site->file != TRACE_NO_FILE)
		rd_buf_addf(out, "%s:%u:%u", rd_base_name(trace_sites_file(sites, site->file)), site->line,
			    site->column);
	if (*site->function)
		rd_buf_addf(out, "%s%s", site->file != TRACE_NO_FILE ? " " : "", site->function);
}
