/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out those iterations of a loop that ended in a condition wait (epa/sanitize.h).  While a
 * thread holds a mutex, its last records are delayed, at most EPA_DELAYED - 1.  The first record
 * after the result of the wait decides.  If a delayed record has the same site, kind and depth as
 * that record, another iteration begins.  Then the last such record, and all delayed records after
 * it, are dropped.  Otherwise the wait was not in a loop.
 */
#ifndef EPA_DELAY_INT_H
#define EPA_DELAY_INT_H

#include "epa/sanitize.h"

/* Largest number of records of an iteration; a power of two, set by hand. */
#define EPA_DELAYED 1024

struct epa_delay;
struct epa_delay *epa_delay_new(struct epa_objects *objects, size_t threads);
void epa_delay_free(struct epa_delay *h); /* `h` may be NULL */

/* To be called for each event of a thread, even if it is left out of the canonical records. */
void epa_delay_event(struct epa_delay *h, size_t place, const struct trace_event *e);

/* To be called when a fault was injected into the thread. */
void epa_delay_fault(struct epa_delay *h, size_t place);

/* Returns true if *r is delayed.  If so, it is returned by epa_delay_next() later, or dropped. */
bool epa_delay_take(struct epa_delay *h, const struct epa_record *r);

/* Fetches a delayed record that is passed on now.  Returns false if there is none. */
bool epa_delay_next(struct epa_delay *h, struct epa_record *r);

/* Returns true if three conditions hold: no record of the thread is delayed; its next record will
 * not be delayed either; no delayed record of any thread is being passed on. */
bool epa_delay_idle(const struct epa_delay *h, size_t place);

/* To be called after the last record.  Returns false if nothing is delayed.  Delayed records of a
 * thread that was cut off are dropped. */
bool epa_delay_end(struct epa_delay *h);

#endif
