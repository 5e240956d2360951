#!/usr/bin/env bash
# Boots this machine's own systemd in a container, over an overlay of which nothing stays: boot.sh FOLDER
#
# FOLDER/root is laid over the root of this machine. The container has a network of its own, so that nothing leaves it. The
# number of its first process is in FOLDER/leader, as seen from outside, and what it prints in FOLDER/console. It ends with the
# standard input of this script, also where that is because the test was killed.
#
# It runs in a mount namespace of its own (unshare --mount), with which all that is mounted here goes.
set -euo pipefail
cd "$1"

mkdir -p rw merged
mount -t tmpfs -o size=2g,mode=755 tmpfs rw
mkdir rw/upper rw/work
cp -a root/. rw/upper/

units=rw/upper/etc/systemd/system
mkdir -p "$units"
# Nothing that this machine starts by itself is wanted, above all nothing that works on a schedule.
for unit in timers.target remote-fs.target swap.target machines.target systemd-timesyncd.service systemd-pstore.service \
    systemd-logind.service getty.target console-getty.service postgresql.service; do
    ln -sfn /dev/null "$units/$unit"
done
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\n' >"$units/ccsd-test.target"
ln -sfn ccsd-test.target "$units/default.target"
tr -d - </proc/sys/kernel/random/uuid >rw/upper/etc/machine-id

mount -t overlay overlay -o lowerdir=/,upperdir=rw/upper,workdir=rw/work merged
# Where this machine has both versions of control groups, the container is to have the new one.
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
# A control group of its own, so that two containers do not meet, and nothing of it stays.
parent=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)$(sed -n 's/^0:://p' /proc/self/cgroup)
group=$parent/ccsd-test-$$
mkdir "$group"
echo $$ >"$group/cgroup.procs"
systemd-nspawn --boot --directory=merged --private-network --register=no --keep-unit --machine="ccsd-test-$$" \
    --link-journal=no --resolv-conf=off --timezone=off --settings=no --console=read-only \
    </dev/null >console 2>&1 &
container=$!
leader=
end() {
    stop
    echo $$ >"$parent/cgroup.procs"
    for _ in $(seq 50); do
        # Also those of the old version, which nspawn keeps alike where both are there.
        find /sys/fs/cgroup -depth -type d -path "*/ccsd-test-$$*" -exec rmdir {} + 2>/dev/null && return 0
        sleep 0.1
    done
}
stop() {
    [ -z "$leader" ] || kill -KILL "$leader" 2>/dev/null || true
    for _ in $(seq 100); do
        kill -0 "$container" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$container" 2>/dev/null || true
}
trap end EXIT

# Its first process is the child that is number 1 in there; another one, which makes it, lives for a moment.
for _ in $(seq 600); do
    for child in $(cat "/proc/$container/task/$container/children"); do
        grep -qs '^NSpid:.*[[:space:]]1$' "/proc/$child/status" && leader=$child
    done
    [ -z "$leader" ] || break
    kill -0 "$container" || exit 1
    sleep 0.1
done
[ -n "$leader" ] || exit 1
echo "$leader" >leader.new
mv leader.new leader
cat >/dev/null
