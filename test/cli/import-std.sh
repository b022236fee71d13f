# SPDX-License-Identifier: Apache-2.0
#
# STD: import and export give the text back; ill-formed traces are refused with
# the line; the public traces too, where they are at hand.
set -u

fail() { echo "FAILED: $*"; exit 1; }
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
# Some leave out the T of a thread in one of the two places.
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
refuse 1 'nobody holds' 'A|rel(l)|1\n'
refuse 2 'another thread holds' 'A|acq(l)|1\nB|rel(l)|2\n'
refuse 2 'had events before' 'B|w(x)|1\nA|fork(B)|2\n'
refuse 2 'forked twice' 'A|fork(B)|2\nA|fork(B)|2\n'
refuse 3 'joined thread' 'A|fork(B)|1\nA|join(B)|2\nB|w(x)|3\n'
refuse 2 'behind the end' 'A|end|1\nA|w(x)|3\n'
refuse 1 'never was' 'A|join(B)|1\n'
refuse 1 'does not follow' 'A|wait(l)|1\n'
refuse 2 'three fields' 'A|w(x)|1\nA|w(x)\n' final
refuse 1 'unknown operation' 'A|write(x)|1\n' final
refuse 1 'closing parenthesis' 'A|w(x|1\n' final
refuse 1 'needs an operand' 'A|w()|1\n' final

public=$ROOT/../shared/traces
for f in "$public"/*.std; do
	[ -e "$f" ] && round_trip "$f"
done
exit 0
