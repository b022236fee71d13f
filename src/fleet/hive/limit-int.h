/* SPDX-License-Identifier: Apache-2.0 */
/* Rate limits: requests per second by one token, or by one address without a token. */
#ifndef HIVE_LIMIT_INT_H
#define HIVE_LIMIT_INT_H

#include <stdint.h>

struct sockaddr;
struct hive_limit;

/* `rate` is in requests per second.  With 0, hive_limit_take() must not be called. */
struct hive_limit *hive_limit_new(uint32_t rate);
void hive_limit_free(struct hive_limit *l);

uint64_t hive_limit_key(const char *token, const struct sockaddr *address);

/* Returns 0 if the request is allowed; else the seconds after which to try again.  Thread-safe. */
unsigned hive_limit_take(struct hive_limit *l, uint64_t key);

#endif
