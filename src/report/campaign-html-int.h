/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a campaign's page; for use inside report/. */
#ifndef REPORT_CAMPAIGN_HTML_INT_H
#define REPORT_CAMPAIGN_HTML_INT_H

#include "report/campaign.h"

/* Draws the bars of one campaign. */
void campaign_figure(FILE *out, const struct campaign_statistics *s);

/* Draws a bar that shows how the runs with the given outcome deviated.  Each kind of deviation has
 * a part of the bar, according to its share. */
void campaign_strip(FILE *out, const struct campaign_group *g, enum runlog_outcome outcome);

/* Shows functions, variables and source lines with the share of harmful runs.  Shows at most `most`
 * functions and variables; 0 means the default. */
void campaign_heat(FILE *out, const struct campaign_statistics *s, size_t most);

/* Writes the runs of all campaigns as JSON data for the script.  Stores the number of included runs
 * and the number of all runs. */
void campaign_runs(FILE *out, const struct report_campaigns *c, size_t *shown, size_t *all);

extern const char campaign_style[], campaign_script[];

#endif
