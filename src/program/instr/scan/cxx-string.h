/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which strings the members of std::string in the C++ library read and write. */
#ifndef INSTR_CXX_STRING_H
#define INSTR_CXX_STRING_H

#include "instr/scan/libc.h"

/* The largest number of strings that a call may read or write, including the object and the
 * result. */
enum { INSTR_STRING_ROWS = 4 };

/* Returns true if a function is a member of std::string or std::wstring, according to its linkage
 * name. */
bool instr_string_is_member(const char *name);

/* Finds the rows of a member function of std::string, and returns their number.  Each row
 * describes memory that the function reads or writes.  Returns 0 if `name` is no such function, or
 * if the function touches nothing that other threads could access.  If `shifted` is set, argument
 * 0 is memory for the result, so the string is argument 1. */
size_t instr_string_find(const char *name, bool shifted, const struct instr_libc *rows[INSTR_STRING_ROWS]);

#endif
