// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the finding document as JSON (doc/format/finding.md).  It uses the streaming writer of
 * base/, which turns any bytes into valid UTF-8.  Required members are always written, as null or
 * empty if nothing is known.  The other members are written only if they have a value.
 */
#include "finding/bug.h"

#include "base/error.h"
#include "finding/json-int.h"
#include "finding/pair.h"
#include "finding/schedule.h"
#include "finding/timeline.h"

#include <stdlib.h>

bool finding_json_is_shallow(const json_t *value, unsigned depth)
{
	const char *key;
	json_t *member;
	size_t i;

	if (depth > FINDING_JSON_DEPTH)
		return false;
	json_object_foreach((json_t *)value, key,
			    member) if (!finding_json_is_shallow(member, depth + 1)) return false;
	json_array_foreach(value, i, member) if (!finding_json_is_shallow(member, depth + 1)) return false;
	return true;
}

static void put_value(struct rd_json *j, const char *name, json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		rd_json_object(j, name);
		json_object_foreach(value, key, member) put_value(j, key, member);
		rd_json_end(j);
		break;
	case JSON_ARRAY:
		rd_json_array(j, name);
		json_array_foreach(value, i, member) put_value(j, NULL, member);
		rd_json_end(j);
		break;
	case JSON_STRING: rd_json_string(j, name, json_string_value(value)); break;
	case JSON_INTEGER: rd_json_number(j, name, json_integer_value(value)); break;
	case JSON_REAL: rd_json_double(j, name, json_real_value(value)); break;
	case JSON_TRUE:
	case JSON_FALSE: rd_json_bool(j, name, json_is_true(value)); break;
	case JSON_NULL: rd_json_null(j, name); break;
	}
}

/* Writes JSON text as a value.  Invalid text or NULL becomes null. */
static void finding_json_put(struct rd_json *j, const char *name, const char *text)
{
	json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;

	if (value && finding_json_is_shallow(value, 1))
		put_value(j, name, value);
	else
		rd_json_null(j, name);
	json_decref(value);
}

/* --- parts of a finding --- */

static void put_optional(struct rd_json *j, const char *name, const char *value)
{
	if (value)
		rd_json_string(j, name, value);
}

static void put_count(struct rd_json *j, const char *name, uint64_t value)
{
	if (value)
		rd_json_unsigned(j, name, value);
}

static void put_frame(struct rd_json *j, const struct finding_frame *f)
{
	rd_json_string(j, "file", f->file);
	rd_json_unsigned(j, "line", f->line);
	put_count(j, "column", f->column);
	rd_json_string(j, "function", f->function);
}

