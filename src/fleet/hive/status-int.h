/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a hive as JSON (doc/format/hive-api.json): all programs with their races, or one
 * race with its history. */
#ifndef HIVE_STATUS_INT_H
#define HIVE_STATUS_INT_H

#include "hive/hive.h"

#include <stdio.h>

/* Writes the status of the program with this build ID, or of all programs if `build` is NULL.
 * Returns false if there is no such program. */
bool hive_status_write(struct hive *h, const char *build, bool with_races, FILE *out);

/* Writes one race, with the sites that reported about it and their latest reports.  Returns
 * RD_ENOTFOUND if the race is unknown. */
int hive_race_write(struct hive *h, const char *build, const char *candidate, FILE *out);

/* Writes gauges for Prometheus. */
void hive_status_metrics(struct hive *h, FILE *out);

#endif
