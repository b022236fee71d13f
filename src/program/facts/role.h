/* SPDX-License-Identifier: Apache-2.0 */
/* The roles of library functions: what a call does to threads and memory. */
#ifndef FACTS_ROLE_H
#define FACTS_ROLE_H

#include <stdbool.h>
#include <stdint.h>

/* The roles that library functions can have, such as taking a lock.  Each role has an identifier
 * and a name.  The subject of a function (row.h) is the argument that its role refers to, such as
 * the lock, the condition variable, or the memory for the ID of a new thread. */
#define FACTS_ROLES(R)                                                                                       \
	R(NONE, "none")                                                                                      \
	R(THREAD_CREATE, "thread-create") /* the subject is where the thread's ID is stored */               \
	R(THREAD_JOIN, "thread-join")	  /* the subject is the thread */                                    \
	R(THREAD_DETACH, "thread-detach")                                                                    \
	R(THREAD_EXIT, "thread-exit")                                                                        \
	R(LOCK, "lock")		/* locks a mutex or spin lock, or a read-write lock for writing */           \
	R(TRY_LOCK, "try-lock") /* the lock is held if the result is 0 */                                    \
	R(READ_LOCK, "read-lock")                                                                            \
	R(TRY_READ_LOCK, "try-read-lock")                                                                    \
	R(UNLOCK, "unlock")                                                                                  \
	R(LOCK_INIT, "lock-init")                                                                            \
	R(LOCK_DESTROY, "lock-destroy")                                                                      \
	R(COND_WAIT, "cond-wait") /* the subject is the condition variable; the mutex follows it */          \
	R(COND_SIGNAL, "cond-signal")                                                                        \
	R(COND_BROADCAST, "cond-broadcast")                                                                  \
	R(BARRIER_WAIT, "barrier-wait")                                                                      \
	R(SEM_WAIT, "sem-wait")                                                                              \
	R(SEM_TRY_WAIT, "sem-try-wait")                                                                      \
	R(SEM_POST, "sem-post")                                                                              \
	R(ONCE, "once")                                                                                      \
	R(FORK, "fork")                                                                                      \
	R(ALLOCATE, "allocate") /* the result is fresh memory */                                             \
	R(RESIZE, "resize")	/* the subject is the old memory; the result is the same memory or fresh */  \
	R(FREE, "free")                                                                                      \
	R(EXIT, "exit")		/* ends the process */                                                       \
	R(HANDLER, "handler")	/* registers a function to be called later */                                \
	R(TRY_JOIN, "try-join") /* the thread has ended if the result is 0 */

enum facts_role {
#define FACTS_ROLE_ENUM(id, name) FACTS_ROLE_##id,
	FACTS_ROLES(FACTS_ROLE_ENUM)
#undef FACTS_ROLE_ENUM
		FACTS_ROLE_COUNT
};

/* Returns true if the call takes a lock when it succeeds. */
static inline bool facts_role_takes(uint32_t role)
{
	return role == FACTS_ROLE_LOCK || role == FACTS_ROLE_TRY_LOCK || role == FACTS_ROLE_READ_LOCK ||
	       role == FACTS_ROLE_TRY_READ_LOCK;
}

/* Returns true if the subject of the role is a synchronisation object, such as a lock, a condition
 * variable, a barrier or a semaphore. */
static inline bool facts_role_synchronises(uint32_t role)
{
	return facts_role_takes(role) || role == FACTS_ROLE_UNLOCK || role == FACTS_ROLE_COND_WAIT ||
	       role == FACTS_ROLE_COND_SIGNAL || role == FACTS_ROLE_COND_BROADCAST ||
	       role == FACTS_ROLE_BARRIER_WAIT || role == FACTS_ROLE_SEM_WAIT ||
	       role == FACTS_ROLE_SEM_TRY_WAIT || role == FACTS_ROLE_SEM_POST;
}

#endif
