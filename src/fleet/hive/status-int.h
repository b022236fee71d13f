/* SPDX-License-Identifier: Apache-2.0 */
/* What a hive has stored, as JSON (doc/format/hive-api.json): all programs with their races, or one
 * race with its history. */
#ifndef HIVE_STATUS_INT_H
#define HIVE_STATUS_INT_H

#include "hive/hive.h"

#include <stdio.h>

/* build NULL: all programs.  False: unknown build. */
bool hive_status_write(struct hive *h, const char *build, bool with_races, FILE *out);

/* One race with the sites that reported about it and their latest reports.  RD_ENOTFOUND: unknown
 * race. */
int hive_race_write(struct hive *h, const char *build, const char *candidate, FILE *out);

/* Gauges for Prometheus. */
void hive_status_metrics(struct hive *h, FILE *out);

#endif
