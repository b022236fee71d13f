// SPDX-License-Identifier: Apache-2.0
/*
 * Injects faults (raddle/full.h).  In: the plan in the session's memory, and the values that
 * instrumented code passes while their site is the target.  Out: changed values, results in the
 * plan, and a record at the first occurrence of each fault.
 *
 * A thread injects only its own faults, one after another, and counts only its own executions.  So
 * it needs no lock, and the schedule does not affect the result.
 */
#include "rt/inject/inject.h"

#include "rt/common/bug.h"
#include "rt/full/full.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The layer's state of a thread. */
struct injected {
	uint32_t fault, fault_end; /* the fault that is due, and the end of this thread's faults */
	uint64_t former;	   /* the value that the site of that fault had the time before */
	uint8_t away[64];	   /* the target of RADDLE_FAULT_AWAY */
};

static struct injected *injected(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_INJECT];
}

/* Returns the plan, whichever process it belongs to, or NULL. */
static struct raddle_faults *any_plan(void)
{
	const struct raddle_session *s = rt.session;
	struct raddle_faults *f;

	if (!s || !s->fault_offset)
		return NULL;
	f = (struct raddle_faults *)((char *)s + s->fault_offset);
	return f->version == RADDLE_FAULT_VERSION && f->forks <= RADDLE_FAULT_FORKS ? f : NULL;
}

/* Returns the plan if it belongs to this process, otherwise NULL. */
static struct raddle_faults *plan(void)
{
	struct raddle_faults *f = any_plan();

	return f && raddle_process_is(rt.session, rt.process, f->process, f->forks) ? f : NULL;
}

/* Returns the entry of the plan for the thread, or NULL. */
static struct raddle_fault_thread *find_thread(struct raddle_faults *f, const struct rt_thread *t)
{
	struct raddle_fault_thread *threads = raddle_fault_threads(f);

	if (t->number == 0)
		return f->thread_count ? &threads[0] : NULL;
	for (uint32_t i = 1; i < f->thread_count; i++)
		if (threads[i].index == t->index && threads[i].parent < i &&
		    threads[threads[i].parent].number == t->parent)
			return &threads[i];
	return NULL;
}

static void aim(struct rt_thread *t, struct raddle_faults *f)
{
	RT_ASSERT(injected(t)->fault_end <= f->fault_count);
	injected(t)->former = 0;
	t->self.target = injected(t)->fault < injected(t)->fault_end
				 ? raddle_fault_list(f)[injected(t)->fault].site
				 : 0;
}

static void started(struct rt_thread *t)
{
	struct raddle_faults *f = plan();
	struct raddle_fault_thread *entry = f ? find_thread(f, t) : NULL;

	if (!entry)
		return;
	entry->number = t->number;
	if (entry->first > f->fault_count || entry->count > f->fault_count - entry->first)
		return;
	injected(t)->fault = entry->first;
	injected(t)->fault_end = entry->first + entry->count;
	rt_inject_ready();
	aim(t, f);
}

static uint64_t change(const struct raddle_fault *f, uint64_t v)
{
	switch (f->action) {
	case RADDLE_FAULT_FLIP: return v ^ f->mask[0];
	case RADDLE_FAULT_CLEAR: return v & ~f->mask[0];
	case RADDLE_FAULT_RAISE: return v | f->mask[0];
	case RADDLE_FAULT_ADD: return v + f->mask[0];
	case RADDLE_FAULT_SET: return f->mask[0];
	case RADDLE_FAULT_SCALE:
		return f->mask[1] ? (uint64_t)((unsigned __int128)v * f->mask[0] / f->mask[1]) : v;
	default: return v;
	}
}

static void tell(struct rt_thread *t, const struct raddle_fault *f)
{
	uint8_t *record = rt_full_room(t, 41), *p = rt_full_put(record + 1, f->site, 4);

	p = rt_full_put(p, f->number, 4);
	for (int i = 0; i < 2; i++)
		p = rt_full_put(p, f->before[i], 8);
	for (int i = 0; i < 2; i++)
		p = rt_full_put(p, f->after[i], 8);
	rt_full_finish(record, RADDLE_FULL_FAULT);
}

/* Counts an execution of the site.  Returns the fault if it changes this execution, or NULL. */
static struct raddle_fault *strikes(struct rt_thread *t, uint32_t site)
{
	struct raddle_faults *all = plan();
	struct raddle_fault *f;

	if (!all || injected(t)->fault >= injected(t)->fault_end)
		return NULL;
	f = &raddle_fault_list(all)[injected(t)->fault];
	if (f->site != site)
		return NULL;
	atomic_store_explicit(&f->seen, f->seen + 1, memory_order_relaxed);
	return f->seen >= f->instance && raddle_fault_happens(f->chance, f->seen) ? f : NULL;
}

