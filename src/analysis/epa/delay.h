/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out the rounds of a loop that ended in a condition wait (epa/sanitize.h).
 *
 * While a thread holds a mutex its last EPA_DELAYED records are delayed.  When a wait has ended, the next
 * record tells: if a delayed record is like it, another round of a loop begins there, and the records from
 * that one on are dropped; otherwise the wait was not in a loop.
 */
#ifndef EPA_DELAY_H
#define EPA_DELAY_H

#include "epa/sanitize.h"

#define EPA_DELAYED 1024 /* a power of two */

struct epa_delay;
struct epa_delay *epa_delay_new(struct epa_objects *objects, size_t threads);
void epa_delay_free(struct epa_delay *h); /* NULL is fine */

/* An event of a thread, counted or not. */
void epa_delay_event(struct epa_delay *h, size_t place, const struct trace_event *e);

/* A fault has struck the thread. */
void epa_delay_fault(struct epa_delay *h, size_t place);

/* True: *r is delayed; it comes later, or never. */
bool epa_delay_take(struct epa_delay *h, const struct epa_record *r);

/* True: *r was delayed and is let through now. */
bool epa_delay_next(struct epa_delay *h, struct epa_record *r);

/* No record of the thread is delayed, the next one will not be, and none of another thread is on its way. */
bool epa_delay_idle(const struct epa_delay *h, size_t place);

/* There are no more records; false: none is delayed.  Those of a thread that was cut off go. */
bool epa_delay_end(struct epa_delay *h);

#endif
