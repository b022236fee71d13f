/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON documents.  jansson makes a tree of any bytes or says where they are no JSON;
 * here members of the tree are asked for.  Nothing is trusted: a member of a wrong type or out
 * of range is an error that names it, an absent or null one has its zero value, an unknown one is
 * left alone.  The first wrong member is reported and stops the reading: whatever is asked for
 * then has its zero value.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One document.  Messages are "SUBJECT: NAME: PART 3: "KEY" is wrong". */
struct rd_json_read {
	const char *subject; /* what it is about: "trace" */
	const char *name;    /* of the file */
	const char *part;    /* "finding"; NULL: the document itself */
	size_t number;	     /* of the part */
	int err;
};

/* The tree, which the caller gives back with json_decref(), or NULL with `err` set.  A tree takes up to fifty
 * times the memory of its text, which has at most RD_TEXT_MAX bytes. */
json_t *rd_json_load(struct rd_json_read *r, const void *data, size_t length);

/* Says what is wrong about a member, unless something was wrong before. */
void rd_json_wrong(struct rd_json_read *r, const char *key, const char *what);

/* NULL: absent, null or wrong; JSON_TRUE stands for both truth values.  `object` may be NULL. */
json_t *rd_json_member(struct rd_json_read *r, const json_t *object, const char *key, json_type type);

const char *rd_json_get_text(struct rd_json_read *r, const json_t *object, const char *key); /* the tree's */
uint64_t rd_json_get_number(struct rd_json_read *r, const json_t *object, const char *key, uint64_t max);
int64_t rd_json_get_signed(struct rd_json_read *r, const json_t *object, const char *key);
bool rd_json_get_bool(struct rd_json_read *r, const json_t *object, const char *key);

/* Element i of an array of strings; "" and an error if it is none. */
const char *rd_json_get_item(struct rd_json_read *r, const json_t *array, const char *key, size_t i);

/* Whether it is a whole number from 0 to `max`, which is then in *to. */
bool rd_json_is_count(const json_t *value, uint64_t max, uint64_t *to);

#endif
