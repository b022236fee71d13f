# The kernels of bench/ behave the same when they are recorded as without Raddle.  They run with
# small inputs.  The short form records each kernel in one of the two modes, in turn.
# timeout: 1800
set -u
. "$ROOT/test/prog/compare.bash"
kernels=$ROOT/bench/kernels

turn=quick
for source in "$kernels"/*.c; do
	name=$(basename "$source" .c)
	build "$name" c -O2 "$source"
	if [ -z "${RADDLE_LONG:-}" ]; then
		modes=$turn
		[ $turn = quick ] && turn=fast || turn=quick
	fi
	compare "$name" test 3
done
build mapreduce cxx -O2 "$kernels/mapreduce.cpp"
compare mapreduce test 3

finish
