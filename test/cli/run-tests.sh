# The test runner itself: it counts passes, failures, skips and hangs, shows the output of failed
# tests, and fails if a test failed.  Failed tests run again, alone.
. "$ROOT/test/lib.sh"

shown=(out)
mkdir -p tree/tool tree/test/unit tree/test/cli tree/build
cp "$ROOT/tool/run-tests" tree/tool/
echo 'exit 0' >tree/test/cli/good.sh
echo 'echo reason; exit 77' >tree/test/cli/absent.sh
echo 'echo "the output of bad"; exit 1' >tree/test/cli/bad.sh
printf '# timeout: 1\nsleep 100\n' >tree/test/cli/hangs.sh
echo '[ -z "$(ls -A)" ] && [ "$RADDLE" = "$ROOT/build/raddle" ] && ! { true >&8; } 2>/dev/null' >tree/test/cli/surroundings.sh
touch tree/test/unit/u-one.c
printf '#!/bin/sh\nexit 0\n' >tree/build/u-one
chmod +x tree/build/u-one

tree/tool/run-tests >out 2>&1 8>left-open && fail "failures gave success"
[ "$(tail -n 1 out)" = "3 passed, 2 failed, 1 skipped" ] || fail "wrong count"
grep -q 'the output of bad' out || fail "the output of a failed test is not shown"
grep -q 'no result after 1 seconds' out || fail "a hanging test is not named"
grep -q '^skip absent' out || fail "a skipped test is not shown"
[ "$(grep -cE '^(pass|FAIL|skip) ' out)" = 6 ] || fail "not one line for each test"

tree/tool/run-tests 'u-*' good >out 2>&1 || fail "success gave failure"
[ "$(tail -n 1 out)" = "2 passed, 0 failed" ] || fail "wrong count of selected tests"
mv tree/build tree/other
tree/tool/run-tests --build other nothing-of-that-name >out 2>&1 && fail "no test at all gave success"

# The long run includes the tests that have a long form, and sets RADDLE_LONG for them.
echo '[ -z "${RADDLE_LONG:-}" ]' >tree/test/cli/both.sh
RADDLE_LONG=1 tree/tool/run-tests --build other both >out 2>&1 || fail "the short run is long"
echo '[ -n "${RADDLE_LONG:-}" ]' >tree/test/cli/both.sh
tree/tool/run-tests --build other --long >out 2>&1 || fail "the long run is short, or has other tests"
[ "$(tail -n 1 out)" = "1 passed, 0 failed" ] || fail "wrong count of long tests"

tree/tool/run-tests --build other --all >out 2>&1
grep -q '^pass both' out || fail "--all runs the short form"
grep -q '^pass good' out || fail "--all leaves out tests without a long form"

# Tests that have a long form start first, although their names come last.
echo ': RADDLE_LONG' >tree/test/cli/last.sh
tree/tool/run-tests --build other --jobs 1 good last u-one >out 2>&1 || fail "an order fails"
[ "$(grep -oE '^pass [^ ]*' out | paste -sd,)" = "pass last,pass good,pass u-one" ] || fail "not the longest tests first"
rm tree/test/cli/last.sh

# The time of each test is stored, once for each form.
for form in short long; do
	[ "$(grep -cE "^[0-9.]+ [0-9.]+ $form good$" tree/other/test-times)" = 1 ] || fail "the times: $(cat tree/other/test-times)"
done
sort -c -k 1,1rn tree/other/test-times || fail "the times are not in order"

# With sanitizers, all unit tests run, and the scripts that request it or are named.
echo '# sanitizers: yes, to be sure' >tree/test/cli/chosen.sh
cp -r tree/other tree/asan
tree/tool/run-tests --build asan >out 2>&1 || fail "the sanitized run fails"
[ "$(grep -oE '^(pass|FAIL|skip) [^ ]*' out | sort | paste -sd,)" = "pass chosen,pass u-one" ] || fail "other tests under sanitizers"
tree/tool/run-tests --build asan good >out 2>&1 || fail "a script that is named does not run under sanitizers"
rm -r tree/asan

