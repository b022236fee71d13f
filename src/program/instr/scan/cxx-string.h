/* SPDX-License-Identifier: Apache-2.0 */
/* What members of std::string in the C++ library read and write. */
#ifndef INSTR_CXX_STRING_H
#define INSTR_CXX_STRING_H

#include "instr/scan/libc.h"

enum { INSTR_STRING_ROWS = 4 }; /* strings that a call may read or write, with the object and result */

/* Whether a function is a member of std::string or std::wstring, by the name that the linker has. */
bool instr_string_is_member(const char *name);

/* The rows of a member, how many of them; 0: it is not one, or works on nothing that others could have.
 * `shifted`: the result is memory that comes as argument 0, so that the string is argument 1. */
size_t instr_string_find(const char *name, bool shifted, const struct instr_libc *rows[INSTR_STRING_ROWS]);

#endif
