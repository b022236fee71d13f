/* SPDX-License-Identifier: Apache-2.0 */
/* How much a site may send in one request; a hive rejects larger requests.  Judgements: they limit
 * the work of a hive for one request. */
#ifndef PROTOCOL_LIMIT_H
#define PROTOCOL_LIMIT_H

enum {
	PROTOCOL_BODY_MAX = 64 << 10, /* bytes of a body: 256 for each of its reports */
	PROTOCOL_BODY_REPORTS = 256,  /* reports in a body */
	PROTOCOL_BODY_RUNS = 64,      /* or records of tracked runs, which are longer */
};

#endif
