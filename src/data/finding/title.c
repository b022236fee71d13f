// SPDX-License-Identifier: Apache-2.0
/* The titles of findings and bugs, which all formats share.  In: a finding.  Out: a few words. */
#include "finding/bug.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"

#include <string.h>

static bool holds_itself(const struct finding_wait *w)
{
	for (size_t i = 0; w->wants && i < w->hold_count; i++)
		if (w->holds[i].name && strcmp(w->holds[i].name, w->wants) == 0)
			return true;
	return !w->wants;
}

const char *finding_words(const struct finding *f)
{
	static const char *const words[FINDING_DETAILS] = {
		[FINDING_USE_AFTER_FREE] = "use after free",
		[FINDING_DOUBLE_FREE] = "double free",
		[FINDING_USE_AFTER_DESTROY] = "use after destruction",
		[FINDING_USE_AFTER_CLOSE] = "use after close",
	};
	enum finding_detail detail = finding_detail(f);

	return words[detail] ? words[detail] : finding_kind_words(f->kind);
}

void finding_title(struct rd_buf *out, const struct finding *f)
{
	RD_ASSERT(f != NULL);
	RD_ASSERT(f->kind < FINDING_KINDS);
	const char *what = f->access_count ? f->accesses[0].what : NULL;

	const char *of = finding_detail(f) ? "of" : "on";

	rd_buf_adds(out, finding_words(f));
	if (f->kind == FINDING_RACE && f->object.kind == FINDING_HEAP && f->object.name && !f->object.place &&
	    what)
		rd_buf_addf(out, " %s %s in %s", of, what, f->object.name);
	else if (f->kind == FINDING_RACE)
		rd_buf_addf(out, " %s %s", of, f->object.name ? f->object.name : RD_UNKNOWN_MEMORY);
	else if (f->kind == FINDING_DEADLOCK && f->cycle_count == 1)
		rd_buf_adds(out, holds_itself(&f->cycle[0]) ? " of a thread with itself"
							    : " of one thread that nothing wakes");
	else if (f->kind == FINDING_DEADLOCK)
		rd_buf_addf(out, " of %zu threads", f->cycle_count);
	else if (f->kind == FINDING_FAILURE && f->cycle_count && f->cycle[0].wants)
		rd_buf_addf(out, " by %s", f->cycle[0].wants);
	else if (f->kind == FINDING_FAILURE)
		rd_buf_adds(out, " to end");
}

/* Returns the object that names the bug: a variable of the program rather than memory that a library
 * has allocated for it. */
static const struct finding_object *named_object(const struct finding_bug *bug)
{
	for (size_t i = 0; i < bug->count; i++) {
		const struct finding_object *o = &bug->findings[i]->object;

		if (o->name && (o->kind == FINDING_GLOBAL || o->kind == FINDING_THREAD_LOCAL))
			return o;
	}
	return NULL;
}

/* Returns the kind of a failure.  What exactly happened is too long for a title. */
static const char *failure_words(const struct finding *f)
{
	static const struct {
		const char *consequence, *words;
	} table[] = {
		{"assertion", "failed assertion"},    {"memory-error", "memory error"}, {"crash", "crash"},
		{"hang", "the program does not end"}, {"deadlock", "deadlock"},		{"abort", "abort"},
	};

	for (size_t i = 0; f->consequence && i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].consequence, f->consequence))
			return table[i].words;
	return "failure";
}

void finding_bug_title(struct rd_buf *out, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];
	const struct finding_frame *top = f->access_count ? finding_top(&f->accesses[0].stack) : NULL;
	const struct finding_object *o;

	if (f->kind == FINDING_FAILURE) {
		rd_buf_adds(out, failure_words(f));
		return;
	}
	if (!top || !finding_is_library(top)) {
		finding_title(out, f);
		return;
	}
	o = finding_detail(f) ? NULL : named_object(bug);
	rd_buf_addf(out, "%s %s ", finding_words(f), finding_detail(f) ? "of" : "on");
	if (o) {
		rd_name_root(out, o->name);
	} else {
		const struct finding_frame *own = finding_own_code_frame(&f->accesses[0].stack);

		rd_buf_addf(out, "memory used at %s:%u", own->file ? rd_base_name(own->file) : RD_UNKNOWN,
			    own->line);
	}
}
