# A program that is recorded instruction by instruction behaves as without Raddle.  The torture
# programs show that.  The short form does not optimise the recorded C++ program, since that takes
# half a minute, and leaves out similar ways to end.
# timeout: 1800
set -u
. "$ROOT/test/prog/compare.bash"
torture=$ROOT/test/prog/torture
flavour=full

build lang c -O2 -D_GNU_SOURCE "$torture/lang.c" "$torture/lang2.c"
compare lang
modes=quick
[ -z "${RADDLE_LONG:-}" ] || modes=fast
build cxx cxx -O2 -std=c++17 "$torture/cxx.cpp" "$torture/cxx2.cpp"
compare cxx
modes=fast

build threads c -O2 -D_GNU_SOURCE "$torture/threads.c"
for part in many cancel specific mutex robust primitives alternate detach outlive; do
	compare threads $part
done

build process c -O2 -D_GNU_SOURCE "$torture/process.c"
parts="return abort segv thread-exit signals fork-threads daemon mappings"
[ -z "${RADDLE_LONG:-}" ] || parts="return exit quick-exit underscore-exit abort segv kill term pipe fpe thread-exit signals
	timers altstack fork fork-threads shell daemon close-all surroundings filter mappings"
for part in $parts; do
	compare process $part
done
told="the program replaced itself with"
compare process exec

finish
