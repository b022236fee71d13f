/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands.  Each gets argv with its own name as argv[0] and returns the exit status of the
 * whole program.  To add a command, add a file here, a declaration below and a row in command.c.
 */
#ifndef CMD_CMD_INT_H
#define CMD_CMD_INT_H

#include "cmd/option-int.h"

/* The exit statuses of all commands; raddle(1) has the same table.  `record` and `site` return the
 * status of the program that they ran.  `check` and `replay` do the same in the cases that their
 * man pages list.  `cc` and `c++` return the status of the compiler. */
enum cmd_status {
	CMD_OK = 0,	   /* done; nothing was confirmed, nothing deviates, or the answer is yes */
	CMD_FOUND = 1,	   /* done; something was confirmed or deviates, or the answer is no */
	CMD_FAILED = 2,	   /* the work could not be done; a message states the reason */
	CMD_UNDECIDED = 3, /* done, but the question could not be answered */
};

/* Where `check` and `explore` write their results by default, and where `replay` looks for ids. */
#define CMD_CHECK_DIRECTORY "raddle-check"
#define CMD_EXPLORE_DIRECTORY "raddle-explore"
#define CMD_FINDINGS_FILE "findings.json"

int cmd_candidates(int argc, char **argv);
int cmd_cc(int argc, char **argv);
int cmd_cxx(int argc, char **argv);
/* Becomes `tool`, which is ar or ranlib.  Returns only if the tool cannot be run, with the exit
 * status. */
int cmd_archive(const char *tool, char **argv);
int cmd_classify(int argc, char **argv);
int cmd_explore(int argc, char **argv);
int cmd_facts(int argc, char **argv);
int cmd_flavour(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_campaign(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_sanitize(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_reversible(int argc, char **argv);
int cmd_hive(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_site(int argc, char **argv);
int cmd_slice(int argc, char **argv);
int cmd_sketch(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

struct rd_argv;
/* Adds those options of `raddle explore --ctest` that are passed to the exploration of each
 * test. */
void cmd_explore_test_options(struct rd_argv *argv);

/* Runs the command that the arguments of `raddle` name, and returns its exit status. */
int cmd_run(int argc, char **argv);

/* Returns true if there is a command with this name of `n` characters. */
bool cmd_is_command(const char *name, size_t n);

#endif
