/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a campaign's page; for use inside report/. */
#ifndef REPORT_CAMPAIGN_HTML_INT_H
#define REPORT_CAMPAIGN_HTML_INT_H

#include "report/campaign.h"

/* Draws the bars of one campaign. */
void campaign_figure(FILE *out, const struct campaign_statistics *s);

/* Draws a bar that shows how the runs with the given outcome deviated from the fault-free run.
 * Each kind of deviation gets a part of the bar in proportion to its share. */
void campaign_strip(FILE *out, const struct campaign_group *g, enum runlog_outcome outcome);

/* Shows functions, variables and source lines, each with its share of harmful runs.  At most
 * `most` functions and variables are shown; 0 means the default. */
void campaign_heat(FILE *out, const struct campaign_statistics *s, size_t most);

/* Writes the runs of all campaigns as JSON data for the script of the page.  Stores the number of
 * runs written in *shown and the number of all runs in *all. */
void campaign_runs(FILE *out, const struct report_campaigns *c, size_t *shown, size_t *all);

extern const char campaign_style[], campaign_script[];

#endif
