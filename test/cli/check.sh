# `raddle check` from end to end: what it finds and what it does not, its files, its exit status,
# the program's input, and programs that do not end.
# sanitizers: yes, runs cmd/ and check/ from end to end, with all reports
. "$ROOT/test/lib.sh"

build() {
	"$RADDLE" cc -O1 -g -pthread "$1" -o "$(basename "$1" .c)" || exit 1
}
micro=$ROOT/test/prog/micro
for name in sections-race sections-fine order-deadlock; do
	build "$micro/$name.c"
done
build "$ROOT/test/prog/check.c"
build "$ROOT/test/prog/hang.c"
build "$ROOT/test/prog/identity/globals.c"

# status WANTED ARGUMENTS...: runs a check, and expects this status.  The report is in err.
status() {
	local wanted=$1 got
	shift
	"$RADDLE" check "$@" >out 2>err
	got=$?
	[ $got = "$wanted" ] || complain "check $*: status $got instead of $wanted: $(cat err)"
}
report_has() {
	grep -qF -- "$1" err || complain "no '$1' in the report: $(cat err)"
}

# A race is reported in every format.
status 1 --json found.json --sarif found.sarif --html found.html --write-baseline known.txt -- ./sections-race
report_has 'BUG 1 of 1  data race on x'
report_has 'Raddle: 1 bug: '
awk 'length($0) > 80 && !/\// { exit 1 }' err || complain "the report is wider than 80 columns: $(cat err)"
jq -e '.version == 1 and .argv == ["./sections-race"] and .stats.replayed >= 1 and (.findings | length) == 1' found.json \
	>/dev/null || complain "JSON: $(cat found.json)"
# The document has all members that finding.md promises, and may have others.
sed -n 's/^| `\([a-z_]*\)` \* |.*/\1/p' "$ROOT/doc/format/finding.md" >promised
[ -s promised ] || complain "finding.md promises nothing"
jq -r '.findings[0] | keys[]' found.json >there
grep -vxFf there promised && complain "finding.md promises members that are not in the JSON document"
cmp -s found.json raddle-check/findings.json || complain "findings.json is not the JSON document"
jq -e '.version == "2.1.0" and (.runs[0].results | length) == 1 and
	.runs[0].results[0].ruleId != null' found.sarif >/dev/null || complain "SARIF: $(cat found.sarif)"
grep -q 'data race on x' found.html || grep -qi 'race on x' found.html || complain "the page does not name the race"
grep -Eq '(src|href)="?(https?:)?//' found.html && complain "the page loads something"

# The printed command reproduces the race if it is pasted, and so does that of the full report.
sed -n 's/^  Again *\(raddle replay [0-9a-f]*\) .*/\1/p' err >line
[ -s line ] || complain "no command: $(cat err)"
PATH=$BUILD:$PATH bash line >out 2>err
[ $? = 1 ] || complain "not reproduced by $(cat line): $(cat err)"
"$RADDLE" dump raddle-check | sed -n '/Reproduce:/{n;p}' >line
PATH=$BUILD:$PATH bash line >out 2>err
[ $? = 1 ] || complain "not reproduced by $(cat line): $(cat err)"

# The following tests are not about classes, which need more runs than the rest of a check.
export RADDLE_OPTIONS="$RADDLE_OPTIONS --no-classify"

# Findings that are known or suppressed do not count.
status 0 --baseline known.txt -- ./sections-race
report_has '1 known'
status 0 --baseline found.json -- ./sections-race
echo 'race:first' >hidden
status 0 --suppressions hidden -- ./sections-race
report_has '1 suppressed'
echo 'deadlock:first' >hidden
status 1 -q --suppressions hidden -- ./sections-race
[ ! -s err ] || complain "-q says: $(cat err)"
"$RADDLE" diff found.json raddle-check >out 2>err || complain "diff: status $?: $(cat err)"
grep -qx 'Raddle: 0 new, 0 fixed, 1 still there' out || complain "another check has another bug: $(cat out)"
echo 'no rule' >hidden
status 2 --suppressions hidden -- ./sections-race

# Generated rules suppress exactly what was found.
status 1 --gen-suppressions=made --json=all.json -- ./globals
grep '^[^#]' made | sort >rules
jq -r '.findings[] | select(.status == "confirmed") | "finding:\(.id)"' all.json | sort | diff - rules || complain "made: $(cat made)"
[ "$(wc -l <rules)" -ge 2 ] || complain "too few findings to choose from: $(cat rules)"
status 0 --suppressions made -- ./globals
sed -n 's/^[^#]/&/p' made | tail -n +2 >rules
status 1 --suppressions rules --json=some.json -- ./globals
[ "$(jq '[.findings[] | select(.status == "confirmed" and (.suppressed | not))] | length' some.json)" = 1 ] ||
	complain "one rule less does not show one finding: $(cat rules)"

