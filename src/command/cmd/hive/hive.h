/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of `raddle hive`.  Each returns the exit status; `words` are the arguments behind the action.
 */
#ifndef CMD_HIVE_HIVE_H
#define CMD_HIVE_HIVE_H

#include "base/buf.h"

int hive_do_add(char **words);
int hive_do_status(char **words);
int hive_do_set(char **words);
int hive_do_track(char **words);
int hive_do_sketch(char **words);

/* A request to the hive that the options name. */
int hive_ask(const char *method, const char *path, const char *body, struct rd_buf *answer);
int hive_do_simulate(char **words);

/* The status document of the hive, of one build or of all (NULL). */
int hive_ask_status(const char *build, struct rd_buf *document);

/* Prints a status document for people; the exit status it stands for. */
int hive_print_status(const struct rd_buf *document);

/* "/api/v1/.../BUILD", from a build or the path of a program.  The caller frees it. */
int hive_build_of(const char *word, char **build);

#endif
