// SPDX-License-Identifier: Apache-2.0
/*
 * The text report: one block for each bug, at most about 30 lines long and 80 columns wide.  A block
 * has a headline, the timeline, and labelled sentences: why the bug exists, what was seen of it, and
 * the command that repeats it.  With -v, its findings follow in full.
 *
 * Only bugs with a confirmed finding have a block.  The other findings are listed in a few lines each,
 * and do not count.
 */
#include "report/report.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "base/printable.h"
#include "base/wrap.h"
#include "finding/bug.h"
#include "finding/timeline.h"
#include "report/text-int.h"
#include "report/timeline-int.h"
#include "report/words-int.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LABEL 12	/* the columns for a label, such as "Why" */
#define ID_SHOWN 8	/* digits of an id that are shown; `raddle replay` needs at least six */
#define PATH_MOST 40	/* characters of a path in a headline; a longer one loses its directories */
#define EVIDENCE_MOST 6 /* findings of a bug that one line names */

/* ---- the headline ---- */

/* Returns words for what a finding does to the program, or NULL if that is not known. */
static const char *effect_words(const struct finding *f, char *space, size_t size)
{
	switch (f->class) {
	case FINDING_SPEC_VIOLATED: return f->consequence ? f->consequence : "the program fails";
	case FINDING_OUTPUT_DIFFERS: return "output differs";
	case FINDING_K_WITNESS_HARMLESS:
		snprintf(space, size, "no effect in %" PRIu64 " schedules", f->k);
		return f->k ? space : "no effect seen";
	case FINDING_SINGLE_ORDERING: return "one order only";
	default: return f->kind == FINDING_RACE ? "effect unknown" : NULL;
	}
}

/* Prints two texts in a line, the second one at its right end; or in two lines if they are too
 * long. */
static void put_ends(struct printer *p, const char *left, const char *right, const char *code)
{
	size_t room = TEXT_WIDTH > strlen(left) ? TEXT_WIDTH - strlen(left) : 0;

	fputs(text_colour(p, code), p->out);
	if (strlen(right) + 2 <= room)
		fprintf(p->out, "%s%*s%s", left, (int)(room - strlen(right)), "", right);
	else
		fprintf(p->out, "%s\n%*s", left, TEXT_WIDTH, right);
	fprintf(p->out, "%s\n", *text_colour(p, code) ? TEXT_PLAIN : "");
}

/* Cuts a text that is too long for a line. */
static void cut_text(struct rd_buf *text, int most)
{
	if (text->length <= (size_t)most)
		return;
	text->length = (size_t)most - 2;
	text->data[text->length] = '\0';
	rd_buf_adds(text, "..");
}

/* Appends the place of a bug.  A long path is shortened to the name of its file. */
static void put_where(struct rd_buf *out, const struct finding_frame *near)
{
	struct finding_frame f = *near;

	if (f.file && strlen(f.file) > PATH_MOST)
		f.file = rd_base_name(f.file);
	f.function = NULL;
	word_place_in(out, &f);
	if (near->function) {
		rd_buf_adds(out, " in ");
		finding_function_name(out, near->function);
	}
	cut_text(out, TEXT_WIDTH - (int)sizeof "id 01234567");
}

static void put_headline(struct printer *p, const struct finding_bug *bug, size_t number, size_t count)
{
	const struct finding *f = bug->findings[0];
	struct finding_frame near = text_near(p, finding_own_code_frame(finding_side(f, 0)));
	char space[64];
	const char *effect = effect_words(f, space, sizeof space);
	struct rd_buf left = RD_BUF_INIT, right = RD_BUF_INIT;
	size_t indent;

	rd_buf_addf(&left, "BUG %zu of %zu  ", number, count);
	indent = left.length;
	finding_bug_title(&left, bug);
	rd_buf_addf(&right, "%s%s%s", finding_status_name(f->status), effect ? ", " : "",
		    effect ? effect : "");
	cut_text(&left, TEXT_WIDTH);
	rd_make_printable(left.data, left.length, false);
	rd_make_printable(right.data, right.length, false);
	put_ends(p, left.data, right.data, TEXT_RED);
	rd_buf_clear(&left);
	rd_buf_clear(&right);
	rd_buf_addf(&left, "%*s", (int)indent, "");
	put_where(&left, &near);
	rd_buf_addf(&right, "id %.*s", ID_SHOWN, bug->id);
	rd_make_printable(left.data, left.length, false);
	put_ends(p, left.data, right.data, "");
	rd_buf_release(&left);
	rd_buf_release(&right);
}

