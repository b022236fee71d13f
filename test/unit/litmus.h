/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Litmus tests, and a slow reference that computes which outcomes a memory model allows.  Used by
 * u-rt-memory.c, which runs rt/memory/model.c alone, and by u-replay-litmus.c, which runs
 * test/prog/litmus.c under the real runtime.
 *
 * A test is a text: threads are separated by `|`, operations by spaces.  Wx1 writes 1 to x, Rx
 * reads x, Xx1 exchanges x for 1, F is a full fence, and G is a fence that orders stores.  An
 * outcome lists what reads and exchanges returned, in the order of the text, then a semicolon and
 * the final values of those of x, y, z, w that are used: "01;11".
 */
#ifndef TEST_LITMUS_H
#define TEST_LITMUS_H

#include "raddle/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITMUS_THREADS = 4, LITMUS_OPS = 8, LITMUS_PLACES = 4, LITMUS_SAID = 40 };

struct litmus_op {
	char kind; /* W R X F G */
	int place, value, result;
};

struct litmus {
	struct litmus_op ops[LITMUS_THREADS][LITMUS_OPS];
	int count[LITMUS_THREADS], threads, places, results;
};

static const struct {
	const char *name, *text;
} litmus_tests[] = {
	{"SB", "Wx1 Ry|Wy1 Rx"},
	{"SB+mfences", "Wx1 F Ry|Wy1 F Rx"},
	{"SB+mfence+po", "Wx1 F Ry|Wy1 Rx"},
	{"SB+rfi-pos", "Wx1 Rx Ry|Wy1 Ry Rx"},
	{"SB+xchgs", "Xx1 Ry|Xy1 Rx"},
	{"3.SB", "Wx1 Ry|Wy1 Rz|Wz1 Rx"},
	{"MP", "Wx1 Wy1|Ry Rx"},
	{"MP+sfence+po", "Wx1 G Wy1|Ry Rx"},
	{"MP+mfences", "Wx1 F Wy1|Ry F Rx"},
	{"LB", "Rx Wy1|Ry Wx1"},
	{"S", "Wx2 Wy1|Ry Wx1"},
	{"S+sfence+po", "Wx2 G Wy1|Ry Wx1"},
	{"R", "Wx1 Wy1|Wy2 Rx"},
	{"R+po+mfence", "Wx1 Wy1|Wy2 F Rx"},
	{"2+2W", "Wx1 Wy2|Wy1 Wx2"},
	{"2+2W+sfences", "Wx1 G Wy2|Wy1 G Wx2"},
	{"CoRR", "Wx1|Rx Rx"},
	{"CoRR2", "Wx1|Wx2|Rx Rx|Rx Rx"},
	{"CoWW", "Wx1 Wx2"},
	{"CoWR", "Wx1 Rx|Wx2"},
	{"CoRW1", "Rx Wx1"},
	{"IRIW", "Wx1|Wy1|Rx Ry|Ry Rx"},
	{"WRC", "Wx1|Rx Wy1|Ry Rx"},
	{"RWC", "Wx1|Rx Ry|Wy1 Rx"},
	{"RWC+po+mfence", "Wx1|Rx Ry|Wy1 F Rx"},
	{"W+RWC", "Wx1 Wy1|Ry Rz|Wz1 Rx"},
	{"W+RWC+po+po+mfence", "Wx1 Wy1|Ry Rz|Wz1 F Rx"},
	{"ISA2", "Wx1 Wy1|Ry Wz1|Rz Rx"},
	{"WWC", "Wx2|Rx Wy1|Ry Wx1"},
	{"Z6.0", "Wx1 Wy1|Ry Wz1|Wz2 Rx"},
	{"n5", "Wx1 Rx|Wx2 Rx"},
	{"n4", "Rx Wx1|Rx Wx2"},
};
#define LITMUS_COUNT (sizeof litmus_tests / sizeof *litmus_tests)

static const char *const litmus_models[] = {"sc", "tso", "pso", "weak", "coherent"};

static inline bool litmus_parse(struct litmus *l, const char *text)
{
	*l = (struct litmus){.threads = 1};
	for (; *text; text++) {
		int t = l->threads - 1;
		struct litmus_op *op = &l->ops[t][l->count[t]];
		const char *place;

		if (*text == ' ')
			continue;
		if (*text == '|') {
			if (l->threads++ == LITMUS_THREADS)
				return false;
			continue;
		}
		if (!strchr("WRXFG", *text) || l->count[t]++ == LITMUS_OPS)
			return false;
		*op = (struct litmus_op){.kind = *text, .place = -1, .result = -1};
		if (strchr("FG", *text))
			continue;
		place = text[1] ? strchr("xyzw", text[1]) : NULL;
		if (!place)
			return false;
		op->place = (int)(place - "xyzw");
		text++;
		if (op->place >= l->places)
			l->places = op->place + 1;
		if (op->kind != 'R') {
			if (text[1] < '0' || text[1] > '9')
				return false;
			op->value = *++text - '0';
		}
		if (op->kind != 'W')
			op->result = l->results++;
	}
	return true;
}