static void put_stack(struct rd_json *j, const char *name, const struct finding_stack *s)
{
	rd_json_array(j, name);
	for (size_t i = 0; i < s->count; i++) {
		rd_json_object(j, NULL);
		put_frame(j, &s->frames[i]);
		put_optional(j, "module", s->frames[i].module);
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void put_locks(struct rd_json *j, const char *name, const struct finding_lock *locks, size_t count)
{
	rd_json_array(j, name);
	for (size_t i = 0; i < count; i++) {
		rd_json_object(j, NULL);
		rd_json_string(j, "name", locks[i].name);
		rd_json_string(j, "kind", locks[i].kind);
		if (locks[i].shared)
			rd_json_bool(j, "shared", true);
		put_stack(j, "stack", &locks[i].stack);
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void put_access(struct rd_json *j, const struct finding_access *a)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("thread", a->thread), RD_JS("op", finding_op_name(a->op)),
		RD_JB("atomic", a->atomic));
	put_count(j, "size", a->size);
	put_optional(j, "what", a->what);
	put_count(j, "ordinal", a->ordinal);
	if (a->subject)
		rd_json_string(j, "subject", a->subject);
	put_frame(j, finding_top(&a->stack));
	put_stack(j, "stack", &a->stack);
	put_locks(j, "locks", a->locks, a->lock_count);
	rd_json_end(j);
}

static void put_wait(struct rd_json *j, const struct finding_wait *w)
{
	rd_json_object(j, NULL);
	rd_json_string(j, "thread", w->thread);
	put_locks(j, "holds", w->holds, w->hold_count);
	rd_json_string(j, "wants", w->wants);
	rd_json_string(j, "kind", w->kind);
	if (w->shared)
		rd_json_bool(j, "shared", true);
	put_count(j, "ordinal", w->ordinal);
	put_frame(j, finding_top(&w->stack));
	put_stack(j, "stack", &w->stack);
	rd_json_end(j);
}

static void put_object(struct rd_json *j, const struct finding_object *o)
{
	rd_json_string(j, "object", o->name);
	rd_json_object(j, "object_detail");
	rd_json_string(j, "kind", finding_object_kind_name(o->kind));
	put_optional(j, "type", o->type);
	put_optional(j, "place", o->place);
	put_count(j, "size", o->size);
	put_optional(j, "thread", o->thread);
	put_stack(j, "stack", &o->stack);
	rd_json_end(j);
}

static void put_threads(struct rd_json *j, const struct finding *f)
{
	RD_JSON_OBJECTS (j, "threads", i, f->thread_count) {
		rd_json_string(j, "name", f->threads[i].name);
		put_optional(j, "label", f->threads[i].label);
		put_stack(j, "created", &f->threads[i].created);
	}
}

/* ---- the schedule ---- */

static void put_place(struct rd_json *j, const struct schedule_place *p)
{
	struct finding_frame frame = {
		.file = p->file, .line = p->line, .column = p->column, .function = p->function};

	put_frame(j, &frame);
}

static void put_ops(struct rd_json *j, const struct schedule *s)
{
	RD_JSON_OBJECTS (j, "ops", i, s->op_count) {
		const struct schedule_op *op = &s->ops[i];

		RD_JSON(j, RD_JS("thread", op->thread), RD_JU("n", op->n), RD_JS("kind", op->kind),
			RD_JS("object", op->object));
		put_count(j, "seen", op->seen);
		put_place(j, &op->place);
	}
	RD_JSON_OBJECTS (j, "limits", i, s->limit_count) {
		rd_json_string(j, "thread", s->limits[i].thread);
		rd_json_unsigned(j, "n", s->limits[i].n);
	}
}

static void put_ends(struct rd_json *j, const struct schedule *s)
{
	RD_JSON_OBJECTS (j, "holds", i, s->goal_count) {
		const struct schedule_goal *h = &s->goals[i];

		RD_JSON(j, RD_JS("thread", h->thread), RD_JU("after", h->after), RD_JU("site", h->site),
			RD_JU("occurrence", h->occurrence),
			RD_JS("op", finding_op_name(h->write ? FINDING_WRITE : FINDING_READ)),
			RD_JS("object", h->object));
		put_place(j, &h->place);
	}
	RD_JSON_OBJECTS (j, "stops", i, s->stop_count) {
		const struct schedule_stop *t = &s->stops[i];

		RD_JSON(j, RD_JS("thread", t->thread), RD_JU("n", t->n), RD_JS("kind", t->kind),
			RD_JS("object", t->object));
		put_place(j, &t->place);
	}
}

static void put_watch(struct rd_json *j, const struct schedule_watch *w)
{
	rd_json_object(j, NULL);
	put_optional(j, "thread", w->thread);
	if (w->after != SCHEDULE_ALWAYS)
		rd_json_unsigned(j, "after", w->after);
	rd_json_unsigned(j, "site", w->site);
	rd_json_unsigned(j, "occurrence", w->occurrence);
	if (w->reads != w->writes)
		rd_json_string(j, "op", finding_op_name(w->writes ? FINDING_WRITE : FINDING_READ));
	put_optional(j, "object", w->object);
	put_place(j, &w->place);
	rd_json_end(j);
}

static void put_turns(struct rd_json *j, const struct schedule *s)
{
	rd_json_bool(j, "turns", true);
	put_optional(j, "flavour", s->flavour);
	put_optional(j, "first", s->first);
	put_optional(j, "front", s->front);
	put_count(j, "seed", s->seed);
	rd_json_array(j, "watches");
	for (size_t i = 0; i < s->watch_count; i++)
		put_watch(j, &s->watches[i]);
	rd_json_end(j);
	RD_JSON_OBJECTS (j, "decisions", i, s->decision_count) {
		const struct schedule_decision *d = &s->decisions[i];

		RD_JSON(j, RD_JS("thread", d->thread), RD_JU("n", d->n), RD_JS("point", d->point),
			RD_JU("count", d->count), RD_JS("next", d->next));
		put_place(j, &d->place);
	}
}

static void put_memory(struct rd_json *j, const struct schedule *s)
{
	rd_json_string(j, "memory", s->memory);
	put_count(j, "memory_seed", s->memory_seed);
	RD_JSON_OBJECTS (j, "tracks", i, s->track_count) {
		rd_json_unsigned(j, "site", s->tracks[i].site);
		rd_json_string(j, "op", finding_op_name(s->tracks[i].write ? FINDING_WRITE : FINDING_READ));
		put_place(j, &s->tracks[i].place);
	}
	RD_JSON_OBJECTS (j, "choices", i, s->choice_count) {
		const struct schedule_choice *c = &s->choices[i];

		RD_JSON(j, RD_JU("at", c->at), RD_JU("from", c->from), RD_JU("taken", c->taken));
		put_optional(j, "thread", c->thread);
		put_place(j, &c->place);
	}
}

static void put_schedule(struct rd_json *j, const char *name, const struct schedule *s)
{
	rd_json_object(j, name);
	rd_json_number(j, "version", schedule_version(s));
	put_optional(j, "program", s->program);
	put_optional(j, "trace", s->trace);
	if (s->anywhere)
		rd_json_bool(j, "anywhere", true);
	if (s->nowhere)
		rd_json_bool(j, "nowhere", true);
	if (s->handed)
		rd_json_bool(j, "handed", true);
	put_optional(j, "edits", s->edits);
	put_optional(j, "input", s->input);
	if (s->keep[0]) {
		rd_json_number(j, "keep_first", s->keep[0]);
		rd_json_number(j, "keep_second", s->keep[1]);
	}
	put_ops(j, s);
	put_ends(j, s);
	if (s->turns)
		put_turns(j, s);
	if (s->memory)
		put_memory(j, s);
	rd_json_end(j);
}

/* ---- classes and witnesses ---- */

static void put_classes(struct rd_json *j, const struct finding *f)
{
	bool any = false;

	for (unsigned i = 0; i < FINDING_MODELS; i++) {
		if (f->classes[i] == FINDING_NO_CLASS)
			continue;
		if (!any)
			rd_json_object(j, "classes");
		any = true;
		rd_json_string(j, finding_model_name(i), finding_class_name(f->classes[i]));
	}
	if (any)
		rd_json_end(j);
}

static void put_witness(struct rd_json *j, const char *name, const struct finding_witness *w, bool whole)
{
	rd_json_object(j, name);
	rd_json_string(j, "class", finding_class_name(w->class));
	rd_json_string(j, "model", finding_model_name(w->model));
	put_optional(j, "consequence", w->consequence);
	put_optional(j, "seen", w->seen);
	put_count(j, "runs", w->runs);
	finding_json_put(j, "input", w->input);
	rd_json_string(j, "schedule", w->schedule_path);
	if (w->schedule && whole)
		put_schedule(j, "schedule_inline", w->schedule);
	rd_json_end(j);
}

/* The first witness is also written separately, without its schedule, for simple readers. */
static void put_witnesses(struct rd_json *j, const struct finding *f)
{
	if (!f->witness_count)
		return;
	put_witness(j, "witness", &f->witnesses[0], false);
	rd_json_array(j, "witnesses");
	for (size_t i = 0; i < f->witness_count; i++)
		put_witness(j, NULL, &f->witnesses[i], true);
	rd_json_end(j);
}

/* ---- the document ---- */

static void put_verdict(struct rd_json *j, const struct finding *f)
{
	RD_JSON(j, RD_JS("id", *f->id ? f->id : NULL),
		RD_JS("fingerprint", *f->fingerprint ? f->fingerprint : NULL),
		RD_JS("kind", finding_kind_name(f->kind)), RD_JS("status", finding_status_name(f->status)));
	put_optional(j, "reason", f->reason);
	rd_json_string(j, "class", finding_class_name(f->class));
	put_classes(j, f);
	RD_JSON(j, RD_JS("consequence", f->consequence), RD_JB("sound", f->sound), RD_JB("known", f->known));
	if (f->recorded)
		rd_json_bool(j, "recorded", true);
	if (f->observed)
		rd_json_bool(j, "observed", true);
	put_optional(j, "firm", f->firm);
	if (f->unordered)
		rd_json_string(j, "seen", "unordered");
	put_optional(j, "suppressed", f->suppressed);
	rd_json_unsigned(j, "count", f->count);
}

static void put_finding(struct rd_json *j, const struct finding *f)
{
	rd_json_object(j, NULL);
	put_verdict(j, f);
	put_optional(j, "detail", finding_detail_name(finding_detail(f)));
	put_object(j, &f->object);
	rd_json_array(j, "accesses");
	for (size_t i = 0; i < f->access_count; i++)
		put_access(j, &f->accesses[i]);
	rd_json_end(j);
	rd_json_array(j, "cycle");
	for (size_t i = 0; i < f->cycle_count; i++)
		put_wait(j, &f->cycle[i]);
	rd_json_end(j);
	put_threads(j, f);
	rd_json_string(j, "schedule", f->schedule_path);
	if (f->schedule)
		put_schedule(j, "schedule_inline", f->schedule);
	rd_json_unsigned(j, "k", f->k);
	finding_json_put(j, "input", f->input);
	put_witnesses(j, f);
	rd_json_strings(j, "notes", f->notes, f->note_count);
	if (f->class_notes)
		rd_json_unsigned(j, "class_notes", f->class_notes);
	rd_json_end(j);
}

/* ---- bugs ---- */

static void put_timeline(struct rd_json *j, const struct finding *f)
{
	struct finding_timeline t;

	finding_timeline_make(&t, f);
	RD_JSON_OBJECTS (j, "timeline", i, t.count) {
		const struct finding_step *step = &t.steps[i];

		rd_json_unsigned(j, "step", i + 1);
		put_optional(j, "thread", step->thread);
		put_frame(j, &step->place);
		put_optional(j, "event", step->event);
		rd_json_array(j, "marks");
		if (step->last)
			rd_json_string(j, NULL, "failure");
		rd_json_end(j);
	}
	finding_timeline_release(&t);
}

static void put_bug(struct rd_json *j, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];
	struct rd_buf words = RD_BUF_INIT;

	rd_json_string(j, "id", bug->id);
	finding_bug_title(&words, bug);
	rd_json_string(j, "title", words.data);
	RD_JSON(j, RD_JS("severity", finding_severity_name(finding_severity(f))),
		RD_JS("status", finding_status_name(f->status)), RD_JS("class", finding_class_name(f->class)),
		RD_JS("consequence", f->consequence), RD_JB("known", f->known));
	put_optional(j, "suppressed", f->suppressed);
	rd_buf_clear(&words);
	finding_why(&words, bug);
	rd_json_string(j, "why", words.length ? words.data : NULL);
	rd_json_string(j, "fix", NULL);
	rd_json_array(j, "findings");
	for (size_t i = 0; i < bug->count; i++)
		rd_json_string(j, NULL, bug->findings[i]->id);
	rd_json_end(j);
	put_timeline(j, f);
	rd_buf_release(&words);
}

static void put_bugs(struct rd_json *j, const struct finding_set *set)
{
	struct finding_bugs bugs;

	finding_bugs_list(&bugs, set);
	rd_json_array(j, "bugs");
	for (size_t i = 0; i < bugs.count; i++) {
		rd_json_object(j, NULL);
		put_bug(j, &bugs.items[i]);
		rd_json_end(j);
	}
	rd_json_end(j);
	finding_bugs_release(&bugs);
}

static void put_covered(struct rd_json *j, const struct finding_frame *f)
{
	rd_json_object(j, NULL);
	put_frame(j, f);
	rd_json_end(j);
}

static void put_coverage(struct rd_json *j, const struct finding_set *set)
{
	RD_JSON_OBJECTS (j, "coverage", i, set->pair_count) {
		const struct finding_pair *p = &set->pairs[i];

		rd_json_array(j, "places");
		put_covered(j, &p->place[0]);
		put_covered(j, &p->place[1]);
		rd_json_end(j);
		put_optional(j, "object", p->object);
		rd_json_string(j, "kind", p->lock ? "locks" : "accesses");
		rd_json_array(j, "first");
		rd_json_unsigned(j, NULL, p->first[0]);
		rd_json_unsigned(j, NULL, p->first[1]);
		rd_json_end(j);
	}
}

static int finish(FILE *out)
{
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the findings");
}

int finding_write(const struct finding_set *set, FILE *out)
{
	RD_ASSERT(out != NULL);
	struct rd_json j;

	rd_json_begin(&j, out);
	j.indent = true;
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", FINDING_VERSION);
	rd_json_string(&j, "raddle", set->tool);
	rd_json_strings(&j, "argv", set->argv, set->argc);
	put_optional(&j, "stdin", set->stdin_path);
	put_optional(&j, "with", set->with);
	put_optional(&j, "setup", set->setup);
	put_optional(&j, "plugins", set->plugins);
	put_count(&j, "timeout", set->timeout);
	put_bugs(&j, set);
	rd_json_array(&j, "findings");
	for (size_t i = 0; i < set->count; i++)
		put_finding(&j, set->items[i]);
	rd_json_end(&j);
	if (set->pair_count)
		put_coverage(&j, set);
	rd_json_object(&j, "stats");
	for (size_t i = 0; i < set->stat_count; i++)
		finding_json_put(&j, set->stats[i].name, set->stats[i].json);
	rd_json_end(&j);
	rd_json_end(&j);
	return finish(out);
}

int finding_format(const struct finding_set *set, struct rd_buf *out)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	int err = memory ? finding_write(set, memory) : rd_fail_errno("cannot write the findings");

	if (memory && fclose(memory) == 0 && !err)
		rd_buf_add(out, text, length);
	free(text);
	return err;
}

int finding_write_schedule(const struct schedule *schedule, FILE *out)
{
	RD_ASSERT(schedule != NULL && out != NULL);
	struct rd_json j;

	rd_json_begin(&j, out);
	j.indent = true;
	put_schedule(&j, NULL, schedule);
	return finish(out);
}
