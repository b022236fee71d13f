/* SPDX-License-Identifier: Apache-2.0 */
/* Inside classify/: the input of a witness as JSON (doc/format/finding.md). */
#ifndef CLASSIFY_INPUT_H
#define CLASSIFY_INPUT_H

#include "base/given.h"

void input_format(const struct rd_given *given, struct rd_buf *out);

#endif
