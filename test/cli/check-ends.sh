# `raddle check` reports how the recorded program ended.  A run that fails by itself is a finding.
# If a run allows no verdict, the check ends with status 2 and the reason, never with 0.
. "$ROOT/test/lib.sh"
export RADDLE_OPTIONS="$RADDLE_OPTIONS --no-classify" # classes need more runs, and no case here tests them

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/ends.c" -o ends || exit 1
shown=(err)

# status WANTED ARGUMENTS...: runs a check, and expects this status.  The report is in err.
status() {
	local wanted=$1 got
	shift
	"$RADDLE" check --json found.json "$@" >out 2>err
	got=$?
	[ $got = "$wanted" ] || complain "check $*: status $got instead of $wanted"
}
says() {
	tr -s ' \n' ' ' <err | grep -qF -- "$1" || complain "no '$1' in the report"
}
# failed SIGNAL CONSEQUENCE: the failure of `fail` in the second thread is among the findings.
failed() {
	jq -e --arg signal "$1" --arg consequence "$2" '[.findings[] | select(.kind == "failure")] | length == 1 and
		(.[0] | .status == "confirmed" and .recorded and .consequence == $consequence and
		.cycle[0].wants == $signal and .cycle[0].thread == "T_0_1" and .cycle[0].function == "fail" and
		.cycle[0].stack[1].function == "work" and .cycle[0].holds[0].name == "lock")' \
		found.json >/dev/null || complain "no failure by $1: $(cat found.json)"
}

# A failure of the program itself is a finding with a place.  Its id works in a baseline and a
# suppression.
status 1 -- ./ends abort
failed SIGABRT abort
says 'BUG 1 of 1 abort'
says 'Effect SIGABRT'
says 'Seen In the recorded run.'
says 'The recorded program was ended by signal 6'
jq -e '.stats.program_status == 134 and .stats.program_signal == 6' found.json >/dev/null || complain "statistics"
jq -r '.findings[0].id' found.json >first
status 1 --sarif found.sarif --write-baseline known -- ./ends abort
jq -r '.findings[0].id' found.json | cmp -s - first || complain "the id of a failure changes"
jq -e '.runs[0].results[0].ruleId == "failure"' found.sarif >/dev/null || complain "SARIF: $(cat found.sarif)"
status 0 --baseline known -- ./ends abort
echo 'failure:fail' >hidden
status 0 --suppressions hidden -- ./ends abort
status 1 -- ./ends assert
failed SIGABRT abort
status 1 -- ./ends crash
failed SIGSEGV crash

# A program that does not end is not confirmed to hang, since it may have had more to do.  Its
# stacks are shown, and the check has no result.
status 2 --timeout 1 --no-replay -- ./ends spin
says 'did not end within 1 s'
says 'check: the recorded run was still working when its time was up (--timeout): it hangs, or had more to do'
jq -e '[.findings[] | select(.kind == "failure")][0] | .status == "unconfirmed" and .consequence == "hang" and
	([.cycle[].function] | index("fail") != null)' found.json >/dev/null || complain "a hang: $(cat found.json)"

# If threads wait forever for something that no trace shows, the program certainly hangs.
status 1 --no-replay -- ./ends futex
says 'The recorded program was deadlocked and was killed'
jq -e '.findings | length == 1 and (.[0] | .kind == "failure" and .status == "confirmed" and .consequence == "hang" and
	([.cycle[].function] | index("fail") != null))' found.json >/dev/null || complain "a futex: $(cat found.json)"

# The status of the program is reported, and passed on with --pass-status.
status 0 -- ./ends 3
says 'The recorded program ended with status 3.'
status 3 --pass-status -- ./ends 3
status 0 --pass-status -- ./ends 0

