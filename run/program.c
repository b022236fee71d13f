// SPDX-License-Identifier: Apache-2.0
/*
 * From a program's name on the command line to its flavour.  In: the name,
 * PATH, what the user said about building.  Out: absolute paths.
 */
#include "run/program.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "raddle/flavour.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs up to this size are worth optimised code the first time. */
#define FAST_SIZE (4 << 20)

static int find_program(const char *name, char **result)
{
	char *found = rd_find_program(name);
	struct stat st;

	if (!found)
		return rd_fail(RD_ENOTFOUND, "%s: there is no such program in PATH", name);
	*result = realpath(found, NULL);
	free(found);
	if (!*result || stat(*result, &st))
		return rd_fail_errno("%s: cannot find it", name);
	if (S_ISREG(st.st_mode) && !access(*result, X_OK))
		return 0;
	free(*result);
	*result = NULL;
	return rd_fail(RD_EUSAGE, "%s: %s", name,
		       S_ISREG(st.st_mode) ? "it is not executable" : "it is not a program");
}

static bool wants_fast(const char *path, const struct run_build *how)
{
	struct stat st;

	return how->fast || (!how->quick && !stat(path, &st) && st.st_size < FAST_SIZE);
}

const char *run_program_kind(const struct run_program *p)
{
	return p->kind ? p->kind : "record";
}

int run_program_open(struct run_program *p, const char *name, const struct run_build *how)
{
	struct rd_flavour_opts build = {.name = run_program_kind(p),
					.debug = how->debug,
					.verbose = how->verbose,
					.plugins = how->plugins};
	int r = find_program(name, &p->path);

	if (r)
		return r;
	build.fast = wants_fast(p->path, how);
	p->mode = build.fast ? "fast" : "quick";
	if (!how->as_is)
		return rd_flavour_build(p->path, &build, &p->flavour);
	p->flavour.executable = rd_xstrdup(p->path);
	return 0;
}

void run_program_close(struct run_program *p)
{
	rd_flavour_release(&p->flavour);
	free(p->path);
	*p = (struct run_program){0};
}

bool run_program_has_values(const char *kind)
{
	const struct raddle_flavour *flavour = kind ? raddle_flavour_find(kind) : NULL;

	return flavour && flavour->values;
}
