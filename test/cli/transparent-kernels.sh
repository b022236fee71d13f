# A recorded program behaves as without Raddle: the kernels of bench/, small.
# timeout: 1800
set -u
. "$ROOT/test/prog/compare.bash"
kernels=$ROOT/bench/kernels

for source in "$kernels"/*.c; do
	name=$(basename "$source" .c)
	build "$name" c -O2 "$source"
	compare "$name" test 3
done
build mapreduce cxx -O2 "$kernels/mapreduce.cpp"
compare mapreduce test 3

finish
