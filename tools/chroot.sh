#!/bin/sh
# Runs a command in another Linux system that is installed in a folder, with this checkout at the same path there.
#
#   tools/chroot.sh FOLDER python3.14 -m pytest
#
# The mounts belong to the command and end with it. Root is not required where the kernel allows user namespaces.
set -eu
root=$1; shift
mkdir -p "$root$PWD"
exec unshare --mount $(test "$(id -u)" = 0 || echo --map-root-user) sh -c '
    for folder in /proc /dev "$PWD"; do mount --rbind "$folder" "$0$folder"; done
    exec unshare --root="$0" --wd="$PWD" env --unset=PIP_FIND_LINKS PATH=/usr/bin:/bin "$@"' "$root" "$@"
