/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out the loop iterations of a trace that ended in a condition wait (epa/sanitize.h).
 *
 * While a thread holds a mutex, its latest records (at most EPA_DELAYED - 1) are delayed.  After a
 * wait, the next record of the thread shows whether the wait was in a loop.  If a delayed record
 * has the same site, kind and depth as this next record, the loop has begun another iteration.  In
 * that case, the latest such record and all delayed records after it are dropped.  Otherwise the
 * wait was not in a loop.
 */
#ifndef EPA_DELAY_INT_H
#define EPA_DELAY_INT_H

#include "epa/sanitize.h"

/* The largest number of records in an iteration.  It is a power of two, and was set by hand. */
#define EPA_DELAYED 1024

struct epa_delay;
struct epa_delay *epa_delay_new(struct epa_objects *objects, size_t threads);
void epa_delay_free(struct epa_delay *h); /* `h` may be NULL */

/* Call this for each event of a thread, even if the event is left out of the canonical records. */
void epa_delay_event(struct epa_delay *h, size_t place, const struct trace_event *e);

/* Call this when a fault was injected into the thread. */
void epa_delay_fault(struct epa_delay *h, size_t place);

/* Returns true if *r is delayed.  A delayed record is dropped, or epa_delay_next() returns it
 * later. */
bool epa_delay_take(struct epa_delay *h, const struct epa_record *r);

/* Fetches the next delayed record that is to be passed on.  Returns false if there is none. */
bool epa_delay_next(struct epa_delay *h, struct epa_record *r);

/* Returns true if the next record of the thread can bypass this code.  That is the case if no
 * record of the thread is delayed or will be delayed next, and if epa_delay_next() has nothing to
 * return. */
bool epa_delay_idle(const struct epa_delay *h, size_t place);

/* Call this after the last record of the trace.  Drops the delayed records of threads whose traces
 * were cut off.  Returns false if no other records are delayed. */
bool epa_delay_end(struct epa_delay *h);

#endif
