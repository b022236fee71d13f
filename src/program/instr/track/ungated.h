/* SPDX-License-Identifier: Apache-2.0 */
/* Makes copies without gates, in which loops continue when all their gates are closed
 * (ungated.c). */
#ifndef INSTR_UNGATED_H
#define INSTR_UNGATED_H

#include "instr/unit-int.h"

/* Handles all functions of the unit.  Call it after inlining and before loops are optimised. */
int instr_spend(struct instr_unit *u);

#endif
