/* SPDX-License-Identifier: Apache-2.0 */
/* A finding is a race, a deadlock or another failure, with what is known about it and how to reach
 * it.  A set owns its findings and everything that they point to; finding_text() adds strings to
 * it, and finding_array() arrays.  An unknown string is NULL, and an unknown number is 0.
 *
 * 	struct finding_set *set = finding_set_new();
 * 	struct finding *f = finding_add(set, FINDING_RACE);
 * 	f->object.name = finding_text(set, "hits"); ...
 * 	finding_set_finish(set);     identities, duplicates, order
 * 	finding_write(set, stdout);  doc/format/finding.md */
#ifndef FINDING_FINDING_H
#define FINDING_FINDING_H

#include "base/alloc.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FINDING_VERSION 1  /* version of the format */
#define FINDING_ID_SIZE 17 /* 16 hex digits and NUL */
#define FINDING_ID_LEAST 6 /* digits of an id that a user has to give */

enum finding_kind {
#define FINDING_KIND(constant, ...) FINDING_##constant,
#include "finding/kind.inc"
#undef FINDING_KIND
	FINDING_KINDS
};

/* These are in order of precedence: merged findings get the first status that any of them has. */
enum finding_status {
	FINDING_CONFIRMED,
	FINDING_UNCONFIRMED, /* predicted from a run */
	FINDING_CANDIDATE,   /* possible according to the source code; no run was examined */
	FINDING_DROPPED,
	FINDING_STATUSES,
};

/* What a race does to the program; the worst class comes first. */
enum finding_class {
	FINDING_NO_CLASS,
	FINDING_SPEC_VIOLATED,
	FINDING_OUTPUT_DIFFERS,
	FINDING_K_WITNESS_HARMLESS,
	FINDING_SINGLE_ORDERING,
	FINDING_CLASSES,
};

/* The memory models that a class can refer to, from the strongest to the weakest. */
enum finding_model { FINDING_SC, FINDING_TSO, FINDING_PSO, FINDING_WEAK, FINDING_MODELS };

enum finding_object_kind {
	FINDING_OBJECT_UNKNOWN,
	FINDING_GLOBAL,	      /* `stack` is the declaration of the variable, as one frame */
	FINDING_HEAP,	      /* `stack` is where it was allocated */
	FINDING_STACK,	      /* `thread` is the owner of the stack */
	FINDING_THREAD_LOCAL, /* `thread` is the owner of the variable */
	FINDING_DESCRIPTOR,   /* a file descriptor */
	FINDING_OBJECT_KINDS,
};

enum finding_op {
	FINDING_READ,
	FINDING_WRITE,
	FINDING_FREE, /* release of memory */
	FINDING_USE,  /* use of a lock, condition variable or similar object, or of a file descriptor */
	FINDING_INIT,
	FINDING_DESTROY,
	FINDING_CLOSE,
	FINDING_OPS,
};

/* The kind of a race that is not between ordinary reads and writes. */
enum finding_detail {
	FINDING_PLAIN,
	FINDING_USE_AFTER_FREE,
	FINDING_DOUBLE_FREE,
	FINDING_USE_AFTER_DESTROY,
	FINDING_USE_AFTER_CLOSE,
	FINDING_DETAILS,
};

/* A place in the program. */
struct finding_frame {
	const char *function, *file;
	const char *module; /* the executable or library */
	uint32_t line, column;
};

/* A call stack; the innermost frame comes first. */
struct finding_stack {
	struct finding_frame *frames;
	size_t count;
};

/* A lock that a thread holds, and the call stack at which the thread acquired the lock. */
struct finding_lock {
	const char *name, *kind; /* such as `table[3].lock` and `mutex` */
	bool shared;		 /* held for reading */
	struct finding_stack stack;
};

struct finding_access {
	const char *thread; /* canonical name, such as T_0_1 */
	const char *what;   /* the expression in the source, such as `conn->state` */
	enum finding_op op;
	bool atomic;
	uint32_t size;
	uint32_t ordinal; /* the line's index among the function's lines that access `subject` */
	/* The statement's first access, written like `what`; NULL if this is the first access. */
	const char *subject;
	struct finding_stack stack;
	struct finding_lock *locks;
	size_t lock_count;
};

/* A thread of a cycle, which holds the locks `holds` and waits for `wants`. */
struct finding_wait {
	const char *thread;
	const char *wants, *kind; /* kind: mutex, rwlock, spin, cond, barrier, sem, once or join */
	bool shared;		  /* it wants the lock for reading */
	uint32_t ordinal;	  /* index of its line among the function's lines with this call */
	struct finding_stack stack;
	struct finding_lock *holds;
	size_t hold_count;
};

