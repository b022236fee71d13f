# SPDX-License-Identifier: Apache-2.0
#
# STD text: import followed by export returns the same text, and ill-formed traces are rejected with
# the line number.  The public traces are tested, too, if they are available.
# sanitizers: yes, runs import and export
. "$ROOT/test/lib.sh"

round_trip() { # file
	rm -rf trace
	"$RADDLE" import --format std -o trace "$1" || fail "import of $1"
	"$RADDLE" dump --check trace >check || fail "check of $1"
	grep -q ' 0 notes, no damage' check || fail "$1: $(cat check)"
	"$RADDLE" export --format std -o out trace || fail "export of $1"
	cmp "$1" out || fail "$1 does not come back"
}

cat >plain.std <<'END'
T0|begin|1
T0|w(x)|10
T0|fork(T1)|2
T1|begin|3
T1|acq(l)|4
T1|r(x)|11
T0|w(y[3])|12
T1|w(x)|11
T0|r(x)|13
T1|rel(l)|5
T0|acq(l)|4
T0|acq(l)|4
T0|rel(l)|5
T0|rel(l)|5
T1|end|6
T0|join(T1)|7
T0|r(x)|13
T0|end|8
END
round_trip plain.std
# Some tools omit the T of a thread's name in one of the two places.
for left_out in 's/(T1)/(1)/' 's/^T//'; do
	rm -rf trace
	sed "$left_out" plain.std >short.std
	"$RADDLE" import --format std -o trace short.std || fail "import after $left_out"
	"$RADDLE" export --format std -o out trace || fail "export after $left_out"
	sed 's/^T//; s/(T1)/(1)/' out | cmp - <(sed 's/^T//; s/(T1)/(1)/' plain.std) || fail "$left_out: other threads"
	[ "$(cut -d'|' -f1 out | sort -u | wc -l)" = 2 ] || fail "$left_out: $(cat out)"
done
cat >wait.std <<'END'
main|fork(worker)|1
worker|req(l)|2
worker|acq(l)|2
worker|r(flag)|3
worker|rel(l)|4
worker|wait(l)|4
main|acq(l)|5
main|w(flag)|6
main|notifyAll(l)|7
main|rel(l)|8
worker|req(l)|4
worker|acq(l)|4
worker|r(flag)|3
worker|rel(l)|9
other|w(flag)|4294967295
END
round_trip wait.std
"$RADDLE" import -o w2 wait.std && "$RADDLE" dump w2 >w2.txt
grep -q 'cond-wait .* with l' w2.txt && grep -q 'cond-wake' w2.txt || fail "a wait is no condition wait"
cat >own.std <<'END'
T0|seminit(s,2)|1
T0|fork(T1)|1
T0|tryacq(s)|2
T1|busy(s)|3
T0|rel(s)|4
T0|rdacq(rw)|5
T1|tryrd(rw)|6
T0|rwrel(rw)|7
T1|rwrel(rw)|8
T1|wracq(rw)|9
T1|rwrel(rw)|10
T1|trywr(rw)|11
T1|rwrel(rw)|12
T0|take(s)|13
T1|trytake(s)|14
T1|post(s)|15
T0|enter(s)|16
T1|enter(s)|17
T1|exit(s)|18
T0|exit(s)|19
T0|run(s)|20
T1|pass(s)|21
T0|ar(s)|22
T1|ara(s)|23
T0|aw(s)|24
T1|awr(s)|25
T0|au(s)|26
T1|aua(s)|27
T1|acq(s)|28
T1|lr(s)|29
T1|cwait(c,s)|30
T0|notify(c)|31
T0|w(s)|32
T1|acq(s)|33
END
round_trip own.std
sed 's/$/\r/' plain.std >crlf.std
"$RADDLE" import -o crlf crlf.std && "$RADDLE" export --format std crlf | cmp - plain.std || fail "CRLF lines"

refuse() { # line number, text of the message, lines of the trace
	printf '%b' "$3" >bad.std
	rm -rf bad
	"$RADDLE" import -o bad bad.std 2>err && fail "accepted: $3"
	grep -q "bad.std:$1: .*$2" err || fail "$3: says '$(cat err)'"
	[ -n "${4:-}" ] && return
	rm -rf bad
	"$RADDLE" import --force -o bad bad.std 2>err || fail "--force refuses $3"
	grep -q "bad.std:$1: .*$2" err || fail "--force is silent about $3"
}
refuse 2 'another thread holds' 'A|acq(l)|1\nB|acq(l)|2\n'
refuse 1 'no thread holds' 'A|rel(l)|1\n'
refuse 2 'another thread holds' 'A|acq(l)|1\nB|rel(l)|2\n'
refuse 2 'another thread holds' 'A|rdacq(l)|1\nB|wracq(l)|2\n'
refuse 2 'another thread holds' 'A|wracq(l)|1\nB|rdacq(l)|2\n'
refuse 1 'no thread holds' 'A|cwait(c,l)|1\n'
refuse 2 'forked twice' 'A|fork(B)|2\nA|fork(B)|2\n'
refuse 2 'joined before its last event' 'A|fork(B)|1\nA|join(B)|2\nB|w(x)|3\n'
refuse 1 'does not follow' 'A|wait(l)|1\n'
refuse 2 'not of the form' 'A|w(x)|1\nA w(x)\n' final
refuse 1 'three fields' 'A|w(x)|1|2\n' final
refuse 1 'empty thread name' ' |w(x)|1\n' final
refuse 1 'blank' 'A B|w(x)|1\n' final
refuse 1 'blank' 'A|w(x y)|1\n' final
refuse 1 'condition and a mutex' 'A|cwait(c)|1\n' final
refuse 1 'semaphore and a number' 'A|seminit(s,many)|1\n' final
refuse 1 'unknown operation' 'A|write(x)|1\n' final
refuse 1 'closing parenthesis' 'A|w(x|1\n' final
refuse 1 'needs an operand' 'A|w()|1\n' final

