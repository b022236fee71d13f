// SPDX-License-Identifier: Apache-2.0
/* Takes canonical names apart, and prints them as text (epa/name.h). */
#include "epa/name.h"

#include "base/error.h"
#include "base/name.h"
#include "model/model.h"

#include <inttypes.h>

static const char *epa_kind_name(enum epa_kind kind)
{
	RD_ASSERT(kind <= EPA_REGION);
	static const char *const names[] = {"number",  "variable", "module", "tls",	 "thread",
					    "stack",   "heap",	   "mmap",   "argument", "unknown",
					    "process", "part",	   "region"};
	return names[kind];
}

static bool has_site(enum epa_kind kind)
{
	return kind == EPA_STACK || kind == EPA_HEAP || kind == EPA_MAP || kind == EPA_UNKNOWN;
}

static bool is_numbered(enum epa_kind kind)
{
	return kind == EPA_VARIABLE || kind == EPA_MODULE;
}

uint32_t epa_name_thread(struct epa_name n)
{
	return is_numbered(epa_name_kind(n)) ? 0 : (uint32_t)(n.who >> EPA_NAME_THREAD) & 0xfffff;
}

static uint32_t epa_name_site(struct epa_name n)
{
	return has_site(epa_name_kind(n)) ? (uint32_t)(n.where >> EPA_NAME_SITE) : 0;
}

static uint64_t epa_name_ordinal(struct epa_name n)
{
	return n.who & EPA_NAME_ORDINALS;
}

int64_t epa_name_offset(struct epa_name n)
{
	if (!has_site(epa_name_kind(n)))
		return (int64_t)n.where;
	return (int64_t)(n.where << (64 - EPA_NAME_SITE)) >> (64 - EPA_NAME_SITE);
}

struct epa_name epa_name_base(struct epa_name n)
{
	return (struct epa_name){n.who,
				 has_site(epa_name_kind(n)) ? n.where >> EPA_NAME_SITE << EPA_NAME_SITE : 0};
}

void epa_names_init(struct epa_names *names, const struct epa_names *base)
{
	*names = (struct epa_names){.base = base, .list = RD_NAMES_INIT};
}

void epa_names_release(struct epa_names *names)
{
	rd_names_release(&names->list);
}

uint32_t epa_names_put(struct epa_names *names, const char *text, size_t length)
{
	uint32_t number;
	if (!names->base)
		return rd_names_put(&names->list, text, length);
	if (rd_names_find(&names->base->list, text, length, &number))
		return number;
	return (uint32_t)names->base->list.count + rd_names_put(&names->list, text, length);
}

const char *epa_names_text(const struct epa_names *names, uint32_t number)
{
	size_t below = names->base ? names->base->list.count : 0;
	if (number < below)
		return names->base->list.items[number];
	return number - below < names->list.count ? names->list.items[number - below] : RD_UNKNOWN;
}

static void add_offset(struct rd_buf *out, int64_t offset)
{
	if (offset)
		rd_buf_addf(out, "%+" PRId64, offset);
}

/* Adds a place in a variable, in source notation if the type is known. */
static void add_member(const struct trace_sites *sites, const char *type, uint64_t size, struct epa_name name,
		       struct rd_buf *out)
{
	int64_t offset = epa_name_offset(name);
	if (offset >= 0 && (uint64_t)offset < size)
		model_name_member(sites, type, size, (uint64_t)offset, out);
	else
		add_offset(out, offset);
}

static void add_sited(const struct epa_names *names, const struct trace_sites *sites, struct epa_name name,
		      struct rd_buf *out)
{
	enum epa_kind kind = epa_name_kind(name);
	const struct trace_site *site = trace_sites_find(sites, epa_name_site(name));
	bool local = kind == EPA_STACK && site && *site->what;
	if (local) {
		rd_buf_adds(out, site->what);
		add_member(sites, site->type, site->size, name, out);
		rd_buf_adds(out, " in ");
	} else {
		rd_buf_addf(out, "%s ", epa_kind_name(kind));
	}
	/* The low bits of an unknown object's ordinal contain other data. */
	model_name_maker(sites, epa_names_text(names, epa_name_thread(name)), epa_name_site(name),
			 kind == EPA_UNKNOWN ? epa_name_ordinal(name) >> 16 : epa_name_ordinal(name), out);
	if (!local)
		add_offset(out, epa_name_offset(name));
}

static void add_variable(const struct trace_sites *sites, struct epa_name name, struct rd_buf *out)
{
	const struct trace_global *global = NULL;
	uint32_t index = (uint32_t)name.who;
	if (!sites || index >= sites->placed_count) {
		rd_buf_addf(out, "variable %u", index);
		add_offset(out, epa_name_offset(name));
		return;
	}
	global = trace_sites_global(sites, sites->placed[index].linkage);
	rd_buf_adds(out, global ? global->name : sites->placed[index].linkage);
	add_member(sites, global ? global->type : "", sites->placed[index].size, name, out);
}

void epa_name_text(const struct epa_names *names, const struct trace_sites *sites, struct epa_name name,
		   struct rd_buf *out)
{
	enum epa_kind kind = epa_name_kind(name);
	switch (kind) {
	case EPA_NONE: rd_buf_addf(out, "0x%" PRIx64, name.where); return;
	case EPA_VARIABLE: add_variable(sites, name, out); return;
	case EPA_MODULE: rd_buf_adds(out, epa_names_text(names, (uint32_t)name.who)); break;
	case EPA_TLS:
		rd_buf_addf(out, "tls %s#%" PRIu64, epa_names_text(names, epa_name_thread(name)),
			    epa_name_ordinal(name));
		break;
	case EPA_THREAD:
		rd_buf_adds(out, epa_names_text(names, epa_name_thread(name)));
		/* The offset of a pthread_t depends on libc. */
		return;
	case EPA_PROCESS: rd_buf_adds(out, "process"); return;
	case EPA_PART: rd_buf_adds(out, "part of an address"); return;
	case EPA_ARGUMENT:
		if (epa_name_ordinal(name))
			rd_buf_addf(out, "argv[%" PRIu64 "]", epa_name_ordinal(name) - 1);
		else
			rd_buf_adds(out, "argv");
		break;
	default: add_sited(names, sites, name, out); return;
	}
	add_offset(out, epa_name_offset(name));
}
