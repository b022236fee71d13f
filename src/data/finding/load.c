// SPDX-License-Identifier: Apache-2.0
/*
 * Loads findings from a file that a user names.  The file is a finding document, or the schedule of
 * one finding.
 */
#include "finding/load.h"

#include "base/error.h"
#include "base/file.h"
#include "finding/place.h"
#include "finding/schedule.h"

#include <stdio.h>
#include <string.h>

static void describe_race(struct finding_set *set, struct finding *f, const struct schedule *s)
{
	f->access_count = s->goal_count;
	f->accesses = finding_array(set, s->goal_count, sizeof *f->accesses);
	for (size_t i = 0; i < s->goal_count; i++) {
		f->accesses[i].thread = finding_text(set, s->goals[i].thread);
		f->accesses[i].op = s->goals[i].write ? FINDING_WRITE : FINDING_READ;
		f->accesses[i].stack = finding_stack_of(set, &s->goals[i].place);
		f->object.name = finding_text(set, s->goals[i].object);
	}
}

/* Returns the part of a kind before the first hyphen.  For instance, it returns "mutex" for
 * "mutex-lock". */
static const char *first_word(struct finding_set *set, const char *kind)
{
	return finding_textf(set, "%.*s", (int)strcspn(kind, "-"), kind);
}

static void describe_deadlock(struct finding_set *set, struct finding *f, const struct schedule *s)
{
	f->cycle_count = s->stop_count;
	f->cycle = finding_array(set, s->stop_count, sizeof *f->cycle);
	for (size_t i = 0; i < s->stop_count; i++) {
		const char *kind = s->stops[i].kind;

		f->cycle[i].thread = finding_text(set, s->stops[i].thread);
		f->cycle[i].wants = finding_text(set, s->stops[i].object);
		f->cycle[i].kind = !strcmp(kind, "thread-join") ? "join" : first_word(set, kind);
		f->cycle[i].stack = finding_stack_of(set, &s->stops[i].place);
	}
}

/* Makes a finding from what a schedule alone contains about it. */
static int read_schedule(const struct rd_buf *text, const char *path, struct finding_set **result)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = finding_add(set, FINDING_RACE);
	struct schedule *s = finding_schedule_add(set, f);
	int err;

	schedule_release(s);
	err = schedule_parse(s, text->data, text->length, path);
	if (err) {
		finding_set_free(set);
		return err;
	}
	f->status = FINDING_UNCONFIRMED;
	f->count = 0; /* nothing else is known about the prediction */
	f->sound = !s->speculative;
	f->schedule_path = finding_text(set, path);
	snprintf(f->id, sizeof f->id, "%s", s->finding ? s->finding : "");
	if (s->stop_count) {
		f->kind = FINDING_DEADLOCK;
		describe_deadlock(set, f, s);
	} else {
		describe_race(set, f, s);
	}
	*result = set;
	return 0;
}

int finding_load(const char *path, struct finding_set **set)
{
	struct rd_buf text = RD_BUF_INIT;
	int err = rd_file_read(path, &text);

	if (!err && text.data[strspn(text.data, " \t\r\n")] != '{')
		err = read_schedule(&text, path, set);
	else if (!err)
		err = finding_parse(set, text.data, text.length, path);
	rd_buf_release(&text);
	return err;
}

int finding_load_schedule(struct finding_set *set, struct finding *f)
{
	struct schedule *s;

	if (f->schedule || !f->schedule_path)
		return RD_OK;
	s = finding_schedule_add(set, f);
	schedule_release(s);
	return schedule_read(s, f->schedule_path);
}

char **finding_set_program(struct finding_set *set, char **argv)
{
	char **copy;

	if (argv[0]) {
		set->argv = (const char **)argv;
		for (set->argc = 0; argv[set->argc];)
			set->argc++;
		return argv;
	}
	copy = finding_array(set, set->argc + 1, sizeof *copy);
	for (size_t i = 0; i < set->argc; i++)
		copy[i] = (char *)set->argv[i];
	return set->argc ? copy : NULL;
}
