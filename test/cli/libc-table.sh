#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The functions that the runtime interposes are exactly those that raddle/libc.inc lists as
# interposed.
. "$ROOT/test/lib.sh"

printf '#define LIBC_INTERPOSED(group, name) name\n#include "raddle/libc.inc"\n' |
	"${CC:-cc}" -E -P -x c -I"$ROOT/src/contract" - | grep . | sort >table
nm --defined-only "$BUILD/libraddle-rt-record-static.a" | sed -n 's/.* T __wrap_//p' | sort >runtime
[ -s runtime ] || fail "the runtime has no functions"
diff table runtime || fail "the table (<) and the runtime (>) differ"

# The shared form of the runtime defines the same functions under their own names.
nm --defined-only "$BUILD/libraddle-rt-record.a" | sed -n 's/.* [TW] //p' | sort -u >defined
comm -23 table defined >missing
[ ! -s missing ] || fail "not in the shared runtime: $(cat missing)"
