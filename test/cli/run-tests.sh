# The test runner itself: it counts passes, failures, skips and hangs, shows the
# output of what failed, and fails when something did.
set -u

fail() {
	echo "$1"
	cat out
	exit 1
}
mkdir -p tree/tool tree/test/unit tree/test/cli tree/build
cp "$ROOT/tool/run-tests" tree/tool/
echo 'exit 0' >tree/test/cli/good.sh
echo 'echo reason; exit 77' >tree/test/cli/absent.sh
echo 'echo "the output of bad"; exit 1' >tree/test/cli/bad.sh
printf '# timeout: 1\nsleep 100\n' >tree/test/cli/hangs.sh
echo '[ -z "$(ls -A)" ] && [ "$RADDLE" = "$ROOT/build/raddle" ]' >tree/test/cli/surroundings.sh
touch tree/test/unit/u-one.c
printf '#!/bin/sh\nexit 0\n' >tree/build/u-one
chmod +x tree/build/u-one

tree/tool/run-tests >out 2>&1 && fail "failures gave success"
[ "$(tail -n 1 out)" = "3 passed, 2 failed, 1 skipped" ] || fail "wrong count"
grep -q 'the output of bad' out || fail "the output of a failed test is not shown"
grep -q 'no result after 1 seconds' out || fail "a hanging test is not named"
grep -q '^skip absent' out || fail "a skipped test is not shown"
[ "$(grep -cE '^(pass|FAIL|skip) ' out)" = 6 ] || fail "not one line for each test"

tree/tool/run-tests 'u-*' good >out 2>&1 || fail "success gave failure"
[ "$(tail -n 1 out)" = "2 passed, 0 failed" ] || fail "wrong count of selected tests"
echo '# sanitized: no' >>tree/test/cli/good.sh
mv tree/build tree/asan
tree/tool/run-tests --build asan 'u-*' good >out 2>&1
[ "$(tail -n 1 out)" = "1 passed, 0 failed" ] || fail "a test was not left out of the sanitized build"
tree/tool/run-tests --build asan nothing-of-that-name >out 2>&1 && fail "no test at all gave success"
exit 0
