# The demo runs, and shows what its text and the README promise.
. "$ROOT/test/lib.sh"

shown=(out)
"$ROOT/examples/demo" "$BUILD" >out 2>&1 || fail "the demo failed with status $?"
grep -q 'It closes with 4000 of 4000' out || fail "the bank does not run"
grep -Eq '^  served .* run_teller$' out || fail "the summary does not show 'served'"
grep -Eq '^  fee .* run_clerk$' out || fail "the summary does not show 'fee'"
grep -Eq '^  accounts\[0\]\.lock +mutex' out || fail "the summary does not show the locks"

# The clerk took the locks in this order, and a teller in the opposite order.
sed -n '/--thread T_0_0/,/thread-end/p' out >clerk
found=$(grep -E 'write 8 +fee|mutex-lock' clerk | grep -oE 'fee|accounts\[.\]\.lock' | tr '\n' ' ')
[ "$found" = "fee accounts[1].lock accounts[0].lock " ] || fail "the clerk did: $found"
found=$(sed -n '/--thread T_0_1/,$p' out | grep mutex-lock | grep -oE 'accounts\[.\]\.lock' | head -2 | tr '\n' ' ')
[ "$found" = "accounts[0].lock accounts[1].lock " ] || fail "the teller did: $found"

for found in 'data race on fee' 'data race on served' 'deadlock of 2 threads'; do
	grep -Eq "^BUG [1-3] of 3  $found .*confirmed" out || fail "not confirmed: $found"
done

grep -q '64 jobs, 28874 primes' out || fail "the queue does not run"
[ -s "$BUILD/demo/queue.pftrace" ] || fail "no Perfetto file"
"$RADDLE" dump --check "$BUILD/demo/raddle-check/trace" >check || fail "the trace is damaged: $(cat check)"
