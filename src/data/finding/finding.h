/* SPDX-License-Identifier: Apache-2.0 */
/* The finding: a race, a deadlock or another failure, what is known about it, and how to reach it.
 * A set owns its findings and everything that they point to; finding_text() adds strings,
 * finding_array() arrays.  An unknown string is NULL, an unknown number is 0.
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

#define FINDING_VERSION 1  /* of the format */
#define FINDING_ID_SIZE 17 /* 16 hex digits and NUL */

enum finding_kind {
#define FINDING_KIND(constant, ...) FINDING_##constant,
#include "finding/kind.inc"
#undef FINDING_KIND
	FINDING_KINDS
};

/* In order of importance: a merged finding has the first status of its parts. */
enum finding_status {
	FINDING_CONFIRMED,
	FINDING_UNCONFIRMED, /* predicted from a run */
	FINDING_CANDIDATE,   /* possible by the program's text; no run was examined */
	FINDING_DROPPED,
	FINDING_STATUSES,
};

/* What a race does, the worst first. */
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
	FINDING_GLOBAL,	      /* `stack` is its declaration, one frame */
	FINDING_HEAP,	      /* `stack` is its allocation */
	FINDING_STACK,	      /* of `thread` */
	FINDING_THREAD_LOCAL, /* the same */
	FINDING_DESCRIPTOR,   /* a file descriptor */
	FINDING_OBJECT_KINDS,
};

enum finding_op {
	FINDING_READ,
	FINDING_WRITE,
	FINDING_FREE, /* release of memory */
	FINDING_USE,  /* of a lock, condition variable and so on, or a file descriptor */
	FINDING_INIT,
	FINDING_DESTROY,
	FINDING_CLOSE,
	FINDING_OPS,
};

/* What a race is about, other than reads and writes. */
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

/* Innermost frame first. */
struct finding_stack {
	struct finding_frame *frames;
	size_t count;
};

/* A lock that a thread holds, and where it acquired it. */
struct finding_lock {
	const char *name, *kind; /* `table[3].lock`, `mutex` */
	bool shared;		 /* for reading */
	struct finding_stack stack;
};

struct finding_access {
	const char *thread; /* T_0_1 */
	const char *what;   /* as the source writes it: `conn->state` */
	enum finding_op op;
	bool atomic;
	uint32_t size;
	uint32_t ordinal; /* its number among the function's lines that access the subject, from 0 */
	/* `what` of the statement's first access; NULL: the same as `what`. */
	const char *subject;
	struct finding_stack stack;
	struct finding_lock *locks;
	size_t lock_count;
};

/* A thread of a cycle: it holds `holds` and waits for `wants`. */
struct finding_wait {
	const char *thread;
	const char *wants, *kind; /* kind: mutex, rwlock, spin, cond, barrier, sem, once, join */
	bool shared;		  /* wants it for reading */
	uint32_t ordinal;	  /* its number among the function's lines with the same call, from 0 */
	struct finding_stack stack;
	struct finding_lock *holds;
	size_t hold_count;
};

struct finding_thread {
	const char *name, *label; /* label: the name the program gave it */
	struct finding_stack created;
};

struct finding_object {
	const char *name, *type;
	const char *place; /* the canonical name, if `name` is a better one: `heap T_0 (list.c:9)#4+16` */
	enum finding_object_kind kind;
	const char *thread; /* of a heap object: its allocator */
	uint64_t size;
	struct finding_stack stack;
};

struct schedule; /* finding/schedule.h */

/* A run that shows the effect of a finding: it can be repeated with this input and schedule. */
struct finding_witness {
	enum finding_class class; /* what it shows, under `model` */
	enum finding_model model;
	const char *consequence; /* as in the finding */
	const char *seen;	 /* how it was observed, a sentence */
	const char *input;	 /* a JSON object as text; NULL: that of the recorded run */
	const char *schedule_path;
	struct schedule *schedule; /* of the set; NULL: no schedule */
	uint64_t runs;		   /* how often it was run with this result */
};

struct finding {
	char id[FINDING_ID_SIZE];	   /* stays the same when other code is edited; see identity.c */
	char fingerprint[FINDING_ID_SIZE]; /* of the exact code locations */
	enum finding_kind kind;
	enum finding_status status;
	enum finding_class class;		    /* the worst of `classes` */
	enum finding_class classes[FINDING_MODELS]; /* FINDING_NO_CLASS: not requested, or not known */
	bool sound;				    /* the prediction keeps every read's writer */
	bool known;				    /* in the baseline */
	bool recorded;	/* confirmed by the recorded run itself: it happened there */
	bool observed;	/* confirmed by the detector: the two accesses cannot be brought together */
	bool unordered; /* the detector saw no order, but code that Raddle did not compile may impose one */
	const char *reason; /* why dropped or unconfirmed */
	const char *firm;   /* a sentence: the recorded run had both accesses, and nothing to order them */
	const char *consequence; /* crash, hang, deadlock, assertion, memory-error, ... */
	const char *suppressed;	 /* the suppression that hides it */
	bool printed;		 /* its text report has been printed; not part of documents */
	const char *schedule_path;
	const char *input; /* a JSON object as text */
	uint64_t k;	   /* witnesses tried by classification */
	uint64_t count;	   /* number of predictions merged into it; 0: only its schedule is known */
	struct finding_object object;
	struct finding_access *accesses;
	struct finding_wait *cycle;
	struct finding_thread *threads;
	const char **notes;		   /* evidence, a sentence each */
	struct finding_witness *witnesses; /* the one that shows `class` comes first */
	size_t access_count, cycle_count, thread_count, note_count, witness_count;
	struct schedule *schedule; /* of the set; NULL: no schedule */
};

