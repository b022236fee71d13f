/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Represents call stacks as nodes of one tree.  A stack is the number of a node, and equal stacks
 * have equal numbers.  Most stacks differ from the previous one only in their last entries.  Each
 * stream therefore keeps the nodes of its last stack in a path.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static uint32_t child(struct model *m, uint32_t parent, uint32_t site)
{
	RD_ASSERT(parent < m->stack_count);
	struct model_private *x = m->private;
	bool is_new;
	uint64_t *node = rd_umap_put(&x->stack_of, (uint64_t)parent << 32 | site, &is_new);
	if (is_new) {
		*node = m->stack_count;
		RD_GROW(m->stacks, x->stack_capacity, m->stack_count + 1);
		m->stacks[m->stack_count++] = (struct model_stack){.parent = parent, .site = site};
	}
	return (uint32_t)*node;
}

uint32_t model_stack_intern(struct model *m, struct model_path *path, const struct trace_decoder *d)
{
	if (path->version != d->stack_version || path->depth != d->depth) {
		size_t same = 0;
		size_t sites_capacity = path->capacity, nodes_capacity = path->capacity;
		RD_GROW(path->sites, sites_capacity, d->depth + 1);
		RD_GROW(path->nodes, nodes_capacity, d->depth + 1);
		path->capacity = sites_capacity < nodes_capacity ? sites_capacity : nodes_capacity;
		while (same < path->depth && same < d->depth && path->sites[same] == d->stack[same])
			same++;
		for (size_t i = same; i < d->depth; i++) {
			path->sites[i] = d->stack[i];
			path->nodes[i] = child(m, i > 0 ? path->nodes[i - 1] : 0, d->stack[i]);
		}
		path->depth = d->depth;
		path->version = d->stack_version;
	}
	return path->depth > 0 ? path->nodes[path->depth - 1] : 0;
}

void model_path_release(struct model_path *path)
{
	free(path->sites);
	free(path->nodes);
	memset(path, 0, sizeof *path);
}
