/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands.  Each gets argv with its own name as argv[0] and returns the
 * exit status of the whole program: 0 done, 1 done and found something, 2 could
 * not do it.  A new command is a file here, a line here and a row in main.c.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/option.h"

enum { CMD_OK = 0, CMD_FOUND = 1, CMD_FAILED = 2 };

int cmd_cc(int argc, char **argv);
int cmd_cxx(int argc, char **argv);
int cmd_classify(int argc, char **argv);
int cmd_facts(int argc, char **argv);
int cmd_flavour(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_campaign(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_sanitize(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_reversible(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* Parses options and other arguments, in any order; afterwards argv[1] to
 * argv[*count] are the others, and a NULL follows.  Returns CMD_GO_ON, or the status to end with at once. */
#define CMD_GO_ON (-1)
int cmd_operands(int argc, char **argv, const struct rd_usage *usage, size_t *count);

/* The same for exactly one other argument; `what` says in a message what is missing. */
int cmd_operand(int argc, char **argv, const struct rd_usage *usage, const char *what, const char **operand);

/* Prints a text whose lines begin at column `indent`, as the cursor does or, behind other words, at `column`.
 * A word longer than a line stays whole. */
void cmd_print_wrapped(const char *text, size_t indent, size_t column);

#endif
