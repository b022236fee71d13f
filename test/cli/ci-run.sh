# .ci/run counts tests and steps, names flaky tests at its end, and fails if a step fails.  The
# sanitized tests cover all of the tool.
. "$ROOT/test/lib.sh"

shown=(out)
mkdir -p tree/.ci tree/tool
cp "$ROOT/.ci/run" tree/.ci/
# This `make TARGET` runs the file TARGET, if there is one.
mkdir bin
printf '#!/bin/bash\nfor t in "$@"; do case $t in -*|*=*) ;; *) [ ! -e "../$t" ] || . "../$t" || exit;; esac; done\n' >bin/make
printf '#!/bin/bash\n. ../sanitized\n' >tree/tool/run-tests
chmod +x bin/make tree/tool/run-tests
PATH=$PWD/bin:$PATH

# Both runs of the tests have flaky tests.
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

# If cc is not gcc, the sources are also compiled with gcc.
printf '#!/bin/sh\necho "clang version 19"\n' >bin/cc && chmod +x bin/cc
tree/.ci/run >out 2>&1 || fail "success with another cc gave failure"
grep -q '^== gcc' out || fail "gcc does not look at the sources"
printf '#!/bin/sh\necho "cc 12, Copyright Free Software Foundation"\n' >bin/cc
tree/.ci/run >out 2>&1
grep -q '^== gcc' out && fail "gcc looks at what it has compiled"

echo 'echo "a long function"; false' >check-style
tree/.ci/run >out 2>&1 && fail "a failed step gave success"
[ "$(tail -n 1 out)" = "$((2 + steps)) passed, 1 failed" ] || fail "wrong count with a failed step"
grep -q 'a long function' out || fail "the output of a failed step is not shown"
rm check-style

tests 'printf "FAIL x\n    why\n\n2 passed, 3 failed\n"; false'
tree/.ci/run >out 2>&1 && fail "failed tests gave success"
[ "$(tail -n 1 out)" = "$((3 + steps)) passed, 3 failed" ] || fail "wrong count with failed tests"
grep -q '^    why' out || fail "the output of a failed test is not shown"

shown=()
# The scripts that run sanitized use every command.  These scripts and the unit tests mention every
# room.
mapfile -t chosen < <(grep -l '^# sanitizers: yes, ' "$ROOT"/test/cli/*.sh)
[ ${#chosen[@]} -gt 10 ] && [ ${#chosen[@]} -le 25 ] || complain "${#chosen[@]} scripts run sanitized"
for page in "$ROOT"/doc/man/raddle-*.1; do
	command=$(basename "$page" .1)
	command=${command#raddle-}
	cat "${chosen[@]}" "$ROOT"/test/cli/hive-lib.bash | grep -qE "(RADDLE\"?|raddle) $command\b" ||
		complain "no sanitized script runs raddle $command"
done
for folder in "$ROOT"/src/*/*/; do
	room=$(basename "$folder")
	compgen -G "$folder*.c" >/dev/null && [ "$room" != rt ] || continue # rt/ is part of the recorded program
	grep -qE "^# sanitizers: yes, .*\b$room/" "${chosen[@]}" || compgen -G "$ROOT/test/unit/u-$room*.c" >/dev/null ||
		complain "nothing that runs sanitized names $room/"
done
verdict
