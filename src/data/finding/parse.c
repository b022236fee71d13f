// SPDX-License-Identifier: Apache-2.0
/*
 * Reads finding documents, by turning a JSON tree (base/json-read.h) into findings.  An unknown
 * word, or a member of the wrong type, is an error.  An unknown member is ignored.
 *
 * Other tools may write an access with a file and a line but no stack.  Such an access gets a stack
 * of one frame.
 */
#include "finding/finding.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/file.h"
#include "base/json-read.h"
#include "finding/json-int.h"
#include "finding/schedule.h"

#include <stdlib.h>
#include <string.h>

/* The state of the parser.  The first invalid member stops it. */
struct finding_parse {
	struct rd_json_read read;
	struct finding_set *set;
	/* The schedule that owns the strings that are read, or NULL if the set owns them. */
	struct schedule *schedule;
};

static void fail_member(struct finding_parse *p, const char *key, const char *what)
{
	rd_json_wrong(&p->read, key, what);
}

static json_t *member(struct finding_parse *p, const json_t *object, const char *key, json_type type)
{
	return rd_json_member(&p->read, object, key, type);
}

static const char *get_text(struct finding_parse *p, const json_t *object, const char *key)
{
	const char *text = rd_json_get_text(&p->read, object, key);

	return p->schedule ? schedule_text(p->schedule, text) : finding_text(p->set, text);
}

static uint64_t get_number(struct finding_parse *p, const json_t *object, const char *key, uint64_t max)
{
	return rd_json_get_number(&p->read, object, key, max);
}

static uint32_t get_u32(struct finding_parse *p, const json_t *object, const char *key)
{
	return (uint32_t)get_number(p, object, key, UINT32_MAX);
}

static bool get_bool(struct finding_parse *p, const json_t *object, const char *key)
{
	return rd_json_get_bool(&p->read, object, key);
}

/* Returns the index of the member's word among the names, or `absent` if there is no such
 * member. */
static unsigned get_word(struct finding_parse *p, const json_t *object, const char *key,
			 const char *(*name)(unsigned), unsigned absent)
{
	const char *text = rd_json_get_text(&p->read, object, key);

	if (!text)
		return absent;
	for (unsigned i = 0; name(i) || i == 0; i++)
		if (name(i) && strcmp(name(i), text) == 0)
			return i;
	fail_member(p, key, "has an unknown value");
	return absent;
}

#define FINDING_NAME(what, count)                                                                            \
	static const char *what##_word(unsigned i)                                                           \
	{                                                                                                    \
		return i < count ? finding_##what##_name(i) : NULL;                                          \
	}
FINDING_NAMED(FINDING_NAME)
#undef FINDING_NAME

/* ---- arrays of objects ---- */

typedef void element_fn(struct finding_parse *p, const json_t *object, void *element);

/* Makes an array of the elements of a JSON array.  `fn` reads each element. */
static void *get_array(struct finding_parse *p, const json_t *array, size_t *count, size_t size,
		       element_fn *fn)
{
	size_t n = json_array_size(array);
	char *elements = finding_array(p->set, n, size);

	for (size_t i = 0; i < n && !p->read.err; i++) {
		const json_t *object = json_array_get(array, i);

		if (!json_is_object(object))
			fail_member(p, "element of an array", "is not an object");
		else
			fn(p, object, elements + i * size);
	}
	*count = n;
	return elements;
}

static void get_frame(struct finding_parse *p, const json_t *object, void *element)
{
	struct finding_frame *f = element;

	f->function = get_text(p, object, "function");
	f->file = get_text(p, object, "file");
	f->module = get_text(p, object, "module");
	f->line = get_u32(p, object, "line");
	f->column = get_u32(p, object, "column");
}

static void get_stack(struct finding_parse *p, const json_t *object, const char *key, struct finding_stack *s)
{
	json_t *frames = member(p, object, key, JSON_ARRAY);

	s->frames = get_array(p, frames, &s->count, sizeof *s->frames, get_frame);
}

static void get_stack_or_place(struct finding_parse *p, const json_t *object, struct finding_stack *s)
{
	get_stack(p, object, "stack", s);
	if (s->count || !json_object_get(object, "file"))
		return;
	s->frames = finding_array(p->set, 1, sizeof *s->frames);
	s->count = 1;
	get_frame(p, object, s->frames);
}

