#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A run's input from outside is recorded: time, random numbers, process IDs, and data from sockets
# and pipes.  The program is not affected.
. "$ROOT/test/lib.sh"

build() {
	build_once "$1" cc -pthread "$ROOT/test/prog/world/$1.c" || fail "$1 cannot be built"
}
build noise
build server
"${CC:-cc}" -o client "$ROOT/test/prog/world/client.c" || fail "the client cannot be built"

# Files of the first version can be read forever.
"$RADDLE" dump "$ROOT/test/golden/world-v1" >golden.txt || fail "the golden file cannot be read"
diff "$ROOT/test/golden/world-v1.txt" golden.txt || complain "the golden file is read in another way"
"$RADDLE" dump --json "$ROOT/test/golden/world-v1" >golden.json || complain "no JSON"
grep -q '"source": *"monotonic"' golden.json || complain "the JSON lacks a source"

# The file contains the values that the program printed.
"$RADDLE" record -o noise.trace -- ./noise >noise.out || fail "recording failed"
"$RADDLE" dump noise.trace/world >noise.world || fail "what came from outside cannot be read"
[ "$(stat -c %a noise.trace/world)" = 600 ] || complain "others can read it"
pid=$(sed -n '1s/.* \([0-9]*\) [0-9]*$/\1/p' noise.out)
[ "$(grep -c "value pid value=$pid$" noise.world)" = 2 ] || complain "the number of the process is not there"
for value in $(sed 's/\.//g' noise.out | awk '{ print $1, $2 }'); do
	grep -q " value=$value$" noise.world || complain "a time is not there: $value"
done
[ "$(grep -c ' random 16 bytes' noise.world)" = 2 ] || complain "random numbers are not there"
"$RADDLE" dump --check noise.trace >check.out 2>&1 || complain "the trace is not sound: $(cat check.out)"

# --check finds damage.
cp -r noise.trace damaged
printf '\377' | dd of=damaged/world bs=1 seek=60 conv=notrunc 2>dd.log
! "$RADDLE" dump --check damaged >check.out 2>&1 || complain "damage was not noticed"
grep -q ', DAMAGED$' check.out || complain "damage is not in the summary: $(cat check.out)"

# With --no-world, the input is not stored.
"$RADDLE" record --no-world -o without.trace -- ./noise >noise.out || complain "--no-world"
[ ! -e without.trace/world ] || complain "--no-world keeps it"

# A server is recorded with its client.
port=$((20000 + $$ % 20000))
"$RADDLE" record -o server.trace -- ./server $port >server.out 2>server.err &
server=$!
timeout 100 ./client $port 6 >client.out || complain "the client failed: $(cat server.err)"
kill -TERM $server
wait $server || complain "the server failed: $(cat server.err)"
[ "$(cat server.out)" = 'served 6' ] || complain "the server said $(cat server.out)"
"$RADDLE" dump server.trace/world >server.world || complain "what came to the server cannot be read"
for words in ' accept .*connection=1 ' ' accept .*connection=2 ' ' receive .*connection=1 .*"line 0 of the client' \
	' receive .*connection=2 .*"line 5 of the client' ' send .*connection=1 '; do
	grep -q "$words" server.world || complain "not recorded: $words"
done
[ "$(grep -c ' send ' server.world)" = 6 ] || complain "not all answers were recorded"
verdict