/* ---- sets of outcomes ---- */

struct litmus_set {
	char (*items)[LITMUS_SAID];
	size_t count, capacity;
};

static inline void litmus_add(struct litmus_set *s, const char *said)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->items[i], said))
			return;
	if (s->count == s->capacity) {
		s->capacity = 2 * s->capacity + 16;
		s->items = realloc(s->items, s->capacity * sizeof *s->items);
		if (!s->items)
			abort();
	}
	snprintf(s->items[s->count++], LITMUS_SAID, "%s", said);
}

static inline bool litmus_has(const struct litmus_set *s, const char *said)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->items[i], said))
			return true;
	return false;
}

static inline bool litmus_within(const struct litmus_set *part, const struct litmus_set *whole)
{
	for (size_t i = 0; i < part->count; i++)
		if (!litmus_has(whole, part->items[i]))
			return false;
	return true;
}

static inline void litmus_release(struct litmus_set *s)
{
	free(s->items);
	*s = (struct litmus_set){0};
}

static inline void litmus_say(const struct litmus *l, const int *results, const int *finals, char *said)
{
	int n = 0;

	for (int i = 0; i < l->results; i++)
		said[n++] = (char)('0' + results[i]);
	said[n++] = ';';
	for (int i = 0; i < l->places; i++)
		said[n++] = (char)('0' + finals[i]);
	said[n] = '\0';
}

/* ---- the twin: a slow reference for the outcomes that a model allows ---- */

enum { TWIN_EVENTS = LITMUS_THREADS * LITMUS_OPS, TWIN_BUFFER = LITMUS_OPS };

/* A state of the enumeration.  All models use the positions of the threads (`at`) and the results.
 * SC, TSO and PSO also use memory and store buffers; the other models use the list of all events
 * so far. */
struct twin {
	const struct litmus *l;
	enum raddle_memory_model model;
	int at[LITMUS_THREADS], memory[LITMUS_PLACES], results[TWIN_EVENTS];
	struct {
		int place, value;
	} buffer[LITMUS_THREADS][TWIN_BUFFER];
	int buffered[LITMUS_THREADS];
	struct {
		int thread;
		char kind;
		int place, value;
	} events[TWIN_EVENTS];
	int event_count;
	/* the earliest write (event + 1) that the thread may still read in the model `coherent` */
	int floor[LITMUS_THREADS][LITMUS_PLACES];
};

static void twin_go(struct twin s, struct litmus_set *out);

static inline bool twin_fences(const struct twin *s, int e)
{
	return strchr("FGX", s->events[e].kind) != NULL;
}

/* Whether a is ordered before b, according to the definition.  Either program order orders them,
 * or there is a fence or exchange after a that precedes a fence or exchange before b.  All fences
 * and exchanges are in one total order. */
static inline bool twin_before(const struct twin *s, int a, int b)
{
	if (a >= b)
		return false;
	if (s->events[a].thread == s->events[b].thread)
		return true;
	for (int f = a; f < b; f++)
		for (int g = f + 1; g <= b; g++)
			if (s->events[f].thread == s->events[a].thread && twin_fences(s, f) &&
			    s->events[g].thread == s->events[b].thread && twin_fences(s, g))
				return true;
	return false;
}

static inline bool twin_writes(const struct twin *s, int e, int place)
{
	return strchr("WX", s->events[e].kind) && s->events[e].place == place;
}

/* Whether the read at event r may return write w (-1: the initial value). */
static inline bool twin_visible(const struct twin *s, int w, int r, int place)
{
	for (int v = 0; v < r; v++)
		if (v != w && twin_writes(s, v, place) && (w < 0 || twin_before(s, w, v)) &&
		    twin_before(s, v, r))
			return false;
	return true;
}

/* Whether a write after w is ordered before the read at event r. */
static inline bool twin_is_past(const struct twin *s, int w, int r, int place)
{
	for (int v = w + 1; v < r; v++)
		if (twin_writes(s, v, place) && twin_before(s, v, r))
			return true;
	return false;
}

static inline void twin_flush(struct twin s, int t, int i, struct litmus_set *out)
{
	s.memory[s.buffer[t][i].place] = s.buffer[t][i].value;
	for (s.buffered[t]--; i < s.buffered[t]; i++)
		s.buffer[t][i] = s.buffer[t][i + 1];
	twin_go(s, out);
}

