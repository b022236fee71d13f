#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Guarded programs.  While their guards are inactive they behave like the original program.  With a
# task for each candidate (u-site-drive) they find the races of racy programs, and none in correct
# ones.  The short form takes every thirtieth of the correct programs.
# timeout: 1800
. "$ROOT/test/lib.sh"
# shellcheck source=test/prog/micro/case.bash
. "$ROOT/test/prog/micro/case.bash"
export RADDLE_CACHE=$PWD/cache
drive=$BUILD/u-site-drive

# While guards are inactive, every kind of program has the same output and status, and needs no file
# of Raddle.
cat >plain.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static int shared;
static void *work(void *p) { shared++; free(malloc(100)); return p; }
int main(int argc, char **argv)
{
	pthread_t a, b;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pid_t child = fork();
	if (!child)
		_exit(shared > 0 ? 5 : 6);
	int status;
	waitpid(child, &status, 0);
	printf("%s %d %d %s\n", argv[argc - 1], shared > 0, WEXITSTATUS(status), getenv("RADDLE_GUARD") ? "set" : "unset");
	return 3;
}
C
for how in "" "-static" "-O0" "-O3 -flto"; do
	# shellcheck disable=SC2086
	"$RADDLE" cc -O2 $how -pthread plain.c -o plain || fail "plain.c with '$how' does not compile"
	rm -f guarded
	"$RADDLE" flavour --flavour guard -o guarded ./plain || fail "no guard flavour with '$how'"
	wanted=$(./plain word; echo "status $?")
	found=$(env -i ./guarded word; echo "status $?")
	[ "$wanted" = "$found" ] || complain "with '$how' it says $found instead of $wanted"
	# With active guards, the output is the same.
	DRIVE_TAU=100 "$drive" ./guarded word >driven || complain "'$how' cannot be driven"
	[ "$(grep -c '^word 1 5 unset' driven)" = "$(grep -c context= driven)" ] || complain "with '$how' and tasks it says: $(cat driven)"
done
"$RADDLE" flavour --flavour guard -o plain ./plain 2>/dev/null && complain "a program was replaced by its flavour"
readelf -p .raddle.guard guarded | grep -q "$PWD" && complain "the table has a path in it"

# Every run shows this race, since nothing orders the two accesses and one comes before the other.
for name in parent-race heap-race; do
	source=$(ls "$ROOT/test/prog/micro/$name".c*)
	build_case "$source" "$name" && "$RADDLE" flavour --flavour guard -o "$name.g" "./$name" || { complain "$name is not built"; continue; }
	DRIVE_TAU=0 "$drive" "./$name.g" >"$name.out" 2>&1 </dev/null
	grep -q ' race/' "$name.out" || complain "$name: no race: $(cat "$name.out")"
done

