# SPDX-License-Identifier: MIT
# scripts/slurm-cluster.sh - a Slurm of some nodes on this machine, which listens on the
# loopback alone and needs no privileges, for the scripts that read this file.
# A node is a slurmd.  All of it is in the folder $cluster, its own munged
# included; SLURM_CONF is exported.

# slurm_lacks: why there cannot be one here; false: there can.
slurm_lacks() {
    PATH=$PATH:/usr/sbin:/sbin
    for program in slurmctld slurmd munged sbatch; do
        command -v "$program" > /dev/null && continue
        echo "Slurm is not installed ($program): scripts/setup ci"
        return
    done
    getent hosts "$(hostname -s)" > /dev/null && return 1
    echo "this machine's name is not known to itself"
}

# Whether nobody listens at $port and those of the nodes behind it: tests run
# beside each other.
slurm_ports_free() {
    for n in $(seq "$port" $((port + nodes))); do
        ! grep -q ":$(printf %04X "$n") .* 0A " /proc/net/tcp || return
    done
}

# slurm_begin NODES [LINE...]: with more lines for slurm.conf, SlurmdTimeout and
# the like.  $slurm_first, a command, comes before the controller.  False: it did
# not come up, and why is printed.
slurm_begin() {
    nodes=$1
    shift
    cluster=$PWD/cluster
    host=$(hostname -s)
    mkdir -p cluster/state cluster/log cluster/run
    (umask 077 && head -c 1024 /dev/urandom > cluster/munge.key)
    munged --force --socket="$cluster/run/munge" \
        --key-file="$cluster/munge.key" --seed-file="$cluster/munge.seed" \
        --pid-file="$cluster/run/munged.pid" \
        --log-file="$cluster/log/munged.log" || return
    port=$((10000 + $$ * 16 % 20000))
    until slurm_ports_free; do port=$((port + 16)); done
    cat > cluster/slurm.conf << E
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$cluster/run/munge
SlurmctldPort=$port
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/run/ctld.pid
SlurmdPidFile=$cluster/run/%n.pid
SlurmctldLogFile=$cluster/log/ctld.log
SlurmdLogFile=$cluster/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
KillWait=2
MinJobAge=300
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=4 RealMemory=2000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
E
    for line; do
        echo "$line" >> cluster/slurm.conf
    done
    SLURM_CONF=$cluster/slurm.conf
    export SLURM_CONF
    ${slurm_first:-true} || return
    slurm_controller -c || { cat cluster/log/said; return 1; }
    node=1
    while [ $node -le "$nodes" ]; do
        slurm_node n$node
        node=$((node + 1))
    done
    for _ in $(seq 3000); do
        [ "$(sinfo -h -t idle -o %D 2>&-)" = "$nodes" ] && return
        sleep 0.02
    done
    tail -n 3 cluster/log/*.log
    return 1
}

slurm_controller() { slurmctld "$@" > "$cluster/log/said" 2>&1; }

# It may stay as a zombie where the first process takes no orphans in.
slurm_controller_ends() {
    pid=$(cat "$cluster/run/ctld.pid")
    kill "$pid"
    until ! grep -v 'State:.Z' "/proc/$pid/status" 2>&- | grep -q State; do
        sleep 0.02
    done
}

slurm_node() { # NAME
    mkdir -p "$cluster/spool/$1"
    slurmd -N "$1" > "$cluster/log/said" 2>&1
}

# What the daemons have started may live on: those that a test has killed.
slurm_end() {
    [ -z "${cluster:-}" ] || cat "$cluster"/run/*.pid 2>&- |
        xargs -r kill 2>&-
}
