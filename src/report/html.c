// SPDX-License-Identifier: Apache-2.0
/*
 * The HTML report: a self-contained page.  Each finding is a <details> element, so the page can be
 * read without its script.  The script adds the filter, the theme switch and the copy buttons.  All
 * text from findings passes through html_text().
 */
#include "report/html-int.h"

#include "base/error.h"
#include "base/name.h"
#include "report/report.h"
#include "finding/bug.h"
#include "report/words-int.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* Number of steps of a schedule that are shown, unless the user gives a number.  Set by hand: this
 * many steps fill two screens. */
#define STEPS_SHOWN 60

struct page {
	FILE *out;
	const struct finding_set *set;
	const struct report_opts *opts;
	struct finding_bugs bugs;
	struct rd_buf words;
};

/* Writes the collected words as text. */
static void flush_words(struct page *p)
{
	html_text(p->out, p->words.data);
	rd_buf_clear(&p->words);
}

static void put(struct page *p, const char *text)
{
	html_text(p->out, text);
}

static void raw(struct page *p, const char *markup)
{
	fputs(markup, p->out);
}

static void put_frame(struct page *p, const struct finding_frame *f)
{
	raw(p, "<b>");
	put(p, f->function ? f->function : RD_UNKNOWN);
	raw(p, "</b> <span class=\"at\">");
	word_place(&p->words, f);
	flush_words(p);
	raw(p, "</span>");
}

static void put_stack(struct page *p, const struct finding_stack *s)
{
	if (!s->count)
		return;
	raw(p, "<ol class=\"stack\" start=\"0\">");
	for (size_t i = 0; i < s->count; i++) {
		raw(p, "<li>");
		put_frame(p, &s->frames[i]);
		raw(p, "</li>");
	}
	raw(p, "</ol>\n");
}

static void put_place_heading(struct page *p, const struct finding_stack *s)
{
	const struct finding_frame *top = finding_top(s);

	raw(p, "<p class=\"place\">");
	word_place(&p->words, top);
	flush_words(p);
	raw(p, "</p>\n");
	html_excerpt(p->out, top, p->opts->root);
}

static void put_locks(struct page *p, const struct finding_lock *locks, size_t count)
{
	raw(p, "<p class=\"locks\">");
	word_locks(&p->words, locks, count);
	flush_words(p);
	raw(p, "</p>\n");
	for (size_t i = 0; i < count; i++) {
		if (!locks[i].stack.count)
			continue;
		raw(p, "<details class=\"more\"><summary>");
		put(p, locks[i].name);
		raw(p, " taken at ");
		word_place_in(&p->words, finding_top(&locks[i].stack));
		flush_words(p);
		raw(p, "</summary>");
		html_excerpt(p->out, finding_top(&locks[i].stack), p->opts->root);
		put_stack(p, &locks[i].stack);
		raw(p, "</details>\n");
	}
}

/* Writes a thread and its place. */
static void put_side(struct page *p, const struct finding *f, const char *thread,
		     const struct finding_stack *stack)
{
	word_thread(&p->words, f, thread);
	flush_words(p);
	raw(p, "</p>\n");
	put_place_heading(p, stack);
	put_stack(p, stack);
}

static void put_access(struct page *p, const struct finding *f, const struct finding_access *a)
{
	raw(p, "<section class=\"side\"><h3>");
	word_access(&p->words, a);
	flush_words(p);
	if (a->what && (a->op != FINDING_FREE || strcmp(a->what, "free") != 0)) {
		raw(p, " <code>");
		put(p, a->what);
		raw(p, "</code>");
	}
	raw(p, "</h3><p class=\"who\">by ");
	put_side(p, f, a->thread, &a->stack);
	put_locks(p, a->locks, a->lock_count);
	raw(p, "</section>\n");
}

static void put_wait(struct page *p, const struct finding *f, const struct finding_wait *w)
{
	raw(p, "<section class=\"side\"><h3>");
	put(p, w->thread);
	rd_buf_addc(&p->words, ' ');
	word_wait(&p->words, w->kind, w->wants);
	if (w->shared)
		rd_buf_adds(&p->words, " (for reading)");
	flush_words(p);
	raw(p, "</h3><p class=\"who\">");
	put_side(p, f, w->thread, &w->stack);
	put_locks(p, w->holds, w->hold_count);
	raw(p, "</section>\n");
}

