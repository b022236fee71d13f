/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which task a site gets.  The decision is computed from a hash of the stored data and of
 * the site's request.  So every hive makes the same decision, and a poll stores nothing.  See
 * doc/design/hive.md for the rules.
 */
#ifndef HIVE_ASSIGN_INT_H
#define HIVE_ASSIGN_INT_H

#include "hive/program.h"

struct hive_task {
	uint32_t candidate;
	enum hive_order order;
	/* True if the site validates the candidate.  If false, the site only reports its
	 * context. */
	bool validate;
	/* Used only if `validate` is true.  This member is true if the site does not stop any
	 * thread yet, because no report shows the two accesses at the same address. */
	bool look;
	unsigned level; /* the level of the time-out */
	uint64_t epoch; /* the epoch in which the site got the task */
};

/* Stores the id of a task for use in messages.  It has at most PROTOCOL_TASK_ID characters,
 * including the final NUL. */
void hive_task_id(const struct hive_program *p, const struct hive_task *t, char id[PROTOCOL_TASK_ID]);

/* Parses the id of a task.  Returns false if it is not the id of a task of this program. */
bool hive_task_parse(const struct hive_program *p, const char *id, struct hive_task *t);

/* The site that asks, and the current epoch.  An epoch is as long as the time limit of a task. */
struct hive_asking {
	uint64_t site[2];
	const char *held; /* the id of the task that the site has; NULL if it has none */
	uint64_t epoch;
};

/* Chooses the task of a site.  Returns false if there is nothing to do. */
bool hive_assign(const struct hive_program *p, const struct hive_asking *who, struct hive_task *task);

/* Returns the failure that the site tracks in its next run, or NULL if it looks for races instead.
 * If the program has both failures and race candidates, a quarter of the sites look for races, and
 * each epoch selects different ones. */
const struct hive_sketch *hive_assign_sketch(const struct hive_program *p, const struct hive_asking *who);
void hive_sketch_task_id(const struct hive_sketch *s, uint64_t epoch, char id[PROTOCOL_TASK_ID]);

/* Returns the mode that the site may use.  This is the program's state, or off if the site is not
 * part of the roll-out. */
enum protocol_mode hive_allowed(const struct hive_program *p, const uint64_t site[2]);

#endif
