# SPDX-License-Identifier: Apache-2.0
#
# Damaged traces.  Every truncation of a small trace, and a flipped byte in each of its regions, is
# reported with the file's name and causes no crash.  Undamaged threads are still shown.
# sanitizers: yes, reads damaged traces, by dump/
. "$ROOT/test/lib.sh"

golden=$ROOT/test/trace/v1-bank
cp -r "$golden" t
chmod -R u+w t

try() { # what; runs dump, wants status 0 or 2 and a message that names the file
	"$RADDLE" dump --check t >out 2>err
	status=$?
	[ $status = 0 ] || [ $status = 2 ] || fail "$1: exit status $status"
	"$RADDLE" dump --summary t >/dev/null 2>&1
	[ $? -le 2 ] || fail "$1: summary crashed"
}

size=$(stat -c %s "$golden/thread-1")
for ((n = 0; n < size; n += 5)); do
	head -c $n "$golden/thread-1" >t/thread-1
	try "thread-1 cut to $n bytes"
	[ $n = 16 ] || grep -q "thread-1" err || fail "thread-1 cut to $n bytes: says '$(cat err)'"
done

flip() { # file, offset
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$golden/$1")
	cp "$golden/$1" "t/$1"
	printf "\\$(printf %03o $((byte ^ 0x41)))" | dd of="t/$1" bs=1 seek="$2" conv=notrunc status=none
}
cp "$golden/thread-1" t/thread-1
for offset in 0 7 8 12 16 20 24 28 32 36 40 47 48 60 $((size - 1)); do
	flip thread-1 $offset
	try "thread-1 flipped at $offset"
	grep -q "thread-1: .*\(offset\|chunk\)" err || fail "thread-1 flipped at $offset: says '$(cat err)'"
	[ $status = 2 ] || grep -q "ends inside" err || fail "thread-1 flipped at $offset: status $status"
done
"$RADDLE" dump t 2>/dev/null | grep -q ' T_0_2 ' || fail "threads beside the damaged one are not shown"
cp "$golden/thread-1" t/thread-1

size=$(stat -c %s "$golden/sites")
for ((offset = 0; offset < size; offset += 97)); do
	flip sites $offset
	try "sites flipped at $offset"
	[ $status = 2 ] || fail "sites flipped at $offset goes unnoticed"
	grep -q "t/sites" err || fail "sites flipped at $offset: says '$(cat err)'"
done
"$RADDLE" dump --force t >out 2>/dev/null || fail "--force does not open a trace with a damaged site table"
cp "$golden/sites" t/sites

# The existing files are compared with the counts in meta.json, also in the traces of forked
# children.
"$RADDLE" dump --check t >/dev/null || fail "the whole trace is not sound"
mv t/thread-2 kept
"$RADDLE" dump --check t >out 2>err && fail "a missing stream goes unnoticed"
grep -q 'meta.json counts' err || fail "a missing stream: says '$(cat err)'"
mv kept t/thread-2
sed -i 's/"events":/&9/' t/meta.json
"$RADDLE" dump --check t >out 2>err && fail "a wrong number of events goes unnoticed"
cp "$golden/meta.json" t/meta.json
cp -r "$golden" t/fork-0
"$RADDLE" dump --check t >out || fail "a forked child is not sound"
grep -q '^t/fork-0: .*no damage' out || fail "the forked child is not checked: $(cat out)"
rm t/fork-0/thread-2
"$RADDLE" dump --check t >out 2>err && fail "a missing stream of a forked child goes unnoticed"
rm -r t/fork-0

rm t/meta.json
"$RADDLE" dump t >/dev/null 2>err && fail "a trace without meta.json opens"
"$RADDLE" dump --force t >out || fail "--force does not open a trace without meta.json"
echo '{"format":"raddle-trace","version":2}' >t/meta.json
"$RADDLE" dump t >/dev/null 2>err && fail "version 2 opens"
grep -q 'version 2' err || fail "version 2: says '$(cat err)'"
exit 0
