/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out the rounds of a loop that ended in a condition wait (epa/sanitize.h).
 *
 * While a thread has a mutex its records are held, the last EPA_HELD of them.  When a wait is over the next
 * record is either the beginning of another round, and then it is among those held, and all from there on is
 * dropped; or the wait was not in a loop.
 */
#ifndef EPA_HOLD_H
#define EPA_HOLD_H

#include "epa/sanitize.h"

#define EPA_HELD 1024 /* a power of two */

struct epa_holds;
struct epa_holds *epa_holds_new(struct epa_objects *objects, size_t threads);
void epa_holds_free(struct epa_holds *h); /* NULL is fine */

/* An event of a thread, counted or not. */
void epa_holds_event(struct epa_holds *h, size_t place, const struct trace_event *e);

/* True: *r is held and will come later, or never. */
bool epa_holds_take(struct epa_holds *h, const struct epa_record *r);

/* True: *r is one that was held and may go. */
bool epa_holds_next(struct epa_holds *h, struct epa_record *r);

/* Nothing of the thread is held, nor will its next record be, nor is a record of another one on its way. */
bool epa_holds_idle(const struct epa_holds *h, size_t place);

/* There are no more records; false: nothing is held. */
bool epa_holds_end(struct epa_holds *h);

#endif
