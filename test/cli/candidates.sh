#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# raddle candidates: small programs with a race on one variable or without a race, and what the
# output says about them.  `want NAME OBJECTS` compiles a program from standard input.  `judge`
# compares the objects of the candidates of all these programs at once, because starting jq takes
# longer than the rest.
# sanitizers: yes, runs all of candidates/
. "$ROOT/test/lib.sh"
export RADDLE_CACHE=$PWD/cache

cat >head.h <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define MUTEX(m) pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER
#define LOCK(m) pthread_mutex_lock(&(m))
#define UNLOCK(m) pthread_mutex_unlock(&(m))
#define THREAD(name) static void *name(void *argument)
static pthread_t started[8];
static void start(int n, void *(*routine)(void *), void *argument) { pthread_create(&started[n], NULL, routine, argument); }
C

wanted=()
want() {
	local name=$1 objects=$2
	{ echo '#include "head.h"'; cat; } >"$name.c"
	"$RADDLE" cc -w -g -pthread "$name.c" -o "$name" || { complain "$name does not compile"; return; }
	"$RADDLE" candidates --json "$name.json" "./$name" >"$name.txt" || { complain "$name has no candidates at all"; return; }
	wanted+=("$name" "$objects")
}
judge() {
	local i files=() name objects got
	for ((i = 0; i < ${#wanted[@]}; i += 2)); do
		files+=("${wanted[i]}.json")
	done
	jq -r '"\(input_filename) \(.candidates[].object)"' "${files[@]}" | sort -u >objects
	for ((i = 0; i < ${#wanted[@]}; i += 2)); do
		name=${wanted[i]} objects=${wanted[i + 1]}
		got=$(sed -n "s/^$name.json //p" objects | tr '\n' ' ')
		shown=("$name.txt")
		[ "$got" = "$objects${objects:+ }" ] || complain "$name: candidates are '$got', wanted '$objects'"
		shown=()
	done
}

# ---- locks ----
want plain x <<'C'
static int x;
THREAD(run) { x++; return NULL; }
int main(void) { start(0, run, NULL); x++; return 0; }
C
want locked '' <<'C'
static int x; MUTEX(m);
THREAD(run) { LOCK(m); x++; UNLOCK(m); return NULL; }
int main(void) { start(0, run, NULL); LOCK(m); x++; UNLOCK(m); return 0; }
C
want half-locked x <<'C'
static int x; MUTEX(m);
THREAD(run) { LOCK(m); x++; UNLOCK(m); return NULL; }
int main(void) { start(0, run, NULL); return x; }
C
want other-lock x <<'C'
static int x; MUTEX(m); MUTEX(n);
THREAD(run) { LOCK(m); x++; UNLOCK(m); return NULL; }
int main(void) { start(0, run, NULL); LOCK(n); x++; UNLOCK(n); return 0; }
C
# Two locks in one object are distinguished, also in functions that are called with one of them
# held.
want two-locks-of-one 'calloc@two-locks-of-one.c:5.x' <<'C'
struct o { long first; pthread_mutex_t m, n; int x; };
__attribute__((noinline)) static void add(struct o *it) { it->x++; }
THREAD(run) { struct o *it = argument; LOCK(it->m); add(it); UNLOCK(it->m); return NULL; }
int main(void) { for (int i = 0; i < 3; i++) { struct o *it = calloc(1, sizeof *it); start(i, run, it); LOCK(it->n); add(it); UNLOCK(it->n); } return 0; }
C
want lock-of-its-own '' <<'C'
struct o { long first; pthread_mutex_t m, n; int x; };
__attribute__((noinline)) static void add(struct o *it) { it->x++; }
THREAD(run) { struct o *it = argument; LOCK(it->n); add(it); UNLOCK(it->n); return NULL; }
int main(void) { for (int i = 0; i < 3; i++) { struct o *it = calloc(1, sizeof *it); start(i, run, it); LOCK(it->n); add(it); UNLOCK(it->n); } return 0; }
C
want lock-functions '' <<'C'
static int x; MUTEX(m);
static void enter(pthread_mutex_t *it) { if (it) pthread_mutex_lock(it); }
static void leave(pthread_mutex_t *it) { pthread_mutex_unlock(it); }
static void add(void) { x++; }
THREAD(run) { enter(&m); add(); leave(&m); return NULL; }
int main(void) { start(0, run, NULL); enter(&m); add(); leave(&m); return 0; }
C
want lock-pointers '' <<'C'
static int x; MUTEX(m);
static void really(void *it) { pthread_mutex_lock(it); }
static void never(void *it) { }
static void really_not(void *it) { pthread_mutex_unlock(it); }
static struct { void (*lock)(void *), (*unlock)(void *); } how = {never, never};
THREAD(run) { how.lock(&m); x++; how.unlock(&m); return NULL; }
int main(int c, char **v) {
	if (c > 1) { how.lock = really; how.unlock = really_not; }
	start(0, run, NULL); how.lock(&m); x++; how.unlock(&m); return 0; }
C
# Each lock is recognised both by its name and by its distance from the data.
want many-locks-of-one '' <<'C'
struct o { pthread_mutex_t m[7]; int x; } *all[3], *it;
THREAD(run) { for (int i = 0; i < 1; i++) { LOCK(it->m[0]); LOCK(it->m[1]); LOCK(it->m[2]); LOCK(it->m[3]); LOCK(it->m[4]); LOCK(it->m[5]); LOCK(it->m[6]); it->x++;
	UNLOCK(it->m[6]); UNLOCK(it->m[5]); UNLOCK(it->m[4]); UNLOCK(it->m[3]); UNLOCK(it->m[2]); UNLOCK(it->m[1]); UNLOCK(it->m[0]); } return NULL; }
int main(void) { for (int i = 0; i < 3; i++) all[i] = calloc(1, sizeof *it); it = all[1]; start(0, run, NULL); run(NULL); return 0; }
C
want tried '' <<'C'
static int x; MUTEX(m);
THREAD(run) { if (pthread_mutex_trylock(&m) == 0) { x++; UNLOCK(m); } return NULL; }
int main(void) { start(0, run, NULL); LOCK(m); x++; UNLOCK(m); return 0; }
C
want tried-in-vain x <<'C'
static int x; MUTEX(m);
THREAD(run) { if (pthread_mutex_trylock(&m)) x++; else UNLOCK(m); return NULL; }
int main(void) { start(0, run, NULL); LOCK(m); x++; UNLOCK(m); return 0; }
C
want read-locked x <<'C'
static int x, y; static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
THREAD(run) { pthread_rwlock_rdlock(&rw); x = y; pthread_rwlock_unlock(&rw); return NULL; }
int main(void) { start(0, run, NULL); pthread_rwlock_rdlock(&rw); x++; pthread_rwlock_unlock(&rw);
	pthread_rwlock_wrlock(&rw); y++; pthread_rwlock_unlock(&rw); return 0; }
C
want lock-of-object '' <<'C'
struct box { pthread_mutex_t lock; int count; } *boxes[4];
static void add(struct box *b) { LOCK(b->lock); b->count++; UNLOCK(b->lock); }
THREAD(run) { add(boxes[1]); return NULL; }
int main(void) {
	for (int i = 0; i < 4; i++) { struct box *b = malloc(sizeof *b); pthread_mutex_init(&b->lock, NULL); b->count = 0; boxes[i] = b; }
	start(0, run, NULL); add(boxes[2]); return 0; }
C
want lock-of-other-object 'malloc@lock-of-other-object.c:5.count' <<'C'
struct box { pthread_mutex_t lock; int count; } *boxes[4];
static void add(struct box *b, struct box *a) { LOCK(a->lock); b->count++; UNLOCK(a->lock); }
THREAD(run) { add(boxes[1], boxes[0]); return NULL; }
int main(void) { for (int i = 0; i < 4; i++) { boxes[i] = malloc(sizeof *boxes[i]); pthread_mutex_init(&boxes[i]->lock, NULL); }
	start(0, run, NULL); add(boxes[2], boxes[3]); return 0; }
C
want lock-array '' <<'C'
static pthread_mutex_t locks[8]; static int cells[8];
static void add(int i) { LOCK(locks[i]); cells[i]++; UNLOCK(locks[i]); }
THREAD(run) { add((int)(long)argument); return NULL; }
int main(void) { start(0, run, (void *)3); add(3); return 0; }
C
want lock-array-shifted 'cells[]' <<'C'
static pthread_mutex_t locks[8]; static int cells[8];
static void add(int i) { LOCK(locks[i / 2]); cells[i]++; UNLOCK(locks[i / 2]); }
THREAD(run) { LOCK(locks[1]); cells[(long)argument]++; UNLOCK(locks[1]); return NULL; }
int main(void) { start(0, run, (void *)3); add(3); return 0; }
C
want semaphore '' <<'C'
static int x; static sem_t s;
THREAD(run) { sem_wait(&s); x++; sem_post(&s); return NULL; }
int main(void) { sem_init(&s, 0, 1); start(0, run, NULL); start(1, run, NULL); return 0; }
C
want semaphore-of-two x <<'C'
static int x; static sem_t s;
THREAD(run) { sem_wait(&s); x++; sem_post(&s); return NULL; }
int main(void) { sem_init(&s, 0, 2); start(0, run, NULL); start(1, run, NULL); return 0; }
C
want semaphore-given-away x <<'C'
static int x; static sem_t s;
THREAD(run) { sem_wait(&s); x++; sem_post(&s); return NULL; }
int main(void) { sem_init(&s, 0, 1); start(0, run, NULL); start(1, run, NULL); sem_post(&s); return 0; }
C

# ---- threads ----
want before '' <<'C'
static int x;
static void add(void) { x++; }
THREAD(run) { return (void *)(long)x; }
int main(void) { add(); start(0, run, NULL); return 0; }
C
want joined '' <<'C'
static int x;
THREAD(run) { x++; return NULL; }
int main(void) { pthread_t t; pthread_create(&t, NULL, run, NULL); pthread_join(t, NULL); return x; }
C
want one-by-one '' <<'C'
static int x;
THREAD(run) { x++; return NULL; }
int main(void) { for (int i = 0; i < 3; i++) { pthread_t t; pthread_create(&t, NULL, run, NULL); pthread_join(t, NULL); } return x; }
C
want try-joined x <<'C'
extern int pthread_tryjoin_np(pthread_t, void **);
static int x;
THREAD(run) { x++; return NULL; }
int main(void) { pthread_t t; pthread_create(&t, NULL, run, NULL); pthread_tryjoin_np(t, NULL); return x; }
C
want joined-in-turn '' <<'C'
static int x; MUTEX(m);
THREAD(run) { LOCK(m); x++; UNLOCK(m); return NULL; }
int main(int c, char **v) { pthread_t t[4];
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
	return x; }
C
want joined-too-few x <<'C'
static int x; MUTEX(m);
THREAD(run) { LOCK(m); x++; UNLOCK(m); return NULL; }
int main(int c, char **v) { pthread_t t[4];
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, NULL);
	for (int i = 1; i < 4; i++) pthread_join(t[i], NULL);
	return x; }
C
want left-early x <<'C'
static int x; MUTEX(m);
THREAD(run) { LOCK(m); x++; UNLOCK(m); return NULL; }
int main(int c, char **v) { pthread_t t[4];
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++) { if (i == c) break; pthread_join(t[i], NULL); }
	return x; }
C
want grandchild x <<'C'
static int x;
THREAD(inner) { x++; return NULL; }
THREAD(outer) { pthread_t t; pthread_create(&t, NULL, inner, NULL); return NULL; }
int main(void) { pthread_t t; pthread_create(&t, NULL, outer, NULL); pthread_join(t, NULL); return x; }
C
want two-starters 'b' <<'C'
static int a, b;
THREAD(first) { a++; b++; return NULL; }
THREAD(second) { b++; return NULL; }
int main(void) { start(0, first, NULL); start(1, second, NULL); return 0; }
C
want handler 'x' <<'C'
static int x;
static void caught(int n) { x++; }
THREAD(run) { x++; return NULL; }
int main(void) { signal(SIGUSR1, caught); pthread_t t; pthread_create(&t, NULL, run, NULL); pthread_join(t, NULL); return 0; }
C
want alone '' <<'C'
static int x;
static void caught(int n) { x++; }
int main(void) { signal(SIGUSR1, caught); x++; return 0; }
C

# ---- memory that only one thread uses ----
want own-memory '' <<'C'
struct job { int n; };
THREAD(run) { struct job *j = argument; j->n++; free(j); return NULL; }
int main(void) { for (int i = 0; i < 3; i++) { pthread_t t; struct job *j = malloc(sizeof *j); j->n = i; pthread_create(&t, NULL, run, j); } return 0; }
C
want own-memory-later 'malloc@own-memory-later.c:4.n' <<'C'
struct job { int n; };
THREAD(run) { struct job *j = argument; j->n++; return NULL; }
int main(void) { for (int i = 0; i < 3; i++) { pthread_t t; struct job *j = malloc(sizeof *j); pthread_create(&t, NULL, run, j); j->n = i; } return 0; }
C
want own-element '' <<'C'
static struct job { int n; } jobs[4];
THREAD(run) { struct job *j = argument; j->n++; return NULL; }
int main(void) { for (int i = 0; i < 4; i++) { jobs[i].n = i; pthread_create(&started[i], NULL, run, &jobs[i]); } return 0; }
C
want shared-element 'jobs.n' <<'C'
static struct job { int n; } jobs[4];
THREAD(run) { struct job *j = argument; j->n++; return NULL; }
int main(void) { for (int i = 0; i < 4; i++) pthread_create(&started[i], NULL, run, &jobs[i / 2]); return 0; }
C
want own-number '' <<'C'
static int cells[4];
static void add(long i) { cells[i]++; }
THREAD(run) { add((long)argument); return NULL; }
int main(void) { for (long i = 0; i < 4; i++) pthread_create(&started[i], NULL, run, (void *)i); return 0; }
C
want number-halved 'cells[]' <<'C'
static int cells[4];
THREAD(run) { cells[(long)argument / 2]++; return NULL; }
int main(void) { for (long i = 0; i < 4; i++) pthread_create(&started[i], NULL, run, (void *)i); return 0; }
C
want unpublished '' <<'C'
struct node { int n; } *_Atomic head;
static void set(struct node *n) { n->n = 1; }
THREAD(run) { struct node *n = malloc(sizeof *n); n->n = 0; set(n); head = n; return (void *)(long)head->n; }
int main(void) { start(0, run, NULL); start(1, run, NULL); return 0; }
C
want published 'malloc@published.c:3.n' <<'C'
struct node { int n; } *_Atomic head;
THREAD(run) { struct node *n = malloc(sizeof *n); head = n; n->n = 0; return (void *)(long)head->n; }
int main(void) { start(0, run, NULL); start(1, run, NULL); return 0; }
C
want thread-local '' <<'C'
static __thread int mine;
static __thread int *table;
THREAD(run) { mine++; table = malloc(8); table[0] = mine; return (void *)(long)table[0]; }
int main(void) { start(0, run, NULL); start(1, run, NULL); return 0; }
C
want thread-local-told mine <<'C'
static __thread int mine;
static int *_Atomic told;
THREAD(run) { told = &mine; mine++; *told = 2; return NULL; }
int main(void) { start(0, run, NULL); start(1, run, NULL); return 0; }
C

# ---- kinds of memory and accesses ----
want atomic '' <<'C'
static atomic_int x;
THREAD(run) { x++; return NULL; }
int main(void) { start(0, run, NULL); x++; return 0; }
C
want members 's.b' <<'C'
static struct { int a, b; } s;
THREAD(run) { s.a++; s.b++; return NULL; }
int main(void) { start(0, run, NULL); return s.b; }
C
want through-pointer x <<'C'
static int x, y;
static void add(int *p) { *p += 1; }
THREAD(run) { add(&x); return NULL; }
int main(void) { start(0, run, NULL); y++; return x; }
C
want wrapped-heap 'get@wrapped-heap.c:5' <<'C'
static void *get(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
static int *shared;
THREAD(run) { int *mine = get(4); *mine = 1; *shared = 2; return NULL; }
int main(void) { shared = get(4); start(0, run, NULL); *shared = 1; return 0; }
C
want freed 'malloc@freed.c:4' <<'C'
static int *shared;
THREAD(run) { return (void *)(long)*shared; }
int main(void) { shared = malloc(4); *shared = 1; start(0, run, NULL); free(shared); return 0; }
C
want copied 'to[]' <<'C'
static char from[8], to[8];
THREAD(run) { memcpy(to, from, 8); return NULL; }
int main(void) { start(0, run, NULL); return to[3]; }
C
want called x <<'C'
static int x;
static void add(void) { x++; }
static void (*how)(void) = add;
THREAD(run) { how(); return NULL; }
int main(void) { start(0, run, NULL); how(); return 0; }
C

# The document and the text list what makes them unsound.  Ids are the same in another build.
want unknown x <<'C'
static int x;
THREAD(run) { x++; __asm__ volatile("nop"); return NULL; }
int main(void) { start(0, run, NULL); x++; return 0; }
C
jq -e '.version == 1 and .points_to == "inclusion" and (.unsound | any(test("assembler"))) and .stats.groups == 1 and
	(.candidates[0] | .rank == 1 and .group == 1 and (.id | test("^[0-9a-f]{16}$")) and (.reason | length > 0) and
	(.accesses | length == 2 and all(.line > 0 and (.file | endswith("unknown.c")) and (.op == "read" or .op == "write"))))' \
	unknown.json >/dev/null || complain "the document lacks something: $(cat unknown.json)"
grep -q 'Not covered' unknown.txt || complain "the text does not say what is not covered"
# Limits of the analysis are listed if the program exceeds them.  The last of 70 functions releases
# the lock.
{
	echo 'static int x; MUTEX(m);'
	for i in {1..69}; do echo "static void f$i(void) { $([ "$i" = 69 ] && echo 'UNLOCK(m);') }"; done
	echo "static void (*all[])(void) = {$(printf 'f%d,' {1..69})}, (*one)(void);"
	echo 'THREAD(run) { LOCK(m); one(); x++; return NULL; }'
	echo 'int main(int c, char **v) { one = all[c]; start(0, run, NULL); run(NULL); return 0; }'
} | want many-callees ''
jq -e '.unsound | any(test("more than 64 functions .*\\(1, the first at .*many-callees.c"))' many-callees.json >/dev/null ||
	complain "ignored callees are not listed: $(jq -c .unsound many-callees.json)"
# Each function calls the one before it and the one after it, and the last one releases the lock.
# So each pass of the analysis moves that fact by only one function.
{
	echo 'static int x; MUTEX(m);'
	for i in {0..9}; do echo "static void f$i(int n);"; done
	echo 'THREAD(run) { LOCK(m); f9(4); x++; return NULL; }'
	echo 'int main(void) { start(0, run, NULL); run(NULL); return 0; }'
	for i in {9..1}; do
		echo "static void f$i(int n) { if (n < 0) return; if (n & 1) f$((i - 1))(n - 1); $([ "$i" = 9 ] && echo 'else UNLOCK(m);' || echo "else f$((i + 1))(n - 1);") }"
	done
	echo 'static void f0(int n) { if (n > 0) f1(n - 1); }'
} | want many-rounds ''
jq -e '.unsound | any(test("recursive"))' many-rounds.json >/dev/null ||
	complain "unfinished effects are not listed: $(jq -c .unsound many-rounds.json)"
jq -e '.unsound | all(test("recursive|more than 64 functions") | not)' unknown.json >/dev/null || complain "a small program exceeds limits"
{ echo; echo 'static int unused;'; cat plain.c; } >plain2.c
"$RADDLE" cc -w -g -pthread plain2.c -o plain2 && "$RADDLE" candidates --json=- ./plain2 >plain2.json || complain "plain2"
[ "$(jq -c '[.candidates[].id]' plain2.json)" = "$(jq -c '[.candidates[].id]' plain.json)" ] || complain "ids differ when lines move"
# Accesses that only one side locks are ranked before those that neither side locks.
want order 'x y' <<'C'
static int x, y; MUTEX(m);
THREAD(run) { y = 1; LOCK(m); x = 1; UNLOCK(m); return NULL; }
int main(void) { start(0, run, NULL); y = 2; x = 2; return 0; }
C
[ "$(jq -r '.candidates[0].object' order.json)" = x ] || complain "the order is not that of the reasons"
"$RADDLE" candidates -n 1 ./order | grep -q '1 more groups' || complain "--limit leaves nothing out"

# The file may be the word after --json.  Without one, the document goes to standard output.
"$RADDLE" candidates --json ./plain | jq -e '.candidates | length > 0' >/dev/null || complain "--json PROG"
"$RADDLE" candidates ./plain --json file.json >/dev/null && cmp -s file.json plain.json || complain "PROG --json FILE"

# Each error has a message.
"$RADDLE" candidates /bin/true 2>message
[ $? = 2 ] || complain "a program without bitcode: status"
grep -q 'carries no bitcode' message || complain "no bitcode: $(cat message)"

# Every race on memory in the small programs has a candidate with its object.
. "$ROOT/test/prog/micro/case.bash"
for source in "$ROOT"/test/prog/micro/*-race.c*; do
	name=$(basename "${source%.*}")
	[ -n "${RADDLE_LONG:-}" ] || [[ $name < c ]] || continue
	build_case "$source" program || { complain "$name does not compile"; continue; }
	"$RADDLE" candidates --json found.json ./program >/dev/null || { complain "$name has no candidates at all"; continue; }
	objects=$(jq -r '.candidates[].object' found.json)
	while read -r kind object rest; do
		member=${object%%[*} member=${member##*.}
		case $kind:$object in
		race:fd) ;; # a descriptor is not memory
		race:heap) [ -n "$objects" ] || complain "$name: no candidate" ;;
		race:*) grep -q "\\b$member\\b" <<<"$objects" || complain "$name: no candidate of $object, only: $objects" ;;
		esac
	done < <(expected_findings "$source")
done

# A group may have more pairs than are listed.  An access that is listed with another one is also
# listed with itself.
want many-pairs 'shared[]' <<'C'
int shared[64];
THREAD(one) { int n = *(int *)argument; shared[n & 63] += 1; shared[(n + 7) & 63] ^= 3; return NULL; }
THREAD(two) { int n = *(int *)argument; shared[n & 63] -= 2; shared[(n * 5) & 63] |= 3; return NULL; }
THREAD(three) { int n = *(int *)argument; shared[n & 63] *= 3; return NULL; }
THREAD(four) { int n = *(int *)argument; shared[n & 63] /= 5; return NULL; }
int main(int argc, char **argv)
{
	void *(*all[])(void *) = {one, two, three, four};
	for (int i = 0; i < 8; i++)
		start(i, all[i & 3], &argc);
	return 0;
}
C
jq -e '[.candidates[].accesses | map("\(.line):\(.column)")] | (map(select(.[0] == .[1])[0]) | sort) == (flatten | unique) and length > 16' \
	many-pairs.json >/dev/null || complain "accesses are not paired with themselves: $(jq -c '[.candidates[].accesses | map(.line)]' many-pairs.json)"

# A pointer that is sent through a pipe is recognised at the other end.
want message 'malloc@message.c:8' <<'C'
#include <unistd.h>
static int ends[2];
THREAD(run) { int *got; read(ends[0], &got, sizeof got); *got = 1; return NULL; }
int main(void)
{
	pipe(ends);
	int *sent = malloc(sizeof *sent);
	start(0, run, NULL);
	write(ends[1], &sent, sizeof sent);
	*sent = 2;
	return 0;
}
C
# A plug-in may call functions that it was given from its own threads.
want plugin ticks <<'C'
#include <dlfcn.h>
static int ticks;
static void tick(void) { ticks++; }
static struct { void (*tick)(void); } api = {tick};
int main(void)
{
	void (*begin)(void *) = (void (*)(void *))dlsym(dlopen("./x.so", RTLD_NOW), "begin");
	begin(&api);
	tick();
	return 0;
}
C
grep -q 'functions of plug-ins' plugin.txt || complain "nothing is said about the plug-in: $(cat plugin.txt)"
# A relaxed store does not order earlier writes; a release store does.
for order in relaxed release; do
	want "published-$order" "$([ $order = release ] || echo malloc@published-relaxed.c:7)" <<C
static _Atomic(int *) shared;
THREAD(run) { int *it = atomic_load_explicit(&shared, memory_order_acquire); return it ? (void *)(long)*it : NULL; }
int main(void)
{
	start(0, run, NULL);
	int *it = malloc(sizeof *it);
	*it = 1;
	atomic_store_explicit(&shared, it, memory_order_$order);
	return 0;
}
C
done
# A loop that only tests a condition has no guard.  A loop that uses what it reads has one.
want loops 'flag sums[]' <<'C'
static int flag, sums[9];
THREAD(run) { for (int i = 0; i < 9; i++) sums[i] = i; flag = 1; return NULL; }
int main(void)
{
	int all = 0;
	start(0, run, NULL);
	while (!flag) {}
	for (int i = 0; i < 9; i++) all += sums[i];
	return all;
}
C
jq -e '[.candidates[] | {key: .object, value: (.unguarded != null)}] | from_entries == {flag: true, "sums[]": false}' loops.json >/dev/null ||
	complain "loops that wait: $(jq -c '.candidates[] | [.object, .unguarded]' loops.json)"

# Accesses in a shared library are candidates, but the document says that no guard of the program
# watches them.
cat >lib.c <<'C'
int hits;
void hit(void) { hits++; }
C
cat >user.c <<'C'
#include <pthread.h>
void hit(void);
static int mine;
static void *work(void *p) { hit(); mine++; return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	work(NULL);
	return pthread_join(t, NULL);
}
C
"$RADDLE" cc -g -shared -fPIC lib.c -o libhits.so && "$RADDLE" cc -g -pthread user.c -o user -L. -lhits -Wl,-rpath,"$PWD" || fail "a library is not built"
"$RADDLE" candidates --json user.json ./user >user.txt
jq -e '[.candidates[] | select(.object == "hits") | .unguarded | test("library")] | length > 0 and all' user.json >/dev/null || complain "a guard in a library: $(cat user.json)"
jq -e '[.candidates[] | select(.object == "mine") | .unguarded] | length > 0 and any(. == null)' user.json >/dev/null || complain "no guard in the program: $(cat user.json)"
grep -q "unguarded: it is in a shared library" user.txt || complain "the text does not tell: $(cat user.txt)"
judge
verdict
