/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `raddle explore`. */
#ifndef CMD_EXPLORE_H
#define CMD_EXPLORE_H

/* Explores the tests of opt.ctest; a folder for each is made in the directory.  Returns the exit status. */
int cmd_explore_ctest(const char *directory);

#endif
