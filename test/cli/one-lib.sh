# Event loops and thread pools of libraries run on one kernel thread: those of OpenMP (LLVM's and
# GCC's), oneTBB, libuv, libevent and GLib.  The schedules are the same as with a kernel thread for
# each thread.
. "$ROOT/test/lib.sh"
shown=(err)

# build NAME FLAGS...: builds a program.
build() {
	local source=("$ROOT"/test/prog/one-lib/$1.c*) compiler=cc
	[ "${source##*.}" = cpp ] && compiler='c++ -std=c++17'
	"$RADDLE" $compiler -O1 -g -pthread "${source[0]}" -o "$@" || exit 1
}
build omp -fopenmp
build gomp -l:libgomp.so.1
build tbb -ltbb
build uv -luv
build event -levent -levent_pthreads
build glib $(pkg-config --cflags --libs glib-2.0)

# trails OPTION PROGRAM: prints the schedules of an exploration that real time did not influence.
trails() {
	rm -rf explored
	"$RADDLE" explore -v -j1 -n 8 --all $1 -o explored -- ./$2 ${3-} >out 2>err </dev/null || complain "$2: $(cat out)"
	jq -r 'select(.n != null and (.unsure | not)) | "\(.n) \(.trail) \(.choices) \(.status)"' explored/log | sort -n
}
for program in omp gomp tbb uv event glib; do
	trails '' $program >one
	grep -q 'kernel thread of its own' err && complain "$program: not on one kernel thread"
	grep -q '"counts":true' explored/log || complain "$program: no run counts"
	trails --kernel-threads $program >kernel
	join one kernel | awk '$2 != $5' >differ
	[ -s differ ] && complain "$program: other schedules: $(cat differ)"
done
# With a timer, a loop depends on the clock.
for program in uv event glib; do
	trails '' $program timer >one
	grep -q 'kernel thread of its own' err && complain "$program timer: not on one kernel thread"
done
verdict
