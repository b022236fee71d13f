/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One translation unit as it passes through the instrumenter.
 *
 *	instr_unit_make()       unit.c     bitcode in, object and site table out
 *	instr_target_*()        target.c   everything that depends on the machine
 *	instr_hook_*()          hook.c     the calls that are inserted
 *	instr_scan()            scan.c     a function's events, in program order
 *	instr_eliminate()       eliminate.c  drops events that add nothing new
 *	instr_record()          record.c   the flavour `record`, which uses these
 *	instr_full()            full.c     the flavour `full`
 *	instr_led()             led.c      the flavour `led`
 *	instr_guard()           guard.c    the flavour `guard`
 *	instr_track()           track.c    the flavour `track`
 *	instr_shadow()          shadow.c   the flavour `shadow`
 *	instr_keep_waiting()    spin.c     keeps loops that wait for memory from being optimised away
 *	instr_mark_progress()   progress.c marks loops that get closer to their end
 *	instr_late()            late.c     removes hooks after the code is optimised
 *	instr_edit()            edit.c     changes that the user asked for, before everything else
 *	instr_facts()           facts.c    no objects: facts of all units together
 */
#ifndef INSTR_UNIT_INT_H
#define INSTR_UNIT_INT_H

#include "instr/job-int.h"
#include "base/buf.h"
#include "base/edit.h"
#include "instr/site-int.h"
#include "raddle/flavour.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

enum instr_inlined { HOOK_INLINED_NEVER, HOOK_INLINED_FAST, HOOK_INLINED_ALWAYS };

struct instr_options {
	const struct raddle_flavour *flavour;
	const char *hooks;	      /* the path of the hooks' bitcode */
	const char *facts;	      /* the path of the file of facts to make instead of objects; or NULL */
	const char *program;	      /* the program's name, for the facts */
	uint64_t budget;	      /* for tests: the budget of the points-to sets; 0 for the usual one */
	const struct rd_edits *edits; /* the edits to make first; NULL if there are none */
	/* The guards of the flavour `guard` (instr/guard/guards.h). */
	const struct instr_guards *guards;
	const struct rd_names *gates; /* the gates of the flavour `track` (instr/track/track.c) */
	bool fast;		      /* whether to optimise; otherwise code generation is quick */
	bool optimised;		      /* for the flavour `full`: whether to optimise before instrumenting */
	bool debug;		      /* whether to keep debug information, for debuggers */
	bool keep_redundant;	      /* for tests: whether to keep redundant events */
	bool print;		      /* for tests: whether to print the instrumented code on stderr */
	bool time; /* for tuning: whether to print the CPU seconds of each step on stderr */
};

/* The hooks, which are functions that instrumented code calls at events.  Each row contains the
 * identifier, the name, the types of the result and the parameters (v void, p pointer, b 1 bit, i
 * 32 bits, l 64 bits), and when the hook is inlined: always, in fast mode, or never. */