/* ---- labelled sentences ---- */

/* Replaces the canonical names of threads, such as T_0_1, by the names that the timeline shows. */
static void add_named(struct rd_buf *out, const struct finding *f, const char *text)
{
	while (*text) {
		size_t before = strcspn(text, "T"), length;
		bool starts =
			before == 0 || !(isalnum((unsigned char)text[before - 1]) || text[before - 1] == '_');

		rd_buf_add(out, text, before);
		text += before;
		length = strncmp(text, "T_", 2) ? 0 : 2 + strspn(text + 2, "0123456789_");
		if (length > 2 && starts && !isalnum((unsigned char)text[length])) {
			char *thread = rd_xstrndup(text, length);
			finding_thread_name(out, f, thread);
			free(thread);
		} else if (*text) {
			length = 1;
			rd_buf_addc(out, *text);
		}
		text += length;
	}
}

/* Prints a label and the text of p->line, which becomes empty. */
static void put_labelled(struct printer *p, const char *label)
{
	if (p->line.length) {
		rd_make_printable(p->line.data, p->line.length, false);
		p->line.data[0] = (char)toupper((unsigned char)p->line.data[0]);
		fprintf(p->out, "  %s%-*s%s", text_colour(p, TEXT_BOLD), LABEL - 2, label,
			*text_colour(p, TEXT_BOLD) ? TEXT_PLAIN : "");
		rd_wrap(p->line.data, LABEL, LABEL, p->out);
	}
	rd_buf_clear(&p->line);
}

static void put_text(struct printer *p, const char *label, const struct finding *f, const char *text)
{
	if (!text)
		return;
	add_named(&p->line, f, text);
	put_labelled(p, label);
}

/* States how the finding was confirmed. */
static const char *seen_words(const struct finding *f)
{
	if (f->recorded)
		return "in the recorded run.  A new run may differ.";
	if (f->observed)
		return "a happens-before detector saw no order between the accesses in a run.";
	if (f->kind == FINDING_RACE)
		return "in a replay, both threads were stopped before these accesses at the same time.";
	if (f->kind == FINDING_DEADLOCK && !(f->schedule && f->schedule->turns))
		return "in a replay, these threads waited forever.";
	return f->note_count ? f->notes[0] : NULL;
}

static void put_effect(struct printer *p, const struct finding *f)
{
	const char *note = f->class_notes && f->note_count ? f->notes[f->note_count - 1] : NULL;

	if (f->kind == FINDING_FAILURE && f->cycle_count)
		put_text(p, "Effect", f, f->cycle[0].wants);
	else if (f->kind == FINDING_RACE)
		put_text(p, "Effect", f,
			 f->witness_count && f->witnesses[0].seen ? f->witnesses[0].seen : note);
	if (f->class != FINDING_NO_CLASS)
		word_models(&p->line, f);
	if (strchr(p->line.data, ','))
		put_labelled(p, "Models");
	rd_buf_clear(&p->line);
	put_text(p, "Input", f, f->input);
}

/* Prints the command that repeats the bug. */
static void put_again(struct printer *p, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];

	if (!f->schedule_path)
		return;
	if (p->opts->ids) {
		fprintf(p->out, "  %-*sraddle replay %.*s     in gdb: raddle replay --gdb %.*s\n", LABEL - 2,
			"Again", ID_SHOWN, bug->id, ID_SHOWN, bug->id);
		return;
	}
	word_reproduce(&p->line, p->set,
		       finding_shows_effect(f) && f->witnesses[0].schedule_path
			       ? f->witnesses[0].schedule_path
			       : f->schedule_path);
	rd_make_printable(p->line.data, p->line.length, false);
	fprintf(p->out, "  %-*s%s\n", LABEL - 2, "Again", p->line.data); /* not wrapped, to be copied */
	rd_buf_clear(&p->line);
}