static inline void twin_flushes(const struct twin *s, struct litmus_set *out)
{
	for (int t = 0; t < s->l->threads; t++)
		for (int i = 0; i < s->buffered[t]; i++) {
			bool first = true;

			for (int k = 0; k < i; k++)
				first &= s->model == RADDLE_MEMORY_PSO &&
					 s->buffer[t][k].place != s->buffer[t][i].place;
			if (first)
				twin_flush(*s, t, i, out);
		}
}

static inline void twin_step_buffered(struct twin s, int t, struct litmus_set *out)
{
	const struct litmus_op *op = &s.l->ops[t][s.at[t]++];
	bool empty = s.buffered[t] == 0;

	switch (op->kind) {
	case 'W':
		if (s.model == RADDLE_MEMORY_SC) {
			s.memory[op->place] = op->value;
		} else {
			s.buffer[t][s.buffered[t]].place = op->place;
			s.buffer[t][s.buffered[t]++].value = op->value;
		}
		break;
	case 'R':
		s.results[op->result] = s.memory[op->place];
		for (int i = 0; i < s.buffered[t]; i++)
			if (s.buffer[t][i].place == op->place)
				s.results[op->result] = s.buffer[t][i].value;
		break;
	case 'X':
		if (!empty)
			return;
		s.results[op->result] = s.memory[op->place];
		s.memory[op->place] = op->value;
		break;
	default:
		if (!empty && (op->kind == 'F' || s.model == RADDLE_MEMORY_PSO))
			return;
	}
	twin_go(s, out);
}

static inline void twin_step_history(struct twin s, int t, struct litmus_set *out)
{
	const struct litmus_op *op = &s.l->ops[t][s.at[t]++];
	int r = s.event_count++, last = -1;

	s.events[r].thread = t;
	s.events[r].kind = op->kind;
	s.events[r].place = op->place;
	s.events[r].value = op->value;
	for (int w = 0; w < r && op->place >= 0; w++)
		last = twin_writes(&s, w, op->place) ? w : last;
	if (op->kind == 'X')
		s.results[op->result] = last < 0 ? 0 : s.events[last].value;
	if (op->kind == 'X' || op->kind == 'W')
		s.floor[t][op->place] = r + 1;
	if (op->kind != 'R') {
		twin_go(s, out);
		return;
	}
	for (int w = -1; w < r; w++) {
		struct twin next = s;

		if ((w >= 0 && !twin_writes(&s, w, op->place)) || !twin_visible(&s, w, r, op->place))
			continue;
		if (s.model == RADDLE_MEMORY_COHERENT &&
		    (w + 1 < s.floor[t][op->place] || twin_is_past(&s, w, r, op->place)))
			continue;
		next.results[op->result] = w < 0 ? 0 : s.events[w].value;
		if (w + 1 > next.floor[t][op->place])
			next.floor[t][op->place] = w + 1;
		twin_go(next, out);
	}
}

/* Adds the outcomes of a run in which all threads have ended.  In the models with histories, the
 * final value of a place may be that of any write that no other write follows. */
static inline void twin_end(struct twin *s, int place, struct litmus_set *out)
{
	char said[LITMUS_SAID];
	int last = -1;

	if (s->model <= RADDLE_MEMORY_PSO || place == s->l->places) {
		litmus_say(s->l, s->results, s->memory, said);
		litmus_add(out, said);
		return;
	}
	for (int w = 0; w < s->event_count; w++)
		last = twin_writes(s, w, place) ? w : last;
	for (int w = -1; w < s->event_count; w++) {
		bool maximal = w >= 0 ? twin_writes(s, w, place) : last < 0;

		for (int v = 0; v < s->event_count && w >= 0; v++)
			maximal &= !twin_writes(s, v, place) || !twin_before(s, w, v);
		if (!maximal || (s->model == RADDLE_MEMORY_COHERENT && w != last))
			continue;
		s->memory[place] = w < 0 ? 0 : s->events[w].value;
		twin_end(s, place + 1, out);
	}
}

static void twin_go(struct twin s, struct litmus_set *out)
{
	bool over = true;

	twin_flushes(&s, out);
	for (int t = 0; t < s.l->threads; t++) {
		over &= s.at[t] == s.l->count[t] && s.buffered[t] == 0;
		if (s.at[t] == s.l->count[t])
			continue;
		if (s.model <= RADDLE_MEMORY_PSO)
			twin_step_buffered(s, t, out);
		else
			twin_step_history(s, t, out);
	}
	if (over)
		twin_end(&s, 0, out);
}

/* Computes the outcomes that the model allows. */
static inline void litmus_twin(const struct litmus *l, enum raddle_memory_model model, struct litmus_set *out)
{
	twin_go((struct twin){.l = l, .model = model}, out);
}

#endif