#define INSTR_HOOKS(H)                                                                                       \
	H(ENTER, "__raddle_enter", "p", ALWAYS)                                                              \
	H(STACK, "__raddle_stack", "pp", ALWAYS)                                                             \
	H(CALL, "__raddle_call", "vppi", ALWAYS)                                                             \
	H(RETURN, "__raddle_return", "vpp", ALWAYS)                                                          \
	H(READ1, "__raddle_read1", "vppi", FAST)                                                             \
	H(READ2, "__raddle_read2", "vppi", FAST)                                                             \
	H(READ4, "__raddle_read4", "vppi", FAST)                                                             \
	H(READ8, "__raddle_read8", "vppi", FAST)                                                             \
	H(READ16, "__raddle_read16", "vppi", FAST)                                                           \
	H(WRITE1, "__raddle_write1", "vppi", FAST)                                                           \
	H(WRITE2, "__raddle_write2", "vppi", FAST)                                                           \
	H(WRITE4, "__raddle_write4", "vppi", FAST)                                                           \
	H(WRITE8, "__raddle_write8", "vppi", FAST)                                                           \
	H(WRITE16, "__raddle_write16", "vppi", FAST)                                                         \
	H(UPDATE1, "__raddle_update1", "vppii", FAST)                                                        \
	H(UPDATE2, "__raddle_update2", "vppii", FAST)                                                        \
	H(UPDATE4, "__raddle_update4", "vppii", FAST)                                                        \
	H(UPDATE8, "__raddle_update8", "vppii", FAST)                                                        \
	H(UPDATE16, "__raddle_update16", "vppii", FAST)                                                      \
	H(READ_TWO, "__raddle_read_two", "vppli", FAST)                                                      \
	H(WRITE_TWO, "__raddle_write_two", "vppli", FAST)                                                    \
	H(UPDATE_TWO, "__raddle_update_two", "vpplli", FAST)                                                 \
	H(READ_ALWAYS, "__raddle_read_always", "vppii", NEVER)                                               \
	H(ROUND, "__raddle_round", "v", NEVER)                                                               \
	H(PROGRESS, "__raddle_progress", "v", NEVER)                                                         \
	H(READ_RANGE, "__raddle_read_range", "vppil", NEVER)                                                 \
	H(WRITE_RANGE, "__raddle_write_range", "vppil", NEVER)                                               \
	H(READ_STRIDE, "__raddle_read_stride", "vppill", NEVER)                                              \
	H(WRITE_STRIDE, "__raddle_write_stride", "vppill", NEVER)                                            \
	H(READ_STRING, "__raddle_read_string", "vppil", NEVER)                                               \
	H(WRITE_STRING, "__raddle_write_string", "vppil", NEVER)                                             \
	H(READ_COMMON, "__raddle_read_common", "vpppil", NEVER)                                              \
	H(WRITE_COPIED, "__raddle_write_copied", "vpppil", NEVER)                                            \
	H(WRITE_APPENDED, "__raddle_write_appended", "vpppil", NEVER)                                        \
	H(VECTOR, "__raddle_vector", "vppill", NEVER)                                                        \
	H(READABLE, "__raddle_readable", "lpil", NEVER)                                                      \
	H(ATOMIC_BEGIN, "__raddle_atomic_begin", "vppl", NEVER)                                              \
	H(ATOMIC_END, "__raddle_atomic_end", "vppii", NEVER)                                                 \
	H(FENCE, "__raddle_fence", "vpi", NEVER)                                                             \
	H(ATOMIC_VALUES, "__raddle_atomic_values", "vppiillll", NEVER)                                       \
	H(STOP, "__raddle_stop", "vppl", NEVER)                                                              \
	H(BARRIER, "__raddle_barrier", "vpi", NEVER)                                                         \
	H(WITHIN, "__raddle_within", "vpplpli", NEVER)                                                       \
	H(COPIES, "__raddle_copies", "lpppll", NEVER)                                                        \
	H(PIECE, "__raddle_piece", "ppi", ALWAYS)                                                            \
	H(PIECE_END, "__raddle_piece_end", "vp", ALWAYS)                                                     \
	H(GUARD_TEST, "__raddle_guard_test", "vpil", ALWAYS)                                                 \
	H(GUARD_ATOMIC, "__raddle_guard_atomic", "vpi", ALWAYS)                                              \
	H(GUARD_OUTSIDE, "__raddle_guard_outside", "vi", ALWAYS)                                             \
	H(TRACK_ENTER, "__raddle_track_enter", "lpiil", ALWAYS)                                              \
	H(TRACK_LEAVE, "__raddle_track_leave", "vll", ALWAYS)                                                \
	H(TRACK_POINT, "__raddle_track_point", "vil", ALWAYS)                                                \
	H(GUARD_pthread_mutex_lock, "__raddle_guard_pthread_mutex_lock", "ip", ALWAYS)                       \
	H(GUARD_pthread_mutex_trylock, "__raddle_guard_pthread_mutex_trylock", "ip", ALWAYS)                 \
	H(GUARD_pthread_rwlock_wrlock, "__raddle_guard_pthread_rwlock_wrlock", "ip", ALWAYS)                 \
	H(GUARD_pthread_mutex_unlock, "__raddle_guard_pthread_mutex_unlock", "ip", ALWAYS)                   \
	H(GUARD_pthread_rwlock_unlock, "__raddle_guard_pthread_rwlock_unlock", "ip", ALWAYS)                 \
	H(GUARD_pthread_cond_signal, "__raddle_guard_pthread_cond_signal", "ip", ALWAYS)                     \
	H(GUARD_pthread_cond_broadcast, "__raddle_guard_pthread_cond_broadcast", "ip", ALWAYS)               \
	H(GUARD_free, "__raddle_guard_free", "vp", ALWAYS)                                                   \
	H(SX_BIN, "__raddle_sx_bin", "iiiill", ALWAYS)                                                       \
	H(SX_INDEX, "__raddle_sx_index", "iliill", ALWAYS)                                                   \
	H(SX_CAST, "__raddle_sx_cast", "iiii", ALWAYS)                                                       \
	H(SX_CHOOSE, "__raddle_sx_choose", "iiilll", ALWAYS)                                                 \
	H(SX_LOAD, "__raddle_sx_load", "ipii", ALWAYS)                                                       \
	H(SX_STORE, "__raddle_sx_store", "vpiii", ALWAYS)                                                    \
	H(SX_EXTENT, "__raddle_sx_extent", "iplli", ALWAYS)                                                  \
	H(SX_LOAD_IN, "__raddle_sx_load_in", "ipiib", ALWAYS)                                                \
	H(SX_STORE_IN, "__raddle_sx_store_in", "vpiiib", ALWAYS)                                             \
	H(SX_BRANCH, "__raddle_sx_branch", "viii", ALWAYS)                                                   \
	H(SX_SWITCH, "__raddle_sx_switch", "viiilp", ALWAYS)                                                 \
	H(SX_FRESH, "__raddle_sx_fresh", "vpl", ALWAYS)                                                      \
	H(SX_PARAM, "__raddle_sx_param", "ipi", ALWAYS)                                                      \
	H(SX_ENTERED, "__raddle_sx_entered", "v", ALWAYS)                                                    \
	H(SX_CALL, "__raddle_sx_call", "vpii", ALWAYS)                                                       \
	H(SX_ARGUMENT, "__raddle_sx_argument", "vii", ALWAYS)                                                \
	H(SX_RESULT, "__raddle_sx_result", "ip", ALWAYS)                                                     \
	H(SX_RETURN, "__raddle_sx_return", "vpi", ALWAYS)                                                    \
	H(SX_COPIED, "__raddle_shadow_copied", "vppl", NEVER)                                                \
	H(SX_FILLED, "__raddle_shadow_filled", "vpil", NEVER)                                                \
	H(SX_MADE, "__raddle_shadow_fresh", "vpl", NEVER)

