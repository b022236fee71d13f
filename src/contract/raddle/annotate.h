/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations for tests that `raddle explore` runs.  They are optional.  The header works in C and
 * C++ and needs no other file.  Without Raddle, a program that uses it runs normally.
 *
 * 	raddle_assert(x)        a failure if x is false, whatever NDEBUG is
 * 	raddle_assume(x)        a run in which x is false is ignored: it ends here, with status 0
 * 	raddle_choose(n)        a number below n, which is at most 64; each such number is tried in
 * 	                        some schedule
 * 	RADDLE_EXPLORE_LATER    in one file, outside of functions: until raddle_explore_here() is
 * 	                        called, threads take turns in the default order, so that no schedules
 * 	                        are spent on code before the call
 *
 * raddle_choose() starts n threads, and the one that runs first determines the result.  So a
 * schedule contains a choice in the same way as any other order of threads.  A replay repeats it,
 * and a report explains it.
 */
#ifndef RADDLE_ANNOTATE_H
#define RADDLE_ANNOTATE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime defines this function; without Raddle, its address is NULL. */
void __raddle_assumption(void) __attribute__((weak));
/* This variable is nonzero until exploration begins.  It exists only if the program uses
 * RADDLE_EXPLORE_LATER. */
extern unsigned __raddle_waits __attribute__((weak));

#define RADDLE_EXPLORE_LATER unsigned __raddle_waits __attribute__((visibility("default"))) = 1

static inline __attribute__((unused)) void raddle_explore_here(void)
{
	if (&__raddle_waits)
		__atomic_store_n(&__raddle_waits, 0u, __ATOMIC_SEQ_CST);
}

static inline __attribute__((unused, noreturn)) void raddle_fail_(const char *what, const char *file,
								  unsigned line, const char *function)
{
	fprintf(stderr, "raddle: %s:%u: %s: Assertion `%s' failed.\n", file, line, function, what);
	abort();
}

#define raddle_assert(x) ((x) ? (void)0 : raddle_fail_(#x, __FILE__, __LINE__, __func__))

static inline __attribute__((unused, noreturn)) void raddle_give_up_(void)
{
	if (__raddle_assumption)
		__raddle_assumption();
	_Exit(0);
}

#define raddle_assume(x) ((x) ? (void)0 : raddle_give_up_())

/* The maximum number of values that raddle_choose() chooses from.  It was set by hand, and is
 * small because each value needs a thread. */
#define RADDLE_CHOICES 64

struct raddle_choice_ {
	pthread_mutex_t lock;
	unsigned came; /* the number of threads that have taken the lock */
	unsigned first;
};

struct raddle_chooser_ {
	struct raddle_choice_ *choice;
	unsigned number;
	pthread_t thread;
};

static inline __attribute__((unused)) void *raddle_come_(void *argument)
{
	struct raddle_chooser_ *c = (struct raddle_chooser_ *)argument;

	pthread_mutex_lock(&c->choice->lock);
	if (c->choice->came++ == 0)
		c->choice->first = c->number;
	pthread_mutex_unlock(&c->choice->lock);
	return NULL;
}

static inline __attribute__((unused)) unsigned raddle_choose(unsigned count)
{
	struct raddle_choice_ choice = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
	struct raddle_chooser_ choosers[RADDLE_CHOICES];
	unsigned begun = 0;

	for (; begun < count && begun < RADDLE_CHOICES; begun++) {
		choosers[begun].choice = &choice;
		choosers[begun].number = begun;
		if (pthread_create(&choosers[begun].thread, NULL, raddle_come_, &choosers[begun]))
			break;
	}
	for (unsigned i = 0; i < begun; i++)
		pthread_join(choosers[i].thread, NULL);
	return choice.first;
}

#ifdef __cplusplus
}
#endif

#endif
