/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the number of requests per second.  Requests with the same token count together; requests
 * without a token count together if they come from the same address. */
#ifndef HIVE_LIMIT_INT_H
#define HIVE_LIMIT_INT_H

#include <stdint.h>

struct sockaddr;
struct hive_limit;

/* `rate` is in requests per second.  If it is 0, hive_limit_take() must not be called. */
struct hive_limit *hive_limit_new(uint32_t rate);
void hive_limit_free(struct hive_limit *l);

uint64_t hive_limit_key(const char *token, const struct sockaddr *address);

/* Returns 0 if the request is allowed, otherwise the number of seconds after which to try again.
 * Thread-safe. */
unsigned hive_limit_take(struct hive_limit *l, uint64_t key);

#endif
