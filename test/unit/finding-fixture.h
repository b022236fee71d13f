/* SPDX-License-Identifier: Apache-2.0 */
/* A set of findings for the tests of finding/ and report/: a race, a deadlock, and two findings
 * that were not confirmed. */
#ifndef TEST_FINDING_FIXTURE_H
#define TEST_FINDING_FIXTURE_H

#include "finding/finding.h"
#include "finding/schedule.h"

#include <string.h>

/* Frames of a stack, innermost first.  The last one has NULL for a function. */
struct fixture_frame {
	const char *function, *file;
	uint32_t line, column;
};

static inline struct finding_stack fixture_stack(struct finding_set *set, const struct fixture_frame *frames)
{
	struct finding_stack s = {0};

	while (frames[s.count].function)
		s.count++;
	s.frames = finding_array(set, s.count, sizeof *s.frames);
	for (size_t i = 0; i < s.count; i++)
		s.frames[i] = (struct finding_frame){.function = finding_text(set, frames[i].function),
						     .file = finding_text(set, frames[i].file),
						     .line = frames[i].line,
						     .column = frames[i].column};
	return s;
}

#define FRAMES(...) ((const struct fixture_frame[]){__VA_ARGS__, {0}})

static inline void fixture_op(struct schedule *s, const char *thread, uint64_t n, const char *kind,
			      const char *object)
{
	static const struct {
		const char *kind;
		uint32_t line;
	} lines[] = {{"thread-create", 41}, {"mutex-lock", 18}, {"mutex-unlock", 21}, {"thread-start", 15}};
	struct schedule_op *op = schedule_add_op(s);

	op->thread = schedule_text(s, thread);
	op->n = n;
	op->kind = schedule_text(s, kind);
	op->object = schedule_text(s, object);
	op->place.file = "src/counter.c";
	op->place.function = strcmp(thread, "T_0") == 0 ? "main" : "worker";
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (strcmp(lines[i].kind, kind) == 0)
			op->place.line = lines[i].line;
}

static inline void fixture_hold(struct schedule *s, const char *thread, uint64_t after, bool write)
{
	struct schedule_goal *h = schedule_add_goal(s);

	h->thread = schedule_text(s, thread);
	h->after = after;
	h->site = write ? 65538 : 65541;
	h->occurrence = 1;
	h->write = write;
	h->object = schedule_text(s, "hits");
	h->place = (struct schedule_place){"src/counter.c", write ? "add_one" : "report", write ? 12 : 30, 6};
}

static inline void fixture_race_schedule(struct schedule *s)
{
	static const uint64_t seen[] = {1, 2, 6, 7, 8, 3, 4};

	s->program = schedule_text(s, "./counter");
	fixture_op(s, "T_0", 2, "thread-create", "T_0_0");
	fixture_op(s, "T_0", 3, "thread-create", "T_0_1");
	fixture_op(s, "T_0_1", 1, "thread-start", NULL);
	fixture_op(s, "T_0_1", 2, "mutex-lock", "table[3].lock");
	fixture_op(s, "T_0_1", 3, "mutex-unlock", "table[3].lock");
	fixture_op(s, "T_0_0", 1, "thread-start", NULL);
	fixture_op(s, "T_0_0", 2, "mutex-lock", "table[3].lock");
	for (size_t i = 0; i < s->op_count; i++)
		s->ops[i].seen = seen[i];
	fixture_hold(s, "T_0_0", 2, true);
	fixture_hold(s, "T_0_1", 3, false);
}

static inline struct finding_lock *fixture_lock(struct finding_set *set, const char *name, uint32_t line)
{
	struct finding_lock *l = finding_array(set, 1, sizeof *l);

	l->name = finding_text(set, name);
	l->kind = "mutex";
	l->stack = fixture_stack(set, FRAMES({"worker", "src/counter.c", line, 3}));
	return l;
}

static inline void fixture_threads(struct finding_set *set, struct finding *f)
{
	f->threads = finding_array(set, 2, sizeof *f->threads);
	f->thread_count = 2;
	f->threads[0].name = "T_0_0";
	f->threads[0].label = "adder";
	f->threads[0].created = fixture_stack(set, FRAMES({"main", "src/counter.c", 41, 3}));
	f->threads[1].name = "T_0_1";
	f->threads[1].created = fixture_stack(set, FRAMES({"main", "src/counter.c", 42, 3}));
}

/* A write in add_one() at `line` and a read in report(). */
static inline struct finding *fixture_race(struct finding_set *set, const char *object, uint32_t line)
{
	struct finding *f = finding_add(set, FINDING_RACE);

	f->object.name = finding_text(set, object);
	f->object.kind = FINDING_GLOBAL;
	f->object.type = "int";
	f->object.size = 4;
	f->object.stack.frames = finding_array(set, 1, sizeof *f->object.stack.frames);
	f->object.stack.count = 1;
	f->object.stack.frames[0] = (struct finding_frame){.file = "src/counter.c", .line = 5};
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	f->access_count = 2;
	f->accesses[0] =
		(struct finding_access){.thread = "T_0_0", .what = "hits", .op = FINDING_WRITE, .size = 4};
	f->accesses[0].stack = fixture_stack(
		set, FRAMES({"add_one", "src/counter.c", line, 6}, {"worker", "src/counter.c", 19, 3}));
	f->accesses[0].locks = fixture_lock(set, "table[3].lock", 18);
	f->accesses[0].lock_count = 1;
	f->accesses[1] =
		(struct finding_access){.thread = "T_0_1", .what = "hits", .op = FINDING_READ, .size = 4};
	f->accesses[1].stack = fixture_stack(
		set, FRAMES({"report", "src/counter.c", 30, 17}, {"worker", "src/counter.c", 22, 3}));
	fixture_threads(set, f);
	return f;
}

