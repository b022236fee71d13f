/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Campaigns for people and scripts.  In: the statistics of one or more campaigns.  Out: text on a
 * stream.  Nothing is computed here.  All functions return 0, or RD_ESYSTEM if writing to `out`
 * failed.
 */
#ifndef REPORT_CAMPAIGN_H
#define REPORT_CAMPAIGN_H

#include "inject/against.h"

#include <stdio.h>

struct report_campaigns {
	const struct campaign_statistics *items;
	size_t count;
	size_t places; /* how many functions, lines, ... to list; 0: 8 (text), 20 (HTML) */
	bool colour;   /* text: the stream is a terminal with colours */
	const struct campaign_against *against; /* items[0] compared with another campaign; or NULL */
};

/* Tables and a bar chart in 80 columns. */
int report_campaign_text(const struct report_campaigns *c, FILE *out);

/* One JSON document: doc/format/campaign-json.md. */
int report_campaign_json(const struct report_campaigns *c, FILE *out);

/* A self-contained page: figure, tables, runs, and what SDCs did to the output. */
int report_campaign_html(const struct report_campaigns *c, FILE *out);

/* A table with a row for each share, or for each comparison: doc/format/campaign-csv.md. */
int report_campaign_csv(const struct report_campaigns *c, FILE *out);

/* What a comparison groups by: "campaign", "function", ... */
const char *report_contrast_by(const struct campaign_contrast *c);

/* The name of a group's fault, or "all" for the group of all faults. */
const char *report_fault_name(const struct campaign_group *g);

/* Whether groups[0], which has all faults, differs from groups[1]: false for a single kind. */
bool report_campaign_is_mixed(const struct campaign_statistics *s);

#endif