static void put_schedule(struct page *p, const struct finding *f)
{
	if (!f->schedule || !(f->schedule->op_count + f->schedule->goal_count + f->schedule->stop_count))
		return;
	raw(p, "<h3>The order of operations that leads there</h3>\n");
	html_schedule(p->out, f, p->opts->steps ? p->opts->steps : STEPS_SHOWN);
	raw(p, "<p class=\"legend\"><span class=\"key acq\">acquires</span> <span class=\"key rel\">releases"
	       "</span> <span class=\"key thr\">threads</span> <span class=\"key moved\">earlier than in the "
	       "recorded run</span> <span class=\"key end\">the error</span></p>\n");
	if (word_left_out(f->schedule)) {
		raw(p, "<p class=\"legend\">");
		rd_buf_adds(&p->words, word_left_out(f->schedule));
		p->words.data[0] = (char)toupper((unsigned char)p->words.data[0]);
		flush_words(p);
		raw(p, ".</p>\n");
	}
}

/* ---- facts ---- */

static void begin_fact(struct page *p, const char *name)
{
	raw(p, "<div><dt>");
	raw(p, name);
	raw(p, "</dt><dd>");
}

static void end_fact(struct page *p)
{
	raw(p, "</dd></div>\n");
}

static void put_fact(void *context, const char *name, const char *text)
{
	struct page *p = context;

	if (!text)
		return;
	begin_fact(p, name);
	put(p, text);
	end_fact(p);
}

static void put_object(struct page *p, const struct finding_object *o)
{
	if (!o->name)
		return;
	begin_fact(p, "Location");
	word_object(&p->words, o);
	if (o->stack.count) {
		rd_buf_adds(&p->words, o->kind == FINDING_HEAP ? ", allocated at " : ", declared at ");
		word_place_in(&p->words, finding_top(&o->stack));
	}
	if (o->thread)
		rd_buf_addf(&p->words, " %s thread %s", o->stack.count ? "by" : "of", o->thread);
	flush_words(p);
	if (o->stack.count > 1)
		put_stack(p, &o->stack);
	end_fact(p);
}

static void put_threads(struct page *p, const struct finding *f)
{
	for (size_t i = 0; i < f->thread_count; i++) {
		const struct finding_thread *t = &f->threads[i];

		if (!t->created.count)
			continue;
		begin_fact(p, i ? "" : "Threads");
		word_thread(&p->words, f, t->name);
		rd_buf_adds(&p->words, " created at ");
		word_place_in(&p->words, finding_top(&t->created));
		flush_words(p);
		end_fact(p);
	}
}

static void put_reproduce(struct page *p, const struct finding *f)
{
	if (!f->schedule_path)
		return;
	begin_fact(p, "Reproduce");
	raw(p, "<div class=\"cmd\"><code>");
	word_reproduce(&p->words, p->set, f->schedule_path);
	flush_words(p);
	raw(p, "</code><button type=\"button\" class=\"copy\">Copy</button></div>");
	end_fact(p);
}

static void put_facts(struct page *p, const struct finding *f)
{
	raw(p, "<dl>\n");
	put_reproduce(p, f);
	put_object(p, &f->object);
	put_threads(p, f);
	word_judgement(f, put_fact, p);
	begin_fact(p, "Evidence");
	word_evidence(&p->words, f);
	flush_words(p);
	for (size_t i = 0; i < f->note_count; i++) {
		raw(p, "<br>");
		put(p, f->notes[i]);
	}
	end_fact(p);
	put_fact(p, "Input", f->input);
	put_fact(p, "Suppressed", f->suppressed);
	put_fact(p, "Id", f->id);
	raw(p, "</dl>\n");
}

/* ---- a finding ---- */

static const char *badge(const struct finding *f)
{
	return f->suppressed ? "suppressed" : f->known ? "known" : finding_status_name(f->status);
}

static void put_summary(struct page *p, const struct finding *f)
{
	size_t count = f->access_count + f->cycle_count;

	fprintf(p->out, "<summary><span class=\"badge %s\">%s</span><span class=\"title\">", badge(f),
		badge(f));
	finding_title(&p->words, f);
	p->words.data[0] = (char)toupper((unsigned char)p->words.data[0]);
	flush_words(p);
	if (f->count > 1)
		fprintf(p->out, " <span class=\"times\">\xc3\x97%" PRIu64 "</span>", f->count);
	raw(p, "</span><span class=\"sub\">");
	for (size_t i = 0; i < count; i++) {
		raw(p, i ? " <i>and</i> " : "");
		word_place_in(&p->words, finding_top(finding_side(f, i)));
		flush_words(p);
	}
	raw(p, "</span></summary>\n");
}

