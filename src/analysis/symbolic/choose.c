// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the inputs that may change (symbolic/choose.h).  In: traces, and the user's selection if
 * there is one.  Out: the variables that must keep their values.
 */
#include "symbolic/choose.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- the selection of the user ---- */

static int is_wrong(const char *text)
{
	return rd_fail(RD_EUSAGE,
		       "--sym: an input is argv:NUMBER, stdin, file:PATH or env:NAME, optionally followed "
		       "by :FIRST-LAST to choose bytes, not '%s'; inputs are separated by commas",
		       text);
}

/* Removes a range such as ":3-17" from the end of a selector. */
static void cut_range(char *text, struct sym_selector *w)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long long first, last;

	w->first = 0;
	w->last = UINT64_MAX;
	if (!colon || colon[1] < '0' || colon[1] > '9')
		return;
	first = strtoull(colon + 1, &end, 10);
	if (*end != '-' || end[1] < '0' || end[1] > '9')
		return;
	last = strtoull(end + 1, &end, 10);
	if (*end)
		return;
	w->first = first;
	w->last = last;
	*colon = 0;
}

static int parse_selector(struct sym_selection *w, char *text)
{
	struct sym_selector wish = {0};
	char *name = NULL, *end;
	int kind = -1;

	cut_range(text, &wish);
	for (int i = 0; i < RD_OVERRIDE_KINDS; i++) {
		size_t n = strlen(rd_override_kind_name((enum rd_override_kind)i));

		if (!strncmp(text, rd_override_kind_name((enum rd_override_kind)i), n) &&
		    (!text[n] || text[n] == ':')) {
			kind = i;
			name = text[n] ? text + n + 1 : NULL;
		}
	}
	if (kind < 0 || (kind == RD_OVERRIDE_STDIN) != (name == NULL) || (name && !*name))
		return is_wrong(text);
	wish.kind = (enum rd_override_kind)kind;
	if (kind == RD_OVERRIDE_ARGV) {
		wish.number = (unsigned)strtoul(name, &end, 10);
		if (*end || !wish.number)
			return is_wrong(text);
	} else if (name) {
		wish.name = rd_xstrdup(name);
	}
	RD_GROW(w->items, w->capacity, w->count + 1);
	w->items[w->count++] = wish;
	return RD_OK;
}

int sym_selection_parse(struct sym_selection *w, const char *text)
{
	char *copy = rd_xstrdup(text ? text : ""), *next = copy, *one;
	int err = RD_OK;

	*w = (struct sym_selection){0};
	while (!err && *copy && (one = strsep(&next, ",")))
		err = parse_selector(w, one);
	free(copy);
	return err;
}

void sym_selection_release(struct sym_selection *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i].name);
	free(w->items);
	*w = (struct sym_selection){0};
}

/* ---- choices ---- */

static bool is_selected(const struct sym_trace *t, const struct sym_selection *w,
			const struct raddle_shadow_var *v)
{
	struct rd_override_part p = sym_trace_part(t, v->input);
	bool found = false;

	for (size_t i = 0; i < w->count && !found; i++)
		found = w->items[i].kind == p.kind && w->items[i].number == p.number &&
			(!p.name || (w->items[i].name && !strcmp(p.name, w->items[i].name))) &&
			v->offset >= w->items[i].first &&
			(!v->length || v->offset + v->length - 1 <= w->items[i].last);
	free(p.name);
	return found;
}

static void weigh(const struct sym_trace *t, uint64_t *weight)
{
	for (size_t k = 0; k < t->input_count; k++) {
		for (size_t i = 0; i < t->step_count; i++)
			if (t->nodes[t->steps[i].cond].inputs >> k & 1)
				weight[k] += t->steps[i].met ? 2 : 1;
		for (size_t i = 0; i < t->output_count; i++)
			weight[k] += t->nodes[t->output[i].node].inputs >> k & 1;
	}
}

static uint64_t find_most(const struct sym_trace *t, const struct sym_trace *other)
{
	uint64_t weight[RADDLE_SHADOW_INPUTS] = {0}, there[RADDLE_SHADOW_INPUTS] = {0}, chosen = 0;

	weigh(t, weight);
	weigh(other, there);
	for (uint32_t k = 0; k < t->input_count; k++) {
		uint32_t same = sym_same_input(other, t, k);

		weight[k] += same != UINT32_MAX ? there[same] : 0;
	}
	for (int n = 0; n < SYM_INPUTS; n++) {
		size_t best = SIZE_MAX;

		for (size_t k = 0; k < t->input_count; k++)
			if (!(chosen >> k & 1) && weight[k] && (best == SIZE_MAX || weight[k] > weight[best]))
				best = k;
		if (best != SIZE_MAX)
			chosen |= 1ull << best;
	}
	return chosen;
}

uint64_t sym_choose(const struct sym_trace *t, const struct sym_trace *other, const struct sym_selection *w,
		    bool *fixed)
{
	uint64_t chosen = w->count ? 0 : find_most(t, other), some = chosen;

	for (size_t i = 0; i < t->var_count; i++) {
		fixed[i] = !(w->count ? is_selected(t, w, &t->vars[i]) : chosen >> t->vars[i].input & 1);
		if (!fixed[i])
			some |= 1ull << t->vars[i].input;
	}
	return some;
}
