/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON documents.  The library jansson parses the bytes into a tree, or reports where the
 * bytes are not JSON. The functions of this header read members of the tree.  They trust nothing:
 * if a member has the wrong type or is out of range, the error message names it.  An absent or
 * null member is read as zero, and unknown members are ignored.  Only the first error is reported;
 * all members that are read after it are zero.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A document that is being read.  Messages have the form: SUBJECT: NAME: PART 3: "KEY" is wrong. */
struct rd_json_read {
	const char *subject; /* the subject of the document, such as "trace" */
	const char *name;    /* the name of the file */
	const char *part;    /* the kind of part, such as "finding"; NULL for the document itself */
	size_t number;	     /* the number of the part */
	int err;
};

/* Returns the tree, which the caller releases with json_decref(), or NULL with `err` set.  A tree
 * takes up to fifty times the memory of its text, which has at most RD_TEXT_MAX bytes. */
json_t *rd_json_load(struct rd_json_read *r, const void *data, size_t length);

/* Reports an error in a member, unless an error has been reported before. */
void rd_json_wrong(struct rd_json_read *r, const char *key, const char *what);

/* Returns a member, or NULL if it is absent, null or of another type.  The type JSON_TRUE accepts
 * both true and false. `object` may be NULL. */
json_t *rd_json_member(struct rd_json_read *r, const json_t *object, const char *key, json_type type);

const char *rd_json_get_text(struct rd_json_read *r, const json_t *object,
			     const char *key); /* the tree owns the result */
uint64_t rd_json_get_number(struct rd_json_read *r, const json_t *object, const char *key, uint64_t max);
int64_t rd_json_get_signed(struct rd_json_read *r, const json_t *object, const char *key);
bool rd_json_get_bool(struct rd_json_read *r, const json_t *object, const char *key);

/* Returns element i of an array of strings.  If it is not a string, reports an error and returns
 * "". */
const char *rd_json_get_item(struct rd_json_read *r, const json_t *array, const char *key, size_t i);

/* Returns true if the value is an integer from 0 to `max`, and stores it in *to. */
bool rd_json_is_count(const json_t *value, uint64_t max, uint64_t *to);

#endif
