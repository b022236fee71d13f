// SPDX-License-Identifier: Apache-2.0
/*
 * Rate limits by token buckets.  A bucket holds two seconds' worth of requests and refills with
 * time.  The table has a fixed size, no matter how many addresses there are, and keys that collide
 * share a bucket.
 */
#include "hive/limit-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
	/* The number of buckets.  Clients with the same hash share one, so memory is limited to 64
	 * KiB.  Set by hand: with fewer buckets, busy clients would slow down others more often. */
	CLIENT_SLOTS = 4096,
	/* A client may send this many seconds' worth of requests at once.  Set by hand: an agent
	 * sends reports and then polls.  If this were one second and the rate 1/s, the poll would
	 * be refused. */
	BURST_S = 2,
};

struct hive_limit {
	pthread_mutex_t lock;
	double rate;
	struct {
		double left;
		int64_t at;
	} slots[CLIENT_SLOTS];
};

struct hive_limit *hive_limit_new(uint32_t rate)
{
	struct hive_limit *l = rd_xcalloc(1, sizeof *l);

	pthread_mutex_init(&l->lock, NULL);
	l->rate = rate;
	return l;
}

void hive_limit_free(struct hive_limit *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}

uint64_t hive_limit_key(const char *token, const struct sockaddr *address)
{
	if (token)
		return XXH3_64bits(token, strlen(token));
	if (address && address->sa_family == AF_INET)
		return XXH3_64bits(&((const struct sockaddr_in *)address)->sin_addr, sizeof(struct in_addr));
	if (address && address->sa_family == AF_INET6)
		return XXH3_64bits(&((const struct sockaddr_in6 *)address)->sin6_addr,
				   sizeof(struct in6_addr));
	return 0;
}

unsigned hive_limit_take(struct hive_limit *l, uint64_t key)
{
	int64_t now = rd_now_ns();
	double left, full = l->rate * BURST_S;

	RD_ASSERT(l->rate > 0); /* without a limit, nothing is counted */
	pthread_mutex_lock(&l->lock);
	left = l->slots[key % CLIENT_SLOTS].at
		       ? l->slots[key % CLIENT_SLOTS].left +
				 l->rate * (double)(now - l->slots[key % CLIENT_SLOTS].at) / 1e9
		       : full;
	left = left > full ? full : left;
	RD_ASSERT(left >= 0);
	l->slots[key % CLIENT_SLOTS].at = now;
	l->slots[key % CLIENT_SLOTS].left = left >= 1 ? left - 1 : left;
	pthread_mutex_unlock(&l->lock);
	return left >= 1 ? 0 : 1;
}
