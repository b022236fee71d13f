/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault models, in which a user describes faults (doc/format/fault-model.md).  The file states
 * where the faults strike, what they change, when, and how often.  Each line defines a kind of
 * fault, which is used like the kinds of inject/kind.c.
 */
#ifndef INJECT_FAULT_MODEL_H
#define INJECT_FAULT_MODEL_H

#include "inject/kind.h"

struct inject_fault_model {
	struct inject_kind kind;
	struct inject_rule rule;
};

struct inject_fault_models { /* zero is empty */
	struct inject_fault_model *items;
	size_t count, capacity;
	char **words; /* the strings to which the items refer */
	size_t word_count, word_capacity;
};

/* Parses the text of fault models.  `name` is used in messages.  The caller must release *m even
 * after a failure. */
int inject_fault_models_parse(struct inject_fault_models *m, const char *text, size_t length,
			      const char *name);
void inject_fault_models_release(struct inject_fault_models *m);

/* Registers the models as kinds of fault.  These kinds refer to `m`, which must stay valid. */
int inject_fault_models_use(const struct inject_fault_models *m);

#endif
