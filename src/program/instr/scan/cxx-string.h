/* SPDX-License-Identifier: Apache-2.0 */
/* What members of std::string in the C++ library read and write. */
#ifndef INSTR_CXX_STRING_H
#define INSTR_CXX_STRING_H

#include "instr/scan/libc.h"

enum { INSTR_STRING_ROWS = 4 }; /* strings that a call may read or write, with the object and result */

/* Whether a function is a member of std::string or std::wstring, by the name that the linker
 * has. */
bool instr_string_is_member(const char *name);

/* Finds the rows of a member; returns how many.  0: not such a member, or it touches nothing that
 * other threads could know.  `shifted`: the result is memory passed as argument 0, so the string is
 * argument 1. */
size_t instr_string_find(const char *name, bool shifted, const struct instr_libc *rows[INSTR_STRING_ROWS]);

#endif
