// SPDX-License-Identifier: Apache-2.0
/*
 * Stalled threads.  A thread is stalled if it has the turn but sleeps in the kernel, or computes
 * for a long time without a point or an access.  In: checks by threads that wait for the turn.
 * Out: a waiting thread passes the turn on in place of the stalled one.
 */
#include "rt/common/bug.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STALL_NS 40000000u /* how long a thread must sleep in the kernel to lose the turn */
/* CPU time that a thread may use without a choice or an access before it loses the turn */
#define SPIN_NS 3000000000u

/* Reads a file of the thread's directory in /proc.  Returns the number of bytes, or 0. */
static long read_task(uint32_t tid, const char *file, char *text, uint64_t size)
{
	char path[48] = "/proc/self/task/", digits[12];
	uint32_t at = 16, n = 0;
	int saved = errno;
	long fd, length;

	for (; tid; tid /= 10)
		digits[n++] = (char)('0' + tid % 10);
	while (n)
		path[at++] = digits[--n];
	while (*file && at < sizeof path - 1)
		path[at++] = *file++;
	fd = rt_bare(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : rt_bare(SYS_read, fd, (long)text, (long)size);
	if (fd >= 0)
		rt_bare(SYS_close, fd);
	errno = saved;
	return length > 0 ? length : 0;
}

bool rt_turn_sleeps(uint32_t tid)
{
	char text[512];
	long length = read_task(tid, "/stat", text, sizeof text);

	while (length > 2 && text[length - 1] != ')')
		length--;
	return length > 2 && length + 1 < (long)sizeof text && text[length + 1] == 'S';
}

/* The second number of the file is the time for which the thread waited for a processor. */
uint64_t rt_turn_delay(uint32_t tid)
{
	char text[64];
	long length = read_task(tid, "/schedstat", text, sizeof text), at = 0;
	uint64_t delay = 0;

	while (at < length && text[at] != ' ')
		at++;
	for (at++; at < length && text[at] >= '0' && text[at] <= '9'; at++)
		delay = delay * 10 + (uint64_t)(text[at] - '0');
	return delay;
}

/* Returns true if thread `number`, which has the turn, makes no progress: it sleeps in the kernel,
 * or has computed for a long time without a choice or an access. */
static bool is_still(struct rt_turns *turn, uint32_t number)
{
	const struct raddle_slot *slot = rt_slot_at(number);
	uint64_t choices = atomic_load(&rt_steer()->choices), accesses = atomic_load(&slot->accesses),
		 cpu = rt_steer_time_of(number), now = rt_now();

	if (turn->looked_at != number || turn->choices != choices || turn->accesses != accesses) {
		turn->looked_at = number;
		turn->choices = choices;
		turn->accesses = accesses;
		turn->cpu = cpu;
		turn->still_cpu = UINT64_MAX;
	}
	if (turn->still_cpu != cpu) {
		turn->still_cpu = cpu;
		turn->still_since = now;
	}
	if (cpu - turn->cpu > SPIN_NS)
		return true;
	return now - turn->still_since > STALL_NS && rt_turn_sleeps(slot->tid);
}

static bool is_stalled(struct rt_turns *turn, uint32_t number)
{
	uint32_t state = rt_turn_state(number);

	return (state == RADDLE_SLOT_RUNS || (state == RADDLE_SLOT_BLOCKED && !rt_slot_at(number)->since)) &&
	       is_still(turn, number);
}

/* Passes the turn on in place of the stalled thread. */
static void skip_stalled(uint32_t number)
{
	struct raddle_slot *slot = rt_slot_at(number);
	bool again = slot->point == RADDLE_POINT_AWAY && slot->point_n == atomic_load(&slot->n);

	RT_ASSERT(number < RADDLE_SLOTS);
	atomic_store(&slot->away, 1);
	atomic_fetch_add(&rt_steer()->unsure, 1);
	slot->point_count = again ? slot->point_count + 1 : 1;
	slot->point_n = atomic_load(&slot->n);
	slot->point = RADDLE_POINT_AWAY;
	rt_turn_hand_over(number, rt_turn_choose(number, NULL, RADDLE_STEER_NONE));
}

void rt_turn_look(void)
{
	struct rt_turns *turn = &rt_steering()->turns;
	uint32_t number = rt_turn_running();
	uint64_t signals;

	if (number >= RADDLE_SLOTS || !rt_turn_taken() || atomic_exchange(&turn->looking, 1))
		return;
	if (is_stalled(turn, number)) {
		rt_steer_lock(&signals);
		if (rt_turn_running() == number && rt_turn_taken() &&
		    rt_turn_state(number) != RADDLE_SLOT_GATE && rt_turn_state(number) != RADDLE_SLOT_GOAL)
			skip_stalled(number);
		rt_steer_unlock(&signals);
	}
	atomic_store(&turn->looking, 0);
}