static void put_finding(struct page *p, const struct finding *f)
{
	fprintf(p->out, "<details class=\"finding %s\" id=\"f-%s\" data-bug=\"%s\" data-status=\"%s\">\n",
		badge(f), f->id, f->bug, badge(f));
	put_summary(p, f);
	raw(p, "<div class=\"body\"><div class=\"sides\">\n");
	for (size_t i = 0; i < f->access_count; i++)
		put_access(p, f, &f->accesses[i]);
	for (size_t i = 0; i < f->cycle_count; i++)
		put_wait(p, f, &f->cycle[i]);
	raw(p, "</div>\n");
	put_schedule(p, f);
	put_facts(p, f);
	raw(p, "</div></details>\n");
}

/* ---- the page ---- */

static void add_program(struct page *p)
{
	for (size_t i = 0; i < p->set->argc; i++)
		rd_buf_addf(&p->words, "%s%s", i ? " " : "", p->set->argv[i]);
}

void html_head(FILE *out, const char *title, const char *style)
{
	RD_ASSERT(title != NULL && style != NULL);
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>",
	      out);
	html_text(out, title);
	fprintf(out, "</title>\n<style>\n%s%s</style></head><body>\n", html_style, style);
}

static void put_head(struct page *p)
{
	rd_buf_adds(&p->words, "Raddle: ");
	add_program(p);
	html_head(p->out, p->words.data, "");
	rd_buf_clear(&p->words);
	raw(p, "<svg width=\"0\" height=\"0\" aria-hidden=\"true\"><defs><marker id=\"tip\" "
	       "viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
	       "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker><marker id=\"want\" "
	       "viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" "
	       "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs></svg>\n");
}

static size_t count_badges(const struct page *p, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < p->set->count; i++)
		n += strcmp(badge(p->set->items[i]), name) == 0;
	return n;
}

static void put_header(struct page *p)
{
	static const char *const badges[] = {"confirmed", "unconfirmed", "candidate",
					     "dropped",	  "known",	 "suppressed"};
	size_t confirmed = finding_bugs_fresh(&p->bugs);

	raw(p, "<header><div class=\"top\"><h1>Raddle</h1><code class=\"prog\">");
	add_program(p);
	flush_words(p);
	raw(p, "</code><button type=\"button\" id=\"theme\" title=\"dark or light\">Theme</button></div>\n");
	fprintf(p->out, "<p class=\"verdict %s\">%zu confirmed bug%s</p>\n", confirmed ? "bad" : "good",
		confirmed, confirmed == 1 ? "" : "s");
	raw(p, "<div class=\"tools\"><input id=\"filter\" type=\"search\" placeholder=\"Filter: variable, "
	       "function, file, thread\" aria-label=\"filter\">");
	for (size_t i = 0; i < sizeof badges / sizeof *badges; i++) {
		size_t n = count_badges(p, badges[i]);

		if (n)
			fprintf(p->out,
				"<label class=\"toggle\"><input type=\"checkbox\" checked value=\"%s\">"
				"<span class=\"badge %s\">%s</span> %zu</label>",
				badges[i], badges[i], badges[i], n);
	}
	raw(p, "</div></header>\n<main>\n");
	if (!p->set->count)
		raw(p, "<p class=\"none\">Nothing was found.</p>\n");
}

static void put_footer(struct page *p)
{
	raw(p, "<p class=\"none\" id=\"nothing\" hidden>No finding fits the filter.</p>\n</main>\n<footer>");
	if (p->set->stat_count)
		raw(p, "<details><summary>Statistics</summary><table>\n");
	for (size_t i = 0; i < p->set->stat_count; i++) {
		raw(p, "<tr><td>");
		put(p, p->set->stats[i].name);
		raw(p, "</td><td>");
		put(p, p->set->stats[i].json);
		raw(p, "</td></tr>\n");
	}
	if (p->set->stat_count)
		raw(p, "</table></details>");
	raw(p, "<p>Raddle ");
	put(p, p->set->tool);
	raw(p, "</p></footer>\n<script>\n");
	raw(p, html_theme);
	raw(p, html_script);
	raw(p, "</script></body></html>\n");
}

int report_html(const struct finding_set *set, const struct report_opts *opts, FILE *out)
{
	RD_ASSERT(opts != NULL && out != NULL);
	struct page p = {.out = out, .set = set, .opts = opts, .words = RD_BUF_INIT};

	finding_bugs_list(&p.bugs, set);
	put_head(&p);
	put_header(&p);
	for (size_t i = 0; i < p.bugs.count; i++) {
		const struct finding_bug *bug = &p.bugs.items[i];

		html_bug(out, bug, i + 1, opts->root);
		for (size_t k = 0; k < bug->count; k++)
			put_finding(&p, bug->findings[k]);
	}
	put_footer(&p);
	finding_bugs_release(&p.bugs);
	rd_buf_release(&p.words);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the report");
}
