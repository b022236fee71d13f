# SPDX-License-Identifier: Apache-2.0
#
# STD text of a recorded program is well-formed, has every location in the side table, and has only
# shared data unless --all is given.  Importing it gives the same order.
. "$ROOT/test/lib.sh"

trace=$ROOT/test/trace/v1-bank

"$RADDLE" export --format std -o bank.std "$trace" || fail "export"
grep -vqE '^[^| ]+\|((acq|rel|r|w|fork|join)\([^ |]+\)|begin|end)\|[0-9]+$' bank.std &&
	fail "not STD: $(grep -vE '^[^| ]+\|((acq|rel|r|w|fork|join)\([^ |]+\)|begin|end)\|[0-9]+$' bank.std | head -1)"
awk -F'|' '{ print $3 }' bank.std | sort -nu | grep -v '^0$' >used
cut -f1 bank.std.locs | sort -n >known
[ -z "$(comm -23 <(sort used) <(sort known))" ] || fail "locations without an entry in bank.std.locs"
grep -q 'bank.c:[0-9]*	transfer$' bank.std.locs || fail "no line of transfer() in bank.std.locs"
grep -q '|w(accounts\[1\].balance)|' bank.std || fail "no write of accounts[1].balance"
grep -q 'clerk' bank.std && fail "a variable of one thread is exported without --all"
"$RADDLE" export --format std --all "$trace" >all.std || fail "--all"
[ "$(wc -l <all.std)" -gt "$(wc -l <bank.std)" ] || fail "--all adds nothing"

# Import would refuse locks and forks in an impossible order.
"$RADDLE" import -o again bank.std || fail "the export does not import"
"$RADDLE" export --format std again | cmp - bank.std || fail "the export changes when it is imported"
"$RADDLE" export --format std "$trace" | cmp - bank.std || fail "stdout differs from -o"
"$RADDLE" export --format perfetto -o bank.pftrace "$trace" || fail "perfetto"
[ "$(head -c 1 bank.pftrace | od -An -tx1)" = " 0a" ] || fail "no packet at the beginning of bank.pftrace"
"$RADDLE" export --format std "$trace" >/dev/full 2>err && fail "a full disk goes unnoticed"
exit 0
