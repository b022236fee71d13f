/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when a campaign has done enough runs: when the share of an outcome is known precisely
 * enough for each kind of fault.  In: runs as they end.  Out: whether to continue, and how many
 * runs there will be.
 *
 * Checking after each run would invalidate ordinary intervals, so intervals are used that are valid
 * at every number of runs (inject/interval-int.h).  Runs are counted in the order of their numbers,
 * each as soon as all earlier ones have ended.  Otherwise short runs would be counted first, and
 * hangs, which take long, would be underrepresented.
 */
#ifndef INJECT_UNTIL_INT_H
#define INJECT_UNTIL_INT_H

#include "inject/runlog.h"
#include "inject/setup.h"

#define INJECT_UNTIL_LEVEL 0.95 /* confidence; the usual one */
#define INJECT_MILLION 1e6	/* half widths are kept in millionths, so that a file has whole numbers */

struct inject_until {
	double half; /* half width of the interval; 0: there is no such rule */
	enum runlog_outcome outcome;
	uint8_t *ended;	     /* outcome + 1 of each run; 0: it has not ended */
	uint64_t runs, next; /* number of runs, and the next one to be counted */
	size_t kinds;
	struct inject_until_kind {
		uint64_t hits, activated;
		bool precise;
	} * of;
};

void inject_until_open(struct inject_until *u, const struct inject_setup *s);
void inject_until_close(struct inject_until *u);

void inject_until_note(struct inject_until *u, const struct runlog_run *run);
bool inject_until_reached(const struct inject_until *u);

/* How many runs the campaign will have if the shares stay as they are. */
uint64_t inject_until_expected(const struct inject_until *u);

/* "1%", "+-0.5 %", "\u00b11%" or "0.01" as millionths. */
int inject_until_parse(const char *text, uint64_t *millionths);

/* The number of runs that suffices for any share if each fault is activated; 0: too many. */
uint64_t inject_until_most(uint64_t millionths);

#endif
