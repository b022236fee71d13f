/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an execution as a model for CSP refinement checkers (doc/format/csp.md). */
#ifndef PREDICT_CSP_H
#define PREDICT_CSP_H

#include "predict/fill.h"

#include <stdio.h>

int predict_export_csp(struct trace *trace, FILE *out);

void predict_write_csp(const struct predict_trace *t, FILE *out);

#endif