static inline void fixture_stop(struct schedule *s, const char *thread, uint64_t n, const char *object)
{
	struct schedule_stop *t = schedule_add_stop(s);

	t->thread = schedule_text(s, thread);
	t->n = n;
	t->kind = "mutex-lock";
	t->object = schedule_text(s, object);
	t->place = (struct schedule_place){"src/counter.c", "transfer", 55, 2};
}

static inline struct finding *fixture_deadlock(struct finding_set *set)
{
	struct finding *f = finding_add(set, FINDING_DEADLOCK);

	f->status = FINDING_CONFIRMED;
	f->consequence = "deadlock";
	f->sound = true;
	f->cycle = finding_array(set, 2, sizeof *f->cycle);
	f->cycle_count = 2;
	for (size_t i = 0; i < 2; i++) {
		struct finding_wait *w = &f->cycle[i];

		w->thread = i ? "T_0_1" : "T_0_0";
		w->wants = i ? "accounts[0].lock" : "accounts[1].lock";
		w->kind = "mutex";
		w->stack = fixture_stack(set, FRAMES({"transfer", "src/counter.c", 55, 2},
						     {"worker", "src/counter.c", 24, 3}));
		w->holds = fixture_lock(set, i ? "accounts[1].lock" : "accounts[0].lock", 54);
		w->hold_count = 1;
	}
	fixture_threads(set, f);
	struct schedule *s = finding_schedule_add(set, f);
	fixture_op(s, "T_0_0", 2, "mutex-lock", "accounts[0].lock");
	fixture_op(s, "T_0_1", 2, "mutex-lock", "accounts[1].lock");
	fixture_stop(s, "T_0_0", 3, "accounts[1].lock");
	fixture_stop(s, "T_0_1", 3, "accounts[0].lock");
	f->schedule_path = "found/deadlock-1.schedule";
	return f;
}

/* A set of findings as classification produces it: a race with classes for two memory models and
 * three witnesses, and a candidate. */
static inline struct finding_set *fixture_classified(void)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "hits", 12);
	struct finding_witness w[] = {
		{.class = FINDING_K_WITNESS_HARMLESS, .runs = 1, .seen = "the output was the same"},
		{.class = FINDING_SPEC_VIOLATED,
		 .model = FINDING_TSO,
		 .consequence = "crash",
		 .seen = "the program died of SIGSEGV",
		 .input = "{\"argv\":[\"3\"]}",
		 .schedule_path = "found/w1.schedule",
		 .runs = 3},
		{.class = FINDING_OUTPUT_DIFFERS, .model = FINDING_TSO, .schedule_path = "found/w2.schedule"},
	};

	f->status = FINDING_CONFIRMED;
	f->sound = true;
	f->k = 10;
	f->consequence = "crash";
	finding_classify(f, FINDING_SC, FINDING_K_WITNESS_HARMLESS);
	finding_classify(f, FINDING_TSO, FINDING_SPEC_VIOLATED);
	w[1].schedule = finding_schedule_new(set);
	fixture_race_schedule(w[1].schedule);
	for (size_t i = 0; i < sizeof w / sizeof *w; i++)
		finding_add_witness(set, f, &w[i]);
	f = fixture_race(set, "flag", 14);
	f->status = FINDING_CANDIDATE;
	finding_set_finish(set);
	return set;
}

/* A confirmed race, a confirmed deadlock, an unconfirmed race, a dropped one. */
static inline struct finding_set *fixture_set(void)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "hits", 12);
	static const char *argv[] = {"./counter", "--threads=2", "two words"};

	set->tool = "0.1.0";
	set->argv = argv;
	set->argc = 3;
	f->status = FINDING_CONFIRMED;
	f->class = FINDING_OUTPUT_DIFFERS;
	f->sound = true;
	f->k = 10;
	f->input = "{\"argv\":[1,2.5,true,null,\"x\"]}";
	f->schedule_path = "found/race-1.schedule";
	finding_note(set, f, "Both threads were held at the two accesses.");
	fixture_race_schedule(finding_schedule_add(set, f));
	fixture_deadlock(set);
	f = fixture_race(set, "heap T_0#4+16", 13);
	f->object.kind = FINDING_HEAP;
	f->object.thread = "T_0";
	f->object.type = NULL;
	f->object.size = 64;
	f->object.stack = fixture_stack(
		set, FRAMES({"table_new", "src/table.c", 88, 12}, {"main", "src/counter.c", 38, 10}));
	f->reason = "The schedule was enforced, but the accesses did not meet.";
	f = fixture_race(set, "flag", 14);
	f->status = FINDING_DROPPED;
	f->reason = "Diverged: T_0_1 did sem-wait of ready instead of mutex-lock of a.";
	finding_stat(set, "events", 12345);
	finding_stat(set, "seconds", 0.25);
	finding_set_finish(set);
	return set;
}

#endif
