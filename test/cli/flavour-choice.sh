# Which code a program gets without an option depends on what exists, what was requested, and what
# costs less.
. "$ROOT/test/lib.sh"
export RADDLE_CACHE=$PWD/cache

"$RADDLE" cc -O2 -g -pthread -o segments "$ROOT/test/prog/segments.c" || exit 1
rm -rf cache
# mode WHAT WANTED: checks the mode of the code that made the last trace.
mode() {
	local found
	found=$(grep -o '"mode":"[a-z]*"' trace/meta.json)
	[ "$found" = "\"mode\":\"$2\"" ] || complain "$1: $found, not $2"
}
record() { "$RADDLE" record -f -o trace "$@" -- ./segments || complain "record $*"; }
flavours() { find cache/flavour -mindepth 1 -maxdepth 1 | wc -l; }

record
mode "a small program" fast
[ "$(flavours)" = 1 ] || complain "one record made $(flavours) flavours"
made=$("$RADDLE" flavour ./segments)
[ "$(flavours)" = 1 ] || complain "raddle flavour made another one than raddle record: $made"

# Code that raddle flavour made is used, also by check.  An option overrides that.  Fast code is
# preferred.
rm -rf cache
"$RADDLE" flavour --quick ./segments >/dev/null || complain "flavour --quick"
record
mode "after raddle flavour --quick" quick
"$RADDLE" check -o checked -- ./segments >/dev/null 2>&1
[ "$(flavours)" = 1 ] || complain "check made a flavour of its own"
record --fast
mode "--fast" fast
record
mode "with both" fast
record --quick
mode "--quick" quick
rm -rf cache
"$RADDLE" flavour --fast ./segments >/dev/null || complain "flavour --fast"
record
mode "after raddle flavour --fast" fast

# If quick code was chosen and not requested, its run time is recorded.  When that is long enough,
# fast code replaces it.
rm -rf cache
key=$(basename "$(dirname "$("$RADDLE" flavour --quick ./segments)")")
record
mode "asked for" quick
[ ! -e "cache/cost/$key" ] || complain "the time of what was asked for is on record"
mkdir -p cache/cost && echo 1000.000 >"cache/cost/$key"
record
mode "has run for long" fast
verdict
