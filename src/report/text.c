// SPDX-License-Identifier: Apache-2.0
/*
 * The text report, in ThreadSanitizer's layout.  A finding is a block between two rules of '=',
 * with the accesses and their stacks, the location, the threads, and a summary line.  Raddle adds
 * the order of operations, the verdict, and the command that reproduces the finding.
 *
 * Confirmed findings are printed in full.  The others are listed separately, in a few lines each,
 * unless opts.all is set.  Lines are wrapped at 80 columns where possible; paths and the command to
 * copy are never wrapped.
 */
#include "report/report.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "base/printable.h"
#include "report/source-int.h"
#include "report/text-int.h"
#include "finding/bug.h"
#include "report/words-int.h"
#include "trace/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of steps of a schedule that are shown, unless the user gives a number.  A terminal usually
 * has this many lines. */
#define STEPS_SHOWN 24
#define RULE "=================="

bool report_wants_colour(FILE *out)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	/* cmd/ replaces stdout by its own stream.  That stream has no descriptor, but its output
	 * goes to the original standard output. */
	int fd = out == stdout ? STDOUT_FILENO : out == stderr ? STDERR_FILENO : fileno(out);

	return isatty(fd) && term && strcmp(term, "dumb") != 0 && !(no && *no);
}

const char *text_colour(const struct printer *p, const char *code)
{
	return p->opts->colour ? code : "";
}

void text_flush(struct printer *p, int indent, const char *code)
{
	const char *text = p->line.data;
	int left = indent;

	rd_make_printable(p->line.data, p->line.length, false);
	fputs(text_colour(p, code), p->out);
	for (;;) {
		size_t room = (size_t)(TEXT_WIDTH - left), length = strlen(text), cut = length;

		if (length > room) {
			cut = room;
			while (cut && text[cut] != ' ')
				cut--;
			if (!cut)
				cut = strcspn(text, " ");
		}
		fprintf(p->out, "%*s%.*s", left, "", (int)cut, text);
		text += cut + strspn(text + cut, " ");
		if (!*text)
			break;
		fputc('\n', p->out);
		left = indent + 2;
	}
	fputs(p->opts->colour ? TEXT_PLAIN "\n" : "\n", p->out);
	rd_buf_clear(&p->line);
}

static void capitalise(struct rd_buf *b)
{
	if (b->length)
		b->data[0] = (char)toupper((unsigned char)b->data[0]);
}

struct finding_frame text_near(const struct printer *p, const struct finding_frame *f)
{
	struct finding_frame near = *f;
	size_t length = p->here ? strlen(p->here) : 0;

	if (length && f->file && strncmp(f->file, p->here, length) == 0 && f->file[length])
		near.file += length;
	return near;
}

/* Prints a frame as a line with the function's name and the place.  If both are long, prints the
 * place on a second line. */
static void print_frame(struct printer *p, size_t number, const struct finding_frame *f)
{
	struct rd_buf place = RD_BUF_INIT;
	struct finding_frame near = text_near(p, f);

	word_place(&place, &near);
	rd_buf_addf(&p->line, "#%zu %s", number, f->function ? f->function : RD_UNKNOWN);
	if (4 + p->line.length + 1 + place.length > TEXT_WIDTH) {
		text_flush(p, 4, "");
		rd_buf_adds(&p->line, place.data);
		text_flush(p, 7, "");
	} else {
		rd_buf_addf(&p->line, " %s", place.data);
		text_flush(p, 4, "");
	}
	rd_buf_release(&place);
}

/* Returns the number of frames from `first` on that are inside a library. */
static size_t library_frames(const struct printer *p, const struct finding_stack *s, size_t first)
{
	size_t n = 0;

	while (first && !p->opts->all && first + n < s->count && finding_is_library(&s->frames[first + n]))
		n++;
	return n;
}

static void print_frames(struct printer *p, const struct finding_stack *s, const struct finding_frame *quoted)
{
	for (size_t i = 0; i < s->count; i++) {
		size_t hidden = library_frames(p, s, i);

		if (hidden > 1) {
			rd_buf_addf(&p->line, "#%zu-#%zu (in the library)", i, i + hidden - 1);
			text_flush(p, 4, "");
			i += hidden - 1;
			continue;
		}
		print_frame(p, i, &s->frames[i]);
		if (&s->frames[i] == quoted)
			source_quote(p->out, quoted, p->opts->root, 7, TEXT_WIDTH);
	}
	if (!s->count) {
		rd_buf_adds(&p->line, "(the stack is not known)");
		text_flush(p, 4, "");
	}
}

