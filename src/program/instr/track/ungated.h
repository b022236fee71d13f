/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose gates have all used up their events continue without them (ungated.c). */
#ifndef INSTR_UNGATED_H
#define INSTR_UNGATED_H

#include "instr/unit-int.h"

/* All functions of the unit, when functions have been inlined and before loops are optimised. */
int instr_spend(struct instr_unit *u);

#endif
