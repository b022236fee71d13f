/* SPDX-License-Identifier: Apache-2.0 */
/* Monotonic time, and the processor time of this process. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define RD_NS_PER_US INT64_C(1000)
#define RD_NS_PER_MS INT64_C(1000000)
#define RD_NS_PER_S INT64_C(1000000000)

static inline int64_t rd_ms_to_ns(uint64_t ms)
{
	return (int64_t)ms * RD_NS_PER_MS;
}

static inline uint64_t rd_ns_to_ms(int64_t ns)
{
	return (uint64_t)(ns / RD_NS_PER_MS);
}

/* Rounds up, for callers to which 0 does not mean a short time. */
static inline uint64_t rd_ns_to_ms_up(int64_t ns)
{
	return rd_ns_to_ms(ns + RD_NS_PER_MS - 1);
}

static inline int64_t rd_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * RD_NS_PER_S + t.tv_nsec;
}

static inline int64_t rd_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * RD_NS_PER_S + t.tv_nsec;
}

#endif
