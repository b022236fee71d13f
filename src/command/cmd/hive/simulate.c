// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle hive simulate`: many sites on this machine.  Each is `raddle site run` with a state directory of
 * its own, so that the hive cannot tell it from a site elsewhere; in a round each site runs the program once.
 */
#include "cmd/hive/hive.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "cmd/cmd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct crowd {
	char *raddle, *directory;
	char **program;
	int silence; /* where the programs' output goes */
	uint64_t running, ended, failed;
};

static int find_raddle(char **path)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return rd_fail_errno("hive simulate: /proc/self/exe");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	*path = rd_xasprintf("%s/raddle", self);
	if (!access(*path, X_OK))
		return 0;
	free(*path);
	*path = rd_xasprintf("%s/../../bin/raddle", self);
	return access(*path, X_OK) ? rd_fail_errno("hive simulate: %s", *path) : 0;
}

static int start_site(struct crowd *c, uint64_t site)
{
	struct rd_argv argv = RD_ARGV_INIT;
	pid_t pid;

	rd_argv_add(&argv, c->raddle);
	rd_argv_add(&argv, "site");
	rd_argv_add(&argv, "run");
	rd_argv_addf(&argv, "--hive=%s", opt.hive);
	if (opt.token)
		rd_argv_addf(&argv, "--token=%s", opt.token);
	rd_argv_addf(&argv, "--state-dir=%s/%llu", c->directory, (unsigned long long)site);
	rd_argv_add(&argv, "--poll-now");
	rd_argv_add(&argv, "--");
	rd_argv_add_all(&argv, c->program);
	int err = rd_spawn(argv.items, NULL, c->silence, &pid);
	c->running += !err;
	rd_argv_release(&argv);
	return err;
}

/* A run that fails is what the hive is there for: it is counted, and the others go on. */
static int wait_for_one(struct crowd *c)
{
	int status;

	if (wait(&status) < 0)
		return rd_fail_errno("hive simulate: wait");
	c->running--;
	c->ended++;
	c->failed += status != 0;
	return 0;
}

static int run_round(struct crowd *c, uint64_t jobs)
{
	int err = 0;

	for (uint64_t site = 0; site < opt.hive_sites && !err; site++) {
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
	uint64_t jobs = opt.jobs ? opt.jobs : cores > 0 ? (uint64_t)cores : 1;
	int err = 0;

	for (uint64_t round = 0; round < opt.rounds && !err; round++)
		err = run_round(c, jobs);
	return err;
}

static int show_result(const struct crowd *c)
{
	struct rd_buf document = RD_BUF_INIT;
	char *build = NULL;
	int status = CMD_FAILED;

	printf("%llu runs of %llu sites; %llu ended with another status than 0\n",
	       (unsigned long long)c->ended, (unsigned long long)opt.hive_sites,
	       (unsigned long long)c->failed);
	if (!hive_build_of(c->program[0], &build) && !hive_ask_status(build, &document))
		status = hive_print_status(&document);
	free(build);
	rd_buf_release(&document);
	return status;
}

int hive_do_simulate(char **words)
{
	struct crowd c = {.program = words};
	char name[] = "/tmp/raddle-sites-XXXXXX";
	int status = CMD_FAILED;

	if (!*words)
		return cmd_which("hive simulate", "program");
	if (!opt.hive)
		return rd_fail(RD_EUSAGE, "hive: --hive URL is missing"), CMD_FAILED;
	if (find_raddle(&c.raddle))
		return CMD_FAILED;
	c.directory = mkdtemp(name);
	c.silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!c.directory || c.silence < 0)
		rd_fail_errno("hive simulate: %s", name);
	else if (!run_crowd(&c))
		status = show_result(&c);
	if (c.directory)
		rd_remove_tree(c.directory);
	close(c.silence);
	free(c.raddle);
	return status;
}