static void print_stack(struct printer *p, const struct finding_stack *s)
{
	print_frames(p, s, NULL);
}

/* Prints a stack, with the source line of the innermost frame of the program's own code. */
static void print_quoted(struct printer *p, const struct finding_stack *s)
{
	print_frames(p, s, finding_own_code_frame(s));
}

/* Appends the locks that are held.  They are unknown if there is only a schedule and no finding. */
static void add_locks(struct printer *p, const struct finding *f, const struct finding_lock *locks,
		      size_t count)
{
	if (f->count) {
		rd_buf_adds(&p->line, ", ");
		word_locks(&p->line, locks, count);
	}
	rd_buf_addc(&p->line, ':');
}

static void print_accesses(struct printer *p, const struct finding *f)
{
	for (size_t i = 0; i < f->access_count; i++) {
		const struct finding_access *a = &f->accesses[i];

		if (i) {
			struct rd_buf word = RD_BUF_INIT;

			word_access(&word, a);
			word.data[0] = (char)tolower((unsigned char)word.data[0]);
			rd_buf_addf(&p->line, "Concurrent %s", word.data);
			rd_buf_release(&word);
		} else {
			word_access(&p->line, a);
		}
		if (a->what && a->op >= FINDING_FREE && strcmp(a->what, "free") != 0)
			rd_buf_addf(&p->line, " (in %s)", a->what);
		else if (a->what && a->op < FINDING_FREE &&
			 (!f->object.name || strcmp(a->what, f->object.name) != 0))
			rd_buf_addf(&p->line, " (%s)", a->what);
		rd_buf_adds(&p->line, " by ");
		word_thread(&p->line, f, a->thread);
		add_locks(p, f, a->locks, a->lock_count);
		text_flush(p, 2, TEXT_BLUE);
		print_quoted(p, &a->stack);
		fputc('\n', p->out);
	}
}

static void print_lock(struct printer *p, const struct finding_lock *l, const char *thread)
{
	if (!l->stack.count)
		return;
	rd_buf_addf(&p->line, "%s %s taken%s by thread %s at:", l->kind ? l->kind : "lock",
		    l->name ? l->name : RD_UNKNOWN, l->shared ? " for reading" : "",
		    thread ? thread : RD_UNKNOWN);
	capitalise(&p->line);
	text_flush(p, 2, TEXT_BLUE);
	print_stack(p, &l->stack);
	fputc('\n', p->out);
}

static void print_cycle(struct printer *p, const struct finding *f)
{
	for (size_t i = 0; i < f->cycle_count; i++) {
		const struct finding_wait *w = &f->cycle[i];

		word_thread(&p->line, f, w->thread);
		capitalise(&p->line);
		rd_buf_addc(&p->line, ' ');
		word_wait(&p->line, w->kind, w->wants);
		if (w->shared)
			rd_buf_adds(&p->line, " (for reading)");
		add_locks(p, f, w->holds, w->hold_count);
		text_flush(p, 2, TEXT_BLUE);
		print_quoted(p, &w->stack);
		fputc('\n', p->out);
		for (size_t k = 0; k < w->hold_count; k++)
			print_lock(p, &w->holds[k], w->thread);
	}
}

static void print_object(struct printer *p, const struct finding *f)
{
	const struct finding_object *o = &f->object;

	if (!o->name)
		return;
	rd_buf_adds(&p->line, "Location is ");
	word_object(&p->line, o);
	if (o->kind == FINDING_GLOBAL && o->stack.count) {
		rd_buf_adds(&p->line, ", declared at ");
		struct finding_frame near = text_near(p, finding_top(&o->stack));
		word_place(&p->line, &near);
	} else if (o->stack.count) {
		rd_buf_addf(&p->line,
			    ", %s by thread %s at:", o->kind == FINDING_HEAP ? "allocated" : "declared",
			    o->thread ? o->thread : RD_UNKNOWN);
	} else if (o->thread) {
		rd_buf_addf(&p->line, "%s of thread %s", o->size ? "," : "", o->thread);
	}
	text_flush(p, 2, TEXT_BLUE);
	if (o->kind != FINDING_GLOBAL && o->stack.count)
		print_stack(p, &o->stack);
	fputc('\n', p->out);
}

