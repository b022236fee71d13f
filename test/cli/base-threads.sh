# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs the unit test of base/context.h with ThreadSanitizer.  Code that a server uses
# from several threads at once must have no data race.
. "$ROOT/test/lib.sh"

shown=(out)
clang-19 -std=gnu17 -D_GNU_SOURCE= -DRADDLE_VERSION='"0"' -g -O1 -fsanitize=thread -I "$ROOT/src" -I "$ROOT/src/contract" \
	"$ROOT"/test/unit/u-base-context.c "$ROOT"/src/base/*.c -o threads -lcmocka -lxxhash -ljansson >out 2>&1 || fail "not built"
TSAN_OPTIONS=allocator_may_return_null=1:halt_on_error=1 ./threads >out 2>&1 || fail "a test failed, or a race was found"
grep -q 'PASSED' out || fail "no test ran"
