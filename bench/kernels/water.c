/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the forces between molecules that attract each other (SPLASH water-like).  Each pair is
 * computed once.  The force is added to the second molecule under its lock.  The forces on the
 * first molecule are summed up, and added once at the end under its own lock.  Forces are
 * integers, so the order of additions does not matter.  SIZE is the number of molecules.
 */
#include "kernel.h"
#include <math.h>

#define STEPS 3
#define NEAR 0.3

struct molecule {
	double position[3], speed[3];
	int64_t force[3];
	pthread_mutex_t lock;
};

static struct kernel_args args;
static struct molecule *molecules;
static pthread_barrier_t barrier;

static void add_force(struct molecule *m, const int64_t force[3], int sign)
{
	pthread_mutex_lock(&m->lock);
	for (int d = 0; d < 3; d++)
		m->force[d] += sign * force[d];
	pthread_mutex_unlock(&m->lock);
}

static bool pair_force(const struct molecule *a, const struct molecule *b, int64_t force[3])
{
	double delta[3], square = 1e-3;
	for (int d = 0; d < 3; d++) {
		delta[d] = b->position[d] - a->position[d];
		square += delta[d] * delta[d];
	}
	if (square > NEAR * NEAR)
		return false;
	double strength = 1e3 / (square * sqrt(square));
	for (int d = 0; d < 3; d++)
		force[d] = (int64_t)(delta[d] * strength);
	return true;
}

static void interact(long first)
{
	int64_t total[3] = {0};
	for (long j = first + 1; j < args.size; j++) {
		int64_t force[3];
		if (!pair_force(&molecules[first], &molecules[j], force))
			continue;
		add_force(&molecules[j], force, -1);
		for (int d = 0; d < 3; d++)
			total[d] += force[d];
	}
	add_force(&molecules[first], total, 1);
}

static void move(struct molecule *m)
{
	for (int d = 0; d < 3; d++) {
		m->speed[d] += (double)m->force[d] * 1e-9;
		m->position[d] += m->speed[d] * 1e-3;
		m->force[d] = 0;
	}
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	for (int step = 0; step < STEPS; step++) {
		for (long i = self; i < args.size; i += args.threads)
			interact(i);
		pthread_barrier_wait(&barrier);
		for (long i = self; i < args.size; i += args.threads)
			move(&molecules[i]);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 300, 5000);
	molecules = kernel_alloc(args.size, sizeof *molecules);
	for (long i = 0; i < args.size; i++) {
		for (int d = 0; d < 3; d++)
			molecules[i].position[d] = kernel_random_real(i * 3 + d);
		pthread_mutex_init(&molecules[i].lock, NULL);
	}
	pthread_barrier_init(&barrier, NULL, args.threads);
	kernel_run(args.threads, work);
	pthread_barrier_destroy(&barrier);
	uint64_t sum = 0;
	for (long i = 0; i < args.size; i++) {
		for (int d = 0; d < 3; d++)
			sum = kernel_mix(sum, (uint64_t)(int64_t)(molecules[i].position[d] * 1e9));
		pthread_mutex_destroy(&molecules[i].lock);
	}
	free(molecules);
	return kernel_report("water", sum);
}