struct finding_thread {
	const char *name, *label; /* `label` is the name that the program gave the thread */
	struct finding_stack created;
};

struct finding_object {
	const char *name, *type;
	const char *place; /* canonical name like `heap T_0 (list.c:9)#4`, if `name` is plainer */
	enum finding_object_kind kind;
	const char *thread; /* for a heap object: the thread that allocated it */
	uint64_t size;
	struct finding_stack stack;
};

struct schedule; /* finding/schedule.h */

/* A run that shows the effect of a finding.  It can be repeated with this input and schedule. */
struct finding_witness {
	enum finding_class class; /* the class that the run shows, under `model` */
	enum finding_model model;
	const char *consequence; /* as in struct finding */
	const char *seen;	 /* a sentence that states how the effect was observed */
	const char *input;	 /* a JSON object as text; NULL for the input of the recorded run */
	const char *schedule_path;
	struct schedule *schedule; /* owned by the set; NULL if there is none */
	uint64_t runs;		   /* number of runs with this result */
};

struct finding {
	char id[FINDING_ID_SIZE];	   /* stays the same if other code is edited (identity.c) */
	char fingerprint[FINDING_ID_SIZE]; /* identifies the exact code locations */
	char bug[FINDING_ID_SIZE];	   /* id of the bug that it is evidence of (bug.h) */
	enum finding_kind kind;
	enum finding_status status;
	enum finding_class class;		    /* the worst of `classes` */
	enum finding_class classes[FINDING_MODELS]; /* by model; FINDING_NO_CLASS if not known */
	bool sound;		 /* in the predicted order every read returns the recorded value */
	bool known;		 /* the baseline lists it */
	bool recorded;		 /* confirmed by the recorded run itself, in which it happened */
	bool observed;		 /* confirmed by the detector, since the threads cannot meet */
	bool unordered;		 /* the detector saw no order, but foreign code may order accesses */
	const char *reason;	 /* a sentence that states why it is dropped or unconfirmed */
	const char *firm;	 /* a sentence if the accesses are firm (see glossary); else NULL */
	const char *consequence; /* such as crash, hang, deadlock, assertion, memory-error */
	const char *suppressed;	 /* the suppression that hides the finding; else NULL */
	bool announced;		 /* the user knows that it is confirmed; not part of documents */
	const char *schedule_path;
	const char *input; /* a JSON object as text */
	uint64_t k;	   /* number of witnesses that classification tried */
	uint64_t count;	   /* number of predictions merged into it; 0 if only its schedule is known */
	struct finding_object object;
	struct finding_access *accesses;
	struct finding_wait *cycle;
	struct finding_thread *threads;
	const char **notes;		   /* evidence, one sentence each */
	size_t class_notes;		   /* how many of the last notes are about the class */
	struct finding_witness *witnesses; /* the witness that shows `class` comes first */
	struct finding_step *steps;	   /* what a run that shows it did (timeline.h); not read again */
	size_t access_count, cycle_count, thread_count, note_count, witness_count, step_count;
	struct schedule *schedule; /* owned by the set; NULL if there is none */
};

/* A number that the analysis counted.  `json` is its value as JSON text. */
struct finding_stat {
	const char *name, *json;
};

struct finding_set {
	struct finding **items;
	size_t count, capacity;
	struct finding_stat *stats;
	size_t stat_count, stat_capacity;
	struct finding_pair *pairs; /* covered by exploration (finding/pair.h); sorted by file and line */
	const char **argv;	    /* arguments of the examined program */
	size_t pair_count, argc;
	const char *stdin_path; /* file that was the standard input; NULL if there was none */
	const char *with;	/* the command that ran at the same time; NULL if there was none */
	const char *setup;	/* the command that ran before each run; NULL if there was none */
	const char *plugins;	/* plug-ins from outside the program; NULL if there were none */
	uint64_t timeout;	/* time limit of a run in seconds; 0 for no limit */
	const char *tool;	/* version of Raddle; NULL is written as null */
	struct rd_arena *arena;
	struct schedule **schedules; /* the schedules of the findings, freed with the set */
	size_t schedule_count, schedule_capacity;
};

struct finding_set *finding_set_new(void);
void finding_set_free(struct finding_set *set); /* `set` may be NULL */

/* Adds a finding with count 1.  The set owns the finding. */
struct finding *finding_add(struct finding_set *set, enum finding_kind kind);

/* Adds a finding that another set owns.  That set must live as long as this one. */
void finding_set_put(struct finding_set *set, struct finding *f);

