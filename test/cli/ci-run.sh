# .ci/run sums the tests and the steps, names flaky tests at its end, and fails where a step does.
. "$ROOT/test/lib.sh"

shown=(out)
mkdir -p tree/.ci tree/tool
cp "$ROOT/.ci/run" tree/.ci/
# make TARGET: does what the file TARGET says, or nothing.
mkdir bin
printf '#!/bin/bash\nfor t in "$@"; do case $t in -*|*=*) ;; *) [ ! -e "../$t" ] || . "../$t" || exit;; esac; done\n' >bin/make
printf '#!/bin/bash\n. ../sanitized\n' >tree/tool/run-tests
chmod +x bin/make tree/tool/run-tests
PATH=$PWD/bin:$PATH

# Both runs of tests have flaky ones.
tests() {
	echo "$1" >check-all
}
tests 'printf "pass x\nflaky: x y\n\n2 passed, 0 failed, 1 skipped\n"'
echo 'printf "flaky: z\n\n1 passed, 0 failed\n"' >sanitized
tree/.ci/run >out 2>&1 || fail "success gave failure"
steps=$(grep -c ': ok (' out)
[ "$(tail -n 3 out)" = "flaky: x y
flaky: z
$((3 + steps)) passed, 0 failed" ] || fail "the end names other tests or counts, with $steps steps"

echo 'echo "a long function"; false' >check-style
tree/.ci/run >out 2>&1 && fail "a failed step gave success"
[ "$(tail -n 1 out)" = "$((2 + steps)) passed, 1 failed" ] || fail "wrong count with a failed step"
grep -q 'a long function' out || fail "the output of a failed step is not shown"
rm check-style

tests 'printf "FAIL x\n    why\n\n2 passed, 3 failed\n"; false'
tree/.ci/run >out 2>&1 && fail "failed tests gave success"
[ "$(tail -n 1 out)" = "$((3 + steps)) passed, 3 failed" ] || fail "wrong count with failed tests"
grep -q '^    why' out || fail "the output of a failed test is not shown"
exit 0