static void get_lock(struct finding_parse *p, const json_t *object, void *element)
{
	struct finding_lock *l = element;

	l->name = get_text(p, object, "name");
	l->kind = get_text(p, object, "kind");
	l->shared = get_bool(p, object, "shared");
	get_stack(p, object, "stack", &l->stack);
}

static void get_access(struct finding_parse *p, const json_t *object, void *element)
{
	struct finding_access *a = element;
	json_t *locks = member(p, object, "locks", JSON_ARRAY);

	a->thread = get_text(p, object, "thread");
	a->what = get_text(p, object, "what");
	a->op = get_word(p, object, "op", op_word, FINDING_READ);
	a->atomic = get_bool(p, object, "atomic");
	a->size = get_u32(p, object, "size");
	a->ordinal = get_u32(p, object, "ordinal");
	a->subject = get_text(p, object, "subject");
	get_stack_or_place(p, object, &a->stack);
	a->locks = get_array(p, locks, &a->lock_count, sizeof *a->locks, get_lock);
}

static void get_wait(struct finding_parse *p, const json_t *object, void *element)
{
	struct finding_wait *w = element;
	json_t *holds = member(p, object, "holds", JSON_ARRAY);

	w->thread = get_text(p, object, "thread");
	w->wants = get_text(p, object, "wants");
	w->kind = get_text(p, object, "kind");
	w->shared = get_bool(p, object, "shared");
	w->ordinal = get_u32(p, object, "ordinal");
	get_stack_or_place(p, object, &w->stack);
	w->holds = get_array(p, holds, &w->hold_count, sizeof *w->holds, get_lock);
}

static void get_thread(struct finding_parse *p, const json_t *object, void *element)
{
	struct finding_thread *t = element;

	t->name = get_text(p, object, "name");
	t->label = get_text(p, object, "label");
	get_stack(p, object, "created", &t->created);
}

static void get_object(struct finding_parse *p, const json_t *object, struct finding_object *o)
{
	json_t *detail = member(p, object, "object_detail", JSON_OBJECT);

	o->name = get_text(p, object, "object");
	o->type = get_text(p, detail, "type");
	o->place = get_text(p, detail, "place");
	o->kind = get_word(p, detail, "kind", object_kind_word, FINDING_OBJECT_UNKNOWN);
	o->thread = get_text(p, detail, "thread");
	o->size = get_number(p, detail, "size", INT64_MAX);
	get_stack(p, detail, "stack", &o->stack);
}

/* ---- the schedule ---- */

static const char *get_name(struct finding_parse *p, const json_t *object, const char *key)
{
	const char *text = get_text(p, object, key);

	if (!text || !schedule_is_word(text))
		fail_member(p, key, "is missing in the schedule, or is not a name");
	return text ? text : "";
}

static struct schedule_place get_place(struct finding_parse *p, const json_t *object)
{
	return (struct schedule_place){
		.file = get_text(p, object, "file"),
		.function = get_text(p, object, "function"),
		.line = get_u32(p, object, "line"),
		.column = get_u32(p, object, "column"),
	};
}

static void get_op(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_op *op = schedule_add_op(p->schedule);

	(void)element;
	op->thread = get_name(p, object, "thread");
	op->n = get_number(p, object, "n", INT64_MAX);
	op->kind = get_name(p, object, "kind");
	op->object = get_text(p, object, "object");
	op->seen = get_number(p, object, "seen", INT64_MAX);
	op->place = get_place(p, object);
}

static void get_limit(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_limit *l = schedule_add_limit(p->schedule);

	(void)element;
	l->thread = get_name(p, object, "thread");
	l->n = get_number(p, object, "n", INT64_MAX);
}

static void get_goal(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_goal *h = schedule_add_goal(p->schedule);

	(void)element;
	h->thread = get_name(p, object, "thread");
	h->after = get_number(p, object, "after", INT64_MAX);
	h->site = get_u32(p, object, "site");
	h->occurrence = get_number(p, object, "occurrence", INT64_MAX);
	h->write = get_word(p, object, "op", op_word, FINDING_READ) == FINDING_WRITE;
	h->object = get_text(p, object, "object");
	h->place = get_place(p, object);
}

static void get_stop(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_stop *t = schedule_add_stop(p->schedule);

	(void)element;
	t->thread = get_name(p, object, "thread");
	t->n = get_number(p, object, "n", INT64_MAX);
	t->kind = get_name(p, object, "kind");
	t->object = get_text(p, object, "object");
	t->place = get_place(p, object);
}

