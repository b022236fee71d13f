// SPDX-License-Identifier: Apache-2.0
/*
 * The head of a bug on the HTML page: its title, its timeline as a table with a column for each
 * thread, why it exists, and what it does.  In: a bug.  Out: markup.  The findings follow it.
 */
#include "report/html-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "finding/bug.h"
#include "report/timeline-int.h"
#include "report/words-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST 6 /* columns of the table; wider ones do not fit on a screen */

/* The columns of a timeline. */
struct columns {
	const char *threads[THREADS_MOST];
	size_t count;
};

static size_t column_of(struct columns *c, const char *thread)
{
	for (size_t i = 0; i < c->count; i++)
		if (thread && c->threads[i] && !strcmp(c->threads[i], thread))
			return i;
	if (c->count == THREADS_MOST)
		return THREADS_MOST - 1;
	c->threads[c->count] = thread;
	return c->count++;
}

static void put_step(FILE *out, const struct finding_step *step, const char *root)
{
	char *source = timeline_source(&step->place, root);

	fprintf(out, "<td class=\"step%s\"><code>", step->last ? " last" : "");
	html_text(out, step->place.file ? rd_base_name(step->place.file) : "?");
	fprintf(out, ":%" PRIu32 " ", step->place.line);
	html_text(out, source);
	fputs("</code><br>", out);
	html_text(out, step->event);
	fputs("</td>", out);
	free(source);
}

static void put_row(FILE *out, struct columns *c, const struct finding_step *step, size_t number,
		    const char *root)
{
	size_t column = column_of(c, step->thread);

	fprintf(out, "<tr><th>%zu</th>", number);
	for (size_t i = 0; i < c->count; i++) {
		if (i == column)
			put_step(out, step, root);
		else
			fputs("<td></td>", out);
	}
	fputs("</tr>\n", out);
}

static void put_timeline(FILE *out, const struct finding *f, const char *root)
{
	struct finding_timeline t;
	struct columns c = {0};

	finding_timeline_make(&t, f);
	for (size_t i = 0; i < t.count; i++)
		column_of(&c, t.steps[i].thread);
	if (t.count) {
		fputs("<div class=\"scroll\"><table class=\"timeline\"><tr><th></th>", out);
		for (size_t i = 0; i < c.count; i++) {
			struct rd_buf name = RD_BUF_INIT;

			finding_thread_name(&name, f, c.threads[i]);
			fputs("<th>", out);
			html_text(out, name.data);
			fputs("</th>", out);
			rd_buf_release(&name);
		}
		fputs("</tr>\n", out);
		for (size_t i = 0; i < t.count; i++)
			put_row(out, &c, &t.steps[i], i + 1, root);
		fputs("</table></div>\n", out);
	}
	finding_timeline_release(&t);
}

static void put_paragraph(FILE *out, const char *text)
{
	if (!text || !*text)
		return;
	fputs("<p>", out);
	html_text(out, text);
	fputs("</p>\n", out);
}

void html_bug(FILE *out, const struct finding_bug *bug, size_t number, const char *root)
{
	RD_ASSERT(bug->count > 0);
	const struct finding *f = bug->findings[0];
	struct rd_buf words = RD_BUF_INIT;

	finding_bug_title(&words, bug);
	fprintf(out, "<div class=\"bug\" id=\"b-%s\" data-bug=\"%s\"><h2>Bug %zu: ", bug->id, bug->id,
		number);
	html_text(out, words.data);
	fprintf(out, " <span class=\"sub\">%s, %s, %.8s</span></h2>\n", finding_status_name(f->status),
		finding_severity_name(finding_severity(f)), bug->id);
	put_timeline(out, f, root);
	rd_buf_clear(&words);
	finding_why(&words, bug);
	put_paragraph(out, words.data);
	if (f->witness_count)
		put_paragraph(out, f->witnesses[0].seen);
	fputs("</div>\n", out);
	rd_buf_release(&words);
}
