/* SPDX-License-Identifier: Apache-2.0 */
/* Limits for one request of a site; a hive rejects larger requests.  They were set by hand, and
 * limit the work of a hive for one request. */
#ifndef PROTOCOL_LIMIT_H
#define PROTOCOL_LIMIT_H

enum {
	/* maximum number of bytes of a body: 256 for each of its reports */
	PROTOCOL_BODY_MAX = 64 << 10,
	PROTOCOL_BODY_REPORTS = 256, /* maximum number of reports in a body */
	/* maximum number of records of tracked runs in a body; they are longer than reports */
	PROTOCOL_BODY_RUNS = 64,
};

#endif
