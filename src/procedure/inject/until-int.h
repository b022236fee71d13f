/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when a campaign of fault injection has made enough runs: when the share of an outcome is
 * known precisely enough for each kind of fault.  In: runs, as they end.  Out: whether to
 * continue, and how many runs there will be.
 *
 * Ordinary confidence intervals would be invalid if they were checked after each run.  This file
 * therefore uses intervals that are valid after any number of runs (inject/interval-int.h).  Runs
 * are counted in the order of their numbers: a run is counted as soon as it and all runs before it
 * have ended.  Otherwise short runs would be counted first, and hangs, which take long, would be
 * underrepresented.
 */
#ifndef INJECT_UNTIL_INT_H
#define INJECT_UNTIL_INT_H

#include "inject/runlog.h"
#include "inject/setup.h"

#define INJECT_UNTIL_LEVEL 0.95 /* confidence level; the usual one */
/* Half widths are stored in millionths, so that files have whole numbers. */
#define INJECT_MILLION 1e6

struct inject_until {
	double half; /* half width of the interval; 0 if there is no such rule */
	enum runlog_outcome outcome;
	uint8_t *ended;	     /* by run: 1 + its outcome; 0 if it has not ended */
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

/* Returns the number of runs that the campaign will have if the shares stay as they are. */
uint64_t inject_until_expected(const struct inject_until *u);

/* Parses "1%", "+-0.5 %", "\u00b11%" or "0.01" into millionths. */
int inject_until_parse(const char *text, uint64_t *millionths);

/* Returns a number of runs that suffices for every possible share, provided that each fault is
 * activated.  Returns 0 if that number would be too large. */
uint64_t inject_until_most(uint64_t millionths);

#endif