# Deadlocks, correct programs, and prediction without replays.
status 1 -o elsewhere -- ./order-deadlock
report_has 'BUG 1 of 1  deadlock of 2 threads'
[ -e elsewhere/trace/meta.json ] || complain "-o leaves no trace"
ls elsewhere/*.schedule >/dev/null || complain "-o leaves no schedule"
status 0 --no-deadlocks -- ./order-deadlock
status 0 -- ./sections-fine
report_has 'Raddle: no bug confirmed'
status 0 --no-replay -- ./sections-race
report_has '1 unconfirmed'

# --setup runs before each run.  Replays that take too long are ended, and have no result.
status 1 --setup 'echo once >>setups' -- ./sections-race
[ "$(grep -c once setups)" -ge 2 ] || complain "--setup was done $(cat setups | wc -l) times"
status 0 --time 1 --setup '[ ! -e again ] || sleep 300; touch again' --json late.json -- ./sections-race
report_has 'Not replayed in the time given (--time raises it): 1.'
jq -e '.stats.untried == 1 and .findings[0].status == "unconfirmed" and (.findings[0].reason | test("the time was up"))' \
	late.json >/dev/null || complain "a replay that was ended: $(cat late.json)"

# If the command of --setup fails, the check ends with the reason, in the recorded run and in a
# replay.
status 2 --setup 'exit 7' -- ./sections-race
report_has 'the command of --setup ended with status 7: exit 7'
rm -f again
status 2 --setup '[ ! -e again ] || kill -9 $$; touch again' -- ./sections-race
report_has 'could not be replayed: the command of --setup was ended by signal 9'
"$RADDLE" replay --setup false raddle-check/*.schedule -- ./sections-race >out 2>err
[ $? = 2 ] || complain "replay --setup false: status $?"

# A plain access to an atomic variable is distinguished from a race on data.
"$RADDLE" cc -g -O1 -pthread -I"$ROOT/test/prog/micro" "$ROOT/test/prog/micro/mixed-race.c" -o mixed || fail "mixed-race.c"
status 1 --json mixed.json -- ./mixed
tr -s ' \n' ' ' <err | grep -q 'The write at .* is not atomic, but the other access is' || complain "mixed: it is not told"
jq -e '[.findings[].accesses[].atomic] | sort == [false, true]' mixed.json >/dev/null || complain "mixed: $(cat mixed.json)"

# With a limit on file sizes, neither Raddle nor the recording ends silently, and each run gets the
# signal dispositions that Raddle got.
cat >signals.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static int table[1 << 16], total;
static void *add(void *unused)
{
	unsigned seed = 1;

	for (int i = 0; i < 200000; i++)
		table[rand_r(&seed) >> 8 & 0xffff] = i;
	total++;
	return unused;
}
int main(void)
{
	FILE *out = fopen("signals", "a");
	pthread_t t;

	fprintf(out, "%d %d\n", signal(SIGXFSZ, SIG_DFL) == SIG_DFL, signal(SIGPIPE, SIG_DFL) == SIG_DFL);
	fclose(out);
	pthread_create(&t, NULL, add, NULL);
	total++;
	pthread_join(t, NULL);
	return 0;
}
END
"$RADDLE" cc -g -O1 -pthread signals.c -o signals-prog || fail "signals.c"
status 1 -- ./signals-prog
[ "$(wc -l <signals)" -ge 2 ] && [ "$(sort -u signals)" = "1 1" ] || complain "other signals than ours: $(cat signals)"
(
	ulimit -f 300
	"$RADDLE" check -o small -- ./signals-prog >out 2>err
	echo $? >ended
)
case $(cat ended) in
1 | 2) grep -q 'File too large' err || complain "a limit of file sizes is not told" ;;
*) complain "a limit of file sizes: status $(cat ended)" ;;
esac

# Input comes from a file or through a pipe, and each run gets all of it.
echo 'all of it' >input
status 1 --json - -- ./check input <input
jq -e '.findings[0].status == "confirmed" and (.stdin | endswith("/input"))' out >/dev/null || complain "JSON on stdout: $(cat out)"
report_has 'read 10 bytes'
"$RADDLE" replay "$(jq -r '.bugs[0].id[:6]' raddle-check/findings.json)" >replayed 2>err </dev/null
[ $? = 1 ] || complain "not reproduced by an id: $(cat err)"
grep -qx 'read 10 bytes' replayed || complain "a replay by id has other input: $(cat replayed err)"
printf 'all of it\n' | status 1 --runs 2 -- ./check input
cmp -s input raddle-check/stdin || complain "the copy of the input: $(cat raddle-check/stdin)"
[ -e raddle-check/trace-2/meta.json ] || complain "--runs 2 left one trace"
grep -qx 'read 10 bytes' out || complain "the program's output: $(cat out)"

# Programs that fail, or that are ended by others.
status 1 -- ./check crash
report_has 'ended by signal 6'
status 0 -- ./check alone
report_has 'one thread'
mkfifo fifo
cat >client <<'EOF'
rm -f served
echo x >fifo
until [ -e served ]; do sleep 0.05; done
EOF
status 1 --setup 'echo once >>served-setups' --with 'sh client' --timeout 60 -- ./check serve fifo
report_has 'data race on total'
# The printed command contains the client and the other options, and so does the document.
"$RADDLE" dump raddle-check | sed -n '/Reproduce:/{n;p;q}' >line
grep -qF -- "--setup 'echo once >>served-setups' --with 'sh client' --timeout 60 " line || complain "the command: $(cat line)"
rm served-setups
PATH=$BUILD:$PATH bash line >out 2>err
[ $? = 1 ] || complain "not reproduced by $(cat line): $(cat err)"
[ -s served-setups ] || complain "replay does not do what --setup says"
"$RADDLE" replay --id "$(jq -r '[.findings[] | select(.status == "confirmed")][0].id' raddle-check/findings.json)" \
	raddle-check/findings.json >out 2>err
[ $? = 1 ] || complain "not reproduced from the document: $(cat err)"
# Without a client a replay waits.  The first signal ends the program, and the second one the check.
"$RADDLE" check -v -o interrupted -- ./check serve fifo >out 2>err &
check=$!
sh client
kill -TERM $check # the shell makes background jobs ignore SIGINT
until [ -d interrupted/replays ] || ! kill -0 $check 2>/dev/null; do sleep 0.05; done
kill -TERM $check
wait $check
got=$?
[ $got = 2 ] || complain "an interrupt while replaying: status $got $(cat err)"
report_has 'data race on total (unconfirmed)'
report_has 'the check was interrupted'
[ ! -e interrupted/replays ] || complain "an interrupt leaves scratch files"
status 0 --no-replay --timeout 3 -- ./check serve fifo
report_has 'did not end within 3 s'

# If a spin on a flag separates two accesses but does not order them, the detector confirms the
# race.
status 1 -v -- ./check spin
report_has 'data race on flag (confirmed by replay)'
report_has 'data race on behind (confirmed by the detector)'
tr -s ' \n' ' ' <err | grep -q 'the detector saw the write of T_0_0' || complain "the detector is not heard: $(cat err)"

# A hang in the recorded run is a finding.
status 1 -- ./hang cycle
report_has 'deadlock of 2 threads'
report_has 'In the recorded run.'
[ ! -e raddle-check/trace-2 ] || complain "traces of an earlier check are left"

# Each confirmation is reported at once, and only once.
cat >two.c <<'END'
#include <pthread.h>
static int a, b;
static void *work(void *p)
{
	a++;
	b++;
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return a + b > 4;
}
END
build two.c
status 1 -v -j 1 -- ./two
awk '/^Raddle: confirmed: / && !first { first = NR } /^raddle: .*: confirmed \(/ { last = NR }
	END { exit !(first && first < last) }' err || complain "confirmations are not told at once: $(cat err)"
[ "$(grep -c '^Raddle: confirmed: ' err)" = 2 ] || complain "each bug is not announced once: $(cat err)"
[ "$(grep -c '^  Id: ' err)" = "$(grep '^  Id: ' err | sort -u | grep -c .)" ] || complain "one is told twice: $(cat err)"
[ "$(grep -c '^  Id: ' err)" = "$(jq '.findings | map(select(.status == "confirmed")) | length' raddle-check/findings.json)" ] ||
	complain "what is told is not what is in findings.json: $(cat err)"
[ "$(jq -r '.bugs[] | select(.status == "confirmed") | .id[:8]' raddle-check/findings.json | sort)" = \
	"$(sed -n 's/.* id \([0-9a-f]*\)$/\1/p' err | sort)" ] || complain "the bugs of findings.json are not those of the report"

# Each error has a message.
status 2 -- ./no-such-program
status 2 -- "$(command -v true)"
report_has 'raddle cc'
status 2 --baseline /nowhere -o unused -- ./sections-race
[ ! -e unused ] || complain "something is made before the baseline is read"
status 2 --json - --html - -- ./sections-race
status 2
mkdir -p taken/trace && touch taken/trace/mine
status 2 -o taken -- ./sections-race
[ -e taken/trace/mine ] || complain "a directory that is no trace was touched"
# A directory whose findings.json is not from a check is not overwritten, either.
for text in '' '{"tool": "raddle", "findings": []}'; do
	rm -rf other && mkdir other && echo mine >other/stdin && printf %s "$text" >other/findings.json
	status 2 -o other -- ./sections-race
	report_has 'was not made by raddle check'
	[ -e other/stdin ] || complain "a file was removed beside '$text'"
done
verdict