/* A number that the analysis counted; `json` is the value as JSON text. */
struct finding_stat {
	const char *name, *json;
};

struct finding_set {
	struct finding **items;
	size_t count, capacity;
	struct finding_stat *stats;
	size_t stat_count, stat_capacity;
	struct finding_pair *pairs; /* what exploration covered (finding/pair.h), by file and line */
	const char **argv;	    /* of the examined program */
	size_t pair_count, argc;
	const char *stdin_path; /* the file that was its standard input; NULL: no file */
	const char *with;	/* the command that ran beside it; NULL: no command */
	const char *setup;	/* and the one before each run */
	const char *plugins;	/* that it loaded from elsewhere; NULL: no plug-ins */
	uint64_t timeout;	/* seconds of a run; 0: no limit */
	const char *tool;	/* version of Raddle; NULL is written as null */
	struct rd_arena *arena;
	struct schedule **schedules; /* those of the findings, freed with the set */
	size_t schedule_count, schedule_capacity;
};

struct finding_set *finding_set_new(void);
void finding_set_free(struct finding_set *set); /* NULL is fine */

/* A new finding with count 1; valid as long as the set. */
struct finding *finding_add(struct finding_set *set, enum finding_kind kind);

/* Adds a finding of another set, which must live as long as this one. */
void finding_set_put(struct finding_set *set, struct finding *f);

/* Copies that live as long as the set; NULL stays NULL. */
const char *finding_text(struct finding_set *set, const char *text);
const char *finding_textf(struct finding_set *set, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void *finding_array(struct finding_set *set, size_t count, size_t size); /* zeroed */
void finding_note(struct finding_set *set, struct finding *f, const char *text);

/* An empty schedule that is freed with the set; the second function makes it that of a finding. */
struct schedule *finding_schedule_new(struct finding_set *set);
struct schedule *finding_schedule_add(struct finding_set *set, struct finding *f);

/* Sets the class under a memory model; the class of the finding becomes the worst of all. */
void finding_classify(struct finding *f, enum finding_model model, enum finding_class class);

/* Removes all classes and witnesses: an earlier class must not remain without its witness. */
void finding_unclassify(struct finding *f);

/* Adds a witness, sorted by class, the worst first.  `input` becomes that of the first one. */
void finding_add_witness(struct finding_set *set, struct finding *f, const struct finding_witness *w);

enum finding_class finding_worse(enum finding_class a, enum finding_class b); /* any is worse than no class */
void finding_stat(struct finding_set *set, const char *name, double value);   /* replaces the value */
uint64_t finding_stat_value(const struct finding_set *set,
			    const char *name); /* 0 if there is no such value */

/* Sets all identities, merges findings of the same pair of code locations, and sorts: confirmed
 * first, sound before speculative.  May be repeated.  The second sets only the fingerprint. */
void finding_set_finish(struct finding_set *set);
void finding_identify(struct finding *f);

/* The finding with that id, or with that unique prefix of 6 or more digits; NULL. */
struct finding *finding_find(const struct finding_set *set, const char *id);

/* The finding with that fingerprint, and its position; NULL, SIZE_MAX: there is no such finding. */
size_t finding_position(const struct finding_set *set, const char *fingerprint);
struct finding *finding_at(const struct finding_set *set, const char *fingerprint);
/* How many findings have a status; if `fresh`, without known and suppressed ones. */
size_t finding_set_count(const struct finding_set *set, enum finding_status status, bool fresh);

/* The innermost frame that has a file, or the innermost, or an empty one. */
const struct finding_frame *finding_top(const struct finding_stack *stack);
/* The innermost place that is not part of the language's library, or finding_top(). */
const struct finding_frame *finding_own_code_frame(const struct finding_stack *stack);
bool finding_is_library(const struct finding_frame *frame);
enum finding_detail finding_detail(const struct finding *f); /* FINDING_PLAIN also if it is not a race */
const struct finding_thread *finding_thread(const struct finding *f, const char *name); /* NULL */
bool finding_is_reproduced(const struct finding *f); /* confirmed, and its schedule leads there */
bool finding_is_fresh(const struct finding *f);	     /* neither known nor suppressed */
const struct finding_access *finding_plain_side(const struct finding *f); /* of a mixed race; NULL */

/* Names as in the JSON document; that of FINDING_NO_CLASS is NULL. */
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
const char *finding_detail_name(enum finding_detail detail); /* "use-after-free"; NULL of FINDING_PLAIN */

/* The document of doc/format/finding.md.  Writing fails only as `out` does. */
int finding_write(const struct finding_set *set, FILE *out);
int finding_format(const struct finding_set *set, struct rd_buf *out);	/* the same, added to a buffer */
int finding_write_schedule(const struct schedule *schedule, FILE *out); /* its schedule_inline alone */
int finding_parse(struct finding_set **set, const void *data, size_t length, const char *name);
int finding_read(struct finding_set **set, const char *path);

/* Marks the findings listed in a baseline as known.  A baseline is a finding document, or a text
 * with one id per line.  *fixed, which may be NULL, receives the number of ids without a
 * finding. */
int finding_baseline_parse(struct finding_set *set, const void *data, size_t length, const char *name,
			   size_t *fixed);
int finding_baseline_read(struct finding_set *set, const char *path, size_t *fixed);

#endif
