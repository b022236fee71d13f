/* SPDX-License-Identifier: Apache-2.0 */
/* For finding/ only: JSON values that are copied without being interpreted. */
#ifndef FINDING_JSON_INT_H
#define FINDING_JSON_INT_H

#include "base/json.h"

#include <jansson.h>

/* The largest nesting depth of a JSON value that is copied.  rd_json has room for it inside a
 * finding. */
#define FINDING_JSON_DEPTH 16

bool finding_json_is_shallow(const json_t *value, unsigned depth);

#endif
