/* SPDX-License-Identifier: Apache-2.0 */
/* Inside report/: the parts of a campaign's page. */
#ifndef REPORT_CAMPAIGN_HTML_INT_H
#define REPORT_CAMPAIGN_HTML_INT_H

#include "report/campaign.h"

/* The bars of one campaign. */
void campaign_figure(FILE *out, const struct campaign_statistics *s);

/* The deviations of the runs with that outcome, side by side. */
void campaign_strip(FILE *out, const struct campaign_group *g, enum runlog_outcome outcome);

/* Functions, variables and source lines with the share of harmful runs; at most that many
 * functions and variables, 0: a default. */
void campaign_heat(FILE *out, const struct campaign_statistics *s, size_t most);

/* The runs of all campaigns as JSON data for the script; stores how many are included, and of how
 * many. */
void campaign_runs(FILE *out, const struct report_campaigns *c, size_t *shown, size_t *all);

extern const char campaign_style[], campaign_script[];

#endif
