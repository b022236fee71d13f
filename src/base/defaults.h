/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Default options, so that the user does not have to type them each time.  They are read from a
 * .raddle file, and then from the environment variable RADDLE_OPTIONS. raddle(1) describes both.
 */
#ifndef BASE_DEFAULTS_H
#define BASE_DEFAULTS_H

#include "base/alloc.h"
#include "base/option.h"

struct rd_defaults {
	const struct rd_option *options; /* the options of the command */
	const char *command;
	struct rd_arena *values; /* contains the values; must live as long as the options are used */
	/* is_option() returns true if some command has an option of this name. is_command()
	 * returns true if there is a command of this name.  The name has `n` characters. */
	bool (*is_option)(const char *name, size_t n);
	bool (*is_command)(const char *name, size_t n);
};

/* Stores the values that the file and the variable set for this command's options. */
int rd_defaults(const struct rd_defaults *d);

#endif
