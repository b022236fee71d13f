# What `raddle predict` writes besides text: JSON with the fields of finding.md, schedule files, and
# the same for imported traces.  Also tests `raddle export --format csp`, and error messages.
# sanitizers: yes, runs predict/ with all of its options
. "$ROOT/test/lib.sh"

name=sections-race
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/micro/$name.c" -o $name || fail "not compiled"
"$RADDLE" record -o trace -- ./$name || fail "not recorded"

"$RADDLE" predict --json --schedules found trace >json || fail "exit status $?"
jq -e '.version == 1 and (.findings | length) == 1 and .stats.unknown == 0' json >/dev/null || fail "$(cat json)"
jq -e '.findings[0] | .kind == "race" and .status == "unconfirmed" and .sound and .object == "x" and
	(.accesses | length) == 2 and (.accesses | map(.thread) | sort) == ["T_0_0", "T_0_1"] and
	(.accesses | map(.function) | sort) == ["first", "second"] and (.accesses | map(.op) | unique) == ["write"]' \
	json >/dev/null || fail "$(cat json)"
schedule=$(jq -r '.findings[0].schedule' json)
[ "$(head -n 1 "$schedule")" = $'raddle-schedule\t1' ] || fail "no schedule in $schedule"
[ "$(grep -c '^hold' "$schedule")" = 2 ] || fail "$(cat "$schedule")"
# In the schedule, the second thread's section comes before the first one's.
grep -q $'^op\tT_0_1\t[0-9]*\tmutex-unlock\tm' "$schedule" || grep -q $'^hold\tT_0_1\t3' "$schedule" ||
	fail "the schedule does not lead there: $(cat "$schedule")"
"$RADDLE" predict trace >short || fail "as text"
grep -q '^1 can happen' short && grep -q '^  data race on x: write at sections-race.c:' short || fail "$(cat short)"
"$RADDLE" predict -v trace | grep -q '^WARNING: Raddle: data race on x' || fail "-v is not long"
"$RADDLE" predict --no-races trace | grep -q 'data race' && fail "--no-races finds a race"
"$RADDLE" predict --limit 1 "$ROOT/test/trace/v1-bank" | grep -q '^[1-9][0-9]* more were not described' || fail "--limit hides what it hides"
"$RADDLE" predict --limit 0 "$ROOT/test/trace/v1-bank" | grep -q 'more were not described' && fail "--limit 0 is a limit"
"$RADDLE" predict --window 6 trace >windows || fail "--window"

# A race that only speculative semantics allow is not sound.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/micro/value-race.c" -o value || fail "not compiled"
"$RADDLE" record -o value.trace -- ./value || fail "not recorded"
[ "$("$RADDLE" predict --json value.trace | jq -c '.findings | map(.sound)')" = '[false]' ] || fail "value-race"
"$RADDLE" predict value.trace | grep -q '^1 speculative' || fail "no section for speculative ones"
"$RADDLE" predict --sound-only value.trace | grep -q 'data race' && fail "--sound-only finds a speculative race"

# Imported traces are predicted from, too.  This one has a cycle of two locks and a race.
printf '%s\n' 'T0|fork(T1)|1' 'T0|acq(a)|2' 'T0|acq(b)|3' 'T0|rel(b)|4' 'T0|rel(a)|5' 'T0|w(v)|6' \
	'T1|acq(b)|7' 'T1|acq(a)|8' 'T1|rel(a)|9' 'T1|rel(b)|10' 'T1|w(v)|11' >in.std
"$RADDLE" import --format std -o imported in.std || fail "not imported"
"$RADDLE" predict --json imported | jq -e '.findings | map(.kind) | sort == ["deadlock", "race"]' >/dev/null ||
	fail "of an imported trace: $("$RADDLE" predict imported)"

# In CSP_M, every process that is used is defined, and brackets match.  There is one assertion for
# each shared variable and one for deadlocks.
"$RADDLE" export --format csp -o trace.csp trace || fail "export --format csp"
[ "$(grep -c '^assert STOP \[T= CHECKED' trace.csp)" = 2 ] || fail "$(cat trace.csp)"
[ "$(grep -c '^assert LIVE \[F= ' trace.csp)" = 1 ] || fail "$(cat trace.csp)"
grep -o '\b[A-Z_]\{4,\}[0-9_]*\b' <(sed 's/--.*//' trace.csp) | sort -u >used
sed -n 's/^\([A-Z_]*[0-9_]*\)\((.*)\)\{0,1\} =.*/\1/p' trace.csp | cat - <(printf 'SKIP\nSTOP\n') | sort -u >defined
comm -23 used defined | grep . && fail "not defined in trace.csp"
sed 's/--.*//; s/->//g' trace.csp | awk '
	{ for (i = 1; i <= length($0); i++) { c = substr($0, i, 1); n += (c == "(") - (c == ")"); if (n < 0) exit 1 } }
	END { exit n != 0 }' || fail "brackets of trace.csp"
grep -A 3 '^THREAD_1_0 = ' trace.csp | tr -d ' \n' | grep -q '^THREAD_1_0=start.1->write.1.0->lock.1.0->write.1.1->' ||
	fail "thread 1: $(cat trace.csp)"

# Errors are reported.  Of a damaged trace, the readable part is used.
cp -r trace damaged
stream=$(find damaged -name 'thread-*' | sort | tail -n 1)
[ -n "$stream" ] || fail "no streams in the trace"
printf 'broken' | dd of="$stream" bs=1 seek=40 conv=notrunc 2>/dev/null
"$RADDLE" predict damaged >out 2>err && fail "a damaged trace is not told"
grep -q '^Raddle: ' out || fail "nothing is said about the rest of a damaged trace"
"$RADDLE" predict nowhere 2>err && fail "a trace that is not there"
[ $? = 2 ] || fail "status of a missing trace"
"$RADDLE" predict 2>err && fail "without a trace"
"$RADDLE" predict --work none trace 2>err && fail "--work none"
"$RADDLE" predict --schedules /dev/null/x trace >out 2>err && fail "schedules nowhere"
exit 0
