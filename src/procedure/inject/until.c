// SPDX-License-Identifier: Apache-2.0
/*
 * Sequential stopping.  The precision is checked after each run.  An interval may become wider
 * again when the runs in progress end.  In that case more runs are started, so the final interval,
 * which takes all runs of the campaign into account, is precise enough.
 */
#include "inject/until-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "inject/interval-int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void inject_until_open(struct inject_until *u, const struct inject_setup *s)
{
	*u = (struct inject_until){.half = (double)s->until / INJECT_MILLION,
				   .outcome = RUNLOG_SDC,
				   .kinds = s->kinds.count,
				   .runs = s->runs * s->kinds.count};
	if (!s->until)
		return;
	if (s->until_outcome)
		runlog_outcome_find(s->until_outcome, &u->outcome);
	u->ended = rd_xcalloc(u->runs + 1, sizeof *u->ended);
	u->of = rd_xcalloc(u->kinds + 1, sizeof *u->of);
}

void inject_until_close(struct inject_until *u)
{
	RD_FREE(u->ended, u->of);
	*u = (struct inject_until){0};
}

static void look(const struct inject_until *u, struct inject_until_kind *k)
{
	RD_ASSERT(k != NULL);
	struct campaign_interval i =
		campaign_sequence((double)k->hits, (double)k->activated, u->half, INJECT_UNTIL_LEVEL);

	k->precise = i.high - i.low <= 2 * u->half;
}

static void count(struct inject_until *u, uint64_t run)
{
	struct inject_until_kind *k = &u->of[run % u->kinds];
	unsigned outcome = u->ended[run] - 1u;

	if (outcome == RUNLOG_INACTIVE)
		return;
	k->activated++;
	k->hits += outcome == u->outcome;
	look(u, k);
}

void inject_until_note(struct inject_until *u, const struct runlog_run *run)
{
	if (!u->of || run->run >= u->runs)
		return;
	u->ended[run->run] = (uint8_t)(run->outcome + 1);
	for (; u->next < u->runs && u->ended[u->next]; u->next++)
		count(u, u->next);
}

bool inject_until_reached(const struct inject_until *u)
{
	for (size_t i = 0; i < u->kinds && u->of; i++)
		if (!u->of[i].precise)
			return false;
	return u->of != NULL;
}

uint64_t inject_until_expected(const struct inject_until *u)
{
	double most = 0;

	for (size_t i = 0; i < u->kinds && u->of; i++) {
		const struct inject_until_kind *k = &u->of[i];
		/* Half a hit is added, so that 0 hits of 5 do not mean a share of 0. */
		double share = ((double)k->hits + 0.5) / ((double)k->activated + 1);
		double active = ((double)k->activated + 1) / ((double)u->next / (double)u->kinds + 1);
		uint64_t size = campaign_sequence_size(share, u->half, INJECT_UNTIL_LEVEL, INJECT_RUNS_MAX);

		if (!size)
			return u->runs;
		if (!k->precise)
			most = fmax(most, (double)size / fmin(1, active) * (double)u->kinds);
	}
	return !u->of || most > (double)u->runs ? u->runs : (uint64_t)fmax(most, (double)u->next);
}

/* ---- the option --until ---- */

static const char *skip_sign(const char *text)
{
	static const char *const signs[] = {"\xc2\xb1", "+-", "+/-", "\xb1"};

	text += strspn(text, " ");
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (!strncmp(text, signs[i], strlen(signs[i])))
			return text + strlen(signs[i]);
	return text;
}

int inject_until_parse(const char *text, uint64_t *millionths)
{
	const char *number = skip_sign(text);
	char *end;
	double value;

	number += strspn(number, " ");
	value = strtod(number, &end);
	if (end == number || *number == '-' || *number == '+' || *number == 'n' || *number == 'N')
		return rd_fail(RD_EUSAGE, "inject: --until %s: must be a width such as 1%%", text);
	end += strspn(end, " ");
	if (*end == '%') {
		value /= 100;
		end++;
	}
	if (*end)
		return rd_fail(RD_EUSAGE, "inject: --until %s: must be a width such as 1%%", text);
	if (!(value >= 1e-5) || value > 0.25)
		return rd_fail(RD_EUSAGE, "inject: --until %s: must be from 0.001%% to 25%%", text);
	*millionths = (uint64_t)llround(value * INJECT_MILLION);
	return 0;
}

uint64_t inject_until_most(uint64_t millionths)
{
	RD_ASSERT(millionths > 0);
	return campaign_sequence_size(0.5, (double)millionths / INJECT_MILLION, INJECT_UNTIL_LEVEL,
				      INJECT_RUNS_MAX);
}
