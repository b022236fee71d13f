/* SPDX-License-Identifier: Apache-2.0 */
/* Determines how to run the program of a findings document, for `replay` and `classify`. */
#ifndef CMD_FINDINGS_INT_H
#define CMD_FINDINGS_INT_H

#include "finding/load.h"

/* Takes --with, --setup, --plugins and --timeout from the document, unless the user gives them or
 * names another program.  Stores the resulting values in the document.  If another user wrote the
 * document, prints its commands before they are run. */
void cmd_findings_means(struct finding_set *set, const char *path, bool own_program);

/* Makes the input of the recorded run, which the document names, the standard input of this process.
 * If there is no such file, standard input stays as it is. */
void cmd_findings_stdin(const struct finding_set *set);

#endif
