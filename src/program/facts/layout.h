/* SPDX-License-Identifier: Apache-2.0 */
/* The description of the tables, which the writer, the reader, the checker and `raddle dump`
 * use. */
#ifndef FACTS_LAYOUT_H
#define FACTS_LAYOUT_H

#include "facts/facts.h"

/* The meaning of a member of a row. */
enum facts_use {
	FACTS_USE_NUMBER, /* any number */
	FACTS_USE_STRING,
	FACTS_USE_START,  /* the start of a run in table `target` */
	FACTS_USE_ROW,	  /* the number of a row of table `target` */
	FACTS_USE_OPTION, /* the number of a row of table `target`, or FACTS_NONE */
	FACTS_USE_BELOW,  /* a number less than `target` */
	FACTS_USE_OPERAND,
};

struct facts_field {
	const char *name;
	uint32_t offset; /* the offset of the member in the row, in bytes */
	bool wide;	 /* true if the member is an int64_t; else it is a uint32_t */
	enum facts_use use;
	uint32_t target; /* an enum facts_table, or the limit of FACTS_USE_BELOW */
};

struct facts_layout {
	const char *name;
	const struct facts_field *fields;
	size_t field_count;
	size_t row; /* the size of a row in bytes */
};

const struct facts_layout *facts_layout(enum facts_table table);
size_t facts_count(const struct facts *f, enum facts_table table);
const void *facts_rows(const struct facts *f, enum facts_table table);
int64_t facts_get(const struct facts_field *field, const void *row);

#endif
