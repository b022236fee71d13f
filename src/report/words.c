// SPDX-License-Identifier: Apache-2.0
/*
 * Phrases about findings.  All formats share them, so that the HTML page and the terminal use the
 * same words.
 */
#include "report/words-int.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "finding/schedule.h"
#include "raddle/event.h"
#include "trace/words.h"

#include <inttypes.h>
#include <string.h>

enum word_role word_role(const char *kind)
{
	const struct trace_operation *o = trace_operation(kind);

	if (!o)
		return WORD_OTHER;
	if (o->class == RADDLE_CLASS_THREAD)
		return WORD_THREAD;
	return o->role == RADDLE_ROLE_RELEASE || o->role == RADDLE_ROLE_WAIT || o->role == RADDLE_ROLE_NOTIFY
		       ? WORD_RELEASE
		       : WORD_ACQUIRE;
}

const char *word_status(const struct finding *f)
{
	RD_ASSERT(f->status < FINDING_STATUSES);
	static const char *const words[FINDING_STATUSES] = {"confirmed by replay", "predicted, not confirmed",
							    "possible, never looked for in a run", "dropped"};

	if (f->recorded)
		return "seen in the recorded run";
	if (f->unordered && f->status != FINDING_CONFIRMED)
		return "apparently unordered";
	return f->observed ? "confirmed by the detector" : words[f->status];
}

const char *word_class(enum finding_class class)
{
	RD_ASSERT(class < FINDING_CLASSES);
	static const char *const words[FINDING_CLASSES] = {
		"",
		"the program fails in one of the orders",
		"the program's output depends on the order",
		"none of the tried orders made a difference",
		"only one order of the two accesses is possible",
	};

	return words[class];
}

void word_models(struct rd_buf *out, const struct finding *f)
{
	bool any = false;

	for (unsigned i = 0; i < FINDING_MODELS; i++) {
		if (f->classes[i] == FINDING_NO_CLASS)
			continue;
		rd_buf_addf(out, "%s%s: %s", any ? ", " : "", finding_model_name(i),
			    finding_class_name(f->classes[i]));
		any = true;
	}
}

void word_witness(struct rd_buf *out, const struct finding_witness *w)
{
	const char *class = finding_class_name(w->class);

	rd_buf_addf(out, "%s under %s", class ? class : "a run", finding_model_name(w->model));
	if (w->consequence)
		rd_buf_addf(out, ", %s", w->consequence);
	if (w->runs)
		rd_buf_addf(out, "; run %" PRIu64 " time%s", w->runs, w->runs == 1 ? "" : "s");
	if (w->input)
		rd_buf_addf(out, "; input %s", w->input);
	if (w->schedule_path)
		rd_buf_addf(out, "; schedule %s", w->schedule_path);
	if (w->seen)
		rd_buf_addf(out, "; %s", w->seen);
}

void word_place(struct rd_buf *out, const struct finding_frame *f)
{
	if (!f->file) {
		rd_buf_adds(out, f->module ? f->module : RD_UNKNOWN_PLACE);
		return;
	}
	rd_buf_adds(out, f->file);
	if (f->line)
		rd_buf_addf(out, ":%" PRIu32, f->line);
	if (f->line && f->column)
		rd_buf_addf(out, ":%" PRIu32, f->column);
}

void word_place_in(struct rd_buf *out, const struct finding_frame *f)
{
	struct finding_frame short_form = *f;

	short_form.column = 0;
	word_place(out, &short_form);
	if (f->function)
		rd_buf_addf(out, " in %s", f->function);
}

void word_spot(struct rd_buf *out, const struct schedule_place *p)
{
	if (p->file)
		rd_buf_adds(out, rd_base_name(p->file));
	if (p->file && p->line)
		rd_buf_addf(out, ":%" PRIu32, p->line);
}

void word_access(struct rd_buf *out, const struct finding_access *a)
{
	static const char *const words[2][FINDING_OPS] = {
		{"Read", "Write", "Free", "Use", "Initialisation", "Destruction", "Close"},
		{"Atomic read", "Atomic write", "Free", "Use", "Initialisation", "Destruction", "Close"},
	};

	rd_buf_adds(out, words[a->atomic][a->op]);
	if (a->size && a->op < FINDING_FREE)
		rd_buf_addf(out, " of size %" PRIu32, a->size);
}

void word_locks(struct rd_buf *out, const struct finding_lock *locks, size_t count)
{
	RD_ASSERT(locks != NULL || count == 0);
	if (!count)
		rd_buf_adds(out, "holding no lock");
	for (size_t i = 0; i < count; i++)
		rd_buf_addf(out, "%s%s%s", i ? ", " : "holding ", locks[i].name ? locks[i].name : "a lock",
			    locks[i].shared ? " (shared)" : "");
}

void word_thread(struct rd_buf *out, const struct finding *f, const char *name)
{
	const struct finding_thread *t = finding_thread(f, name);

	if (name)
		rd_buf_addf(out, "thread %s", name);
	else
		rd_buf_adds(out, "an unknown thread");
	if (t && t->label)
		rd_buf_addf(out, " '%s'", t->label);
}

void word_object(struct rd_buf *out, const struct finding_object *o)
{
	static const char *const words[FINDING_OBJECT_KINDS] = {
		"memory",	  "global", "heap object", "stack variable", "thread-local variable",
		"file descriptor"};

	if (o->place)
		rd_buf_addf(out, "'%s' in %s", o->name, o->place);
	else
		rd_buf_addf(out, "%s '%s'", words[o->kind], o->name ? o->name : RD_UNKNOWN);
	if (o->type)
		rd_buf_addf(out, " of type %s", o->type);
	if (o->size)
		rd_buf_addf(out, ", %" PRIu64 " byte%s", o->size, o->size == 1 ? "" : "s");
}

