/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of a program that has no findings yet. */
#ifndef CMD_CLASSIFY_ANEW_INT_H
#define CMD_CLASSIFY_ANEW_INT_H

#include "base/process.h"

/* Without one of its synchronisations a program is a different program.  So it is recorded and
 * predicted anew, as `raddle check` does.  Returns the exit status. */
int cmd_classify_anew(char **argv);

/* The arguments of that `raddle check`, with the name of the command. */
void cmd_classify_anew_words(char **argv, struct rd_argv *words);

#endif