# A function begins with the test of its region, before it saves any register.  With active guards,
# its other copy gets the same arguments, whatever these are.
cat >begins.c <<'C'
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
struct wide { long a[6]; double d; };
static long sums[4];
__attribute__((noinline)) static struct wide passes(struct wide w, double x, int a, int b, int c, int d, int e, int f, char g, float h)
{
	sums[0] += w.a[0] + a + b + c;
	sums[1] += w.a[5] + d + e + f + g;
	w.d += x + h;
	w.a[1] = f;
	return w;
}
__attribute__((noinline)) static long depth(int n)
{
	sums[2]++;
	sums[3] += n;
	return n ? n + depth(n - 1) * 2 : 0;
}
__attribute__((noinline)) static long many(int n, ...)
{
	va_list all;
	va_start(all, n);
	sums[0] += va_arg(all, long);
	sums[1] += (long)va_arg(all, double);
	va_end(all);
	return n;
}
static void *work(void *out)
{
	struct wide w = passes((struct wide){{1, 2, 3, 4, 5, 6}, 0.5}, 1.25, 1, 2, 3, 4, 5, 6, 7, 0.25f);
	snprintf(out, 100, "%g %ld %ld %ld %ld", w.d, w.a[1], w.a[5], depth(9), many(3, 4L, 5.5));
	return NULL;
}
int main(void)
{
	char text[2][100];
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, text[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%s %s\n", text[0], text[1]);
	return 0;
}
C
"$RADDLE" cc -O2 -g -pthread begins.c -o begins && "$RADDLE" flavour --flavour guard -o begins.g ./begins || fail "begins.c has no guard flavour"
for name in passes depth; do
	objdump -d --no-show-raw-insn --disassemble=$name begins.g | grep -A 2 "<$name>:" | tr '\n' ' ' | grep -q "[[:space:]]cmpb .*guard_regions.*[[:space:]]jne .*<$name.guarded>" || complain "$name() does not begin with a test"
done
DRIVE_TAU=0 "$drive" ./begins.g >driven 2>&1 || complain "begins cannot be driven"
[ "$(grep -c context= driven)" != 0 ] && [ "$(grep -c "^$(./begins)" driven)" = "$(grep -c context= driven)" ] || complain "with tasks it says: $(cat driven)"
grep -q ' race/' driven || complain "no race where a function begins: $(cat driven)"

# Counting loops have regions inside that of their function.  If a function is enabled for another
# guard, its loops run without their guards.  They run with guards if these are requested.  The
# result is the same in each combination of copies.
cat >nest.c <<'C'
#include <pthread.h>
#include <stdio.h>
enum { N = 64 };
static long cell[N][N][N], touched[N];
static int last, n;
static void *work(void *p)
{
	const int self = p != NULL, size = n;
	volatile int round = 0; /* each round tests */
	while (round++ < 3)
		for (int i = 0; i < size; i++) {
			if (i % 2 != self)
				continue;
			for (int k = 0; k < size; k++)
				for (int j = 0; j < size; j++)
					cell[i][k][j] += 3 * cell[i][j][k] + j;
			for (int j = 0; j < size; j++)
				touched[j] = 7;
		}
	last = self;
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	unsigned long sum = 0;
	n = 46 + argc;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, argv);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				sum = sum * 31 + (unsigned long)cell[i][k][j] + (unsigned long)touched[j];
	printf("sum %lx\n", sum);
	return 0;
}
C
if "$RADDLE" cc -O2 -pthread nest.c -o nest && "$RADDLE" flavour --flavour guard -o nest.g ./nest; then
	[ "$(readelf -p .raddle.regions nest.g | grep -o '[0-9]* [0-9]*\\n' | sort -u | cut -d ' ' -f 1 | uniq -d | wc -l)" -ge 2 ] ||
		complain "no loop of nest.c has a region: $(readelf -p .raddle.regions nest.g)"
	wanted=$(./nest now)
	[ "$(./nest.g now)" = "$wanted" ] || complain "nest.c is another program, dormant"
	[ "$(DRIVE_AWAKE='' "$drive" ./nest.g now)" = "$wanted" ] || complain "nest.c is another program, awake"
	DRIVE_TAU=0 "$drive" ./nest.g now >nest.out 2>&1 </dev/null
	[ "$(grep -cx "$wanted" nest.out)" = "$(grep -c context= nest.out)" ] || complain "nest.c is another program with tasks: $(cat nest.out)"
	[ "$(grep ' race/' nest.out | cut -d ' ' -f 1 | sort -u | wc -l)" = 2 ] || complain "of nest.c, two pairs race: $(cat nest.out)"
else
	complain "nest.c is not built"
fi

# A flag is read in each round and set once.  All rounds but the last are ordered.  The thread that
# sets the flag is stopped, although enough ordered accesses were seen before.
cat >rounds.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t go, done;
static int flag;
static void *look(void *p)
{
	for (int i = 0; i < 20; i++) {
		sem_wait(&go);
		if (flag)
			p = &flag;
		sem_post(&done);
	}
	sem_wait(&go);
	return flag ? &flag : p;
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&t, NULL, look, NULL);
	for (int i = 0; i < 20; i++) {
		sem_post(&go);
		sem_wait(&done);
	}
	sem_post(&go);
	flag = 1;
	return pthread_join(t, NULL);
}
C
"$RADDLE" cc -O1 -g -pthread rounds.c -o rounds && "$RADDLE" flavour --flavour guard -o rounds.g ./rounds || complain "rounds is not built"
DRIVE_TAU=900000 "$drive" ./rounds.g >driven 2>&1 || complain "rounds cannot be driven"
grep -q ' race/' driven || complain "no race in the last round: $(cat driven)"