void word_wait(struct rd_buf *out, const char *kind, const char *wants)
{
	static const struct {
		const char *kind, *words;
	} table[] = {
		{"join", "the end of"}, {"cond", "a signal on"},    {"barrier", "all others at barrier"},
		{"sem", "a post of"},	{"once", "the routine of"}, {"channel", "data or room at"},
	};

	if (kind && (!strcmp(kind, "signal") || !strcmp(kind, "alive"))) {
		rd_buf_addf(out, wants ? "ended the program by %s" : "was there, last seen", wants);
		return;
	}
	rd_buf_adds(out, "waits for ");
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (kind && strcmp(table[i].kind, kind) == 0) {
			rd_buf_addf(out, "%s %s", table[i].words, wants ? wants : RD_UNKNOWN);
			return;
		}
	}
	rd_buf_addf(out, "%s %s", kind ? kind : "lock", wants ? wants : RD_UNKNOWN);
}

static void add_option(struct rd_buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	rd_buf_addf(out, "--%s ", name);
	rd_buf_add_shell(out, value);
	rd_buf_addc(out, ' ');
}

void word_reproduce(struct rd_buf *out, const struct finding_set *set, const char *schedule_path)
{
	rd_buf_adds(out, "raddle replay ");
	add_option(out, "setup", set->setup);
	add_option(out, "with", set->with);
	add_option(out, "plugins", set->plugins);
	if (set->timeout)
		rd_buf_addf(out, "--timeout %" PRIu64 " ", set->timeout);
	rd_buf_add_shell(out, schedule_path);
	rd_buf_adds(out, " --");
	for (size_t i = 0; i < set->argc; i++) {
		rd_buf_addc(out, ' ');
		rd_buf_add_shell(out, set->argv[i]);
	}
	if (!set->argc)
		rd_buf_adds(out, " PROG ARGS...");
	if (set->stdin_path) {
		rd_buf_adds(out, " <");
		rd_buf_add_shell(out, set->stdin_path);
	}
}

void word_evidence(struct rd_buf *out, const struct finding *f)
{
	if (!f->count)
		rd_buf_adds(out, "Only its schedule is known.");
	else if (f->recorded)
		rd_buf_adds(out, "It happened in the recorded run.");
	else if (f->schedule && f->schedule->turns && !f->schedule->goal_count)
		rd_buf_adds(out, "It happened in runs of this schedule.");
	else if (f->status == FINDING_CANDIDATE)
		rd_buf_adds(out, "It follows from the program's text alone.");
	else
		rd_buf_adds(
			out,
			f->sound ? "The prediction is sound: every read keeps its value."
				 : "The prediction is speculative: reads may get other values on the way.");
	if (f->count > 1)
		rd_buf_addf(out, " %" PRIu64 " predictions at these places are one finding.", f->count);
	if (f->k)
		rd_buf_addf(out, " %" PRIu64 " witnesses were tried.", f->k);
}

static bool is_about(const struct schedule_op *op, const struct schedule_op *other, enum word_role role)
{
	return op->object && other->object && strcmp(op->object, other->object) == 0 &&
	       word_role(op->kind) == role;
}

/* Returns true if another thread later takes the lock that operation i took, but the schedule does
 * not list the release of the lock in between. */
static bool is_taken_over(const struct schedule *s, size_t i)
{
	for (size_t k = i + 1; k < s->op_count; k++) {
		bool own = strcmp(s->ops[k].thread, s->ops[i].thread) == 0;
		if (own && is_about(&s->ops[k], &s->ops[i], WORD_RELEASE))
			return false;
		if (!own && is_about(&s->ops[k], &s->ops[i], WORD_ACQUIRE))
			return true;
	}
	return false;
}

const char *word_left_out(const struct schedule *s)
{
	for (size_t i = 0; i < s->op_count; i++)
		if (word_role(s->ops[i].kind) == WORD_ACQUIRE && is_taken_over(s, i))
			return "operations that follow by themselves, such as unlocking, are left out";
	return NULL;
}

void word_moved(const struct schedule *s, bool *moved)
{
	RD_ASSERT(moved != NULL || s->op_count == 0);
	uint64_t least = UINT64_MAX;

	for (size_t i = s->op_count; i-- > 0;) {
		uint64_t seen = s->ops[i].seen;

		moved[i] = seen > least;
		if (seen && seen < least)
			least = seen;
	}
}

static void put_collected(struct rd_buf *words, const char *name, word_fact *put, void *context)
{
	if (words->length)
		put(context, name, words->data);
	rd_buf_clear(words);
}

void word_judgement(const struct finding *f, word_fact *put, void *context)
{
	struct rd_buf words = RD_BUF_INIT;

	put(context, "Reason", f->reason);
	if (f->class != FINDING_NO_CLASS)
		rd_buf_addf(&words, "%s: %s", finding_class_name(f->class), word_class(f->class));
	put_collected(&words, "Class", put, context);
	word_models(&words, f);
	put_collected(&words, "Memory models", put, context);
	put(context, "Consequence", f->consequence);
	for (size_t i = 0; i < f->witness_count; i++) {
		word_witness(&words, &f->witnesses[i]);
		put_collected(&words, "Witness", put, context);
	}
	rd_buf_release(&words);
}
