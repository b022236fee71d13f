/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of the store share. */
#ifndef HIVE_STORE_INT_H
#define HIVE_STORE_INT_H

#include "hive/store.h"

#include <inttypes.h>
#include <stdio.h>

/* A number as text, in a compound literal.  The text is valid until the end of the enclosing
 * block. */
struct hive_number {
	char text[24];
};
static inline const char *hive_number_write(struct hive_number *n, uint64_t value)
{
	snprintf(n->text, sizeof n->text, "%" PRIu64, value);
	return n->text;
}
#define NUMBER(value) hive_number_write(&(struct hive_number){""}, (uint64_t)(value))

/* Calls `work` in a transaction. */
int hive_store_at_once(struct hive_db *db, int (*work)(struct hive_db *db, const void *what),
		       const void *what);

/* Calls `work` in a transaction to change the data of a program.  Also increments the revisions of
 * the program and of the store. */
int hive_store_change(struct hive_db *db, uint64_t program, int (*work)(struct hive_db *db, const void *what),
		      const void *what);

/* Loads the sketches of a program. */
int hive_store_load_sketches(struct hive_db *db, struct hive_program *p);

#endif
