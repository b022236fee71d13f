# SPDX-License-Identifier: Apache-2.0
#
# For tests of the hive: starts one that runs as long as the test.

# hive_start [OPTION...]: starts a hive on hive.db, or on the database that an option names; $url and $hive, its process.
hive_start() {
	rm -f url
	"$RADDLE" hive serve --listen 127.0.0.1:0 --db hive.db "$@" >url 2>hive.err &
	hive=$!
	hives="${hives:-} $hive"
	finally 'kill -9 $hives 2>/dev/null'
	wait_for 120 hive_is_there || fail "the hive does not start: $(cat hive.err)"
	url=$(cat url)
}

hive_is_there() {
	[ -s url ] || ! kill -0 "$hive" 2>/dev/null
	[ -s url ]
}

# hive_stop: ends it, and complains unless it ends well.
hive_stop() {
	kill -TERM "$hive"
	wait "$hive" || complain "the hive ended with status $?: $(cat hive.err)"
}