/* These texts live as long as the set. */
const char *finding_text(struct finding_set *set, const char *text); /* a copy; NULL for NULL */
const char *finding_textf(struct finding_set *set, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void *finding_array(struct finding_set *set, size_t count, size_t size); /* the array is zeroed */
void finding_note(struct finding_set *set, struct finding *f, const char *text);

/* Makes a schedule that is freed with the set. */
struct schedule *finding_schedule_new(struct finding_set *set);
struct schedule *finding_schedule_add(struct finding_set *set, struct finding *f); /* for the finding `f` */

/* Sets the class under a memory model.  The finding's own class becomes the worst of them. */
void finding_classify(struct finding *f, enum finding_model model, enum finding_class class);

/* Removes all classes, with their witnesses and notes.  A class must not remain without its witness. */
void finding_unclassify(struct finding *f);

/* Adds a witness and sorts all by class, worst first. f->input becomes that of the first. */
void finding_add_witness(struct finding_set *set, struct finding *f, const struct finding_witness *w);

enum finding_class finding_worse(enum finding_class a, enum finding_class b); /* any is worse than no class */
void finding_stat(struct finding_set *set, const char *name, double value);   /* replaces the value */
uint64_t finding_stat_value(const struct finding_set *set,
			    const char *name); /* 0 if the set has no such value */

/* Sets the identities of all findings, and merges findings with the same pair of code locations.
 * Then sorts the findings: confirmed ones come first, and sound ones before speculative ones. */
void finding_set_finish(struct finding_set *set);
void finding_identify(struct finding *f); /* sets only the fingerprint of a finding */
int finding_compare_places(const struct finding *a, const struct finding *b); /* for sorting */

/* Returns the only finding whose id begins with `id` (at least 6 digits), or NULL. */
struct finding *finding_find(const struct finding_set *set, const char *id);

/* Returns the index of the finding with that fingerprint, or SIZE_MAX if there is none. */
size_t finding_position(const struct finding_set *set, const char *fingerprint);
struct finding *finding_at(const struct finding_set *set, const char *fingerprint);
/* Counts the findings with a status.  With `fresh`, leaves out known and suppressed ones. */
size_t finding_set_count(const struct finding_set *set, enum finding_status status, bool fresh);

/* Returns the innermost frame that has a file, else the innermost frame, else an empty frame. */
const struct finding_frame *finding_top(const struct finding_stack *stack);
/* Returns the innermost frame outside the language's standard library, or else finding_top(). */
const struct finding_frame *finding_own_code_frame(const struct finding_stack *stack);
bool finding_is_library(const struct finding_frame *frame);
enum finding_detail finding_detail(const struct finding *f); /* FINDING_PLAIN also if it is not a race */
/* Returns the stack of access i or, after the accesses, of a wait; an empty one if there is none. */
const struct finding_stack *finding_side(const struct finding *f, size_t i);
const struct finding_thread *finding_thread(const struct finding *f, const char *name); /* or NULL */
bool finding_is_reproduced(const struct finding *f); /* confirmed, and its schedule leads to it */
bool finding_is_fresh(const struct finding *f);	     /* neither known nor suppressed */
const struct finding_access *finding_plain_side(const struct finding *f); /* for a mixed race; else NULL */

/* The names in the JSON document.  The name of FINDING_NO_CLASS is NULL. */
#define FINDING_NAMED(X)                                                                                     \
	X(kind, FINDING_KINDS)                                                                               \
	X(status, FINDING_STATUSES)                                                                          \
	X(class, FINDING_CLASSES)                                                                            \
	X(model, FINDING_MODELS)                                                                             \
	X(object_kind, FINDING_OBJECT_KINDS)                                                                 \
	X(op, FINDING_OPS)
#define FINDING_NAME(what, count) const char *finding_##what##_name(enum finding_##what what);
FINDING_NAMED(FINDING_NAME)
#undef FINDING_NAME
const char *finding_kind_words(enum finding_kind kind);	     /* "data race" */
const char *finding_detail_name(enum finding_detail detail); /* "use-after-free"; FINDING_PLAIN: NULL */

/* Writes the document of doc/format/finding.md.  Fails only if writing to `out` fails. */
int finding_write(const struct finding_set *set, FILE *out);
int finding_format(const struct finding_set *set, struct rd_buf *out);	/* appends the same to a buffer */
int finding_write_schedule(const struct schedule *schedule, FILE *out); /* only schedule_inline */
int finding_parse(struct finding_set **set, const void *data, size_t length, const char *name);
int finding_read(struct finding_set **set, const char *path);

#endif
