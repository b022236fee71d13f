/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements in headers of the system, where they are called in the program: who reads a sketch wrote the
 * call, not the header.  In: facts and runs.  Out: the runs, with such statements at the line of the call
 * where the program leaves only one.
 */
#ifndef SKETCH_CALLER_H
#define SKETCH_CALLER_H

#include "facts/facts.h"
#include "sketch/run.h"

void caller_place(const struct facts *f, struct sketch_runs *runs);

#endif
