/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of a whole program, which raddle-instr extracts from its merged bitcode and stores in a
 * file (doc/format/facts.md): functions, flow graphs, instructions with their operands and places,
 * memory accesses with their sites, points-to sets, and which function may call or start which.
 *
 * Everything is stored in tables, and a row refers to rows of other tables by number.  A member
 * called a *start* is the number of the first of several consecutive rows.  They end where the
 * start of the following row begins.  A struct facts_run contains both ends.  A member called a
 * *string* is the number of a text in `strings`; string 0 is "".
 *
 * facts_read() guarantees that every such number refers to an existing row.
 */
#ifndef FACTS_FACTS_H
#define FACTS_FACTS_H

#include "base/buf.h"
#include "facts/graph.h"
#include "facts/row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FACTS_VERSION = 1 }; /* the version of the file format */

/* The tables, in the order of the file: the name of a row and the name of the table. */
#define FACTS_TABLES(T)                                                                                      \
	T(program, programs)                                                                                 \
	T(function, functions)                                                                               \
	T(block, blocks)                                                                                     \
	T(successor, successors)                                                                             \
	T(value, values)                                                                                     \
	T(operand, operands)                                                                                 \
	T(constant, constants)                                                                               \
	T(global, globals)                                                                                   \
	T(object, objects)                                                                                   \
	T(place, places)                                                                                     \
	T(set, sets)                                                                                         \
	T(member, members)                                                                                   \
	T(access, accesses)                                                                                  \
	T(call, calls)                                                                                       \
	T(note, notes)

enum facts_table {
#define FACTS_TABLE_ENUM(name, rows) FACTS_TABLE_##name,
	FACTS_TABLES(FACTS_TABLE_ENUM)
#undef FACTS_TABLE_ENUM
		FACTS_TABLE_COUNT
};

/* The tables.  For example, `functions` has `function_count` rows of struct facts_function. */
struct facts {
	char **strings; /* all texts that rows refer to; string 0 is "" */
	size_t string_count, string_capacity;
#define FACTS_TABLE_MEMBERS(name, rows)                                                                      \
	struct facts_##name *rows;                                                                           \
	size_t name##_count, name##_capacity;
	FACTS_TABLES(FACTS_TABLE_MEMBERS)
#undef FACTS_TABLE_MEMBERS
};

/* Makes empty facts, which contain only string 0. */
struct facts *facts_new(void);
void facts_free(struct facts *f);

/* Appends a row of zeros to a table.  The pointer is valid until the next row is added. */
#define FACTS_ADD_DECLARE(name, rows) struct facts_##name *facts_add_##name(struct facts *f);
FACTS_TABLES(FACTS_ADD_DECLARE)
#undef FACTS_ADD_DECLARE
/* Always adds a new string, even if an equal one exists. */
uint32_t facts_add_string(struct facts *f, const char *s);

/* These functions encode, write and read the file.  Encoding cannot fail, and writing fails only
 * if the system reports an error.  The reader trusts no byte of the file.  The caller frees *f. */
void facts_encode(const struct facts *f, struct rd_buf *out);
int facts_write(const struct facts *f, const char *path);
int facts_decode(struct facts **f, const void *data, size_t length, const char *name);
int facts_read(struct facts **f, const char *path);
#define FACTS_MAGIC "RDFACTS\n"

/* The rows from `first` up to but not including `end`. */
struct facts_run {
	uint32_t first, end;
};
struct facts_run facts_values_of(const struct facts *f, uint32_t function);
struct facts_run facts_blocks_of(const struct facts *f, uint32_t function);
struct facts_run facts_block_values(const struct facts *f, uint32_t function, uint32_t block);
struct facts_run facts_successors_of(const struct facts *f, uint32_t block);
struct facts_run facts_operands_of(const struct facts *f, uint32_t value);
struct facts_run facts_members_of(const struct facts *f, uint32_t set);
struct facts_run facts_calls_of(const struct facts *f, uint32_t value);

const char *facts_string(const struct facts *f, uint32_t string);
/* Returns the function that contains the value. */
uint32_t facts_function_at(const struct facts *f, uint32_t value);
uint32_t facts_operand_set(const struct facts *f, uint32_t operand);
/* Returns the function with this linkage name, or FACTS_NONE if there is none. */
uint32_t facts_find_function(const struct facts *f, const char *linkage);

/* Returns true if an access of `a_size` bytes at a place in set `a` and one of `b_size` bytes at a
 * place in set `b` may touch the same bytes.  A size of 0 means that the length is unknown. */
bool facts_sets_overlap(const struct facts *f, uint32_t a, int64_t a_size, uint32_t b, int64_t b_size);

/* Makes a graph of the blocks of a function, which are numbered from 0 (facts/graph.h). */
void facts_flow(const struct facts *f, uint32_t function, struct facts_graph *g);

/* These return names for messages, such as "load" or "thread-create". */
const char *facts_kind_name(uint32_t kind);
const char *facts_role_name(uint32_t role);
const char *facts_call_name(uint32_t kind);
const char *facts_access_name(uint32_t kind);
const char *facts_rung_name(uint32_t rung);

#endif
