/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the page about a propagation; for use inside report/. */
#ifndef REPORT_PROPAGATION_HTML_INT_H
#define REPORT_PROPAGATION_HTML_INT_H

#include "base/buf.h"
#include "report/propagation-int.h"

/* The source lines that the error reached, as rows of the page.  The drawing of the threads and
 * the text of the source use the same row numbers. */
enum propagation_row_kind { ROW_FILE, ROW_CODE, ROW_GAP, ROW_PLACE };
struct propagation_row {
	enum propagation_row_kind kind;
	uint32_t line;
	char *text;
	bool reached;
};
struct propagation_listing {
	struct propagation_row *rows;
	size_t count, capacity;
	size_t *node_rows, *end_rows; /* the row of each node and of each end of the propagation */
};
void propagation_listing(struct propagation_listing *l, const struct propagation *p);
void propagation_listing_release(struct propagation_listing *l);

/* Writes listing and drawing, side by side. */
void propagation_graph(FILE *out, const struct propagation *p);

const char *propagation_way_name(enum propagation_way way);

extern const char propagation_style[], propagation_script[];

#endif
