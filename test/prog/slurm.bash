# A Slurm cluster for tests that consists of this machine: munged, slurmctld and slurmd of Debian's
# packages, on the loopback interface, with their own files and ports.
#
#	start_slurm DIR		starts the daemons and sets SLURM_CONF; if Slurm cannot run here, prints
#				the reason and returns 77
#	stop_slurm		ends the daemons, by their process IDs

slurm_pids=()

free_port() {
	local port
	for _ in 1 2 3 4 5 6 7 8 9; do
		port=$((20000 + RANDOM % 20000))
		if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo $port
			return
		fi
	done
}

write_slurm_conf() {
	local dir=$1 host
	host=$(hostname -s)
	cat >"$dir/slurm.conf" <<-END
		ClusterName=raddle
		SlurmctldHost=$host(127.0.0.1)
		AuthType=auth/munge
		AuthInfo=socket=$dir/munge.socket
		CredType=cred/munge
		SlurmUser=root
		SlurmdUser=root
		SlurmctldPort=$(free_port)
		SlurmdPort=$(free_port)
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool
		SlurmctldPidFile=$dir/slurmctld.pid
		SlurmdPidFile=$dir/slurmd.pid
		SlurmctldLogFile=$dir/slurmctld.log
		SlurmdLogFile=$dir/slurmd.log
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SwitchType=switch/none
		MpiDefault=none
		ReturnToService=2
		AccountingStorageType=accounting_storage/none
		JobAcctGatherType=jobacct_gather/none
		JobCompType=jobcomp/none
		MailProg=/bin/true
		KillWait=1
		NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
		PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
}

start_daemon() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 &
	slurm_pids+=($!)
}

# Waits until the node accepts jobs, half a minute at most.
wait_for_slurm() {
	local i pid
	for i in $(seq 150); do
		[ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && return 0
		for pid in "${slurm_pids[@]}"; do
			kill -0 "$pid" 2>/dev/null || return 1
		done
		sleep 0.2
	done
	return 1
}

start_slurm() {
	local dir=$1 command
	for command in munged slurmctld slurmd sbatch squeue scancel scontrol; do
		command -v $command >/dev/null || { echo "$command is not installed"; return 77; }
	done
	[ "$(id -u)" = 0 ] || { echo "slurmd needs root"; return 77; }
	mkdir -p "$dir/state" "$dir/spool"
	chmod 755 "$dir"
	dd if=/dev/urandom of="$dir/munge.key" bs=1024 count=1 2>/dev/null
	chmod 400 "$dir/munge.key"
	write_slurm_conf "$dir"
	export SLURM_CONF=$dir/slurm.conf
	start_daemon "$dir/munged.out" munged --foreground --force --key-file="$dir/munge.key" \
		--socket="$dir/munge.socket" --pid-file="$dir/munge.pid" --log-file="$dir/munge.log" \
		--seed-file="$dir/munge.seed"
	for _ in $(seq 50); do
		[ -S "$dir/munge.socket" ] && break
		sleep 0.1
	done
	start_daemon "$dir/slurmctld.out" slurmctld -D -f "$SLURM_CONF"
	start_daemon "$dir/slurmd.out" slurmd -D -f "$SLURM_CONF"
	if ! wait_for_slurm; then
		cat "$dir"/*.out "$dir"/*.log
		stop_slurm
		echo "slurm does not run here"
		return 77
	fi
}

stop_slurm() {
	local pid
	for pid in "${slurm_pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	for pid in "${slurm_pids[@]}"; do
		wait "$pid" 2>/dev/null
	done
	slurm_pids=()
	return 0
}
