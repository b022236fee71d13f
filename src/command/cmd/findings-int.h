/* SPDX-License-Identifier: Apache-2.0 */
/* How the program of a document of findings is run, for `replay` and `classify`. */
#ifndef CMD_FINDINGS_INT_H
#define CMD_FINDINGS_INT_H

#include "finding/load.h"

/* Gives --with, --setup, --plugins and --timeout what the document says, unless the user says otherwise or
 * names another program; the document has them then.  What a document of a stranger has run is said. */
void cmd_findings_means(struct finding_set *set, const char *path, bool own_program);

#endif