static void get_watch(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_watch *w = schedule_add_watch(p->schedule);
	bool both = !json_object_get(object, "op");

	(void)element;
	w->thread = json_object_get(object, "thread") ? get_name(p, object, "thread") : NULL;
	if (json_object_get(object, "after"))
		w->after = get_number(p, object, "after", INT64_MAX);
	w->site = get_u32(p, object, "site");
	w->occurrence = get_number(p, object, "occurrence", INT64_MAX);
	w->writes = both || get_word(p, object, "op", op_word, FINDING_READ) == FINDING_WRITE;
	w->reads = both || !w->writes;
	w->object = get_text(p, object, "object");
	w->place = get_place(p, object);
}

static void get_decision(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_decision *d = schedule_add_decision(p->schedule);

	(void)element;
	d->thread = get_name(p, object, "thread");
	d->n = get_number(p, object, "n", INT64_MAX);
	d->point = get_name(p, object, "point");
	d->count = get_u32(p, object, "count");
	d->next = get_name(p, object, "next");
	d->place = get_place(p, object);
}

static void get_track(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_track *t = schedule_add_track(p->schedule);

	(void)element;
	t->site = get_u32(p, object, "site");
	t->write = get_word(p, object, "op", op_word, FINDING_READ) == FINDING_WRITE;
	t->place = get_place(p, object);
}

static void get_choice(struct finding_parse *p, const json_t *object, void *element)
{
	struct schedule_choice *c = schedule_add_choice(p->schedule);

	(void)element;
	c->at = get_number(p, object, "at", INT64_MAX);
	c->from = get_u32(p, object, "from");
	c->taken = get_u32(p, object, "taken");
	c->thread = json_object_get(object, "thread") ? get_name(p, object, "thread") : NULL;
	c->place = get_place(p, object);
}

static void get_records(struct finding_parse *p, const json_t *object, const char *key, element_fn *fn)
{
	size_t count;

	get_array(p, member(p, object, key, JSON_ARRAY), &count, 1, fn);
}

/* Returns NULL if the object has no schedule. */
static struct schedule *get_schedule(struct finding_parse *p, const json_t *object, const struct finding *f)
{
	json_t *inlined = member(p, object, "schedule_inline", JSON_OBJECT);

	if (!inlined)
		return NULL;
	struct schedule *s = p->schedule = finding_schedule_new(p->set);
	s->finding = schedule_text(s, f->id);
	p->schedule->program = get_text(p, inlined, "program");
	p->schedule->trace = get_text(p, inlined, "trace");
	p->schedule->speculative = !f->sound;
	p->schedule->anywhere = get_bool(p, inlined, "anywhere");
	p->schedule->nowhere = get_bool(p, inlined, "nowhere");
	p->schedule->handed = get_bool(p, inlined, "handed");
	p->schedule->keep[0] = (uint32_t)get_number(p, inlined, "keep_first", INT32_MAX);
	p->schedule->keep[1] = (uint32_t)get_number(p, inlined, "keep_second", INT32_MAX);
	p->schedule->edits = get_text(p, inlined, "edits");
	p->schedule->input = get_text(p, inlined, "input");
	get_records(p, inlined, "ops", get_op);
	get_records(p, inlined, "limits", get_limit);
	get_records(p, inlined, "holds", get_goal);
	get_records(p, inlined, "stops", get_stop);
	p->schedule->turns = get_bool(p, inlined, "turns");
	p->schedule->first = json_object_get(inlined, "first") ? get_name(p, inlined, "first") : NULL;
	p->schedule->front = json_object_get(inlined, "front") ? get_name(p, inlined, "front") : NULL;
	p->schedule->flavour = json_object_get(inlined, "flavour") ? get_name(p, inlined, "flavour") : NULL;
	p->schedule->seed = get_number(p, inlined, "seed", INT64_MAX);
	get_records(p, inlined, "watches", get_watch);
	get_records(p, inlined, "decisions", get_decision);
	p->schedule->memory = json_object_get(inlined, "memory") ? get_name(p, inlined, "memory") : NULL;
	p->schedule->memory_seed = get_number(p, inlined, "memory_seed", INT64_MAX);
	get_records(p, inlined, "tracks", get_track);
	get_records(p, inlined, "choices", get_choice);
	const char *wrong = p->read.err ? NULL : schedule_check(p->schedule);
	if (wrong)
		fail_member(p, "schedule_inline", wrong);
	p->schedule = NULL;
	return s;
}

