/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading executions in the STD text format of the race prediction literature:
 * one event a line, `thread|operation(operand)|location`.
 *
 * Operations: r w acq rel fork join begin end dummy; of the extensions in use
 * elsewhere: req(l) (ignored), wait(l) behind rel(l) (waiting on the monitor l,
 * ended by the thread's next acq(l)), notify(l), notifyAll(l); and ours:
 * tryacq(l) rdacq(l) wracq(l) tryrd(l) trywr(l) rwrel(l) busy(l), cwait(c,m) wake(c)
 * signal(c) broadcast(c), enter(b) exit(b) (one name for each barrier instance),
 * seminit(s,n) post(s) take(s) trytake(s), run(o) pass(o), lr (read of a wait
 * loop's predicate), and ar aw au (atomic
 * relaxed) and ara awr aua (atomic acquire, release, both).  A leading T of a
 * thread's name may be missing.
 */
#ifndef PREDICT_STD_H
#define PREDICT_STD_H

#include "predict/exec.h"

/* Fills `x` from text.  Ill-formed text is an RD_EFORMAT whose message names
 * `name` and the line. */
int predict_std_parse(struct exec *x, const char *name, const char *text, size_t length);
int predict_std_read(struct exec *x, const char *path);

#endif
