# Threads of GLib, libuv, oneTBB and C++20: nothing that these libraries order is confirmed as a
# race, and what they leave unordered is found.  The long form checks all programs, the short one
# some of each library.
. "$ROOT/test/lib.sh"

prog=$ROOT/test/prog/library
shown=(err)
"$RADDLE" cc -g -O1 "$prog/glib.c" $(pkg-config --cflags --libs glib-2.0) -o glib || fail "glib"
"$RADDLE" cc -g -O1 -pthread "$prog/uv.c" -luv -o uv || fail "uv"
"$RADDLE" c++ -std=c++20 -g -O1 -pthread "$prog/cxx20.cpp" -o cxx20 || fail "cxx20"
programs='glib 0 1 4 5 6 7 9 10 12
uv 6 7 10
cxx20 0 2 5 8'
if [ -n "${RADDLE_LONG-}" ]; then
	"$RADDLE" c++ -std=c++17 -g -O1 -pthread "$prog/tbb.cpp" -ltbb -o tbb || fail "tbb"
	programs=$(for name in glib uv cxx20 tbb; do
		echo $name $(seq 0 $(($(./$name | cut -d' ' -f2) - 1)))
	done)
fi

while read -r name numbers; do
	racy=$(./$name | cut -d' ' -f1)
	for i in $numbers; do
		# The library decides which thread of a pool does what.  A race is confirmed only if
		# that is as in the recorded run.
		for ((try = 0; try < 3; try++)); do
			rm -rf "$name-$i"
			"$RADDLE" check --no-classify --time 20 -o "$name-$i" -- ./$name $i >out 2>err
			status=$?
			[ $i -ge $racy ] && [ $status = 0 ] || break
		done
		[ "$(cat out)" = "$(./$name $i)" ] || complain "$name $i prints $(cat out)"
		if [ $i -lt $racy ]; then
			[ $status = 0 ] && grep -q 'Raddle: no bug confirmed' err || complain "$name $i: status $status"
		else
			[ $status = 1 ] && grep -q '^BUG [0-9]* of [0-9]*  data race on total .*confirmed' err || complain "$name $i: status $status"
		fi
	done
done <<<"$programs"

# Of two threads that add to a queue, the one whose item is taken first comes first.  So not even a
# race is predicted.
jq -e '[.findings[] | select(.sound and .kind == "race")] == []' glib-4/findings.json >/dev/null ||
	complain "a queue's items: $(jq -c '.findings[] | [.object, .reason]' glib-4/findings.json)"
verdict