/* ---- the document ---- */

/* Returns any JSON value as text. */
static const char *get_json(struct finding_parse *p, const json_t *value, const char *key)
{
	if (!value || json_is_null(value))
		return NULL;
	if (!finding_json_is_shallow(value, 1)) {
		fail_member(p, key, "is nested too deep");
		return NULL;
	}
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	const char *copy = finding_text(p->set, text);
	free(text);
	return copy;
}

static void get_id(struct finding_parse *p, const json_t *object, const char *key, char id[FINDING_ID_SIZE])
{
	const char *text = rd_json_get_text(&p->read, object, key);

	if (!text)
		return;
	if (!rd_is_hex(text, FINDING_ID_SIZE - 1))
		fail_member(p, key, "is not 16 hex digits");
	else
		memcpy(id, text, FINDING_ID_SIZE);
}

/* Reads the classes.  `class` is the worst of `classes`.  Older documents have only `class`. */
static void get_classes(struct finding_parse *p, const json_t *object, struct finding *f)
{
	json_t *classes = member(p, object, "classes", JSON_OBJECT);
	enum finding_class class = f->class;
	size_t known = 0;

	for (unsigned i = 0; classes && i < FINDING_MODELS; i++) {
		known += json_object_get(classes, model_word(i)) != NULL;
		finding_classify(f, i, get_word(p, classes, model_word(i), class_word, FINDING_NO_CLASS));
	}
	if (known != json_object_size(classes))
		fail_member(p, "classes", "names an unknown memory model");
	if (class != FINDING_NO_CLASS && class != f->class)
		fail_member(p, "class", "is not the worst of \"classes\"");
}

static void get_witness(struct finding_parse *p, const json_t *object, struct finding *f)
{
	struct finding_witness w = {
		.class = get_word(p, object, "class", class_word, FINDING_NO_CLASS),
		.model = get_word(p, object, "model", model_word, FINDING_SC),
		.consequence = get_text(p, object, "consequence"),
		.seen = get_text(p, object, "seen"),
		.runs = get_number(p, object, "runs", INT64_MAX),
		.input = get_json(p, member(p, object, "input", JSON_OBJECT), "input"),
		.schedule_path = get_text(p, object, "schedule"),
		.schedule = get_schedule(p, object, f),
	};

	finding_add_witness(p->set, f, &w);
}

static void get_witnesses(struct finding_parse *p, const json_t *object, struct finding *f)
{
	json_t *witnesses = member(p, object, "witnesses", JSON_ARRAY);
	json_t *alone = member(p, object, "witness", JSON_OBJECT);
	const char *input = f->input;

	if (alone && !json_array_size(witnesses))
		get_witness(p, alone, f);
	for (size_t i = 0; i < json_array_size(witnesses) && !p->read.err; i++) {
		if (json_is_object(json_array_get(witnesses, i)))
			get_witness(p, json_array_get(witnesses, i), f);
		else
			fail_member(p, "witnesses", "has an element that is not an object");
	}
	if (input)
		f->input = input;
}

static bool is_unordered(const char *seen)
{
	return seen && !strcmp(seen, "unordered");
}

static void get_verdict(struct finding_parse *p, const json_t *object, struct finding *f)
{
	get_id(p, object, "id", f->id);
	get_id(p, object, "fingerprint", f->fingerprint);
	f->status = get_word(p, object, "status", status_word, FINDING_UNCONFIRMED);
	f->reason = get_text(p, object, "reason");
	f->class = get_word(p, object, "class", class_word, FINDING_NO_CLASS);
	f->consequence = get_text(p, object, "consequence");
	f->sound = get_bool(p, object, "sound");
	f->known = get_bool(p, object, "known");
	f->recorded = get_bool(p, object, "recorded");
	f->observed = get_bool(p, object, "observed");
	f->firm = get_text(p, object, "firm");
	f->unordered = is_unordered(get_text(p, object, "seen"));
	f->suppressed = get_text(p, object, "suppressed");
	f->schedule_path = get_text(p, object, "schedule");
	f->k = get_number(p, object, "k", INT64_MAX);
	f->count = get_number(p, object, "count", INT64_MAX / 2);
	if (!f->count)
		f->count = 1;
	f->input = get_json(p, member(p, object, "input", JSON_OBJECT), "input");
}