static void print_locks(struct printer *p, const struct finding *f)
{
	for (size_t i = 0; i < f->access_count; i++)
		for (size_t k = 0; k < f->accesses[i].lock_count; k++)
			print_lock(p, &f->accesses[i].locks[k], f->accesses[i].thread);
}

static void print_threads(struct printer *p, const struct finding *f)
{
	for (size_t i = 0; i < f->thread_count; i++) {
		if (!f->threads[i].created.count)
			continue;
		word_thread(&p->line, f, f->threads[i].name);
		capitalise(&p->line);
		rd_buf_adds(&p->line, " created at:");
		text_flush(p, 2, TEXT_BLUE);
		print_stack(p, &f->threads[i].created);
		fputc('\n', p->out);
	}
}

/* ---- the schedule ---- */

static int thread_width(const struct schedule *s, size_t first)
{
	size_t width = 0;

	for (size_t i = first; i < s->op_count; i++) {
		size_t n = strlen(s->ops[i].thread);

		width = n > width ? n : width;
	}
	return (int)(width < 20 ? width : 20);
}

static void print_place(struct rd_buf *b, const struct schedule_place *place)
{
	if (!place->file)
		return;
	rd_buf_adds(b, " at ");
	word_spot(b, place);
}

static void print_ops(struct printer *p, const struct schedule *s, size_t first)
{
	int width = thread_width(s, first);
	bool *moved = rd_xcalloc(s->op_count + 1, sizeof *moved);

	word_moved(s, moved);
	for (size_t i = first; i < s->op_count; i++) {
		const struct schedule_op *op = &s->ops[i];

		rd_buf_addf(&p->line, "%3zu.%c%-*s ", i + 1, moved[i] ? '*' : ' ', width, op->thread);
		trace_words(&p->line, op->kind, op->object);
		print_place(&p->line, &op->place);
		text_flush(p, 2, "");
	}
	for (size_t i = first; i < s->op_count; i++) {
		if (moved[i]) {
			rd_buf_adds(&p->line, "(* comes earlier than in the recorded run)");
			text_flush(p, 7, "");
			break;
		}
	}
	free(moved);
}

/* Appends a text such as "its write of hits".  If the finding is known, a more precise word than
 * "write" may be used, such as "it frees". */
static void add_end(struct rd_buf *b, const struct schedule_goal *h, const struct finding_access *a)
{
	static const char *const does[FINDING_OPS] = {
		[FINDING_FREE] = "it frees",	   [FINDING_USE] = "it uses",
		[FINDING_INIT] = "it initialises", [FINDING_DESTROY] = "it destroys",
		[FINDING_CLOSE] = "it closes",
	};

	if (a && does[a->op])
		rd_buf_addf(b, "%s %s", does[a->op], h->object ? h->object : RD_UNKNOWN_MEMORY);
	else
		rd_buf_addf(b, "its %s%s%s", h->write ? "write" : "read", h->object ? " of " : "",
			    h->object ? h->object : "");
}

/* Prints where the threads are when the schedule ends.  `f` is NULL if only the schedule is
 * known. */
static void print_ends(struct printer *p, const struct schedule *s, const struct finding *f)
{
	for (size_t i = 0; i < s->limit_count; i++) {
		rd_buf_addf(&p->line, "meanwhile %s waits after its operation %" PRIu64, s->limits[i].thread,
			    s->limits[i].n);
		text_flush(p, 7, "");
	}
	for (size_t i = 0; i < s->goal_count; i++) {
		const struct schedule_goal *h = &s->goals[i];

		rd_buf_addf(&p->line, "%s %s is stopped before ", i ? "and" : "then", h->thread);
		add_end(&p->line, h, f && i < f->access_count ? &f->accesses[i] : NULL);
		print_place(&p->line, &h->place);
		text_flush(p, 7, "");
	}
	for (size_t i = 0; i < s->stop_count; i++) {
		const struct schedule_stop *t = &s->stops[i];

		rd_buf_addf(&p->line, "%s %s is stuck in ", i ? "and" : "then", t->thread);
		trace_words_brief(&p->line, t->kind, t->object);
		print_place(&p->line, &t->place);
		text_flush(p, 7, "");
	}
}

/* Appends a description of a decision: which thread is stopped, where it is stopped, and which
 * thread continues. */
