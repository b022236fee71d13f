// SPDX-License-Identifier: Apache-2.0
/*
 * Failures.  In: how a run ended, what it wrote, and which thread had the turn.  Out: a description
 * of what failed and where, and a finding.
 *
 * One thread runs at a time, so the thread that had the turn when the program died is the one that
 * failed.  A failed assertion also states the place.  A deadlock is described by the threads that
 * wait in it.
 */
#include "trial/failure.h"

#include "base/error.h"
#include "base/name.h"
#include "trial/suite-int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

/* Finds the place in a message such as "prog: file.c:12: function: Assertion `x' failed." */
static const char *place_of_assertion(const char *errors, struct rd_arena *arena)
{
	const char *at = strstr(errors, ": Assertion `"), *line = at, *name;

	if (!at)
		return NULL;
	while (line > errors && line[-1] != '\n')
		line--;
	name = strstr(line, ": ");
	if (!name || name >= at)
		return NULL;
	return rd_arena_strndup(arena, name + 2, (size_t)(at - name - 2));
}

static void add_place(struct rd_buf *text, const struct trace_sites *sites, uint32_t site)
{
	struct trace_frame frame = trace_sites_frame(sites, site);

	if (*frame.file)
		rd_buf_addf(text, "%s:%" PRIu32 ": %s", frame.file, frame.line, frame.function);
	else
		rd_buf_adds(text, RD_UNKNOWN_PLACE);
}

static const char *keep(struct rd_buf *text, struct rd_arena *arena)
{
	const char *copy = rd_arena_strndup(arena, text->data, text->length);

	rd_buf_release(text);
	return copy;
}

/* A deadlock is described by a line for each thread, with the thread's name, the object for which
 * it waits, the kind of operation, and the place.  Lines are sorted by place, so that the order of
 * the threads does not matter. */
static int compare_lines(const void *a, const void *b)
{
	return strcmp(strrchr(*(const char *const *)a, '\t'), strrchr(*(const char *const *)b, '\t'));
}

static const char *places_of_waits(const struct replay_result *r, const struct trace_sites *sites,
				   struct rd_arena *arena)
{
	const char **lines = rd_arena_alloc(arena, (r->wait_count + 1) * sizeof *lines);
	struct rd_buf all = RD_BUF_INIT;
	size_t count = 0;

	for (size_t i = 0; i < r->wait_count; i++) {
		const struct replay_wait *w = &r->waits[i];
		struct rd_buf line = RD_BUF_INIT;

		if (!w->core)
			continue;
		rd_buf_addf(&line, "%s\t%s\t%s\t", w->thread, w->name, w->kind);
		add_place(&line, sites, w->site);
		lines[count++] = keep(&line, arena);
	}
	qsort(lines, count, sizeof *lines, compare_lines);
	for (size_t i = 0; i < count; i++)
		rd_buf_addf(&all, "%s%s", i ? "\n" : "", lines[i]);
	return keep(&all, arena);
}

static const char *places_of_loops(const struct replay_result *r, const struct trace_sites *sites,
				   struct rd_arena *arena)
{
	struct rd_buf all = RD_BUF_INIT;

	for (size_t i = 0; i < r->turns.thread_count; i++) {
		const struct replay_weight *w = &r->turns.threads[i];

		if (!w->site)
			continue;
		rd_buf_addf(&all, "%s%s\t", all.length ? "\n" : "", w->thread);
		add_place(&all, sites, w->site);
	}
	return keep(&all, arena);
}

/* In a test suite, the test case is more informative than the thread.  If the suite reports the
 * place of the failure, this place is used. */
static void name_case(struct failure *failure, const struct trial *t, bool ended, struct rd_arena *arena)
{
	struct suite_case c = suite_find(t->text, 2);
	struct rd_buf text = RD_BUF_INIT;

	if (!c.name[0])
		return;
	failure->test = rd_arena_strndup(arena, c.name, strlen(c.name));
	if (!ended)
		return;
	if (c.place[0])
		rd_buf_addf(&text, "%s: %s", c.place, c.name);
	else
		rd_buf_adds(&text, c.name);
	failure->place = keep(&text, arena);
}

void failure_describe(struct failure *failure, const struct trial *t, const struct replay_result *r,
		      const struct trace_sites *sites, const char *judged, struct rd_arena *arena)
{
	struct rd_buf text = RD_BUF_INIT;

	failure->fault = t->fault;
	failure->end_text = t->end_text;
	if (r->turns.runner)
		failure->thread = rd_arena_strndup(arena, r->turns.runner, strlen(r->turns.runner));
	if (!failure->fault)
		failure->fault = judged;
	if (!failure->fault)
		return;
	name_case(failure, t, failure->fault == judged, arena);
	if (t->end == REPLAY_DEADLOCKED) {
		failure->place = places_of_waits(r, sites, arena);
		return;
	}
	if (failure->fault == judged)
		return;
	if (!strcmp(failure->fault, "hang")) {
		failure->loops = places_of_loops(r, sites, arena);
		return;
	}
	failure->place = place_of_assertion(t->text[1].data, arena);
	if (failure->place)
		return;
	if (r->fault.what && r->fault.place)
		rd_buf_adds(&text, r->fault.place);
	else
		add_place(&text, sites, r->turns.runner_site);
	failure->place = keep(&text, arena);
}

/* Returns true if two descriptions of waits are the same.  Thread names are ignored, because any of
 * several threads may fail at one place. */
