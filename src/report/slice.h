/* SPDX-License-Identifier: Apache-2.0 */
/* A static slice and a tracked run, for people; slice_json() and track_json() are for programs. */
#ifndef REPORT_SLICE_H
#define REPORT_SLICE_H

#include "sketch/track.h"

#include <stdio.h>

void report_slice_text(struct slice *s, FILE *out);
void report_track_text(const struct sketch_runs *runs, const struct track_end *end, FILE *out);

#endif
