// SPDX-License-Identifier: Apache-2.0
/*
 * The start of a campaign.  In: a program and a setup, or the directory of a campaign.  Out: the
 * flavour, the directory and the fault-free run; or the reason why the campaign cannot start.
 */
#include "inject/start.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "inject/determinism-int.h"
#include "inject/prepare.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void inject_start_release(struct inject_start *c)
{
	if (c->discard)
		rd_remove_tree(c->directory);
	if (c->temporary)
		rd_scratch_close(c->directory);
	else
		free(c->directory);
	inject_setup_release(&c->setup);
	run_program_close(&c->program);
	inject_fault_models_release(&c->models);
}

/* ---- the program and its faults ---- */

int inject_start_program(struct inject_start *c, const char *name, bool quick, bool verbose)
{
	bool optimised = c->setup.level && !strcmp(c->setup.level, "optimised");
	struct run_build how = {.fast = !quick, .quick = quick, .optimised = optimised, .verbose = verbose};
	int r;

	c->program.kind = "full";
	r = run_program_open(&c->program, name, &how);
	if (!r && !c->program.flavour.sites)
		r = rd_fail(RD_ENOTFOUND, "%s: its full flavour has no site table", name);
	return r;
}

static int use_models(struct inject_start *c, const char *file)
{
	int r;

	if (!c->setup.model)
		return 0;
	r = inject_fault_models_parse(&c->models, c->setup.model, strlen(c->setup.model), file);
	return r ? r : inject_fault_models_use(&c->models);
}

int inject_start_models(struct inject_start *c, const char *file)
{
	struct rd_buf text = RD_BUF_INIT;
	int r;

	if (!file)
		return 0;
	RD_ASSERT(!c->setup.model);
	r = rd_file_read(file, &text);
	if (!r && memchr(text.data, '\0', text.length))
		r = rd_fail(RD_EFORMAT, "%s: this is not text", file);
	if (!r)
		c->setup.model = rd_xstrndup(text.data, text.length);
	rd_buf_release(&text);
	return r ? r : use_models(c, file);
}

/* ---- the directory ---- */

int inject_start_temporary(struct inject_start *c)
{
	int r = rd_scratch_open(&c->directory, NULL, "raddle-inject");

	c->temporary = !r;
	return r;
}

/* Returns true if the directory is empty or contains only files of a campaign. */
static bool is_ours(const char *directory)
{
	static const char *const known[] = {".",   "..",   "campaign.json", "golden",  "scratch",
					    "log", "runs", "slurm",	    "progress"};
	DIR *d = opendir(directory);
	const struct dirent *e;
	bool ours = d != NULL;

	while (d && ours && (e = readdir(d))) {
		ours = !strncmp(e->d_name, "log.", 4) || !strncmp(e->d_name, "progress.", 9);
		for (size_t i = 0; i < sizeof known / sizeof *known && !ours; i++)
			ours = !strcmp(e->d_name, known[i]);
	}
	if (d)
		closedir(d);
	return ours;
}

static bool has_campaign(const char *directory)
{
	char *path = rd_xasprintf("%s/campaign.json", directory);
	bool has = rd_file_exists(path);

	free(path);
	return has;
}

int inject_start_directory(struct inject_start *c, const char *directory, bool force)
{
	int r;

	RD_ASSERT(!c->directory);
	c->directory = rd_xstrdup(directory);
	if (rd_file_exists(directory) && !is_ours(directory))
		return rd_fail(RD_EUSAGE, "%s: it exists, but is not the directory of a campaign", directory);
	if (has_campaign(directory) && !force)
		return rd_fail(RD_EUSAGE, "%s: this is a campaign; --resume continues it, -f replaces it",
			       directory);
	r = rd_remove_tree(directory);
	if (!r)
		r = rd_mkdirs(directory);
	c->discard = !r;
	return r;
}

int inject_start_golden(struct inject_start *c, bool check, bool allow)
{
	int r = inject_golden_make(c->directory, &c->setup, &c->program, allow);

	return r || !check ? r : inject_determinism_check(c->directory, &c->setup, allow);
}

int inject_start_ground(const struct inject_start *c, struct inject_golden *golden,
			struct inject_ground *ground)
{
	int r = inject_golden_load(golden, c->directory);

	*ground = (struct inject_ground){.setup = &c->setup, .census = &golden->census};
	if (!r)
		ground->sites = trace_get_sites(golden->trace);
	return r;
}

int inject_start_kinds(struct inject_start *c, const char *faults)
{
	char *path = rd_xasprintf("%s/campaign.json", c->directory);
	struct inject_golden golden = {0};
	struct inject_ground ground;
	int r = inject_start_ground(c, &golden, &ground);

	if (!r)
		r = inject_prepare_kinds(&c->setup, &ground, faults);
	if (!r)
		r = inject_setup_write(&c->setup, path);
	if (!r)
		c->discard = false;
	inject_golden_release(&golden);
	free(path);
	return r;
}

/* ---- an existing campaign ---- */

static int read_setup(struct inject_start *c, void (*said)(const struct inject_setup *s, const char *path))
{
	char *path;
	int r;

	if (!has_campaign(c->directory))
		return rd_fail(RD_ENOTFOUND, "%s: there is no campaign, or it was never started",
			       c->directory);
	path = rd_xasprintf("%s/campaign.json", c->directory);
	r = inject_setup_read(&c->setup, path);
	if (!r)
		said(&c->setup, path);
	free(path);
	return r;
}

int inject_start_resume(struct inject_start *c, const char *directory, bool verbose,
			void (*said)(const struct inject_setup *s, const char *path))
{
	const struct inject_setup *s = &c->setup;
	int r;

	RD_ASSERT(!c->directory);
	c->directory = rd_xstrdup(directory);
	r = read_setup(c, said);
	if (!r)
		r = use_models(c, "campaign.json");
	if (!r)
		r = inject_start_program(c, s->program, s->mode && !strcmp(s->mode, "quick"), verbose);
	if (!r && s->key && c->program.flavour.key && strcmp(s->key, c->program.flavour.key) != 0)
		r = rd_fail(RD_EUSAGE,
			    "%s: %s or Raddle has changed since the campaign began; restore the old "
			    "version, or start a new campaign",
			    directory, s->program);
	return r;
}
