/* SPDX-License-Identifier: Apache-2.0 */
/* Makes copies without gates.  When all gates of a loop are closed, the loop continues in its copy
 * (ungated.c). */
#ifndef INSTR_UNGATED_H
#define INSTR_UNGATED_H

#include "instr/unit-int.h"

/* Handles all functions of the unit.  Call this after inlining and before loops are optimised. */
int instr_spend(struct instr_unit *u);

#endif
