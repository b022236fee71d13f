/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a running hive, for Prometheus.  Any thread may increment them. */
#ifndef HIVE_METRICS_H
#define HIVE_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The counters: member, name after raddle_hive_, help text. */
#define HIVE_COUNTERS(X)                                                                                     \
	X(polls, "polls_total", "Polls answered with a task set.")                                           \
	X(unchanged, "polls_unchanged_total", "Polls answered with 304.")                                    \
	X(reports, "reports_total", "Reports stored.")                                                       \
	X(duplicates, "reports_duplicate_total", "Reports that had been stored already.")                    \
	X(rejected, "reports_rejected_total", "Reports that were refused.")                                  \
	X(batches, "batches_total", "Transactions with reports.")                                            \
	X(batch_ns, "batch_nanoseconds_total", "Time of these transactions.")                                \
	X(unauthorised, "unauthorised_total", "Requests without the right token.")                           \
	X(limited, "limited_total", "Requests beyond the rate limit.")                                       \
	X(refused, "refused_total", "Other requests that were wrong.")                                       \
	X(failed, "failed_total", "Requests that the hive could not answer.")

struct hive_metrics {
#define X(member, name, help) atomic_uint_fast64_t member;
	HIVE_COUNTERS(X)
#undef X
	int64_t start_ns;
};

void hive_metrics_init(struct hive_metrics *m);
void hive_metrics_batch(struct hive_metrics *m, size_t reports, int64_t ns);
void hive_metrics_write(const struct hive_metrics *m, FILE *out);

static inline void hive_count(atomic_uint_fast64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

#endif
