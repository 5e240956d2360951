#!/usr/bin/env bash
# Boots this machine's systemd in a container over a temporary overlay: boot.sh FOLDER
#
# FOLDER/root is laid over the root of this machine, or over the folder whose path is in FOLDER/lower. The container has a private
# network without outside connections. The ID of its first process, in the outer namespace, is in FOLDER/leader, its output in
# FOLDER/console. The container ends when the standard input of this script is closed, also if the test was killed.
#
# The script runs in its own mount namespace (unshare --mount), which removes its mounts at the end.
set -euo pipefail
cd "$1"

mkdir -p rw merged
mount -t tmpfs -o size=2g,mode=755 tmpfs rw
mkdir rw/upper rw/work
cp -a root/. rw/upper/

units=rw/upper/etc/systemd/system
mkdir -p "$units"
# Disables the units that this machine starts by default, in particular timers.
for unit in timers.target remote-fs.target swap.target machines.target systemd-timesyncd.service systemd-pstore.service \
    systemd-logind.service getty.target console-getty.service postgresql.service; do
    ln -sfn /dev/null "$units/$unit"
done
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\n' >"$units/ccsd-test.target"
ln -sfn ccsd-test.target "$units/default.target"
tr -d - </proc/sys/kernel/random/uuid >rw/upper/etc/machine-id

mount -t overlay overlay -o "lowerdir=$(cat lower 2>/dev/null || echo /),upperdir=rw/upper,workdir=rw/work" merged
# If this machine has both versions of control groups, the container uses version 2.
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
# A separate control group, so that containers do not conflict and all of it can be removed.
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
        # Also the groups of version 1, which nspawn mirrors if both versions exist.
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

# The first process is the child with process ID 1 inside; its short-lived parent must be skipped.
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
