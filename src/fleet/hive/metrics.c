// SPDX-License-Identifier: Apache-2.0
/* The counters of a hive in the text format of Prometheus. */
#include "hive/metrics.h"

#include "base/clock.h"
#include "base/error.h"

#include <inttypes.h>

void hive_metrics_init(struct hive_metrics *m)
{
	m->start_ns = rd_now_ns();
}

void hive_metrics_batch(struct hive_metrics *m, size_t reports, int64_t ns)
{
	RD_ASSERT(ns >= 0);
	if (!reports)
		return;
	hive_count(&m->batches, 1);
	hive_count(&m->batch_ns, (uint64_t)ns);
}

static void write_counter(FILE *out, const char *name, const char *help, uint64_t value)
{
	fprintf(out, "# HELP raddle_hive_%s %s\n# TYPE raddle_hive_%s counter\nraddle_hive_%s %" PRIu64 "\n",
		name, help, name, name, value);
}

void hive_metrics_write(const struct hive_metrics *m, FILE *out)
{
#define X(member, name, help)                                                                                \
	write_counter(out, name, help, atomic_load_explicit(&m->member, memory_order_relaxed));
	HIVE_COUNTERS(X)
#undef X
	fprintf(out,
		"# HELP raddle_hive_uptime_seconds Time since the hive started.\n"
		"# TYPE raddle_hive_uptime_seconds gauge\nraddle_hive_uptime_seconds %.3f\n",
		(double)(rd_now_ns() - m->start_ns) / 1e9);
}
