# Programs with an allocator other than libc's, linked or preloaded, start, run as they do natively,
# and are recorded.  The allocator of this test does what jemalloc, tcmalloc and mimalloc do on
# their first call: it takes locks, runs pthread_once() and calls dlsym().
. "$ROOT/test/lib.sh"

cat >allocator.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock;
static char *pool, *end;
static __thread volatile int busy; /* dlsym() is declared to call nothing of ours */

static pthread_key_t key;

/* What a thread kept is given back at its end, outside any call of malloc(). */
static void give_back(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void begin(void)
{
	pthread_key_create(&key, give_back);
	pool = mmap(0, 1 << 26, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	end = pool + (1 << 26);
	pthread_mutex_init(&lock, 0);
	busy = 1;
	dlsym(RTLD_NEXT, "no_such_function");
	busy = 0;
}

/* A block knows that it is one of ours: what is not, is a foreign pointer, and freeing it is an error. */
struct head { size_t size; uint64_t mark; };
#define MARK 0x616c6c6f6361746full

void *memalign(size_t alignment, size_t size)
{
	if (!busy)
		pthread_once(&once, begin);
	if (!busy)
		pthread_setspecific(key, &key);
	if (!busy)
		pthread_mutex_lock(&lock);
	if (alignment < 16)
		alignment = 16;
	uintptr_t p = ((uintptr_t)pool + sizeof(struct head) + alignment - 1) & -alignment;
	pool = (char *)((p + size + 15) & -16ul);
	int full = pool > end;
	if (!busy)
		pthread_mutex_unlock(&lock);
	if (full)
		return 0;
	((struct head *)p)[-1] = (struct head){size, MARK};
	return (void *)p;
}
void *malloc(size_t size) { return memalign(16, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **p, size_t alignment, size_t size) { *p = memalign(alignment, size); return *p ? 0 : ENOMEM; }
void free(void *p)
{
	if (p && ((struct head *)p)[-1].mark != MARK)
		abort();
}
void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
size_t malloc_usable_size(void *p) { return p ? ((struct head *)p)[-1].size : 0; }
void *realloc(void *old, size_t size)
{
	size_t known = malloc_usable_size(old);
	free(old);
	void *p = malloc(size);
	return old && p ? memcpy(p, old, known < size ? known : size) : p;
}
C
cat >user.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int x;
static void *run(void *a)
{
	for (int i = 0; i < 200; i++) {
		char *p = malloc(i + 1);
		memset(p, 1, i + 1);
		p = realloc(p, 2 * i + 1);
		free(p);
	}
	x++;
	return a;
}
int main(void)
{
	pthread_t a, b;
	void *p;
	pthread_create(&a, 0, run, 0);
	pthread_create(&b, 0, run, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	if (posix_memalign(&p, 64, 100))
		return 1;
	free(p);
	puts("done");
	return 3;
}
C
gcc -O1 -shared -fPIC allocator.c -o liballocator.so || exit 1
"$RADDLE" cc -g -pthread user.c -o plain && "$RADDLE" cc -g -pthread user.c -L. -lallocator -Wl,-rpath,"$PWD" -o linked || exit 1

# recorded NAME PROGRAM: output and status of the recorded run are right, and the trace has the
# allocations.
recorded() {
	local status=0
	"$RADDLE" record -o "$1.trace" -- "$2" >out 2>err || status=$?
	[ "$status" = 3 ] && [ "$(cat out)" = done ] || complain "$1: status $status, $(cat out err)"
	[ "$("$RADDLE" dump "$1.trace" | grep -c " alloc ")" -ge 400 ] ||
		complain "$1: allocations are missing"
	! "$RADDLE" dump "$1.trace" | grep -E ' (mutex|once)-' >found || complain "$1: locks of the allocator: $(head -2 found)"
}
recorded linked ./linked
# A sanitized raddle cannot be started with another allocator.
[ "$(basename "$BUILD")" = asan ] || LD_PRELOAD=$PWD/liballocator.so recorded preloaded ./plain
recorded libc ./plain

"$RADDLE" check -q --json found.json -- ./linked >out 2>&1
[ $? = 1 ] || complain "check of a linked allocator: $(tail -3 out)"

# An allocator in the program itself, compiled by Raddle or by another compiler. ld.so calls it
# before any code of the runtime runs.
gcc -O1 -c allocator.c -o allocator.o && "$RADDLE" cc -g -pthread user.c allocator.o -o object &&
	"$RADDLE" cc -g -pthread user.c allocator.c -o own || exit 1
for name in own object; do
	"$RADDLE" check --no-classify --json $name.json -- ./$name >out 2>err
	[ $? = 1 ] && [ "$(cat out)" = done ] || complain "$name: $(tail -n 5 err)"
	jq -e '[.findings[] | select(.status == "confirmed").object] == ["x"]' $name.json >/dev/null || complain "$name: $(cat err)"
done
verdict
