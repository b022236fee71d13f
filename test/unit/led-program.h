/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of test/prog/ in the flavour `led`, and a file for the output of its runs.  A test that
 * includes this calls build_led() in its group setup.
 */
#ifndef TEST_LED_PROGRAM_H
#define TEST_LED_PROGRAM_H

#include "base/error.h"
#include "run/program.h"
#include "trace/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct led_program {
	struct run_program program;
	struct trace_sites *sites;
	int output;
};

/* Builds ./NAME from test/prog/SOURCE. */
static int build_led(struct led_program *p, const char *name, const char *source)
{
	const char *root = getenv("ROOT"), *raddle = getenv("RADDLE");
	struct run_build how = {0};
	char command[4096], path[4096];

	if (!root || !raddle)
		return -1;
	*p = (struct led_program){.program = {.kind = "led"}, .output = memfd_create("output", MFD_CLOEXEC)};
	snprintf(command, sizeof command, "'%s' cc -g -O1 -pthread -o %s '%s/test/prog/%s'", raddle, name,
		 root, source);
	snprintf(path, sizeof path, "./%s", name);
	if (p->output < 0 || system(command) != 0 || run_program_open(&p->program, path, &how) != RD_OK)
		return -1;
	return trace_sites_read(&p->sites, p->program.flavour.sites);
}

#endif