static void add_decision(struct rd_buf *out, const struct schedule_decision *d)
{
	static const struct {
		const char *point, *words;
	} table[] = {{"op", "is stopped"},
		     {"wait", "has to wait"},
		     {"access", "is stopped before an access"},
		     {"back", "is back from its access"},
		     {"yield", "yields"},
		     {"spin", "waits in a loop"},
		     {"away", "waits in the kernel"},
		     {"end", "has ended"},
		     {"output", "is stopped before an output"},
		     {"exit", "is stopped before it ends the program"}};
	const char *words = "is stopped";

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].point, d->point))
			words = table[i].words;
	if (!strcmp(d->point, "wait") && !strcmp(d->thread, d->next))
		words = "waits until its time is up";
	rd_buf_addf(out, "%s %s", d->thread, words);
	print_place(out, &d->place);
	if (!d->place.file)
		rd_buf_addf(out, " (operation %" PRIu64 ", %s %" PRIu32 ")", d->n, d->point, d->count);
	rd_buf_addf(out, "; %s continues", d->next);
}

/* If threads take turns, prints how the schedule continues.  Prints at most the first `most`
 * decisions. */
static void print_turns(struct printer *p, const struct schedule *s, size_t most)
{
	size_t count = s->decision_count < most ? s->decision_count : most;

	if (!s->turns)
		return;
	rd_buf_addf(&p->line, "one thread runs at a time%s%s", s->first ? "; first after the meeting: " : "",
		    s->first ? s->first : "");
	text_flush(p, 7, "");
	for (size_t i = 0; i < count; i++) {
		add_decision(&p->line, &s->decisions[i]);
		text_flush(p, 7, "");
	}
	if (count < s->decision_count) {
		rd_buf_addf(&p->line, "(%zu more decisions are in the schedule file)",
			    s->decision_count - count);
		text_flush(p, 7, "");
	}
	if (s->seed) {
		rd_buf_addf(&p->line, "then seed %" PRIu64 " decides", s->seed);
		text_flush(p, 7, "");
	}
}

static void print_schedule(struct printer *p, const struct schedule *s, const struct finding *f)
{
	size_t most = p->opts->steps ? p->opts->steps : STEPS_SHOWN;
	size_t first = s->op_count > most ? s->op_count - most : 0;

	rd_buf_adds(&p->line, s->anywhere  ? "Where they met, in any order of operations:"
			      : s->nowhere ? "A schedule in which both happen, one after the other:"
					   : "The order of operations that leads there:");
	text_flush(p, 2, TEXT_BLUE);
	if (first) {
		rd_buf_addf(&p->line, "(%zu operations before these are in the schedule file)", first);
		text_flush(p, 7, "");
	}
	print_ops(p, s, first);
	if (word_left_out(s)) {
		rd_buf_addf(&p->line, "(%s)", word_left_out(s));
		text_flush(p, 7, "");
	}
	if (!s->nowhere)
		print_ends(p, s, f);
	print_turns(p, s, most);
	fputc('\n', p->out);
}

/* ---- the verdict ---- */

static void print_labelled(void *context, const char *label, const char *text)
{
	struct printer *p = context;

	if (!text)
		return;
	rd_buf_addf(&p->line, "%s: %s", label, text);
	text_flush(p, 2, "");
}

static void print_verdict(struct printer *p, const struct finding *f)
{
	word_judgement(f, print_labelled, p);
	word_evidence(&p->line, f);
	text_flush(p, 2, "");
	for (size_t i = 0; i < f->note_count; i++)
		print_labelled(p, "Note", f->notes[i]);
	print_labelled(p, "Input", f->input);
	if (f->known)
		print_labelled(p, "Known", "in the baseline");
	print_labelled(p, "Suppressed", f->suppressed);
	print_labelled(p, "Id", f->id);
	if (f->schedule_path) {
		word_reproduce(&p->line, p->set, f->schedule_path);
		rd_make_printable(p->line.data, p->line.length, false);
		fprintf(p->out, "  Reproduce%s:\n    %s%s%s\n",
			f->recorded ? " (the recording shows it; a new run may differ)" : "",
			text_colour(p, TEXT_BOLD), p->line.data, text_colour(p, TEXT_PLAIN));
		rd_buf_clear(&p->line);
	}
}

