/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of `raddle hive` that communicate with a running hive.  `words` contains the
 * arguments after the action.  Each function returns the exit status. */
#ifndef CMD_HIVE_HIVE_H
#define CMD_HIVE_HIVE_H

int hive_do_add(char **words);
int hive_do_status(char **words);
int hive_do_set(char **words);
int hive_do_track(char **words);
int hive_do_sketch(char **words);
int hive_do_simulate(char **words);

#endif
