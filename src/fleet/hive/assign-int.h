/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which task a site gets.  The decision is a hash of the stored data and of what the site
 * sends.  So every hive makes the same decision, and a poll writes nothing.  doc/design/hive.md has
 * the rules.
 */
#ifndef HIVE_ASSIGN_INT_H
#define HIVE_ASSIGN_INT_H

#include "hive/program.h"

struct hive_task {
	uint32_t candidate;
	enum hive_order order;
	bool validate;	/* else only its context is wanted */
	bool look;	/* if it validates: no thread is stopped; the two were not seen at one address yet */
	unsigned level; /* of the time-out */
	uint64_t epoch; /* in which it was given to the site */
};

/* Its id in messages, of at most PROTOCOL_TASK_ID characters with the final zero. */
void hive_task_id(const struct hive_program *p, const struct hive_task *t, char id[PROTOCOL_TASK_ID]);

/* False: it is not the id of a task of this program. */
bool hive_task_parse(const struct hive_program *p, const char *id, struct hive_task *t);

/* Which site asks, and in which epoch.  An epoch is as long as the time bound of a task. */
struct hive_asking {
	uint64_t site[2];
	const char *held; /* id of the task that the site has; NULL: none */
	uint64_t epoch;
};

/* False: there is nothing to do. */
bool hive_assign(const struct hive_program *p, const struct hive_asking *who, struct hive_task *task);

/* The failure that the site tracks in its next run; NULL: it looks for races instead.  If the
 * program has both failures and race candidates, a quarter of the sites look for races, and each
 * epoch selects different ones. */
const struct hive_sketch *hive_assign_sketch(const struct hive_program *p, const struct hive_asking *who);
void hive_sketch_task_id(const struct hive_sketch *s, uint64_t epoch, char id[PROTOCOL_TASK_ID]);

/* What the site may do: the program's state, or nothing if it is beyond the roll-out. */
enum protocol_mode hive_allowed(const struct hive_program *p, const uint64_t site[2]);

#endif
