/* SPDX-License-Identifier: Apache-2.0 */
/* Prints canonical records as text, in the notation of the TraceSanitizer paper (figure 4). */
#ifndef EPA_SHOW_H
#define EPA_SHOW_H

#include "epa/sanitize.h"

struct epa_show {
	const struct epa_names *names;
	const struct trace_sites *sites;
};

/* Appends a record, such as `load 3 arr+4`, `call-inc 0` or `store T_0_0 local in T_0
 * (main.c:12)#0`. */
void epa_show_record(const struct epa_show *show, const struct epa_record *r, struct rd_buf *out);

/* Appends one slot: a name, or a number according to its type. */
void epa_show_slot(const struct epa_show *show, const struct epa_record *r, unsigned slot,
		   struct rd_buf *out);

/* Appends the operation of a record, such as `load`, `call-malloc-u` or `mutex-lock`. */
void epa_show_operation(const struct epa_show *show, const struct epa_record *r, struct rd_buf *out);

/* Appends a place in the source, as `file.c:12:5 function`; `?` if the site is unknown. */
void epa_show_place(const struct trace_sites *sites, uint32_t site, struct rd_buf *out);

#endif
