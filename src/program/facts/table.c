/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes the tables: the members of each row and what their numbers refer to.  The reader, the
 * writer, the checker and `raddle dump` all use this, so a new member needs only one line here and
 * one in row.h.
 */
#include "facts/layout.h"

#include "base/error.h"
#include "facts/role.h"

#define FIELD(table, member, use, target)                                                                    \
	{                                                                                                    \
#member, offsetof(struct facts_##table, member),                                             \
			sizeof((struct facts_##table *)NULL)->member == 8, FACTS_USE_##use, target           \
	}
#define NUMBER(table, member) FIELD(table, member, NUMBER, 0)
#define STRING(table, member) FIELD(table, member, STRING, 0)
#define START(table, member, of) FIELD(table, member, START, FACTS_TABLE_##of)
#define ROW(table, member, of) FIELD(table, member, ROW, FACTS_TABLE_##of)
#define OPTION(table, member, of) FIELD(table, member, OPTION, FACTS_TABLE_##of)
#define BELOW(table, member, limit) FIELD(table, member, BELOW, limit)

static const struct facts_field program_fields[] = {
	STRING(program, name),
	NUMBER(program, units),
	BELOW(program, rung, FACTS_RUNG_UNIFICATION + 1),
	NUMBER(program, variables),
	NUMBER(program, constraints),
};

static const struct facts_field function_fields[] = {
	STRING(function, name),	     STRING(function, linkage),
	STRING(function, file),	     NUMBER(function, line),
	NUMBER(function, flags),     BELOW(function, role, FACTS_ROLE_COUNT),
	NUMBER(function, subject),   START(function, values, value),
	NUMBER(function, arguments), START(function, blocks, block),
};

static const struct facts_field block_fields[] = {
	START(block, values, value),
	START(block, successors, successor),
};

static const struct facts_field successor_fields[] = {ROW(successor, block, block)};

static const struct facts_field value_fields[] = {
	BELOW(value, kind, FACTS_KINDS),
	NUMBER(value, detail),
	NUMBER(value, flags),
	STRING(value, file),
	NUMBER(value, line),
	NUMBER(value, column),
	NUMBER(value, site),
	STRING(value, what),
	START(value, operands, operand),
	ROW(value, set, set),
	NUMBER(value, number),
};

static const struct facts_field operand_fields[] = {
	FIELD(operand, operand, OPERAND, 0),
	NUMBER(operand, with),
};

static const struct facts_field constant_fields[] = {
	BELOW(constant, kind, FACTS_CONSTANT_KINDS),
	NUMBER(constant, target),
	ROW(constant, set, set),
	NUMBER(constant, number),
};

static const struct facts_field global_fields[] = {
	STRING(global, name), STRING(global, linkage), STRING(global, type),	       STRING(global, file),
	NUMBER(global, line), NUMBER(global, flags),   OPTION(global, object, object), NUMBER(global, size),
};

static const struct facts_field object_fields[] = {
	BELOW(object, kind, FACTS_OBJECT_KINDS),
	STRING(object, name),
	NUMBER(object, flags),
	NUMBER(object, origin),
	OPTION(object, through, value),
	NUMBER(object, size),
};

static const struct facts_field place_fields[] = {
	ROW(place, object, object),
	ROW(place, contents, set),
	NUMBER(place, offset),
};

static const struct facts_field set_fields[] = {START(set, members, member)};
static const struct facts_field member_fields[] = {ROW(member, place, place)};

static const struct facts_field access_fields[] = {
	ROW(access, value, value), BELOW(access, kind, FACTS_ACCESS_KINDS),
	NUMBER(access, flags),	   NUMBER(access, operand),
	NUMBER(access, site),	   ROW(access, set, set),
	NUMBER(access, size),
};

static const struct facts_field call_fields[] = {
	ROW(call, value, value),
	ROW(call, function, function),
	BELOW(call, kind, FACTS_EDGE_KINDS),
};

static const struct facts_field note_fields[] = {
	STRING(note, text),
	OPTION(note, value, value),
	NUMBER(note, count),
};

static const struct facts_layout layouts[] = {
#define LAYOUT(name, rows)                                                                                   \
	{#rows, name##_fields, sizeof name##_fields / sizeof *name##_fields, sizeof(struct facts_##name)},
	FACTS_TABLES(LAYOUT)
#undef LAYOUT
};

const struct facts_layout *facts_layout(enum facts_table table)
{
	RD_ASSERT(table < FACTS_TABLE_COUNT);
	return &layouts[table];
}

size_t facts_count(const struct facts *f, enum facts_table table)
{
	switch (table) {
#define COUNT(name, rows)                                                                                    \
	case FACTS_TABLE_##name: return f->name##_count;
		FACTS_TABLES(COUNT)
#undef COUNT
	default: RD_BUG("no such table");
	}
}

const void *facts_rows(const struct facts *f, enum facts_table table)
{
	switch (table) {
#define ROWS(name, rows)                                                                                     \
	case FACTS_TABLE_##name: return f->rows;
		FACTS_TABLES(ROWS)
#undef ROWS
	default: RD_BUG("no such table");
	}
}

int64_t facts_get(const struct facts_field *field, const void *row)
{
	const char *at = (const char *)row + field->offset;
	return field->wide ? *(const int64_t *)at : (int64_t) * (const uint32_t *)at;
}

static const char *const kind_names[FACTS_KINDS] = {
	"argument", "load",    "store", "update", "exchange",	 "fence", "call",
	"variable", "address", "phi",	"select", "compare",	 "cast",  "compute",
	"branch",   "switch",  "jump",	"return", "unreachable",
};

static const char *const role_names[] = {
#define ROLE_NAME(id, name) name,
	FACTS_ROLES(ROLE_NAME)
#undef ROLE_NAME
};

static const char *const call_names[FACTS_EDGE_KINDS] = {"call", "indirect", "start", "callback", "later"};
static const char *const access_names[FACTS_ACCESS_KINDS] = {"read", "write", "read-write"};
static const char *const rung_names[] = {"none", "inclusion", "unification"};

#define FACTS_NAME_OF(what, count)                                                                           \
	const char *facts_##what##_name(uint32_t number)                                                     \
	{                                                                                                    \
		RD_ASSERT(number < (count));                                                                 \
		return what##_names[number];                                                                 \
	}
FACTS_NAME_OF(kind, FACTS_KINDS)
FACTS_NAME_OF(role, FACTS_ROLE_COUNT)
FACTS_NAME_OF(call, FACTS_EDGE_KINDS)
FACTS_NAME_OF(access, FACTS_ACCESS_KINDS)
FACTS_NAME_OF(rung, FACTS_RUNG_UNIFICATION + 1)
