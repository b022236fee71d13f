/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of the answer "yes" of `raddle reversible` (doc/format/reversible.md).  It
 * proves that the order of all dependent events of a run is fixed.  The checker uses the same
 * trace reader and solver as the code that found the proof, but it does not rely on any conclusion
 * of that code.
 */
#ifndef REVERSIBLE_CERTIFICATE_H
#define REVERSIBLE_CERTIFICATE_H

#include "base/buf.h"
#include "reversible/reversible.h"

/* Appends the certificate to `out`.  `x` must be the result of a check with the option `log`, and
 * its verdict must be "yes". */
void rev_certificate_write(const struct rev_result *x, const char *trace, struct rd_buf *out);

/* A certificate that was read.  Its members refer to threads by their index in `threads`. */
struct rev_certificate {
	char **threads;
	size_t thread_count;
	uint64_t records, operations;
	struct rev_step {
		uint32_t thread, n; /* operation `n` of this thread needs another operation */
		uint8_t rule;	    /* the rule from which this follows (enum rev_rule) */
		uint32_t of, m;	    /* the other operation: operation `m` of thread `of` */
	} * steps;
	size_t step_count;
	struct rev_pair *proved;
	size_t proved_count;
};
int rev_certificate_parse(struct rev_certificate *c, const void *data, size_t length, const char *name);
void rev_certificate_release(struct rev_certificate *c);

/* Checks the proof against the trace.  If the proof is valid, sets *why to NULL.  Otherwise, *why
 * is a text that states what is wrong, and the caller must free it.  Returns an error only if the
 * trace cannot be read. */
int rev_certificate_check(const struct rev_certificate *c, struct epa_source *source, unsigned solver_ms,
			  char **why);

/* Does the same as rev_certificate_check() for a certificate and a trace that are given as paths.
 * The caller must release the certificate, even after an error. */
int rev_certificate_check_file(struct rev_certificate *c, const char *path, const char *trace,
			       unsigned solver_ms, char **why);

#endif