# There is no verdict if the run was killed, crashed before it did anything, never started, or was
# recorded only in part.
status 2 -- ./ends kill
says 'raddle: check: the recorded run was ended by signal 9'
echo 'int main(void) { __builtin_trap(); }' >trap.c
"$RADDLE" cc -g trap.c -o trap || exit 1
status 2 -- ./trap
says 'at its start'
cat >library.c <<'EOF'
int answer(void) { return 42; }
EOF
cat >user.c <<'EOF'
int answer(void);
int main(void) { return answer() != 42; }
EOF
mkdir lib && cc -shared -fPIC -o lib/libanswer.so library.c && "$RADDLE" cc -g user.c -o user -Llib -lanswer || exit 1
status 2 -- ./user
says 'never started: it ended with status 127'
LD_LIBRARY_PATH=lib status 0 -- ./user
cat >many.c <<'EOF'
#include <pthread.h>
#define COUNT 40
static pthread_barrier_t all;
static void *work(void *p) { pthread_barrier_wait(&all); return p; }
int main(void)
{
	pthread_t t[COUNT];
	pthread_barrier_init(&all, 0, COUNT);
	for (int i = 0; i < COUNT; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < COUNT; i++)
		pthread_join(t[i], 0);
	return 0;
}
EOF
"$RADDLE" cc -g -pthread many.c -o many || exit 1
status 0 --no-replay -- ./many
(ulimit -n 20 && "$RADDLE" check --no-replay -- ./many >out 2>err)
[ $? = 2 ] || complain "a recording that stopped does not end with status 2"
says 'recording stopped before the program ended'
says 'Too many open files'

# The address space suffices only for the program without Raddle.  Its failure is not a finding, and
# there is no verdict.
cat >wide.c <<'EOF'
#include <stdlib.h>
#include <string.h>
int main(void)
{
	char *p = malloc(24 << 20);
	if (!p)
		abort();
	memset(p, 1, 24 << 20);
	return p[4711] != 1;
}
EOF
"$RADDLE" cc -g wide.c -o wide || exit 1
"$RADDLE" flavour ./wide >/dev/null || exit 1
# A sanitized raddle needs terabytes of address space.
if [ "$(basename "$BUILD")" != asan ] && (ulimit -v 32000 && ./wide) 2>/dev/null; then
	(ulimit -v 32000 && "$RADDLE" check --no-replay -- ./wide >out 2>err)
	case $? in
	0) ;; # Raddle may raise the limit
	2) grep -qE 'ulimit -v|memory' err || complain "a limit of the address space is not the reason: $(cat err)" ;;
	*) complain "a program fails in too small an address space, and that is its fault: $(cat err)" ;;
	esac
fi

# A program that replaces itself by exec is not recorded from then on, so there is no verdict.  A
# program that forks a process for exec is recorded, as is one whose exec fails.
status 2 -- ./ends exec ./many
says 'recording stopped before the program ended: the program replaced itself with ./many (exec)'
status 2 --pass-status -- ./ends exec /proc/self/exe
status 5 --pass-status -- ./ends exec ./nothing
cat >starts.c <<'EOF'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	if (!fork())
		execl("./many", "many", (char *)0);
	wait(0);
	return 0;
}
EOF
"$RADDLE" cc -g starts.c -o starts || exit 1
status 0 -- ./starts

# A client that fails ends the check.  If the program also failed by itself, that is still reported.
status 2 --with 'exit 3' -- ./ends serve
says 'the command of --with ended with status 3: exit 3'
# A client fails after the program has ended, which counts, too.
status 2 --setup 'rm -f serving' --with 'until [ -e serving ]; do sleep 0.05; done; nosuchclient' -- ./ends leave
says 'the command of --with ended with status 127'
status 0 --setup 'rm -f serving' --with 'until [ -e serving ]; do sleep 0.05; done' -- ./ends serve
# Making the flavour is part of the time.  A check that has no time left for anything else has no
# verdict.
RADDLE_CACHE=$PWD/empty status 2 --time 1ms -- ./many
says 'the time was up while its 1 units were instrumented'
RADDLE_CACHE=$PWD/empty status 0 --no-replay -- ./many
RADDLE_CACHE=$PWD/empty status 2 --time 1ms -- ./many
says 'the time was up before any part of the run was looked at'
jq -e '.stats.build_seconds > 0' found.json >/dev/null || complain "nobody says how long the flavour took"
verdict