enum instr_hook {
#define INSTR_HOOK_ENUM(id, name, signature, inlined) HOOK_##id,
	INSTR_HOOKS(INSTR_HOOK_ENUM)
#undef INSTR_HOOK_ENUM
		HOOK_COUNT
};

struct instr_unit {
	const struct instr_options *options;
	const struct instr_job *job;
	const char *name; /* the name of the source file, for messages */
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMTargetMachineRef machine;
	LLVMTargetDataRef layout;
	LLVMBuilderRef builder;
	LLVMTypeRef i32, i64, pointer, nothing;
	LLVMValueRef hooks[HOOK_COUNT]; /* the hooks that have been used; others are NULL */
	LLVMTypeRef hook_types[HOOK_COUNT];
	struct rd_buf diagnostics; /* the messages of LLVM */
	double step_began;	   /* the CPU seconds when the current step began, for --time */
	bool stops;		   /* true if a thread can be stopped before each access */
	struct instr_sites sites;
	/* For the flavour `track`: maps each gate to the first gate of its function. */
	struct rd_umap gate_leaders;
};

/* Reads the job's bitcode into u->context, which the caller creates, and runs the passes that come
 * before all analysis. */
int instr_unit_open(struct instr_unit *u);
/* Returns `code` if it is an error, or else an error if LLVM reported one.  Frees u->module if it
 * still exists. */
