/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports about campaigns of fault injection, for people and scripts.  In: the statistics of one
 * or more campaigns.  Out: text on a stream.  The statistics are not computed here.  All functions
 * return 0, or RD_ESYSTEM if writing to `out` failed.
 */
#ifndef REPORT_CAMPAIGN_H
#define REPORT_CAMPAIGN_H

#include "inject/against.h"

#include <stdio.h>

struct report_campaigns {
	const struct campaign_statistics *items;
	size_t count;
	/* The number of functions, lines and so on to list; 0 means 8 (text) or 20 (HTML). */
	size_t places;
	bool colour; /* for text: true if the stream is a terminal with colours */
	/* The comparison of items[0] with another campaign; NULL if there is no other campaign. */
	const struct campaign_against *against;
};

/* Writes tables and a bar chart in 80 columns. */
int report_campaign_text(const struct report_campaigns *c, FILE *out);

/* Writes one JSON document (doc/format/campaign-json.md). */
int report_campaign_json(const struct report_campaigns *c, FILE *out);

/* Writes a self-contained page: figure, tables, runs, and the effects of SDCs on the output. */
int report_campaign_html(const struct report_campaigns *c, FILE *out);

/* Writes a table with a row for each share, or for each comparison (doc/format/campaign-csv.md). */
int report_campaign_csv(const struct report_campaigns *c, FILE *out);

/* Returns what a comparison is about, such as "campaign" or "function". */
const char *report_contrast_by(const struct campaign_contrast *c);

/* Returns the name of a group's fault, or "all" for the group of all faults. */
const char *report_fault_name(const struct campaign_group *g);

/* Returns false if there is exactly one kind of fault.  In that case groups[0] (the runs with
 * faults of all kinds) is the same as groups[1]. */
bool report_campaign_is_mixed(const struct campaign_statistics *s);

#endif
