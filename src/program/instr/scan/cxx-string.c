// SPDX-License-Identifier: Apache-2.0
/*
 * Recognises members of std::string.  From the linkage name of a function, it determines which of
 * the arguments are strings, and whether the function reads or writes them.
 *
 * The C++ library contains all members, compiled without Raddle.  The headers contain only some of
 * them, which may be inlined.  The calls that remain are handled here.  A string is treated as its
 * 32 bytes, because code that changes the characters also changes or reads these bytes.  A string
 * that is being constructed is unknown to other threads, and a destructor frees its memory, which
 * is recorded.
 *
 * Names follow the Itanium ABI: _ZN, K for a const member, the class, the member with its length
 * or an operator, E, the parameters.  In a name, a reference to a string is RKS4_, RS4_ or OS4_
 * (&&).  Parameters after one of an unknown kind are ignored.
 */
#include "instr/scan/cxx-string.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 32 /* sizeof(std::string) of libstdc++ */
#define ROW(argument, write)                                                                                 \
	{                                                                                                    \
		"std::string", argument, write, false, LENGTH_FIXED, BYTES, 0                                \
	}
/* The number of argument positions that are examined.  No member of std::string takes a string
 * after these. */
#define ARGUMENTS 5

static const struct instr_libc all[2][ARGUMENTS] = {
	{ROW(0, false), ROW(1, false), ROW(2, false), ROW(3, false), ROW(4, false)},
	{ROW(0, true), ROW(1, true), ROW(2, true), ROW(3, true), ROW(4, true)}};

static bool skip(const char **at, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*at, text, n) != 0)
		return false;
	*at += n;
	return true;
}

static bool skip_class(const char **at)
{
	return skip(at, "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE") ||
	       skip(at, "St7__cxx1112basic_stringIwSt11char_traitsIwESaIwEE");
}

/* Skips the name up to the member.  Sets *constant to true if the member is const. */
static bool skip_head(const char **at, bool *constant)
{
	if (!skip(at, "_ZN"))
		return false;
	*constant = skip(at, "K");
	return skip_class(at);
}

bool instr_string_is_member(const char *name)
{
	bool constant;

	return skip_head(&name, &constant);
}

enum use { NOTHING, READS, WRITES };

static bool is_one_of(const char *name, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == length && memcmp(*names, name, length) == 0)
			return true;
	return false;
}

/* Returns how a member with this name uses its string, if the member is not const. */
static enum use use_of(const char *name, size_t length)
{
	static const char *const readers[] = {"begin", "end",  "rbegin",	"rend",	   "data", "at",
					      "front", "back", "_M_local_data", "_M_data", NULL};
	static const char *const others[] = {"_M_create", "_M_get_allocator", "_Alloc_hider", "__sv_wrapper",
					     NULL};

	if (is_one_of(name, length, others) || strncmp(name, "_S_", 3) == 0 ||
	    strncmp(name, "_M_construct", 12) == 0)
		return NOTHING;
	return is_one_of(name, length, readers) ? READS : WRITES;
}

/* Skips the member's name or operator, and determines how it uses its string. */
static bool skip_member(const char **at, enum use *use)
{
	char *end;
	unsigned long length = strtoul(*at, &end, 10);

	*use = NOTHING;
	if (end != *at) {
		if (strlen(end) < length)
			return false;
		*use = use_of(end, length);
		*at = end + length;
		return true;
	}
	if (skip(at, "C1") || skip(at, "C2"))
		return true;
	*use = skip(at, "ix") ? READS : skip(at, "aS") || skip(at, "pL") ? WRITES : NOTHING;
	return *use != NOTHING;
}

size_t instr_string_find(const char *name, bool shifted, const struct instr_libc *rows[INSTR_STRING_ROWS])
{
	size_t count = 0, argument = shifted;
	enum use use;
	bool constant;

	if (!skip_head(&name, &constant) || !skip_member(&name, &use))
		return 0;
	if (use != NOTHING)
		rows[count++] = &all[use == WRITES && !constant][argument];
	if (!skip(&name, "E")) /* if the name does not end here, it is a template */
		return count;
	for (argument++; *name && argument < ARGUMENTS && count < INSTR_STRING_ROWS; argument++) {
		if (skip(&name, "RKS4_"))
			rows[count++] = &all[0][argument];
		else if (skip(&name, "RS4_") || skip(&name, "OS4_"))
			rows[count++] = &all[1][argument];
		else if (!skip(&name, "m") && !skip(&name, "c") && !skip(&name, "w") && !skip(&name, "PKc") &&
			 !skip(&name, "PKw"))
			break;
	}
	return count;
}
