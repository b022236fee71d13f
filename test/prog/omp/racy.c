// SPDX-License-Identifier: Apache-2.0
/* OpenMP programs with a race, one for each number on the command line. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 12
#define TASKS 100 /* enough that more than one thread runs some of them */

static int a[N + 1], total, other;
static omp_lock_t one, two;

static void no_reduction(void)
{
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < N; i++)
		total += i;
}

static void no_critical(void)
{
#pragma omp parallel num_threads(3)
	total++;
}

static void different_criticals(void)
{
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num()) {
#pragma omp critical(one)
			total++;
		} else {
#pragma omp critical(two)
			total++;
		}
	}
}

static void neighbour(void)
{
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < N; i++)
		a[i] = a[i + 1] + 1;
}

static void no_wait(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp for nowait
		for (int i = 0; i < N; i++)
			a[i] = i;
#pragma omp for
		for (int i = 0; i < N; i++)
			total = a[N - 1 - i] > 3;
	}
}

static void single_nowait(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp single nowait
		total = 1;
		a[omp_get_thread_num()] = total;
	}
}

static void masked_without_barrier(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp masked
		total = 1;
		a[omp_get_thread_num()] = total;
	}
}

static void sections_share(void)
{
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		total = 1;
#pragma omp section
		total = 2;
	}
}

static void different_locks(void)
{
	omp_init_lock(&one);
	omp_init_lock(&two);
#pragma omp parallel num_threads(2)
	{
		omp_lock_t *mine = omp_get_thread_num() ? &one : &two;

		omp_set_lock(mine);
		total++;
		omp_unset_lock(mine);
	}
}

static void tasks_share(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < TASKS; i++) {
#pragma omp task
		total++;
	}
}

static void no_taskwait(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < TASKS; i++) {
#pragma omp task
		total = 1;
		other = total;
	}
}

static void missing_dependence(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(out : total)
		total = 1;
#pragma omp task depend(out : other)
		other = total;
	}
}

static void atomic_and_plain(void)
{
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num()) {
#pragma omp atomic
			total++;
		} else {
			total = 4;
		}
	}
}

static void grandchild(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < TASKS; i++) {
#pragma omp task
		{
#pragma omp task
			total = 1;
		}
#pragma omp taskwait
		other = total;
	}
}

static void shared_temporary(void)
{
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < N; i++) {
		other = i;
		a[i] = other;
	}
}

/* The thread that gets the single region reads what thread 0 may still be writing. */
static void single_behind_write(void)
{
#pragma omp parallel num_threads(4)
	{
		if (omp_get_thread_num() == 0)
			for (int i = 0; i < N; i++)
				a[i] = i;
#pragma omp single
		total = a[N - 1];
	}
}

static void dealt_out(void)
{
#pragma omp parallel for num_threads(3) schedule(dynamic)
	for (int i = 0; i < N; i++)
		total += i;
}

static void (*const programs[])(void) = {
	no_reduction,
	no_critical,
	different_criticals,
	neighbour,
	no_wait,
	single_nowait,
	masked_without_barrier,
	sections_share,
	different_locks,
	tasks_share,
	no_taskwait,
	missing_dependence,
	atomic_and_plain,
	grandchild,
	shared_temporary,
	single_behind_write,
	dealt_out,
};

/* Runs the program with the given number; without a number, prints how many programs there are. */
int main(int argc, char **argv)
{
	size_t count = sizeof programs / sizeof programs[0],
	       which = argc > 1 ? strtoul(argv[1], NULL, 10) : count;

	if (which < count)
		programs[which]();
	printf("%zu\n", which < count ? (size_t)(total + other) : count);
	return 0;
}
