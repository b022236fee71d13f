# Output directories: only one command at a time writes to one, and only files that Raddle wrote are
# ever removed.
. "$ROOT/test/lib.sh"

cat >racy.c <<'C'
#include <pthread.h>
#include <unistd.h>
int NAME;
static void *run(void *p) { NAME++; return p; }
int main(int argc, char **argv)
{
	pthread_t a, b;
	char byte;
	if (argc > 1)
		(void)!read(0, &byte, 1);
	pthread_create(&a, 0, run, 0);
	pthread_create(&b, 0, run, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return (int)(argv - argv);
}
C
for name in first second; do
	"$RADDLE" cc -g -pthread -DNAME=$name racy.c -o $name || exit 1
	"$RADDLE" check -q -o warm -- ./$name >/dev/null 2>&1
done

# Two checks in parallel have the same results as alone, each in its own directory.
for round in 1 2 3; do
	"$RADDLE" check -q --json first.json -- ./first >first.out 2>&1 &
	a=$!
	"$RADDLE" check -q --json second.json -- ./second >second.out 2>&1 &
	b=$!
	wait $a
	status_a=$?
	wait $b
	status_b=$?
	[ $status_a = 1 ] && [ $status_b = 1 ] || complain "round $round: $status_a, $status_b: $(cat first.out second.out)"
	[ "$(jq -r '.findings[].object' first.json | sort -u)" = first ] || complain "round $round: the first has others' findings"
	[ "$(jq -r '.findings[].object' second.json | sort -u)" = second ] || complain "round $round: the second has others' findings"
done

# While a recording runs, its directory is taken.  Another recording uses another directory, or
# fails if the user named this one.
mkfifo gate
"$RADDLE" record -- ./first wait <gate 2>err &
pid=$!
exec 7>gate
while ! [ -e raddle-trace/thread-0 ] && ! [ -e raddle-trace/meta.json ]; do
	kill -0 $pid || { complain "the recording did not begin: $(cat err)"; break; }
	sleep 0.05
done
"$RADDLE" record -- ./second 2>err || complain "a recording beside another: $(cat err)"
grep -q 'raddle-trace-2' err && "$RADDLE" dump --check raddle-trace-2 >/dev/null || complain "it did not go to raddle-trace-2: $(cat err)"
"$RADDLE" record -o raddle-trace -- ./second 2>err
[ $? = 2 ] && grep -q 'another raddle is writing' err || complain "a named directory that is taken: $(cat err)"
exec 7>&-
wait $pid || complain "the first recording: $?"
"$RADDLE" dump --check raddle-trace >/dev/null || complain "the first trace is damaged"

# Files that Raddle did not write stay, whatever their names are.
mkdir project && echo '{"name": "mine"}' >project/meta.json && echo source >project/main.c
"$RADDLE" record -o project -- ./first 2>err
[ $? = 2 ] && grep -q 'is not a trace' err || complain "a directory that is no trace: $(cat err)"
"$RADDLE" record -f -o project -- ./first 2>/dev/null && complain "--force takes a directory that is no trace"
[ -e project/main.c ] && [ -e project/meta.json ] || complain "files are lost"
mkdir lonely && echo '{"name": "mine"}' >lonely/meta.json
"$RADDLE" record -f -o lonely -- ./first 2>/dev/null && complain "somebody's meta.json is taken for a trace"
grep -q mine lonely/meta.json || complain "somebody's meta.json is lost"
"$RADDLE" record -o kept -- ./first && echo notes >kept/notes.txt
"$RADDLE" record -f -o kept -- ./first 2>/dev/null && complain "a trace with a foreign file in it is replaced"
[ -e kept/notes.txt ] || complain "a file in a trace is lost"
mkdir busy && mkdir busy/replays && echo mine >busy/replays/file
"$RADDLE" check -q -o busy -- ./first 2>err
[ $? = 2 ] && [ -e busy/replays/file ] || complain "check takes a directory that no check made: $(cat err)"
mkdir listed && echo '{"findings": []}' >listed/findings.json
"$RADDLE" check -q -o listed -- ./first 2>err
[ $? = 2 ] && [ "$(cat listed/findings.json)" = '{"findings": []}' ] || complain "somebody's findings.json: $(cat err)"
mkdir web && echo 'https://example.org and others' >web/sites && cp web/sites web/thread-1
for i in 1 2 3; do
	"$RADDLE" record -o web -- ./first 2>/dev/null && complain "somebody's lists are taken for a trace"
done
grep -q example web/sites && grep -q example web/thread-1 || complain "somebody's lists are lost"
"$RADDLE" check -q -o runs --runs 2 -- ./first 2>/dev/null
echo notes >runs/trace-2/notes.txt
"$RADDLE" check -q -o runs -- ./first 2>err
[ $? = 2 ] && [ -e runs/trace-2/notes.txt ] || complain "a file in the trace of an old run is lost: $(cat err)"
rm runs/trace-2/notes.txt
"$RADDLE" check -q -o runs -- ./first 2>err
[ $? = 1 ] && [ ! -e runs/trace-2 ] || complain "the trace of an old run stays: $(cat err)"

# When a trace is recorded again, the previous one is kept, but no older one.
"$RADDLE" record -o again -- ./first && "$RADDLE" record -o again -- ./second && "$RADDLE" record -o again -- ./first ||
	complain "recording again fails"
"$RADDLE" dump --check again >/dev/null && "$RADDLE" dump --check again.old >/dev/null || complain "the old trace or the new one is damaged"
[ "$(jq -r .program again.old/meta.json)" != "$(jq -r .program again/meta.json)" ] || complain "the old trace is not the one before"

# Each trace has its own site table, so damage to one does not affect later traces.
echo damage >>again/sites
"$RADDLE" record -o fresh -- ./first && "$RADDLE" dump --check fresh >/dev/null || complain "damage in one trace is in the next"
verdict
