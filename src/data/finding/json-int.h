/* SPDX-License-Identifier: Apache-2.0 */
/* Inside finding/: JSON values that are passed through. */
#ifndef FINDING_JSON_INT_H
#define FINDING_JSON_INT_H

#include "base/json.h"

#include <jansson.h>

/* Values may nest this deep; rd_json has room for them below a finding. */
#define FINDING_JSON_DEPTH 16

bool finding_json_is_shallow(const json_t *value, unsigned depth);

#endif