/* Lists the places of each finding, such as "16/17, 16/12". */
static void put_evidence(struct printer *p, const struct finding_bug *bug)
{
	if (bug->count < 2)
		return;
	rd_buf_addf(&p->line, "%zu findings%s: lines ", bug->count,
		    p->opts->others ? "" : " (-v shows them)");
	for (size_t i = 0; i < bug->count && i < EVIDENCE_MOST; i++) {
		const struct finding *f = bug->findings[i];

		for (size_t k = 0; k < f->access_count + f->cycle_count && k < EVIDENCE_MOST; k++) {
			const struct finding_stack *s = k < f->access_count
								? &f->accesses[k].stack
								: &f->cycle[k - f->access_count].stack;

			rd_buf_addf(&p->line, "%s%" PRIu32,
				    k	? "/"
				    : i ? ", "
					: "",
				    finding_own_code_frame(s)->line);
		}
	}
	rd_buf_adds(&p->line, bug->count > EVIDENCE_MOST ? ", …" : "");
	put_labelled(p, "Evidence");
}

static void put_bug(struct printer *p, const struct finding_bug *bug, size_t number, size_t count)
{
	const struct finding *f = bug->findings[0];
	const struct finding_frame *own = finding_own_code_frame(finding_side(f, 0));
	struct finding_timeline timeline;

	put_headline(p, bug, number, count);
	fputc('\n', p->out);
	finding_timeline_make(&timeline, f);
	timeline_print(&timeline, f, own->file, p->opts->root, p->out);
	if (timeline.count)
		fputc('\n', p->out);
	finding_timeline_release(&timeline);
	finding_why(&p->line, bug);
	put_labelled(p, "Why");
	put_text(p, "Seen", f, seen_words(f));
	put_effect(p, f);
	put_evidence(p, bug);
	put_again(p, bug);
	fputc('\n', p->out);
	for (size_t i = 0; p->opts->others && i < bug->count; i++)
		text_finding(p, bug->findings[i]);
}

/* ---- the list of other findings ---- */

static bool is_printed(const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];

	return f->status == FINDING_CONFIRMED && finding_is_fresh(f);
}

/* Returns true if a finding is in the list.  Speculative predictions that were tried without
 * success are left out, because there are many of them and they mean little. */
static bool is_listed(const struct printer *p, const struct finding *f)
{
	if (!finding_is_fresh(f))
		return false;
	return p->opts->others || (f->status != FINDING_DROPPED && (f->sound || f->unordered));
}
static void print_brief(struct printer *p, const struct finding *f)
{
	size_t count = f->access_count + f->cycle_count;
	const char *class = f->class == FINDING_NO_CLASS ? NULL : finding_class_name(f->class);
	const char *status = f->unordered ? word_status(f) : finding_status_name(f->status);
	const char *reason = class && f->witness_count ? f->witnesses[0].seen : f->reason;

	rd_buf_addf(&p->line, "%s ", f->id);
	finding_title(&p->line, f);
	rd_buf_addf(&p->line, " (%s%s%s)", class ? class : status, f->known ? ", known" : "",
		    f->suppressed ? ", suppressed" : "");
	text_flush(p, 2, "");
	for (size_t i = 0; i < count; i++) {
		if (i < f->access_count)
			rd_buf_addf(&p->line, "%-5s ", finding_op_name(f->accesses[i].op));
		struct finding_frame near = text_near(p, finding_own_code_frame(finding_side(f, i)));
		word_place_in(&p->line, &near);
		text_flush(p, 6, "");
	}
	if (reason) {
		rd_buf_adds(&p->line, reason);
		text_flush(p, 6, "");
	}
}

/* Lists the findings that belong to no bug with a block. */
static void put_others(struct printer *p, const struct finding_bugs *bugs)
{
	bool any = false;

	for (size_t i = 0; i < bugs->count; i++) {
		if (is_printed(&bugs->items[i]))
			continue;
		for (size_t k = 0; k < bugs->items[i].count; k++) {
			const struct finding *f = bugs->items[i].findings[k];

			if (!is_listed(p, f))
				continue;
			if (!any) {
				rd_buf_adds(&p->line, "Predicted but not confirmed; these do not count:");
				text_flush(p, 0, TEXT_BOLD);
				any = true;
			}
			print_brief(p, f);
		}
	}
	if (any)
		fputc('\n', p->out);
}

