/* SPDX-License-Identifier: Apache-2.0 */
/* Inside classify/: the input of a witness as JSON (doc/format/finding.md). */
#ifndef CLASSIFY_INPUT_INT_H
#define CLASSIFY_INPUT_INT_H

#include "base/override.h"

void input_format(const struct rd_override *given, struct rd_buf *out);

#endif
