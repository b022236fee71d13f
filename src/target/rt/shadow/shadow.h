/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer `shadow`.  It keeps track of the values that depend on the program's input, and builds
 * an expression for each of them (raddle/shadow.h).
 *
 *	expr.c     the store of expressions: each node exists once, and constants are folded
 *	memory.c   shadow memory: the expressions of bytes
 *	path.c     branches, variables, inputs, losses
 *	hooks.c    what instrumented code calls
 *	model-*.c  function models: how library functions propagate expressions
 *	layer.c    start-up
 *
 * Threads take turns while input is followed, so usually only one thread runs this code at a time.
 * However, a thread that is `away` (raddle/steer.h) may run at the same time as others.  A lock,
 * which is held only briefly, therefore protects the state.
 */
#ifndef RT_SHADOW_H
#define RT_SHADOW_H

#include "raddle/shadow.h"
#include "rt/core/layer.h"

#include <stddef.h>

#define RT_EXPORT __attribute__((visibility("default")))

#define RT_SHADOW_PAGES 16384u	   /* the maximum number of pages with expressions: 64 MB */
#define RT_SHADOW_DESCRIPTORS 1024 /* the usual limit of descriptors */
#define RT_SHADOW_SCANNED 4096u	   /* maximum number of bytes that one call of scanf may consume */

struct rt_shadow {
	struct raddle_shadow *shared; /* NULL if no input is followed */
	struct raddle_expr *nodes;
	struct raddle_shadow_var *vars;
	struct raddle_shadow_step *steps;
	struct raddle_shadow_byte *output;
	uint64_t *tables;
	char *text;
	uint32_t *index; /* a hash table of nodes */
	_Atomic uint32_t lock;
	/* path.c: the numbers of byte variables plus 1; 0 if the variable does not exist yet. */
	uint32_t byte_vars[RADDLE_SHADOW_INPUTS][RADDLE_SHADOW_BYTES];
	/* memory.c: the pages with expressions, by address. */
	struct rt_shadow_page *pages[2 * RT_SHADOW_PAGES];
	uint32_t page_count;
	/* model-input.c: for each descriptor, the number of the input that it reads plus 1, the
	 * file that it referred to, and the number of bytes read so far. */
	struct {
		uint32_t input;
		uint64_t device, inode;
		uint64_t consumed;
	} descriptors[RT_SHADOW_DESCRIPTORS];
	/* The text of one scan; used only by the thread that has the turn. */
	char scanned[RT_SHADOW_SCANNED + 1];
};
extern struct rt_shadow rt_shadow;

static inline bool rt_shadow_is_on(void)
{
	return rt_shadow.shared != NULL;
}

/* Call these before and after any change of the store. */
void rt_shadow_enter(void);
void rt_shadow_leave(void);

/* ---- expr.c: the result is 0 if the store is full, or if an operand is 0. ---- */

uint32_t rt_expr_const(uint64_t value, uint32_t bits);
uint32_t rt_expr_var(uint32_t number, uint32_t bits, uint32_t input);
uint32_t rt_expr_binary(uint32_t op, uint32_t a, uint32_t b);
uint32_t rt_expr_not(uint32_t a);
uint32_t rt_expr_zext(uint32_t a, uint32_t bits);
uint32_t rt_expr_sext(uint32_t a, uint32_t bits);
uint32_t rt_expr_extract(uint32_t a, uint32_t low, uint32_t bits);
uint32_t rt_expr_concat(uint32_t high, uint32_t low);
uint32_t rt_expr_ite(uint32_t c, uint32_t a, uint32_t b);
uint32_t rt_expr_table(uint32_t index, uint32_t table, uint32_t bits);
bool rt_expr_is_const(uint32_t e, uint64_t *value);

static inline uint32_t rt_expr_bits(uint32_t e)
{
	return rt_shadow.nodes[e].bits;
}

/* If the expression depends on a single variable, and that variable has eight bits, returns the
 * variable.  Otherwise returns 0. */
uint32_t rt_expr_only_byte(uint32_t e);
/* Returns the value that the expression has if the variable has this value. */
uint64_t rt_expr_with_byte(uint32_t e, uint32_t var, uint8_t value);

/* ---- memory.c ---- */

/* load() returns the expression of `size` bytes, in little-endian order, or 0 if all of them are
 * concrete (do not depend on input).  Call store() when the bytes are already in memory; e is 0 if
 * they are concrete. byte() returns the expression of one byte, or 0 if the byte is concrete. */
uint32_t rt_memory_load(uintptr_t a, uint32_t size);
void rt_memory_store(uintptr_t a, uint32_t size, uint32_t e);
uint32_t rt_memory_byte(uintptr_t a);
void rt_memory_set_byte(uintptr_t a, uint32_t e);
void rt_memory_clear(uintptr_t a, uint64_t size);
void rt_memory_copy(uintptr_t to, uintptr_t from, uint64_t size);
bool rt_memory_any(uintptr_t a, uint64_t size); /* true if a byte may have an expression */
bool rt_memory_setup(void);

/* ---- path.c ---- */

void rt_path_step(enum raddle_shadow_step_kind kind, uint32_t site, uint32_t cond, uint32_t taken);
void rt_path_lose(enum raddle_shadow_loss what);
uint32_t rt_path_text(const char *text, size_t length); /* returns its offset */

/* Returns the number of an input, and adds the input if it is new.  Returns UINT32_MAX if there
 * are too many inputs. */
uint32_t rt_input(enum raddle_shadow_kind kind, uint32_t number, const char *name);
/* Called when bytes in memory have been read from an input, from `offset` on. */
void rt_input_bytes(uint32_t input, uint64_t offset, const void *p, size_t size);

/* A range of successive bytes of an input, from which a piece of memory was read. rt_slot_of()
 * returns false if the memory was not read from such a range. */
struct rt_text_slot {
	uint32_t input;
	uint64_t offset;
	uint32_t length;
};
bool rt_slot_of(const void *p, size_t length, struct rt_text_slot *slot);
/* Returns the node of a variable that describes a slot.  The variable is added if it is new. */
uint32_t rt_slot_var(const struct rt_text_slot *slot, const struct raddle_shadow_var *like);

/* ---- calls ---- */

/* Returns the expression of argument n in a call of the function `model`, or 0 if the argument is
 * concrete (does not depend on input). */
static inline uint32_t rt_shadow_argument(const void *model, uint32_t n)
{
	const struct raddle_shadow_call *c = &__raddle_shadow_call;

	return c->callee == model && n < RADDLE_SHADOW_ARGUMENTS && n < c->count ? c->argument[n] : 0;
}

static inline void rt_shadow_result(const void *model, uint32_t e)
{
	__raddle_shadow_call.callee = NULL;
	__raddle_shadow_call.from = e ? model : NULL;
	__raddle_shadow_call.result = e;
}

/* Files: descriptors that are inputs. */
void rt_files_opened(int fd, const char *path);
void rt_files_read(int fd, const void *p, size_t size, int64_t offset);
#endif
