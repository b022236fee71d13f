// SPDX-License-Identifier: Apache-2.0
/*
 * Simulates many sites on this machine.  Each is `raddle site run` with a state directory of its
 * own, so the hive cannot distinguish it from a real site.  In each round every site runs the
 * program once.
 */
#include "hive/crowd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct crowd {
	const struct hive_crowd *how;
	char *raddle, *directory;
	int silence; /* the descriptor to which the programs' output goes */
	uint64_t running;
	struct hive_crowd_result *result;
};

static int find_raddle(char **path)
{
	char *self = rd_own_path();

	if (!self)
		return RD_ESYSTEM;
	*strrchr(self, '/') = '\0';
	*path = rd_xasprintf("%s/raddle", self);
	if (access(*path, X_OK)) {
		free(*path);
		*path = rd_xasprintf("%s/../../bin/raddle", self);
	}
	free(self);
	return access(*path, X_OK) ? rd_fail_errno("hive simulate: cannot run %s", *path) : 0;
}

static int start_site(struct crowd *c, uint64_t site)
{
	struct rd_argv argv = RD_ARGV_INIT;
	pid_t pid;

	rd_argv_add(&argv, c->raddle);
	rd_argv_add(&argv, "site");
	rd_argv_add(&argv, "run");
	rd_argv_addf(&argv, "--hive=%s", c->how->hive);
	if (c->how->token)
		rd_argv_addf(&argv, "--token=%s", c->how->token);
	rd_argv_addf(&argv, "--state-dir=%s/%llu", c->directory, (unsigned long long)site);
	rd_argv_add(&argv, "--poll-now");
	rd_argv_add(&argv, "--");
	rd_argv_add_all(&argv, c->how->program);
	int err = rd_spawn(argv.items, NULL, c->silence, &pid);
	c->running += !err;
	rd_argv_release(&argv);
	return err;
}

/* Waits for one run.  If it fails, it is counted and the others continue, because a hive is meant
 * for programs that fail. */
static int wait_for_one(struct crowd *c)
{
	int status;

	RD_ASSERT(c->running > 0);
	if (wait(&status) < 0)
		return rd_fail_errno("hive simulate: cannot wait for a simulated site");
	c->running--;
	c->result->ended++;
	c->result->failed += status != 0;
	return 0;
}

static int run_round(struct crowd *c, uint64_t jobs)
{
	int err = 0;

	RD_ASSERT(jobs > 0 && !c->running);
	for (uint64_t site = 0; site < c->how->sites && !err; site++) {
		if (c->running == jobs)
			err = wait_for_one(c);
		if (!err)
			err = start_site(c, site);
	}
	while (c->running && !wait_for_one(c))
		;
	return err;
}

static int run_crowd(struct crowd *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t jobs = c->how->jobs ? c->how->jobs : cores > 0 ? (uint64_t)cores : 1;
	int err = 0;

	for (uint64_t round = 0; round < c->how->rounds && !err; round++)
		err = run_round(c, jobs);
	return err;
}

int hive_crowd_run(const struct hive_crowd *how, struct hive_crowd_result *result)
{
	struct crowd c = {.how = how, .result = result};
	char name[] = "/tmp/raddle-sites-XXXXXX";
	int err = find_raddle(&c.raddle);

	*result = (struct hive_crowd_result){0};
	if (err)
		return err;
	c.directory = mkdtemp(name);
	c.silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!c.directory || c.silence < 0)
		err = rd_fail_errno("hive simulate: cannot create %s or open /dev/null", name);
	else
		err = run_crowd(&c);
	if (c.directory)
		rd_remove_tree(c.directory);
	close(c.silence);
	free(c.raddle);
	return err;
}
