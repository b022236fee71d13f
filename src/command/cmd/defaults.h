/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that need not be typed each time: those of a .raddle file, then those of RADDLE_OPTIONS.  raddle(1)
 * describes both.
 */
#ifndef CMD_DEFAULTS_H
#define CMD_DEFAULTS_H

#include "base/option.h"

/* Stores what the file and the variable say about the options of this command. */
int cmd_defaults(const struct rd_option *options, const char *command);

#endif