# Events that order nothing are accepted with a warning.
accept() { # text of the message, lines of the trace, lines that come back
	printf '%b' "$2" >odd.std
	rm -rf odd
	"$RADDLE" import -o odd odd.std 2>err || fail "not taken: $2: $(cat err)"
	if [ -n "$1" ]; then grep -q "$1" err || fail "$2: says '$(cat err)'"; else [ -s err ] && fail "$2: $(cat err)"; fi
	"$RADDLE" export --format std odd | cmp - <(printf '%b' "$3") ||
		fail "$2: became $("$RADDLE" export --format std odd)"
}
accept 'odd.std:2: .*orders nothing: B' 'B|w(x)|1\nA|fork(B)|2\nA|w(x)|3\n' 'B|w(x)|1\nA|w(x)|3\n'
accept 'odd.std:1: .*orders nothing: B' 'A|join(B)|1\nA|w(x)|3\n' 'A|w(x)|3\n'
# The last line is incomplete.
accept 'odd.std:2: .*left out' 'A|w(x)|1\nA|w(y' 'A|w(x)|1\n'
accept 'odd.std:2: .*left out' 'A|w(x)|1\nA' 'A|w(x)|1\n'
accept '' 'A|w(x)|1\nA|w(y)|2' 'A|w(x)|1\nA|w(y)|2\n'

# Dialects: indented threads, blanks around the fields, blank lines, no location, places in files
# with the rest of their stacks, begin and end of atomic blocks.
accept '' '  T0 | w( x ) | 1  \n\n \n\t\t\tT1|r (x)|2\r\n' 'T0|w(x)|1\nT1|r(x)|2\n'
accept '' 'T0|w(x)\nT0|w(y)|\nT1|w(x)\n' 'T0|w(x)|1\nT0|w(y)|2\nT1|w(x)|3\n'
accept '' 'T0|w(x)|/a b/c.cc:38\n     /d.cc:3\nT1|w(x)|/a b/c.cc:40\nT1|r(x)|/a b/c.cc:38\n' \
	'T0|w(x)|1\nT1|w(x)|2\nT1|r(x)|1\n'
accept '' 'T0|begin|1\nT0|begin|2\nT0|w(x)|3\nT0|end|4\nT0|begin(b)|5\nT0|w(x)|6\nT0|end|7\nT0|end|8\n' \
	'T0|begin|1\nT0|w(x)|3\nT0|w(x)|6\nT0|end|8\n'
# All threads begin at the top of the text, and again after their forks.
accept '' 'T0|begin(0)|1\nT1|begin(0)|2\nT0|w(x)|3\nT0|fork(T1)|4\nT1|begin(0)|5\nT1|w(x)|6\nT0|end(0)|7\nT1|end(0)|8\n' \
	'T0|begin|1\nT0|w(x)|3\nT0|fork(T1)|4\nT1|begin|5\nT1|w(x)|6\nT0|end|7\nT1|end|8\n'
accept '' 'T0|begin|1\nT1|begin|2\nT1|end|3\n' 'T0|begin|1\nT1|begin|2\nT1|end|3\n'
accept '' 'T0|end|1\nT0|begin|2\nT0|w(x)|3\n' 'T0|begin|2\nT0|w(x)|3\n'
accept '' 'T0|end|1\nT0|begin|2\n' 'T0|begin|2\n'
accept '' 'T0|w(@0A.org/C.f_I)|1\nmain|acq(@07)|2\nmain|r(V1.2[0])|2147483647\n' \
	'T0|w(@0A.org/C.f_I)|1\nmain|acq(@07)|2\nmain|r(V1.2[0])|2147483647\n'

# --force moves events that come too early, and those that depend on them: the fork of C, C itself,
# the join of B.
cat >early.std <<'END'
A|fork(B)|1
A|acq(l)|2
B|acq(l)|3
B|w(x)|4
A|w(x)|5
B|fork(C)|6
C|acq(m)|7
C|w(x)|8
A|rel(l)|9
B|rel(l)|10
END
"$RADDLE" import --force -o early early.std 2>err || fail "early: $(cat err)"
grep -q 'early.std:3: .*moved after it, in thread B' err || fail "early: says $(cat err)"
[ "$("$RADDLE" export --format std early | cut -d'|' -f3 | tr '\n' ' ')" = '1 2 5 9 3 4 6 7 8 10 ' ] ||
	fail "early: $("$RADDLE" export --format std early)"

# Compressed files and pipes can be imported.
for tool in gzip xz bzip2 zstd; do
	"$tool" -c plain.std >packed
	rm -rf packed.d
	"$RADDLE" import -o packed.d packed && "$RADDLE" export --format std packed.d | cmp - plain.std ||
		fail "packed by $tool"
done
gzip -c plain.std | head -c 60 >damaged.gz
"$RADDLE" import -o damaged damaged.gz 2>err && fail "half a file is taken for a whole"
grep -q 'damaged.gz: gzip cannot unpack it' err || fail "damaged: $(cat err)"
"$RADDLE" import -o piped <(cat plain.std) && "$RADDLE" export --format std piped | cmp - plain.std || fail "from a pipe"

public=$ROOT/../shared/traces
for f in "$public"/*.std; do
	[ -e "$f" ] && round_trip "$f"
done
exit 0