int instr_unit_close(struct instr_unit *u, int code);

/* Makes the object and the unit's part of the site table. */
int instr_unit_make(const struct instr_options *options, const struct instr_job *job);
/* Runs a pass pipeline that is given as text. */
int instr_unit_passes(struct instr_unit *u, const char *pipeline);
/* Does the same, but does not vectorise. */
int instr_unit_scalar_passes(struct instr_unit *u, const char *pipeline);
int instr_unit_verify(struct instr_unit *u);
int instr_unit_inline(struct instr_unit *u); /* links the hooks and inlines them */
/* Links and inlines the hooks.  In fast mode, then runs the passes of `clean_up`. */
int instr_unit_finish(struct instr_unit *u, const char *clean_up);
/* Ends a step.  If --time is given, prints its CPU seconds. */
void instr_unit_step(struct instr_unit *u, const char *what);

/* target.c */
void instr_target_init(void);
int instr_target_open(struct instr_unit *u);
int instr_target_emit(struct instr_unit *u);
/* Code that checks whether a fault is to be injected into a value (full.h).  This test is one call
 * of inline assembler, for which the code generator needs far less time than for a branch and a
 * call. instr_target_test() returns the value after the test. */
struct instr_test {
	LLVMValueRef self;
	uint32_t site;
	bool is_callee; /* true if the value is the function to call */
};
LLVMValueRef instr_target_test(struct instr_unit *u, LLVMValueRef value, const struct instr_test *test);
/* Returns the number of bits with which a value is tested, or 0 if it cannot be tested. */
unsigned instr_target_bits(LLVMTypeRef type);

/* hook.c */
LLVMValueRef instr_hook_call(struct instr_unit *u, enum instr_hook hook, LLVMValueRef *arguments);
int instr_hook_link(struct instr_unit *u); /* defines the inlined hooks as internal functions */

/* Finds the hooks in the module again.  Call this after passes that may drop declarations. */
void instr_hook_refresh(struct instr_unit *u);

/* foreign.c */
/* True if the assembler only orders accesses, or does nothing. */
bool instr_is_fence(const char *text);
/* Lists a function whose assembler may order threads. */
void instr_note_assembler(struct instr_unit *u, LLVMValueRef function);
void instr_note_module_assembler(struct instr_unit *u); /* lists assembler outside of functions */

/* used.c */
void instr_keep_used(struct instr_unit *u); /* keeps the symbols that have __attribute__((used)) */

/* start.c */
void instr_start_arrays(struct instr_unit *u); /* must be the last step before code generation */

/* The functions of each flavour, in NAME.c.  The first one inserts the hooks.  The second one
 * turns the instrumented module into the module from which code is generated, and optimises it as
 * the options request. */
#define RADDLE_FLAVOUR(constant, name, layers, bytes, values)                                                \
	int instr_##name(struct instr_unit *u);                                                              \
	int instr_##name##_generate(struct instr_unit *u);
#include "raddle/flavour.inc"
#undef RADDLE_FLAVOUR

/* In facts.c.  Writes the facts of all units together (doc/format/facts.md) to a file. */
int instr_facts(const struct instr_options *options, const struct instr_jobs *jobs);

/* In spin.c.  Call this before the code is optimised. */
struct ir_cfg;
struct facts_loop;
void instr_keep_waiting(struct instr_unit *u);
typedef void instr_loop_fn(struct instr_unit *u, const struct ir_cfg *cfg, const struct facts_loop *loop);
void instr_each_loop(struct instr_unit *u, instr_loop_fn *look); /* all loops of all functions */
void instr_mark_progress(struct instr_unit *u);			 /* full/progress.c */

/* In late.c.  Call this only in fast mode, between optimisation and instr_hook_link(). */
void instr_late(struct instr_unit *u);

#endif