/* ---- the summary ---- */

static void add_count(struct rd_buf *line, const char **separator, size_t n, const char *what)
{
	if (!n)
		return;
	rd_buf_addf(line, "%s%zu %s", *separator, n, what);
	*separator = ", ";
}

/* Counts the findings that no block shows, by the reason for that. */
static void put_left_out(struct printer *p, const struct finding_bugs *bugs)
{
	size_t known = 0, suppressed = 0, unconfirmed = 0, dropped = 0;
	const char *separator = "Findings that do not count: ";

	for (size_t i = 0; i < bugs->count; i++) {
		for (size_t k = 0; k < bugs->items[i].count && !is_printed(&bugs->items[i]); k++) {
			const struct finding *f = bugs->items[i].findings[k];

			known += f->known;
			suppressed += f->suppressed && !f->known;
			unconfirmed += finding_is_fresh(f) &&
				       (f->status == FINDING_UNCONFIRMED || f->status == FINDING_CANDIDATE);
			dropped += finding_is_fresh(f) && f->status == FINDING_DROPPED;
		}
	}
	add_count(&p->line, &separator, unconfirmed, "unconfirmed");
	add_count(&p->line, &separator, dropped, "dropped");
	add_count(&p->line, &separator, known, "known");
	add_count(&p->line, &separator, suppressed, "suppressed");
	if (p->line.length)
		text_flush(p, 0, "");
}

static void put_total(struct printer *p, const struct finding_bugs *bugs)
{
	size_t count = finding_bugs_fresh(bugs), by[FINDING_SEVERITIES] = {0};
	const char *separator = ": ";

	for (size_t i = 0; i < bugs->count; i++)
		if (is_printed(&bugs->items[i]))
			by[finding_severity(bugs->items[i].findings[0])]++;
	if (count)
		rd_buf_addf(&p->line, "Raddle: %zu bug%s", count, count == 1 ? "" : "s");
	else
		rd_buf_adds(&p->line, "Raddle: no bug confirmed");
	add_count(&p->line, &separator, by[FINDING_HIGH], "severe");
	add_count(&p->line, &separator, by[FINDING_MEDIUM], "of medium severity");
	add_count(&p->line, &separator, by[FINDING_LOW], "without a known effect");
	text_flush(p, 0, count ? TEXT_RED : TEXT_BOLD);
	put_left_out(p, bugs);
}

/* ---- the report ---- */

/* Prints every finding of the set in full. */
static void put_all(struct printer *p)
{
	for (size_t i = 0; i < p->set->count; i++)
		text_finding(p, p->set->items[i]);
}

int report_text(const struct finding_set *set, const struct report_opts *opts, FILE *out)
{
	RD_ASSERT(opts != NULL && out != NULL);
	struct printer p = text_begin(out, set, opts);
	struct finding_bugs bugs;
	size_t number = 0;

	finding_bugs_list(&bugs, set);
	if (opts->all)
		put_all(&p);
	for (size_t i = 0; i < bugs.count && !opts->all; i++)
		if (is_printed(&bugs.items[i]))
			put_bug(&p, &bugs.items[i], ++number, finding_bugs_fresh(&bugs));
	if (!opts->all)
		put_others(&p, &bugs);
	put_total(&p, &bugs);
	finding_bugs_release(&bugs);
	return text_finish(&p);
}

int report_confirmed(const struct finding_set *set, const struct finding *f, const struct report_opts *opts,
		     FILE *out)
{
	RD_ASSERT(f != NULL);
	struct printer p = text_begin(out, set, opts);

	rd_buf_adds(&p.line, "Raddle: confirmed: ");
	text_add_title(&p, f);
	rd_buf_addf(&p.line, " [%.*s]", ID_SHOWN, f->bug);
	text_flush(&p, 0, "");
	return text_finish(&p);
}
