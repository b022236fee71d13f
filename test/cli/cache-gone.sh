# The cache may vanish at any time, even in the middle of a check.  What is missing is made again,
# and the verdicts are those of an undisturbed check.
. "$ROOT/test/lib.sh"

export RADDLE_CACHE=$PWD/cache
shown=(err)
cat >lib.c <<'END'
int counter;
void add(int n)
{
	counter = counter + n;
}
END
cat >main.c <<'END'
#include <pthread.h>
#include <stdlib.h>
void add(int n);
static void *run(void *unused)
{
	add(1);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t[2];

	if (argc > 1 && system(argv[1]))
		return 3;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
"$RADDLE" cc -g -O1 -shared -fPIC lib.c -o libadd.so || fail "libadd.so"
"$RADDLE" cc -g -O1 -pthread main.c ./libadd.so -Wl,-rpath,"$PWD" -o p || fail "p"

# confirmed WORDS ARGUMENTS...: checks, and expects the race to be confirmed.
confirmed() {
	local what=$1 status
	shift
	"$RADDLE" check -v --no-classify --json found.json "$@" >out 2>err
	status=$?
	[ $status = 1 ] || complain "$what: status $status"
	jq -e '[.findings[] | select(.object == "counter" and .status == "confirmed")] | length == 1' found.json >/dev/null ||
		complain "$what: $(cat found.json)"
	grep -q 'its flavour was removed from the cache and is made again' err || complain "$what: nothing was made again"
}

confirmed "before each run" --setup 'rm -rf "$RADDLE_CACHE"' -- ./p
confirmed "only the library" --setup 'rm -rf "$RADDLE_CACHE"/flavour/*/lib' -- ./p
# The runs of the program itself remove the cache: the recorded one and three replays.
confirmed "in runs" -- ./p 'echo >>count; [ $(wc -l <count) -gt 4 ] || rm -rf "$RADDLE_CACHE"'
[ "$(wc -l <count)" -gt 4 ] || complain "there were not so many runs: $(wc -l <count)"

# The runs of a campaign remove the cache, too.
rm -f count
"$RADDLE" inject --allow-nondeterminism --fault BitFlip -n 4 -j 1 -o campaign -- ./p 'echo >>count; [ $(wc -l <count) -gt 4 ] || rm -rf "$RADDLE_CACHE"' >out 2>err ||
	complain "inject: status $?"

# If a library of the program is rebuilt from another source during the check, that is noticed.
cat >other.c <<'END'
int counter;
void add(int n)
{
	counter += 2 * n;
}
END
"$RADDLE" check --setup "[ ! -e once ] || '$RADDLE' cc -g -O1 -shared -fPIC other.c -o libadd.so; touch once; rm -rf cache" \
	-- ./p >out 2>err
grep -q 'Raddle: no bug confirmed' err && tr -s ' \n' ' ' <err | grep -q 'it has been rebuilt meanwhile' || complain "a program that changed goes unnoticed"
verdict