# Flaky tests: once, always and second fail the first time, every time, and every second time. slow
# is still running when once fails.  The repetitions of once must not start before slow has ended.
cat >count.bash <<END
here=$PWD
runs() {
	echo >>"\$here/runs-\$1"
	wc -l <"\$here/runs-\$1"
}
END
again=tree/test/cli/again
cat >$again-once.sh <<END
. $PWD/count.bash
[ \$(runs once) -gt 1 ] || { echo "the first failure of once"; exit 1; }
[ -e $PWD/slow-ended ] || { echo "not alone"; exit 1; }
END
cat >$again-always.sh <<END
. $PWD/count.bash
runs always
exit 1
END
cat >$again-second.sh <<END
. $PWD/count.bash
[ \$((\$(runs second) % 2)) = 0 ]
END
cat >$again-slow.sh <<END
cd $PWD
while [ ! -e runs-once ]; do sleep 0.01; done
for _ in \$(seq 30); do [ \$(wc -l <runs-once) = 1 ] && sleep 0.01; done
touch slow-ended
END

tree/tool/run-tests --build other --jobs 2 again-once again-slow >out 2>&1 || fail "one failure by chance fails the run"
[ "$(tail -n 1 out)" = "2 passed, 0 failed" ] || fail "a test that passed alone does not count as passed"
grep -qx 'flaky: again-once' out || fail "a flaky test is not named"
grep -q 'the first failure of once' out || fail "the log of the first failure is not shown"
grep -q 'the first failure of once' tree/other/failed/again-once.log || fail "the log of the first failure is not kept"
[ "$(wc -l <runs-once)" = 4 ] || fail "once: $(wc -l <runs-once) runs, wanted one and three more"
tree/tool/run-tests --build other again-once >out 2>&1 || fail "it fails again"
grep -q flaky out && fail "a test that passes is called flaky"
[ ! -e tree/other/failed/again-once.log ] || fail "the log of a former run is still there"

tree/tool/run-tests --build other 'again-*' >out 2>&1 && fail "failures alone gave success"
[ "$(tail -n 1 out)" = "2 passed, 2 failed" ] || fail "wrong count of repeated tests"
[ "$(wc -l <runs-always)" = 2 ] || fail "always: $(wc -l <runs-always) runs, wanted one and one more"
[ "$(wc -l <runs-second)" = 3 ] || fail "second: $(wc -l <runs-second) runs, wanted one and two more"
[ "$(grep -c '^FAIL again-always' out)" = 1 ] || fail "the verdict does not come once"
grep -q '^flaky' out && fail "a test that failed alone is called flaky"

# Fuzz harnesses get each input, and an input that makes one fail is named.
mkdir -p tree/test/fuzz/corpus/fuzz-one
touch tree/test/fuzz/fuzz-one.c tree/test/fuzz/corpus/fuzz-one/bad
printf '#!/bin/sh\nmkdir "$2" && touch "$2/0000"\n' >tree/test/fuzz/mutate
printf '#!/bin/sh\nsort >got; [ "$(cat got)" = "mutants/0000\nseeds/bad" ] || echo "got $(cat got)"\necho seeds/bad >input; exit 1\n' \
	>tree/other/fuzz-one
chmod +x tree/test/fuzz/mutate tree/other/fuzz-one
tree/tool/run-tests --build other fuzz-one >out 2>&1 && fail "a harness that died gave success"
grep -q 'the input was seeds/bad' out || fail "the input is not named"
grep -q 'got ' out && fail "other inputs than seeds and mutants"
tree/tool/run-tests --build other --long --list >out 2>&1
grep -q fuzz-one out && fail "a fuzz test has a long form"
exit 0
