#!/bin/sh
# SPDX-License-Identifier: MIT
# A Slurm with accounts and QOS, which its slurmdbd keeps in a database: what it
# says to those that a user may not have, or that are full.
# not under tsan
. "$(dirname "$0")/lib.sh"
. "$TP_SOURCE/scripts/slurm-cluster.sh"

why=$(slurm_lacks) && { echo "skipped slurm_accounts: $why"; exit; }
PATH=$PATH:/usr/sbin:/sbin
for program in mariadbd slurmdbd; do
    command -v $program > /dev/null ||
        { echo "skipped slurm_accounts: no $program: scripts/setup ci"; exit; }
done
cd "$work" || exit 1
trap 'slurm_end; clean' EXIT

# Until the command, on which it waits, holds.
until_it() {
    for _ in $(seq 1000); do
        "$@" > said 2>&1 && return
        sleep 0.02
    done
    cat said "$cluster/log/dbd.log"
    return 1
}
# No tables of its own users: the socket is in a folder of ours, and all that it
# listens at.
database() {
    mkdir db && chmod 700 db || return
    set -- mariadbd --no-defaults --user="$(id -un)" --datadir="$PWD/db" \
        --skip-grant-tables --innodb-log-file-size=4M \
        --innodb-buffer-pool-size=16M --innodb-flush-log-at-trx-commit=0
    { printf 'create database mysql;\nuse mysql;\n' &&
        cat /usr/share/mysql/mysql_system_tables.sql; } |
        "$@" --bootstrap > mariadb.log 2>&1 || { cat mariadb.log; return 1; }
    "$@" --skip-networking --socket="$PWD/db/socket" \
        --pid-file="$cluster/run/mariadb.pid" > mariadb.log 2>&1 &
    until_it [ -S db/socket ] || return
    cat > slurmdbd.conf << E
AuthType=auth/munge
AuthInfo=socket=$cluster/run/munge
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((port + 8))
SlurmUser=$(id -un)
PidFile=$cluster/run/dbd.pid
LogFile=$cluster/log/dbd.log
StorageType=accounting_storage/mysql
StorageLoc=slurm
StorageUser=root
E
    cat >> "$SLURM_CONF" << E
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 8))
AccountingStoragePass=$cluster/run/munge
AccountingStorageEnforce=associations,limits,qos
E
    chmod 600 slurmdbd.conf && mv slurmdbd.conf "$cluster/" &&
        MYSQL_UNIX_PORT=$PWD/db/socket slurmdbd &&
        until_it grep 'slurmdbd version .* started' "$cluster/log/dbd.log" ||
        return
    {
        sacctmgr -i add cluster test &&
            sacctmgr -i add qos long,forbidden &&
            sacctmgr -i modify qos long set MaxSubmitJobsPerUser=2 &&
            sacctmgr -i add account science,others &&
            sacctmgr -i add user "$(id -un)" account=science \
                qos=normal,long defaultqos=normal
    } > accounts.log 2>&1 || { cat accounts.log; return 1; }
}
slurm_first=database
slurm_begin 1 || { echo "FAILED slurm comes up"; exit 1; }

# with KEYS LINE...: an experiment of jobs that have these.
with() {
    keys=$1
    shift
    experiment "trainingService: {platform: slurm, pollInterval: 0.2s, reportInterval: 0.1s, $keys}" "$@" << 'E'
echo "$SLURM_JOB_ACCOUNT $SLURM_JOB_QOS" >> "$HERE/where"
tunepipe trial report --final 1
E
}
refuses() { # KEYS TEXT
    with "$1" 'maxTrialNumber: 1'
    run 3 && has err "would not take its jobs: $2" &&
        [ -z "$(ls tunepipe-experiments)" ]
}
accounts() {
    which='(account: expected one that sacctmgr show associations user=$USER lists)'
    refuses 'account: nosuch' "allocation failure: Invalid account or account/partition combination specified $which" &&
        refuses 'account: others' 'allocation failure: Invalid account or'
}
check "an account that is not the user's" accounts

qos() {
    which='(qos: expected one that sacctmgr show associations user=$USER format=account,qos%40 lists)'
    refuses 'qos: nosuch' "allocation failure: Invalid qos specification $which" &&
        refuses 'account: science, qos: forbidden' 'allocation failure: Invalid qos'
}
check "a QOS that is not the user's" qos

# Of this QOS a user may have two jobs in the queue: others wait for them here.
limited() {
    with 'account: science, qos: long' 'trialConcurrency: 4' 'maxTrialNumber: 5'
    run 0 && [ "$(sort where | uniq -c | tr -s ' ')" = ' 5 science long' ] ||
        fail "$(cat where)" || return
    has err 'Job violates accounting/QOS policy' &&
        [ "$(grep -c succeeded "$dir/results.jsonl")" = 5 ]
}
check "a QOS that is full" limited
finish