void text_finding(struct printer *p, const struct finding *f)
{
	fputs(RULE "\n", p->out);
	rd_buf_adds(&p->line, "WARNING: Raddle: ");
	finding_title(&p->line, f);
	rd_buf_addf(&p->line, " (%s)", word_status(f));
	text_flush(p, 0, TEXT_RED);
	print_accesses(p, f);
	print_cycle(p, f);
	print_object(p, f);
	print_locks(p, f);
	print_threads(p, f);
	if (f->schedule)
		print_schedule(p, f->schedule, f);
	print_verdict(p, f);
	fputc('\n', p->out);
	rd_buf_addf(&p->line, "SUMMARY: Raddle: %s ", finding_words(f));
	struct finding_frame near = text_near(p, finding_own_code_frame(finding_side(f, 0)));
	word_place_in(&p->line, &near);
	text_flush(p, 0, "");
	fputs(RULE "\n\n", p->out);
}

/* ---- short lines ---- */

/* Appends a place without directories, because a line has no room for them. */
static void add_short_place(struct rd_buf *b, const struct finding_frame *f)
{
	if (!f || !f->file) {
		rd_buf_adds(b, f && f->function ? f->function : RD_UNKNOWN_PLACE);
		return;
	}
	rd_buf_addf(b, "%s:%u", rd_base_name(f->file), f->line);
	if (f->function)
		rd_buf_addf(b, " (%s)", f->function);
}

void text_add_title(struct printer *p, const struct finding *f)
{
	size_t count = f->access_count + f->cycle_count;

	finding_title(&p->line, f);
	for (size_t i = 0; i < count; i++) {
		rd_buf_adds(&p->line, i ? ", " : ": ");
		if (i < f->access_count)
			rd_buf_addf(&p->line, "%s at ", finding_op_name(f->accesses[i].op));
		add_short_place(&p->line, finding_own_code_frame(finding_side(f, i)));
	}
}

static void add_short(struct printer *p, const struct finding *f)
{
	text_add_title(p, f);
	rd_buf_addf(&p->line, " [%s%s%s]", f->id, f->known ? ", known" : "",
		    f->suppressed ? ", suppressed" : "");
}

struct printer text_begin(FILE *out, const struct finding_set *set, const struct report_opts *opts)
{
	char *cwd = getcwd(NULL, 0);
	struct printer p = {.out = out, .set = set, .opts = opts, .line = RD_BUF_INIT};

	p.here = cwd ? rd_xasprintf("%s%s", cwd, strcmp(cwd, "/") == 0 ? "" : "/") : NULL;
	free(cwd);
	return p;
}

int text_finish(struct printer *p)
{
	free(p->here);
	rd_buf_release(&p->line);
	return fflush(p->out) == 0 && !ferror(p->out) ? RD_OK : rd_fail_errno("cannot write the report");
}

int report_schedule(const struct schedule *schedule, const struct report_opts *opts, FILE *out)
{
	RD_ASSERT(schedule != NULL);
	RD_ASSERT(schedule != NULL && out != NULL);
	struct printer p = text_begin(out, NULL, opts);

	print_labelled(&p, "Finding", schedule->finding);
	print_labelled(&p, "Program", schedule->program);
	print_labelled(&p, "Recorded run", schedule->trace);
	print_schedule(&p, schedule, NULL);
	return text_finish(&p);
}

/* ---- predictions alone ---- */

static void print_prediction(struct printer *p, const struct finding *f)
{
	if (p->opts->all) {
		text_finding(p, f);
		return;
	}
	add_short(p, f);
	text_flush(p, 2, "");
}

static size_t print_section(struct printer *p, bool sound, const char *title)
{
	size_t n = 0;

	for (size_t i = 0; i < p->set->count; i++)
		n += p->set->items[i]->sound == sound;
	if (!n)
		return 0;
	rd_buf_addf(&p->line, "%zu %s", n, title);
	text_flush(p, 0, TEXT_BOLD);
	for (size_t i = 0; i < p->set->count; i++)
		if (p->set->items[i]->sound == sound)
			print_prediction(p, p->set->items[i]);
	fputc('\n', p->out);
	return n;
}

int report_predictions(const struct finding_set *set, const struct report_opts *opts, FILE *out)
{
	struct printer p = text_begin(out, set, opts);
	size_t n = print_section(&p, true, "can happen: every read keeps the value it had");

	n += print_section(&p, false,
			   "speculative: some read would get another value, so only a replay can tell");
	rd_buf_addf(&p.line, "Raddle: %zu finding%s predicted, none confirmed: nothing was run", n,
		    n == 1 ? "" : "s");
	if (n && !opts->all)
		rd_buf_adds(&p.line, "; -v shows stacks, locks and schedules");
	text_flush(&p, 0, TEXT_BOLD);
	return text_finish(&p);
}
