/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the store. */
#ifndef HIVE_STORE_INT_H
#define HIVE_STORE_INT_H

#include "hive/store.h"

#include <inttypes.h>
#include <stdio.h>

/* A number as text in a compound literal, which lives as long as the enclosing block. */
struct hive_number {
	char text[24];
};
static inline const char *hive_number_write(struct hive_number *n, uint64_t value)
{
	snprintf(n->text, sizeof n->text, "%" PRIu64, value);
	return n->text;
}
#define NUMBER(value) hive_number_write(&(struct hive_number){""}, (uint64_t)(value))

/* Does `work` in a transaction. */
int hive_store_at_once(struct hive_db *db, int (*work)(struct hive_db *db, const void *what),
		       const void *what);

/* The same for what belongs to a program: its revision and that of the store are incremented. */
int hive_store_change(struct hive_db *db, uint64_t program, int (*work)(struct hive_db *db, const void *what),
		      const void *what);

/* Loads the sketches of a program. */
int hive_store_load_sketches(struct hive_db *db, struct hive_program *p);

#endif
