# Plug-ins that dlopen() loads: those built by raddle cc are instrumented, wherever they are, and
# others are reported by name.
. "$ROOT/test/lib.sh"

prog=$ROOT/test/prog/plugin
shown=(err)
mkdir -p app/modules/deep far

"$RADDLE" cc -g -O1 -pthread "$prog/host.c" -o app/host || fail "host"
"$RADDLE" cc -g -O1 -shared -fPIC "$prog/plug.c" -o app/modules/deep/plug.so || fail "plug.so"
ln -s deep/plug.so app/modules/link.so
mv app/modules/deep/plug.so app/modules/deep/plug.so.1.0
ln -sf deep/plug.so.1.0 app/modules/link.so

# race PROGRAM...: checks the program, and expects the race in the plug-in to be confirmed.
race() {
	local status
	"$RADDLE" check --no-classify --json found.json "$@" >out 2>err
	status=$?
	[ $status = 1 ] || complain "check $*: status $status"
	jq -e '[.findings[] | select(.object == "plugged" and .status == "confirmed")] | length == 1' found.json >/dev/null ||
		complain "check $*: $(cat found.json)"
	# Two threads add 1, and the race may lose one of the two.
	grep -qx '[12]' out || complain "check $*: it prints $(cat out)"
}

# The plug-in is named by its path, by a link, or by its name alone.
race -- app/host app/modules/deep/plug.so.1.0
race -- app/host "$PWD/app/modules/link.so"
LD_LIBRARY_PATH=$PWD/app/modules/deep race -- app/host plug.so.1.0
"$RADDLE" check --no-classify -- app/host app/modules/link.so by-turns >out 2>err || complain "by turns: status $?"
grep -q 'could have ordered' err && complain "there is no foreign code"

# The loader finds the plug-in by the run path of the calling program.
"$RADDLE" cc -g -O1 -pthread "$prog/host.c" -Wl,-rpath,"$PWD/app/modules" -o app/host-path || fail "host-path"
race -- app/host-path link.so

# A plug-in elsewhere is named in a warning, by --plugins, and in the command that reproduces a
# finding.
cp app/modules/deep/plug.so.1.0 far/plug.so
"$RADDLE" check --no-classify -- app/host far/plug.so >out 2>err || complain "far: status $?"
grep -q 'far/plug.so was loaded without instrumentation, although it carries bitcode' err || complain "far/plug.so is not named"
race --plugins far -- app/host far/plug.so
race --plugins far/plug.so -- app/host far/plug.so
"$RADDLE" dump raddle-check >full
grep -q -- 'raddle replay --plugins far/plug.so ' full || complain "the command does not name it"
eval "$(grep -o 'raddle replay .*' full | head -1 | sed "s|^raddle|'$RADDLE'|")" >out 2>err
[ $? = 1 ] || complain "the printed command does not reproduce it"
"$RADDLE" record --plugins far/none.so -- app/host far/plug.so >out 2>err
[ $? = 2 ] && grep -q 'far/none.so: this plug-in cannot be found' err || complain "an unknown plug-in"

# A plug-in may need a library.
mkdir -p app/more
"$RADDLE" cc -g -O1 -shared -fPIC -DNAME=add "$prog/plug.c" -o app/more/libadd.so || fail "libadd.so"
"$RADDLE" cc -g -O1 -shared -fPIC -DNEEDS "$prog/plug.c" -o app/more/plug-needs.so -Lapp/more -ladd \
	-Wl,-rpath,'$ORIGIN' || fail "plug-needs.so"
race -- app/host app/more/plug-needs.so

# A plug-in of another compiler is loaded unchanged, and named.
gcc -O1 -shared -fPIC "$prog/plug.c" -o app/native.so || fail "native.so"
"$RADDLE" check --no-classify -- app/host app/native.so >out 2>err || complain "native: status $?"
[ "$(cat out)" = 2 ] || complain "native.so does not work"

# A plug-in that cannot be linked again does not affect the others.
"$RADDLE" cc -g -O1 -c -fPIC "$prog/plug.c" -o plug.o || fail "plug.o"
gcc -shared -o far/libgone.so -x c - <<<'int gone(void) { return 0; }' || fail "libgone.so"
mkdir app/broken
"$RADDLE" cc -shared -o app/broken/broken.so plug.o -Wl,--no-as-needed -Lfar -lgone || fail "broken.so"
rm far/libgone.so
race -- app/host app/modules/link.so
verdict
