// SPDX-License-Identifier: Apache-2.0
/*
 * Edits of the program.  In: the user's options, the site table of the edited program, and findings
 * from a file, whose schedules name their edits.  Out: lines that configure the flavour, errors
 * about places without code, and warnings about places that no run reached.
 */
#include "check/edits.h"

#include "base/alloc.h"
#include "base/error.h"
#include "finding/schedule.h"

#include <stdlib.h>
#include <string.h>

static void format(struct check_edits *e)
{
	struct rd_buf lines = RD_BUF_INIT;

	rd_edits_format(&e->all, true, &lines);
	free(e->lines);
	e->lines = lines.length ? rd_xstrdup(lines.data) : NULL;
	rd_buf_release(&lines);
}

int check_edits_open(struct check_edits *e, const char *require, const char *without_sync)
{
	int err = rd_edits_require(&e->all, require);

	if (!err)
		err = rd_edits_without_sync(&e->all, without_sync);
	format(e);
	return err;
}

void check_edits_close(struct check_edits *e)
{
	rd_edits_release(&e->all);
	free(e->lines);
	e->lines = NULL;
}

static size_t count_left_out(const struct rd_edits *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->count; i++)
		n += e->items[i].kind == RD_EDIT_WITHOUT_SYNC;
	return n;
}

int check_edits_add(struct check_edits *e, const struct finding_set *set)
{
	struct rd_edits all = {0};
	size_t left_out;
	int err = RD_OK;

	for (size_t i = 0; i < set->count && !err; i++)
		if (set->items[i]->schedule)
			err = rd_edits_parse(&all, set->items[i]->schedule->edits, "the findings");
	left_out = count_left_out(&all);
	if (!err)
		err = rd_edits_parse(&all, e->lines, "the command line");
	if (!err && count_left_out(&all) != left_out)
		err = rd_fail(RD_EUSAGE, "--without-sync: the findings are about the program with its "
					 "synchronisation; name no findings, and Raddle predicts new ones");
	rd_edits_release(&e->all);
	e->all = all;
	format(e);
	return err;
}

/* ---- places ---- */

static bool is_call_of(const struct trace_sites *sites, const struct trace_site *s,
		       const struct rd_edit *edit)
{
	const char *name = edit->kind == RD_EDIT_REQUIRE ? "__raddle_require_" : "__raddle_leave_out";

	return s->kind == TRACE_SITE_CALL && s->line == edit->line && !strncmp(s->what, name, strlen(name)) &&
	       rd_is_path_end(trace_sites_file(sites, s->file), edit->file);
}

static bool is_made(const struct trace_sites *sites, const struct rd_edit *edit)
{
	for (size_t i = 0; i < sites->site_count; i++)
		if (is_call_of(sites, &sites->sites[i], edit))
			return true;
	return false;
}

int check_edits_find(const struct check_edits *e, const struct trace_sites *sites, bool predicates)
{
	for (size_t i = 0; i < e->all.count; i++) {
		const struct rd_edit *edit = &e->all.items[i];
		bool require = edit->kind == RD_EDIT_REQUIRE;

		if ((require && !predicates) || is_made(sites, edit))
			continue;
		return rd_fail(RD_ENOTFOUND,
			       require ? "--require: the program has no code at %s:%u"
				       : "--without-sync: at %s:%u there is no call of a pthread, C11 or "
					 "semaphore function that can be left out",
			       edit->file, edit->line);
	}
	return RD_OK;
}

void check_edits_mark(const struct check_edits *e, struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct schedule *s = set->items[i]->schedule;
		if (s)
			s->edits = e->lines ? finding_text(set, e->lines) : NULL;
	}
}

void check_edits_warn(const struct check_edits *e, uint32_t reached)
{
	for (size_t i = 0; i < e->all.count; i++)
		if (!(reached >> i & 1))
			rd_warn("no run reached %s:%u: \"%s\" made no difference", e->all.items[i].file,
				e->all.items[i].line, e->all.items[i].text);
}