# Two loops over one array share one of its elements.  A task without pauses reports only this
# element.
cat >border.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
enum { HALF = 100, ROUNDS = 50 };
static int all[2 * HALF];
static atomic_int rounds[2];
static int is_over(int mine)
{
	atomic_fetch_add_explicit(&rounds[mine], 1, memory_order_relaxed);
	sched_yield();
	return atomic_load_explicit(&rounds[0], memory_order_relaxed) > ROUNDS &&
	       atomic_load_explicit(&rounds[1], memory_order_relaxed) > ROUNDS;
}
static void *upper(void *p)
{
	do
		for (int i = HALF; i < 2 * HALF; i++)
			all[i] = i;
	while (!is_over(1));
	return p;
}
int main(void)
{
	int sum = 0;
	pthread_t t;
	pthread_create(&t, NULL, upper, NULL);
	do
		for (int i = 0; i <= HALF; i++)
			sum += all[i];
	while (!is_over(0));
	return pthread_join(t, NULL) + (sum == 1);
}
C
"$RADDLE" cc -O1 -g -pthread border.c -o border && "$RADDLE" flavour --flavour guard -o border.g ./border || complain "border is not built"
DRIVE_TAU=0 DRIVE_SHARED=1 "$drive" ./border.g >driven 2>&1 || complain "border cannot be driven"
grep -q ' race/' driven || complain "no race at the border: $(cat driven)"

# A command reaches threads that stay in a loop: one that counts, one inside another, one that
# waits, one with system calls, and one that follows a list inside another.
cat >loops.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int counted[64], nested[64], waited[64], called[64];
static struct node { struct node *next; int seen; } ring[3] = {{&ring[1], 0}, {&ring[2], 0}, {&ring[0], 0}};
static volatile int stop;
static pthread_barrier_t inside;
static long rounds, outer;
static char kind;
static void counts(void)
{
	for (long i = 0; i < rounds; i++)
		counted[i & 63] += (int)i;
}
static void nests(void)
{
	for (long k = 0; k < outer; k++) {
		for (long i = 0; i < rounds; i++)
			nested[(i + k) & 63] += (int)i;
	}
}
static void waits(void)
{
	while (!stop) {
		waited[0]++;
		waited[1]--;
	}
}
static void asks(void)
{
	for (long i = 0; i < rounds; i++) {
		called[i & 63]++;
		called[(i + 1) & 63]--;
		getppid();
	}
}
static void follows(void)
{
	for (long k = 0; k < outer; k++)
		for (struct node *p = ring; p; p = p->next)
			p->seen++;
}
static void *work(void *name)
{
	if (pthread_barrier_wait(&inside) == PTHREAD_BARRIER_SERIAL_THREAD)
		close(open(name, O_CREAT | O_WRONLY, 0600));
	switch (kind) {
	case 'c': counts(); break;
	case 'n': nests(); break;
	case 'w': waits(); break;
	case 'f': follows(); break;
	default: asks();
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	kind = argv[1][0];
	rounds = outer = 1L << (argc + 55);
	pthread_barrier_init(&inside, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, argv[2]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return counted[0] + nested[0] + waited[0] + called[0] + ring[0].seen;
}
C
"$RADDLE" cc -O2 -g -pthread loops.c -o loops && "$RADDLE" flavour --flavour guard -o loops.g ./loops || fail "loops.c has no guard flavour"
# Most candidates are in one loop and are not reached in another.
"$RADDLE" candidates --json loops.json ./loops >/dev/null
for kind in counts nests waits asks follows; do
	candidates=$(jq -r ".candidates[] | select(all(.accesses[]; .function == \"$kind\") and any(.accesses[]; .op == \"write\")) | .id" loops.json)
	DRIVE_ONLY=$(head -n 1 <<<"$candidates") DRIVE_LATE=inside DRIVE_TAU=0 "$drive" ./loops.g $kind inside >late 2>&1
	grep -q ' race/' late || complain "a loop that $kind has not noticed: $(cat late)"
done

# Programs without a race have no findings, even if threads are stopped.
check_case() {
	local name
	name=$(basename "$1")
	name=${name%.*}
	case $name in *-fine) ;; *) return 0 ;; esac
	build_case "$1" "$name" && "$RADDLE" flavour --flavour guard -o "$name.g" "./$name" || { echo "$name: is not built"; return 1; }
	DRIVE_TAU=2000 timeout 300 "$drive" "./$name.g" >"$name.out" 2>&1 </dev/null
	! grep ' race/' "$name.out" || { echo "$name: a race that is none"; return 1; }
	rm -f "$name" "$name".*
}
export -f check_case
export drive
if [ -n "${RADDLE_LONG:-}" ]; then
	each_case check_case || complain "see above"
else
	each_case check_case 30 5 || complain "see above"
fi
verdict
