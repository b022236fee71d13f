// SPDX-License-Identifier: Apache-2.0
/* Correct OpenMP programs, one for each number on the command line.  Their threads are ordered only
 * by OpenMP. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 12

static int a[N], b[N], total, other;
static omp_lock_t plain;
static omp_nest_lock_t nested;

static void loop_then_loop(void)
{
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < N; i++)
		a[i] = i;
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < N; i++)
		b[i] = a[N - 1 - i];
	total = b[0];
}

static void reduction_of_sum(void)
{
#pragma omp parallel for num_threads(3) reduction(+ : total)
	for (int i = 0; i < N; i++)
		total += i;
}

static void reduction_of_two(void)
{
#pragma omp parallel for num_threads(4) reduction(+ : total) reduction(max : other)
	for (int i = 0; i < N; i++) {
		total += i;
		other = i > other ? i : other;
	}
}

static void reduction_of_array(void)
{
	int sums[3] = {0};
#pragma omp parallel for num_threads(3) reduction(+ : sums)
	for (int i = 0; i < N; i++)
		sums[i % 3] += i;
	total = sums[0] + sums[1] + sums[2];
}

static void critical_section(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		total++;
	}
}

static void named_criticals(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp critical(one)
		total++;
#pragma omp critical(two)
		other++;
	}
}

static void atomic_update(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp atomic
		total += 2;
	}
}

static void atomic_capture(void)
{
#pragma omp parallel num_threads(3)
	{
		int mine;
#pragma omp atomic capture
		mine = total++;
		a[mine] = 1;
	}
}

static void explicit_barrier(void)
{
#pragma omp parallel num_threads(3)
	{
		int me = omp_get_thread_num();

		a[me] = me;
#pragma omp barrier
		b[me] = a[(me + 1) % 3];
#pragma omp barrier
		a[me] = b[(me + 1) % 3];
	}
	total = a[0];
}

static void loops_with_barriers(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp for
		for (int i = 0; i < N; i++)
			a[i] = i;
#pragma omp for
		for (int i = 0; i < N; i++)
			b[i] = a[N - 1 - i];
	}
	total = b[1];
}

static void single_then_all(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp single
		total = 7;
		a[omp_get_thread_num()] = total;
	}
}

static void single_copyprivate(void)
{
#pragma omp parallel num_threads(3)
	{
		int mine = 0;
#pragma omp single copyprivate(mine)
		mine = 5;
		a[omp_get_thread_num()] = mine;
	}
	total = a[0];
}

static void master_and_barrier(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp masked
		total = 3;
#pragma omp barrier
		a[omp_get_thread_num()] = total;
	}
}

static void two_sections(void)
{
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		total = 1;
#pragma omp section
		other = 2;
	}
	total += other;
}

static void sections_in_row(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp sections
		{
#pragma omp section
			a[0] = 1;
#pragma omp section
			a[1] = 2;
		}
#pragma omp sections
		{
#pragma omp section
			b[0] = a[1];
#pragma omp section
			b[1] = a[0];
		}
	}
	total = b[0];
}

static void simple_lock(void)
{
	omp_init_lock(&plain);
#pragma omp parallel num_threads(3)
	{
		omp_set_lock(&plain);
		total++;
		omp_unset_lock(&plain);
	}
	omp_destroy_lock(&plain);
}

static void tested_lock(void)
{
	omp_init_lock(&plain);
#pragma omp parallel num_threads(3)
	{
		while (!omp_test_lock(&plain))
			;
		total++;
		omp_unset_lock(&plain);
	}
	omp_destroy_lock(&plain);
}

static void nested_lock(void)
{
	omp_init_nest_lock(&nested);
#pragma omp parallel num_threads(3)
	{
		omp_set_nest_lock(&nested);
		omp_set_nest_lock(&nested);
		total++;
		omp_unset_nest_lock(&nested);
		other++;
		omp_unset_nest_lock(&nested);
	}
	omp_destroy_nest_lock(&nested);
}

static void ordered_loop(void)
{
#pragma omp parallel for ordered num_threads(3)
	for (int i = 0; i < N; i++) {
#pragma omp ordered
		total = total * 2 + i;
	}
}

static void doacross(void)
{
#pragma omp parallel for ordered(1) num_threads(3)
	for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
		a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
	}
	total = a[N - 1];
}

static void taskwaits(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task
		a[0] = 1;
#pragma omp task
		a[1] = 2;
#pragma omp taskwait
		total = a[0] + a[1];
	}
}

static void taskgroups(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp taskgroup
		{
#pragma omp task
			{
#pragma omp task
				a[0] = 1;
				a[1] = 2;
			}
		}
		total = a[0] + a[1];
#pragma omp taskgroup task_reduction(+ : total)
		for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(+ : total)
			total += i;
		}
	}
}

static void tasks_before_barrier(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp single nowait
		for (int i = 0; i < 4; i++) {
#pragma omp task
			a[i] = i;
		}
#pragma omp barrier
		b[omp_get_thread_num()] = a[3];
	}
	total = b[0];
}

static void task_chain(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task depend(out : total)
		total = 1;
#pragma omp task depend(inout : total)
		total += 2;
#pragma omp task depend(in : total)
		other = total;
	}
}

static void task_diamond(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task depend(out : total)
		total = 1;
#pragma omp task depend(in : total) depend(out : a[0])
		a[0] = total + 1;
#pragma omp task depend(in : total) depend(out : a[1])
		a[1] = total + 2;
#pragma omp task depend(in : a[0], a[1])
		other = a[0] + a[1];
	}
}

static void readers_then_writer(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
		for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : total)
			a[i] = total;
		}
#pragma omp task depend(out : total)
		total = 9;
	}
}

static int fibonacci(int n)
{
	int x, y;

	if (n < 2)
		return n;
#pragma omp task shared(x)
	x = fibonacci(n - 1);
#pragma omp task shared(y)
	y = fibonacci(n - 2);
#pragma omp taskwait
	return x + y;
}

static void recursive_tasks(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	total = fibonacci(4);
}

static void task_loop(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp taskloop
		for (int i = 0; i < N; i++)
			a[i] = i;
		total = a[N - 1];
	}
}

static void nested_parallel(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		int me = omp_get_thread_num();
#pragma omp parallel num_threads(2)
		a[2 * me + omp_get_thread_num()] = me;
		b[me] = a[2 * me] + a[2 * me + 1];
	}
	total = b[0] + b[1];
}

static void simd_loop(void)
{
#pragma omp parallel for simd num_threads(3)
	for (int i = 0; i < N; i++)
		a[i] = 2 * i;
	total = a[N - 1];
}

static void dynamic_schedule(void)
{
#pragma omp parallel for schedule(dynamic, 2) num_threads(3)
	for (int i = 0; i < N; i++)
		a[i] = i;
	total = a[N - 1];
}

static void first_and_last_private(void)
{
	int first = 4, last = 0;
#pragma omp parallel for firstprivate(first) lastprivate(last) num_threads(3)
	for (int i = 0; i < N; i++)
		last = a[i] = first + i;
	total = last;
}

static void (*const programs[])(void) = {
	loop_then_loop,	    reduction_of_sum,	 reduction_of_two,     reduction_of_array,
	critical_section,   named_criticals,	 atomic_update,	       atomic_capture,
	explicit_barrier,   loops_with_barriers, single_then_all,      single_copyprivate,
	master_and_barrier, two_sections,	 sections_in_row,      simple_lock,
	tested_lock,	    nested_lock,	 ordered_loop,	       doacross,
	taskwaits,	    taskgroups,		 tasks_before_barrier, task_chain,
	task_diamond,	    readers_then_writer, recursive_tasks,      task_loop,
	nested_parallel,    simd_loop,		 dynamic_schedule,     first_and_last_private,
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