static void get_notes(struct finding_parse *p, const json_t *object, struct finding *f)
{
	json_t *notes = member(p, object, "notes", JSON_ARRAY);
	size_t n = json_array_size(notes);

	f->notes = finding_array(p->set, n, sizeof *f->notes);
	for (size_t i = 0; i < n; i++)
		f->notes[i] = finding_text(p->set, rd_json_get_item(&p->read, notes, "notes", i));
	f->note_count = n;
	f->class_notes = get_number(p, object, "class_notes", n);
}

static void get_finding(struct finding_parse *p, const json_t *object)
{
	if (!json_is_object(object)) {
		fail_member(p, "findings", "has an element that is not an object");
		return;
	}
	struct finding *f = finding_add(p->set, get_word(p, object, "kind", kind_word, FINDING_RACE));
	json_t *accesses = member(p, object, "accesses", JSON_ARRAY);
	json_t *cycle = member(p, object, "cycle", JSON_ARRAY);
	json_t *threads = member(p, object, "threads", JSON_ARRAY);

	get_verdict(p, object, f);
	get_object(p, object, &f->object);
	f->accesses = get_array(p, accesses, &f->access_count, sizeof *f->accesses, get_access);
	f->cycle = get_array(p, cycle, &f->cycle_count, sizeof *f->cycle, get_wait);
	f->threads = get_array(p, threads, &f->thread_count, sizeof *f->threads, get_thread);
	get_notes(p, object, f);
	f->schedule = get_schedule(p, object, f);
	get_classes(p, object, f);
	get_witnesses(p, object, f);
}

static void get_argv(struct finding_parse *p, const json_t *document)
{
	json_t *argv = member(p, document, "argv", JSON_ARRAY);
	size_t n = json_array_size(argv);

	p->set->argv = finding_array(p->set, n, sizeof *p->set->argv);
	for (size_t i = 0; i < n; i++)
		p->set->argv[i] = finding_text(p->set, rd_json_get_item(&p->read, argv, "argv", i));
	p->set->argc = n;
	p->set->stdin_path = get_text(p, document, "stdin");
	p->set->with = get_text(p, document, "with");
	p->set->setup = get_text(p, document, "setup");
	p->set->plugins = get_text(p, document, "plugins");
	p->set->timeout = get_number(p, document, "timeout", INT32_MAX);
}

static void get_stats(struct finding_parse *p, const json_t *document)
{
	json_t *stats = member(p, document, "stats", JSON_OBJECT);
	struct finding_set *set = p->set;
	const char *key;
	json_t *value;

	json_object_foreach(stats, key, value)
	{
		const char *text = get_json(p, value, key);

		RD_GROW(set->stats, set->stat_capacity, set->stat_count + 1);
		set->stats[set->stat_count++] =
			(struct finding_stat){finding_text(set, key), text ? text : "null"};
	}
}

static void get_document(struct finding_parse *p, const json_t *document)
{
	json_t *version = json_object_get(document, "version");
	json_t *findings = json_object_get(document, "findings");

	if (!json_is_integer(version) || !json_is_array(findings)) {
		p->read.err = rd_fail(RD_EFORMAT, "findings: %s: not a finding document", p->read.name);
		return;
	}
	if (json_integer_value(version) != FINDING_VERSION) {
		p->read.err = rd_fail(RD_EVERSION, "findings: %s: unknown version %lld; this Raddle reads %d",
				      p->read.name, (long long)json_integer_value(version), FINDING_VERSION);
		return;
	}
	p->set->tool = get_text(p, document, "raddle");
	get_argv(p, document);
	for (size_t i = 0; i < json_array_size(findings) && !p->read.err; i++) {
		p->read.part = "finding";
		p->read.number = i + 1;
		get_finding(p, json_array_get(findings, i));
	}
	p->read.part = NULL;
	get_stats(p, document);
}

int finding_parse(struct finding_set **set, const void *data, size_t length, const char *name)
{
	RD_ASSERT(set != NULL && name != NULL);
	struct finding_parse p = {.read = {.subject = "findings", .name = name}};
	json_t *document = rd_json_load(&p.read, data, length);

	if (!document)
		return p.read.err;
	p.set = finding_set_new();
	get_document(&p, document);
	json_decref(document);
	if (p.read.err)
		finding_set_free(p.set);
	else
		*set = p.set;
	return p.read.err;
}

int finding_read(struct finding_set **set, const char *path)
{
	return RD_WITH_FILE(path, RD_TEXT_MAX, text, finding_parse(set, text.data, text.length, path));
}
