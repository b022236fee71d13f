# Readers of files from outside end soon and use little memory, whatever is in place of the file:
# FIFOs, devices, endless sparse files, decompression bombs, or JSON that is nested too deeply.
. "$ROOT/test/lib.sh"

full=$ROOT/test/trace/full-v1
cp -r "$ROOT/test/trace/v1-bank" trace

# refused COMMAND...: expects status 2 and a message.  A time limit ends commands that hang.  If
# possible (not under AddressSanitizer), the address space is limited to 1.5 GB.
can_be_limited=false
"$RADDLE" version >/dev/null && (ulimit -v 1500000 && "$RADDLE" version) >/dev/null 2>&1 && can_be_limited=true
refused() {
	local status=0
	(
		! $can_be_limited || ulimit -v 1500000
		exec timeout 60 "$RADDLE" "$@"
	) >out 2>err </dev/null || status=$?
	[ $status = 2 ] || complain "$*: status $status instead of 2: $(head -c 500 err)"
	[ -s err ] || complain "$*: no message"
}

mkfifo fifo
truncate -s 1T sparse
mkdir directory
ln -s /dev/zero zero
ln -s loop loop
printf '{"version":1,"findings":' >deep.json
head -c 1000000 /dev/zero | tr '\0' '[' >>deep.json
hostile=(fifo sparse directory zero loop /dev/full deep.json)

# Files that a user names on the command line.
for file in "${hostile[@]}"; do
	refused dump "$file"
	refused dump --check "$file"
	refused predict "$file"
	refused import -o "imported" "$file"
	refused export --format std "$file"
	refused replay "$file" -- /bin/true
	refused classify "$file" -- /bin/true
	refused predict --baseline "$file" trace
	refused predict --suppressions "$file" trace
	refused reversible --check-certificate "$file" "$full"
	refused reversible "$file"
	refused compare "$file" "$full"
	refused compare "$full" "$file"
	refused sanitize "$file"
	refused campaign "$file"
	refused facts "$file"
	refused flavour "$file"
	refused check -- "./$file"
	refused inject --resume "$file"
done

# place FILE: prints the absolute path.
place() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }

# Files in a directory that Raddle reads.
for name in meta.json sites thread-0; do
	for file in "${hostile[@]}"; do
		rm -rf bad
		cp -r trace bad
		rm bad/$name
		[ "$file" = directory ] && mkdir bad/$name || ln -s "$(place "$file")" bad/$name
		refused dump bad
		refused dump --check bad
		refused predict bad
	done
done
for name in campaign.json log; do
	for file in "${hostile[@]}"; do
		rm -rf bad
		mkdir bad
		echo '{}' >bad/campaign.json
		: >bad/log
		rm bad/$name
		[ "$file" = directory ] && mkdir bad/$name || ln -s "$(place "$file")" bad/$name
		refused inject --resume bad
		[ $name = log ] && [ "$file" = deep.json ] || refused campaign bad
	done
done
mkdir -p found
for file in "${hostile[@]}"; do
	rm -rf found/findings.json
	[ "$file" = directory ] && mkdir found/findings.json || ln -s "$(place "$file")" found/findings.json
	refused dump found
done

# Small files that decompress to many megabytes.  Compressed files may be concatenated, which takes
# less time than compressing everything.
for packer in gzip xz zstd bzip2; do
	command -v $packer >/dev/null || continue
	head -c 10M /dev/zero | $packer -c >part
	for _ in $(seq 15); do cat part; done >"bomb.$packer"
	refused import -o imported "bomb.$packer"
	refused predict "bomb.$packer"
	grep -q 'it writes more than' err || complain "$packer: $(cat err)"
	$packer -c "$ROOT/test/trace/v1-bank.std" >"fine.$packer"
	"$RADDLE" predict "fine.$packer" >/dev/null 2>err || [ $? = 0 ] || complain "$packer: a packed trace is refused: $(cat err)"
done
rm -rf bad
cp -r trace bad
head -c 150M /dev/zero | zstd -c >bad/sites
refused dump bad
grep -q 'bytes of text' err || complain "packed sites: $(cat err)"

# A cache that others can write to, or that belongs to another user, is refused.
echo 'int main(void) { return 0; }' >p.c
"$RADDLE" cc p.c -o p || exit 1
"$RADDLE" record -o short -- ./p || exit 1
rm short/thread-0
refused dump short
refused predict short
grep -q 'short has 0 streams, but meta.json counts 1' err || complain "a stream is missing: $(cat err)"
mkdir shared
chmod 777 shared
RADDLE_CACHE=$PWD/shared refused record -- ./p
grep -q 'shared: it can be written by others' err || complain "a shared cache: $(cat err)"
if [ "$(id -u)" = 0 ]; then
	chmod 755 shared
	chown 12345 shared
	RADDLE_CACHE=$PWD/shared refused record -- ./p
	grep -q 'shared: it belongs to another user' err || complain "a foreign cache: $(cat err)"
fi
[ -z "$(ls shared)" ] || complain "something is in the refused cache: $(ls shared)"
verdict
