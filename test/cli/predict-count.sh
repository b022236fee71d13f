# SPDX-License-Identifier: Apache-2.0
#
# raddle predict --count: the counts that the literature compares, for each semantics, from STD text
# and from a trace directory, as text and as JSON.
. "$ROOT/test/lib.sh"

# a: a race in the recorded order (lines 1, 2, and 2 again). b: a race only if T2's section comes
# first. c: a race only if T2 reads another value. d: protected by a lock.
cat >in.std <<'END'
T1|w(a)|1
T2|w(a)|2
T2|r(a)|2
T1|acq(m)|3
T1|w(b)|4
T1|rel(m)|5
T2|acq(m)|6
T2|rel(m)|6
T2|w(b)|7
T1|w(c)|8
T1|acq(n)|9
T1|w(flag)|10
T1|w(d)|11
T1|rel(n)|12
T2|acq(n)|13
T2|r(flag)|14
T2|w(d)|15
T2|rel(n)|16
T2|w(c)|17
END
"$RADDLE" predict --count --count-pairs in.std >out || fail "no numbers"
numbers() { awk -v model="$1" '$1 == model { print $2, $3, $4, $5, $6, $7 }' out; }
# The numbers are racy events, locations, variables, pairs, deadlocks, and undecided events.
[ "$(numbers sync-preserving)" = '2 1 1 1 0 0' ] || fail "sync-preserving: $(cat out)"
[ "$(numbers sound)" = '3 2 2 2 0 0' ] || fail "sound: $(cat out)"
[ "$(numbers speculative)" = '4 3 3 3 0 0' ] || fail "speculative: $(cat out)"

"$RADDLE" import -o trace in.std || fail "import"
check_json() { # input
	"$RADDLE" predict --json --count --count-pairs "$1" >out.json || fail "JSON of $1"
	jq -e '.findings == [] and (.stats |
		."sync-preserving.racy_events" == 2 and ."sound.racy_events" == 3 and ."speculative.racy_events" == 4 and
		."speculative.racy_locations" == 3 and ."sound.racy_variables" == 2 and ."sound.location_pairs" == 2 and
		."sound.deadlocks" == 0 and .unknown == 0 and ."sound.cpu_seconds" >= 0 and .reading_cpu_seconds >= 0)' \
		out.json >/dev/null || fail "$1: $(cat out.json)"
}
gzip -c in.std >in.std.gz
check_json in.std
check_json in.std.gz
check_json <(cat in.std)
check_json trace
"$RADDLE" predict --count --sync-preserving in.std >out && [ "$(wc -l <out)" = 3 ] || fail "--sync-preserving: $(cat out)"
"$RADDLE" predict --count --sound-only in.std >out && [ "$(wc -l <out)" = 4 ] || fail "--sound-only: $(cat out)"
[[ $(numbers sound) == '3 2 2 0 0 '* ]] || fail "columns: $(cat out)"

# The findings of a text are those of its directory.  With --sync-preserving, only the first of them
# is found.
ids() { jq -r '.findings[].id' "$1" | sort; }
"$RADDLE" predict --json in.std >text.json && "$RADDLE" predict --json trace >directory.json || fail "findings"
[ "$(ids text.json)" = "$(ids directory.json)" ] && [ "$(ids text.json | wc -l)" = 3 ] || fail "findings: $(ids text.json)"
jq -e '[.findings[] | select(.sound)] | length == 2' text.json >/dev/null || fail "sound: $(cat text.json)"
"$RADDLE" predict --json --sync-preserving in.std >few.json && [ "$(ids few.json | wc -l)" = 1 ] ||
	fail "--sync-preserving: $(ids few.json)"

# Every access of a loop is counted, although all are one finding.  Deadlocks are counted, too.
{
	for i in 1 2 3 4 5; do echo "T1|w(x)|1"; done
	for i in 1 2 3 4 5 6 7; do echo "T2|w(x)|2"; done
	printf '%s\n' 'T1|acq(a)|3' 'T1|acq(b)|4' 'T1|rel(b)|5' 'T1|rel(a)|6' \
		'T2|acq(b)|7' 'T2|acq(a)|8' 'T2|rel(a)|9' 'T2|rel(b)|10'
} >loop.std
"$RADDLE" predict --count --count-pairs loop.std >out || fail "loop"
[ "$(numbers sync-preserving)" = '7 1 1 1 1 0' ] || fail "loop: $(cat out)"

# No files are left behind, and invalid input is refused.
mkdir tmp
TMPDIR=$PWD/tmp "$RADDLE" predict --count in.std >/dev/null || fail "TMPDIR"
echo 'T0|acq(l)|1
T1|acq(l)|1' >bad.std
TMPDIR=$PWD/tmp "$RADDLE" predict bad.std 2>err && fail "an ill-formed text is taken"
grep -q 'bad.std:2: another thread holds the lock l' err || fail "ill-formed: $(cat err)"
TMPDIR=$PWD/tmp "$RADDLE" predict --force --count bad.std >/dev/null 2>err || fail "--force"
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"
"$RADDLE" predict --count --html=page in.std 2>err && fail "--count with --html"
grep -q 'numbers only' err || fail "--html: $(cat err)"

# If the public traces are available, each semantics has at least the racy events of the one before
# it.
for f in "$ROOT"/../shared/traces/*.std; do
	[ -e "$f" ] || continue
	"$RADDLE" predict --json --count --no-deadlocks "$f" | jq -e '.stats |
		."sync-preserving.racy_events" <= ."sound.racy_events" and
		."sound.racy_events" <= ."speculative.racy_events" and ."sync-preserving.racy_events" > 0 and
		.unknown == 0' >/dev/null || fail "$f"
done
exit 0
