/* SPDX-License-Identifier: Apache-2.0 */
/* Limits for one request of a site.  A hive rejects larger requests.  The limits were set by hand,
 * to bound the work that one request causes. */
#ifndef PROTOCOL_LIMIT_H
#define PROTOCOL_LIMIT_H

enum {
	/* the maximum size of a body in bytes, which allows 256 bytes for each report */
	PROTOCOL_BODY_MAX = 64 << 10,
	PROTOCOL_BODY_REPORTS = 256, /* maximum number of reports in a body */
	/* the maximum number of records of tracked runs in a body; a record is longer than a
	 * report */
	PROTOCOL_BODY_RUNS = 64,
};

#endif
