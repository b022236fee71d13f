# The torture programs behave the same when they are recorded as without Raddle.  The short form
# runs them only optimised, and the programs with many parts in one mode.
# timeout: 1800
set -u
. "$ROOT/test/prog/compare.bash"
torture=$ROOT/test/prog/torture

levels=2
if [ -n "${RADDLE_LONG:-}" ]; then
	levels="0 2"
fi
for level in $levels; do
	build lang-O$level c -O$level -D_GNU_SOURCE "$torture/lang.c" "$torture/lang2.c"
	compare lang-O$level
	build cxx-O$level cxx -O$level -std=c++17 "$torture/cxx.cpp" "$torture/cxx2.cpp"
	compare cxx-O$level
done

[ -n "${RADDLE_LONG:-}" ] || modes=fast
build threads c -O2 -D_GNU_SOURCE "$torture/threads.c"
for part in many cancel specific mutex robust primitives alternate detach outlive; do
	compare threads $part
done

build process c -O2 -D_GNU_SOURCE "$torture/process.c"
for part in return exit quick-exit underscore-exit abort segv kill term pipe fpe thread-exit signals timers altstack fork \
	fork-threads shell daemon close-all surroundings filter mappings; do
	compare process $part
done
told="the program replaced itself with"
compare process exec

finish
