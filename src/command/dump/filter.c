// SPDX-License-Identifier: Apache-2.0
/*
 * Selects which events of a trace are shown.  It marks the threads, the kinds of events and the
 * directions of accesses that the user's lists name.
 */
#include "dump/dump-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

uint64_t dump_limit(const struct dump_options *options)
{
	return options->limit ? options->limit : UINT64_MAX;
}

/* Calls `use` for each part of a list, until a call fails. */
static int each_part(const char *list, int (*use)(struct dump *d, const char *part), struct dump *d)
{
	int err = RD_OK;
	while (!err && *list) {
		size_t n = strcspn(list, ",");
		char *part = rd_xstrndup(list, n);
		err = use(d, part);
		free(part);
		list += list[n] ? n + 1 : n;
	}
	return err;
}

static int want_thread(struct dump *d, const char *part)
{
	const struct model *m = d->model;
	RD_ASSERT(d->threads);
	for (size_t i = 0; i < m->thread_count; i++) {
		char number[16];
		snprintf(number, sizeof number, "%u", m->threads[i].number);
		if (strcmp(part, m->threads[i].name) == 0 || strcmp(part, number) == 0) {
			d->threads[i] = true;
			return RD_OK;
		}
	}
	return rd_fail(RD_EUSAGE, "the trace has no thread '%s'", part);
}

/* Handles one kind in a list.  For instance, "mutex-lock" is one kind, and "mutex" means all kinds
 * that begin with "mutex-". */
static int want_kind(struct dump *d, const char *part)
{
	size_t n = strlen(part);
	bool found = false;
	for (unsigned kind = RADDLE_RANGE; kind <= RADDLE_ACCESS; kind++) {
		const char *name = trace_kind(kind)->name;
		if (name && strncmp(name, part, n) == 0 && (name[n] == '\0' || name[n] == '-'))
			found = d->kinds[kind] = true;
	}
	bool access = strcmp(part, "access") == 0;
	bool read = access || strcmp(part, "read") == 0;
	bool write = access || strcmp(part, "write") == 0;
	d->reads |= read;
	d->writes |= write;
	if (!found && !read && !write)
		return rd_fail(RD_EUSAGE, "there is no kind of event '%s'", part);
	return RD_OK;
}

int dump_set_filters(struct dump *d)
{
	int err = RD_OK;
	RD_ASSERT(!d->threads && !d->reads && !d->writes);
	if (d->opt->threads) {
		d->threads = rd_xcalloc(d->model->thread_count + 1, sizeof *d->threads);
		err = each_part(d->opt->threads, want_thread, d);
	}
	if (!err && d->opt->kinds)
		return each_part(d->opt->kinds, want_kind, d);
	memset(d->kinds, 1, sizeof d->kinds);
	return err;
}
