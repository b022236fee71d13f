// SPDX-License-Identifier: Apache-2.0
/*
 * Places of faults.  The log contains "pca.c:88:12 calc_mean" and the number of the site; the site
 * table next to the golden run contains the file and the accessed variable.  If the table is
 * missing, only variables and full file names are unknown.
 */
#include "inject/place-int.h"

#include "base/name.h"
#include "trace/sites.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct trace_site *site_of(const struct campaign_results *r, const struct runlog_run *run)
{
	return run->site <= UINT32_MAX ? trace_sites_find(r->sites, (uint32_t)run->site) : NULL;
}

/* The parts of "pca.c:88:12 calc_mean".  Both names may contain blanks, and the name of a C++
 * function may contain colons.  The two names are separated by the first text of the form
 * ":LINE:COLUMN ". */
struct parts {
	size_t line;	      /* length of "pca.c:88"; 0 if the line is not known */
	uint32_t number;      /* number of the line: 88 */
	const char *function; /* "" if it is not known */
};

static struct parts split(const char *where)
{
	for (const char *colon = strchr(where, ':'); colon; colon = strchr(colon + 1, ':')) {
		size_t line = strspn(colon + 1, "0123456789"), column;
		const char *second = colon + 1 + line;

		column = *second == ':' ? strspn(second + 1, "0123456789") : 0;
		if (line && column && strchr(" ", second[1 + column]))
			return (struct parts){(size_t)(second - where),
					      (uint32_t)strtoul(colon + 1, NULL, 10),
					      second + 1 + column + (second[1 + column] == ' ')};
	}
	return (struct parts){.function = where};
}

static struct parts parts_of(const struct runlog_run *run)
{
	return split(run->where ? run->where : "");
}

void campaign_name_function(const struct runlog_run *run, struct rd_buf *out)
{
	struct parts p = parts_of(run);

	rd_buf_adds(out, *p.function ? p.function : RD_UNKNOWN);
}

void campaign_name_line(const struct runlog_run *run, struct rd_buf *out)
{
	struct parts p = parts_of(run);

	if (p.line)
		rd_buf_add(out, run->where, p.line);
	else
		rd_buf_adds(out, RD_UNKNOWN);
}

struct campaign_spot campaign_spot(const struct campaign_results *r, const struct runlog_run *run)
{
	const struct trace_site *site = site_of(r, run);
	struct campaign_spot spot = {0};

	if (site && site->file != TRACE_NO_FILE) {
		spot.file = trace_sites_file(r->sites, site->file);
		spot.line = site->line;
	} else {
		spot.line = parts_of(run).number;
	}
	return spot;
}

/* Returns true if `what` means the same variable in all functions, because it begins with the name
 * of a global variable. */
static bool is_global(const struct campaign_results *r, const char *what)
{
	uint32_t number;

	what += strspn(what, "*&(");
	return rd_names_find(&r->globals, what,
			     strspn(what, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"),
			     &number);
}

static void name_local(const struct campaign_results *r, const struct trace_site *s, const char *what,
		       struct rd_buf *out)
{
	if (!is_global(r, what) && *s->function)
		rd_buf_addf(out, "%s: ", s->function);
	rd_buf_adds(out, what);
}

void campaign_name_variable(const struct campaign_results *r, const struct runlog_run *run,
			    struct rd_buf *out)
{
	const struct trace_site *s = site_of(r, run);
	const char *what = s && *s->what ? s->what : RD_UNKNOWN;

	if (!s)
		rd_buf_adds(out, RD_UNKNOWN);
	else if (trace_site_accesses(s))
		name_local(r, s, what, out);
	else if (s->kind == TRACE_SITE_RESULT && *s->result)
		name_local(r, s, s->result, out);
	else if (s->kind == TRACE_SITE_RESULT)
		rd_buf_addf(out, "result of %s", what);
	else if (s->kind == TRACE_SITE_ARGUMENT)
		rd_buf_addf(out, "argument %u of %s", s->argument + 1u, what);
	else if (s->kind == TRACE_SITE_CALL || s->kind == TRACE_SITE_PREVENTABLE)
		rd_buf_addf(out, "call of %s", what);
	else
		rd_buf_addf(out, "temporary (%s)", what);
}