/* Records that the fault changed the value `before` to `after`. */
static void struck(struct rt_thread *t, struct raddle_fault *f, uint64_t before, uint64_t after)
{
	uint64_t fired = f->fired + 1;

	if (fired == 1) {
		f->before[0] = before;
		f->after[0] = after;
		tell(t, f);
	}
	atomic_store_explicit(&f->fired, fired, memory_order_release);
	if (f->repeat && fired >= f->repeat) {
		RT_ASSERT(injected(t)->fault < injected(t)->fault_end);
		injected(t)->fault++;
		aim(t, plan());
	}
}

/* Accesses only bytes whose bits flip.  An invalid address crashes here, as the program's own
 * access would. */
static uint64_t inject_memory(struct rt_thread *t, struct raddle_fault *f, uint64_t address)
{
	volatile uint8_t *p = (volatile uint8_t *)(uintptr_t)address;
	uint64_t before = 0, after = 0;

	for (int i = 0; i < 8; i++) {
		uint8_t bits = (uint8_t)(f->mask[0] >> i * 8);
		if (!bits)
			continue;
		before |= (uint64_t)p[i] << i * 8;
		p[i] ^= bits;
		after |= (uint64_t)p[i] << i * 8;
	}
	struck(t, f, before, after);
	return address;
}

static uint64_t inject_value(struct rt_thread *t, struct raddle_fault *f, uint64_t value, uint32_t bits)
{
	uint64_t mask = bits >= 64 ? ~0ull : (1ull << bits) - 1, changed, after;

	switch (f->action) {
	case RADDLE_FAULT_FORMER: changed = injected(t)->former; break;
	case RADDLE_FAULT_AWAY: changed = (uintptr_t)injected(t)->away; break;
	case RADDLE_FAULT_MEMORY: return inject_memory(t, f, value);
	default: changed = change(f, value & mask);
	}
	after = (value & ~mask) | (changed & mask);
	struck(t, f, value & mask, after & mask);
	return after;
}

/* Called in place of a function whose call is skipped by a fault.  Whatever the return type of that
 * function is, the result is in the register for integers and pointers. */
static uint64_t prevented(void)
{
	if (rt_local.error)
		errno = (int)rt_local.error;
	return rt_local.result;
}

/* --- what happens to threads and resources ---------------------------------------------- */

static void delay(uint64_t us)
{
	struct timespec left = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	while (syscall(SYS_nanosleep, &left, &left) == -1 && errno == EINTR) {
	}
}

/* From now on, no thread can create a thread or a process. */
static void refuse_threads(void)
{
	static const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number of the system call */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, (struct sock_filter *)code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void exhaust(uint64_t resource)
{
	const struct rlimit none = {0};

	if (resource == RADDLE_RESOURCE_MEMORY) /* setrlimit() would add room for the runtime */
		syscall(SYS_prlimit64, 0, RLIMIT_DATA, &none, NULL);
	else if (resource == RADDLE_RESOURCE_FILES)
		setrlimit(RLIMIT_NOFILE, &none);
	else
		refuse_threads();
}

/* Injects a fault that changes no value.  Returns false if the fault is of another kind. */
static bool inject_event(struct rt_thread *t, struct raddle_fault *f)
{
	int saved = errno;
	uint64_t what = f->mask[0];

	if (f->action != RADDLE_FAULT_DELAY && f->action != RADDLE_FAULT_KILL &&
	    f->action != RADDLE_FAULT_EXHAUST)
		return false;
	struck(t, f, 0, what);
	if (f->action == RADDLE_FAULT_DELAY)
		delay(what);
	else if (f->action == RADDLE_FAULT_EXHAUST)
		exhaust(what);
	else
		syscall(SYS_exit, 0);
	errno = saved;
	return true;
}

static uint64_t inject_call(struct rt_thread *t, struct raddle_fault *f, uint64_t callee)
{
	if (f->action != RADDLE_FAULT_CALL)
		return callee;
	rt_local.result = f->mask[0];
	rt_local.error = f->mask[1];
	struck(t, f, callee, f->mask[0]);
	return (uintptr_t)prevented;
}

uint64_t rt_inject(uint32_t site, uint64_t value, uint32_t bits)
{
	struct rt_thread *t = (struct rt_thread *)__raddle_self;
	struct raddle_fault *f = strikes(t, site);

	if (!f) {
		injected(t)->former = value;
		return value;
	}
	if (inject_event(t, f))
		return value;
	return bits ? inject_value(t, f, value, bits) : inject_call(t, f, value);
}

static bool has_plan(void)
{
	return any_plan() != NULL;
}

const struct rt_layer rt_layer_inject = {
	.number = RT_LAYER_INJECT,
	.thread_size = sizeof(struct injected),
	.setup = has_plan,
	.started = started,
};