static bool same_waits(const char *a, const char *b)
{
	while (*a && *b) {
		const char *x = strchr(a, '\t'), *y = strchr(b, '\t');
		size_t n = x ? strcspn(x, "\n") : 0;

		if (!x || !y || n != strcspn(y, "\n") || strncmp(x, y, n) != 0)
			return false;
		a = x + n + (x[n] == '\n');
		b = y + n + (y[n] == '\n');
	}
	return !*a && !*b;
}

bool failure_is_same(const struct failure *a, const struct failure *b)
{
	if (!a->fault || !b->fault || strcmp(a->fault, b->fault) != 0)
		return false;
	if (!a->place || !b->place)
		return a->place == b->place;
	if (!strcmp(a->fault, "deadlock"))
		return same_waits(a->place, b->place);
	return !strcmp(a->place, b->place);
}

/* ---- findings ---- */

/* Adds a frame, parsed from "file:line: function". */
static void add_frame(struct finding_set *set, struct finding_stack *stack, const char *place)
{
	char file[4096], function[1024] = "";
	unsigned line;

	if (!place || sscanf(place, "%4095[^:]:%u: %1023[^\n]", file, &line, function) < 2)
		return;
	stack->frames = finding_array(set, 1, sizeof *stack->frames);
	stack->count = 1;
	*stack->frames = (struct finding_frame){.file = finding_text(set, file),
						.function = *function ? finding_text(set, function) : NULL,
						.line = line};
}

static void add_thread(struct finding_set *set, struct finding *f, const char *thread)
{
	f->threads[f->thread_count++].name = finding_text(set, thread);
}

/* Returns the end of the sentence about how a run ended, such as "signal 11 (Segmentation fault)"
 * or "status 3". */
static const char *end_words(const char *ending)
{
	static const char *const heads[] = {"the program was ended by ", "the program ended with "};

	for (size_t i = 0; ending && i < sizeof heads / sizeof *heads; i++)
		if (!strncmp(ending, heads[i], strlen(heads[i])))
			return ending + strlen(heads[i]);
	return ending;
}

static void add_loop(struct finding_set *set, struct finding *f, char *line)
{
	char *rest = line, *thread = strsep(&rest, "\t");
	struct finding_wait *w = &f->cycle[f->cycle_count++];

	w->kind = "alive";
	w->thread = finding_text(set, thread);
	add_frame(set, &w->stack, rest);
	add_thread(set, f, thread);
}

static void add_crash(struct finding_set *set, struct finding *f, const struct failure *failure)
{
	struct finding_wait *w = &f->cycle[f->cycle_count++];
	bool hangs = !strcmp(failure->fault, "hang");

	w->kind = hangs ? "alive" : "signal";
	w->wants = hangs ? NULL : finding_text(set, end_words(failure->end_text));
	if (!failure->thread)
		return;
	w->thread = finding_text(set, failure->thread);
	add_frame(set, &w->stack, failure->place);
	add_thread(set, f, failure->thread);
}

/* Returns the kind of object for a kind of operation, for instance "mutex" for "mutex-lock". */
static const char *object_kind(struct finding_set *set, const char *kind)
{
	return finding_textf(set, "%.*s", (int)strcspn(kind, "-"), kind);
}

static void add_wait(struct finding_set *set, struct finding *f, char *line)
{
	char *rest = line, *thread = strsep(&rest, "\t"), *name = strsep(&rest, "\t"),
	     *kind = strsep(&rest, "\t");
	struct finding_wait *w = &f->cycle[f->cycle_count];

	if (!kind || !rest)
		return;
	f->cycle_count++;
	w->thread = finding_text(set, thread);
	w->wants = finding_text(set, name);
	w->kind = object_kind(set, kind);
	add_frame(set, &w->stack, rest);
	add_thread(set, f, thread);
}

static void add_lines(struct finding_set *set, struct finding *f, const char *lines,
		      void (*add)(struct finding_set *set, struct finding *f, char *line))
{
	char *copy = rd_xstrdup(lines), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		add(set, f, line);
	free(copy);
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

int failure_add(struct finding_set *set, const struct failure *failure, const struct schedule *s,
		const char *seen)
{
	RD_ASSERT(failure->fault);
	bool deadlock = !strcmp(failure->fault, "deadlock");
	struct finding *f = finding_add(set, deadlock ? FINDING_DEADLOCK : FINDING_FAILURE);
	size_t room = count_lines(failure->place) + count_lines(failure->loops) + 2;
	struct rd_buf text = RD_BUF_INIT;
	int err;

	f->status = FINDING_CONFIRMED;
	f->sound = true;
	f->consequence = finding_text(set, failure->fault);
	f->cycle = finding_array(set, room, sizeof *f->cycle);
	f->threads = finding_array(set, room, sizeof *f->threads);
	if (deadlock && failure->place)
		add_lines(set, f, failure->place, add_wait);
	else if (failure->loops && *failure->loops)
		add_lines(set, f, failure->loops, add_loop);
	else
		add_crash(set, f, failure);
	RD_ASSERT(f->cycle_count <= room && f->thread_count <= f->cycle_count);
	if (failure->test)
		finding_note(set, f, finding_textf(set, "the test case that failed is %s", failure->test));
	finding_note(set, f, seen);
	f->schedule = finding_schedule_new(set);
	schedule_release(f->schedule);
	schedule_format(s, &text);
	err = schedule_parse(f->schedule, text.data, text.length, "the run");
	rd_buf_release(&text);
	return err;
}
