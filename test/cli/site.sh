#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# raddle site run with a hive that the test controls (test/prog/site/fake-hive).  Tasks reach the
# running program, and its findings reach the hive.  A hive that is missing, hangs or sends wrong
# data does not affect the program.
# timeout: 600
# sanitizers: yes, runs site/ and guard/
. "$ROOT/test/lib.sh"
export RADDLE_CACHE=$PWD/cache
unset RADDLE_GUARD_OFF RADDLE_HIVE_TOKEN

cat >racy.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int shared;
static const char *until;
static void *work(void *p)
{
	do {
		shared++;
		if (until)
			usleep(100);
	} while (until && access(until, F_OK));
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	until = argc > 2 ? argv[2] : NULL;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("done %s\n", argc > 1 ? argv[1] : "");
	fflush(stdout);
	if (argc > 1 && argv[1][0] == 'a')
		abort();
	return 7;
}
C
"$RADDLE" cc -g -O2 -pthread racy.c -o racy || fail "it does not compile"
"$RADDLE" flavour --flavour guard -o guarded ./racy || fail "it has no guard flavour"
candidate=$("$RADDLE" candidates --json - ./racy | jq -r '[.candidates[] | select(.object == "shared")][0].id')
[ ${#candidate} = 16 ] || fail "shared is no candidate"

hive=
finally '[ -z "$hive" ] || kill $hive'
# serve DIR [BEHAVIOUR]: starts a hive and sets $url.
serve() {
	[ -z "$hive" ] || kill "$hive"
	mkdir -p "$1"
	rm -f "$1/url"
	"$ROOT/test/prog/site/fake-hive" "$@" &
	hive=$!
	wait_for 60 test -s "$1/url" || fail "the hive does not start"
	url=$(cat "$1/url")
}
# task ID [TAU]: sets the task of the hive h.  TAU is how long a thread waits for the other, in
# microseconds.
task() {
	echo '{"tasks":[{"id":"'"$1"'","candidate":"'"$candidate"'","mode":"validate","order":"primary","tau_us":'"${2:-1000}"'}]}' >h/tasks.new
	mv h/tasks.new h/tasks
}
site() {
	timeout 120 "$RADDLE" site run --hive "$url" "$@"
}

# The site polls for a task, the program runs, and the reports arrive when it has ended.
serve h
task one
for program in ./racy ./guarded; do
	found=$(site --state-dir "st$program" --poll-now -- $program x)
	status=$?
	[ "$found $status" = "done x 7" ] || complain "$program says $found, status $status"
done
grep -q '^GET /api/v1/key' h/requests || complain "the key was not asked for"
[ "$(grep -c '^POST' h/requests)" -ge 2 ] || complain "no reports: $(cat h/requests)"
grep '^POST' h/requests | sed 's/^[^{]*//' | jq -e '.reports | length > 0 and all(.run and .candidate and .result)' >/dev/null ||
	complain "these are no reports: $(cat h/requests)"
grep -qE "$PWD|racy|guarded|done x" h/requests && complain "more left the site than should: $(cat h/requests)"

# A task that arrives while the program runs is done without a restart.
echo '{"tasks":[]}' >h/tasks
: >h/requests
site --state-dir st-live -- ./guarded x "$PWD/end" >live.out &
live=$!
wait_for 60 grep -q '^GET /api/v1/tasks' h/requests || complain "the running program does not poll"
# On a busy machine the other thread may not come within a millisecond.  Then the hive asks again,
# with a longer wait.
for tau in 1000 51000 101000 151000 200000; do
	task "two-$tau" $tau
	wait_for 60 grep -qE '"result":"(race|timeout)","task":"two-'$tau'"' h/requests
	grep -q '"result":"race","task":"two-' h/requests && break
done
grep -q '"result":"race","task":"two-' h/requests || complain "no race was reported: $(cat h/requests)"
touch end
wait $live
[ $? = 7 ] || complain "the status is not the program's"

# With --dump-upload, what would be sent is shown but not sent.  This hive does not get what earlier
# runs still send.
serve h-dump
site --state-dir st-dump --dump-upload -- ./guarded y "$PWD/end-dump" >dump.out 2>dump.err &
live=$!
wait_for 60 grep -q 'would send: ' dump.err || complain "nothing is shown"
touch end-dump
wait $live
[ ! -s h-dump/requests ] || complain "it was sent: $(cat h-dump/requests)"
serve h

# If the program crashes, the race is reported with the crash.
rm -rf st-crash
task three
(ulimit -c 0; site --state-dir st-crash --poll-now -- ./guarded abort >crash.out 2>&1)
[ $? = 134 ] || complain "a program that aborts ends otherwise"
if grep -q '"result":"race"[^}]*"task":"three"' h/requests; then
	grep -q '"consequence":"assertion","signal":6' h/requests || complain "the crash was not told: $(cat h/requests)"
fi

# Guards can be switched off by the environment, by a file, by the mode of the site, and by the
# hive.
serve h-off
RADDLE_GUARD_OFF=1 site --state-dir st-off --poll-now -- ./guarded z >/dev/null
touch off
site --state-dir st-off --poll-now --kill-file off -- ./guarded z >/dev/null
site --state-dir st-off --poll-now --mode off -- ./guarded z >/dev/null
[ ! -s h-off/requests ] || complain "a site that is off talks: $(cat h-off/requests)"
echo '{"state":"off","tasks":[{"id":"four","candidate":"'"$candidate"'","mode":"validate","order":"primary","tau_us":1000}]}' >h-off/tasks
site --state-dir st-off --poll-now -- ./guarded z >/dev/null
grep -q '^POST' h-off/requests && complain "a site that the hive switched off reports: $(cat h-off/requests)"

# Whatever the hive does, the program behaves the same.
for behaviour in error garbage endless unsigned expired other; do
	rm -rf "st-$behaviour" "h-$behaviour"
	serve "h-$behaviour" "$behaviour"
	cp h-off/tasks "h-$behaviour/tasks"
	found=$(site --state-dir "st-$behaviour" --poll-now -- ./guarded x 2>/dev/null)
	status=$?
	[ "$found $status" = "done x 7" ] || complain "with a hive that is $behaviour it says $found, status $status"
	grep -q '"task"' "h-$behaviour/requests" && complain "a task of a hive that is $behaviour was taken"
done
serve h-hang hang
found=$(site --state-dir st-hang -- ./guarded x 2>/dev/null)
status=$?
[ "$found $status" = "done x 7" ] || complain "with a hive that hangs it says $found, status $status"
# The process that sends the rest waits for that hive.  It does not keep the program's output open.
pgrep -f -- '--state-dir st-hang' >rest || complain "the site waits for a hive that hangs"
for pid in $(cat rest); do
	[ "$(readlink /proc/$pid/fd/{0,1,2} | sort -u)" = /dev/null ] || complain "the rest of a site holds $(ls -l /proc/$pid/fd)"
done
kill "$hive"
hive=
url=http://127.0.0.1:1
found=$(site --state-dir st-none -- ./guarded x 2>/dev/null)
status=$?
[ "$found $status" = "done x 7" ] || complain "without a hive it says $found, status $status"

# A program without bitcode runs unchanged.
cc -O1 -pthread racy.c -o foreign
found=$(site --state-dir st-none -- ./foreign x 2>/dev/null)
status=$?
[ "$found $status" = "done x 7" ] || complain "a program without bitcode says $found, status $status"

"$RADDLE" site run -- ./guarded >/dev/null 2>&1
[ $? = 2 ] || complain "no hive is no error"
# The program gets the descriptors and signals that it would get without Raddle, except for SIGTRAP,
# which watchpoints use.
cat >inherits.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static int shared;
static void *work(void *p) { shared++; return p; }
int main(void)
{
	pthread_t t;
	struct sigaction a;
	pthread_create(&t, NULL, work, NULL);
	shared++;
	pthread_join(t, NULL);
	for (int fd = 0; fd < 100; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("descriptor %d\n", fd);
	for (int number = 1; number < 65; number++)
		if (number != SIGTRAP && !sigaction(number, NULL, &a) && a.sa_handler != SIG_DFL)
			printf("signal %d\n", number);
	return 0;
}
C
"$RADDLE" cc -g -pthread inherits.c -o inherits || fail "inherits.c does not compile"
for ignored in USR1 PIPE; do
	(trap '' "$ignored"; exec 7</dev/null; ./inherits >wanted
		"$RADDLE" site run --hive http://127.0.0.1:9 --state-dir inherits.state --mode validate -- ./inherits >found)
	grep -q "descriptor 7" wanted && cmp -s wanted found || complain "the program inherits $(diff wanted found)"
done
verdict
