/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns STD text into an execution, with the steps of `raddle predict`: imports it into a trace
 * directory, reads the model, and fills in the execution.  Tests and fuzz harnesses include this
 * file.
 */
#ifndef TEST_PREDICT_STD_H
#define TEST_PREDICT_STD_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "predict/fill.h"
#include "trace/std.h"

#include <stdlib.h>
#include <unistd.h>

struct std_case {
	char *directory;
	struct trace *trace;
	struct model *model;
	struct predict_trace t; /* t.x is the execution */
};

static void std_case_close(struct std_case *c)
{
	if (c->model)
		predict_trace_release(&c->t);
	model_free(c->model);
	trace_close(c->trace);
	rd_remove_tree(c->directory);
	free(c->directory);
}

/* Creates a directory for one case.  The caller frees the name. */
static inline char *std_case_directory(void)
{
	/* In memory, if possible, because every case consists of several files. */
	const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : rd_tmp_dir();
	char *name = rd_xasprintf("%s/raddle-std-XXXXXX", tmp);

	RD_ASSERT(mkdtemp(name));
	return name;
}

/* Turns the text into an execution.  After a failure the caller need not close the case. */
static int std_case_open(struct std_case *c, const char *directory, const char *text, size_t length)
{
	struct trace_std_opts opts = {.name = "text"};
	uint64_t events;

	*c = (struct std_case){.directory = rd_xstrdup(directory)};
	int err = trace_std_import(text, length, c->directory, &opts, &events);
	if (!err)
		err = trace_open(&c->trace, c->directory, false);
	if (!err)
		err = model_build(&c->model, c->trace, MODEL_HISTORIES);
	if (!err)
		err = predict_fill(&c->t, c->model);
	if (err)
		std_case_close(c);
	return err;
}

#endif
