#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a booted Debian with a NIC: the driver's package is installed, loaded, used by a program of a user, and removed.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
tests=0
check() {
  tests=$((tests + 1))
  name=$1
  shift
  if "$@" >/tmp/said 2>&1; then
    echo "ok $tests - $name"
  else
    echo "not ok $tests - $name"
    tail -30 /tmp/said | sed 's/^/#   /'
  fi
}

is_built() { dkms status ggas | grep "$(uname -r).*installed"; }
is_loaded() {
  udevadm trigger --action=add /sys/bus/pci/devices/0000:01:00.0 && udevadm settle && dmesg | grep "ggas0: node 0 of 1"
}
is_the_groups() { [ "$(stat -c %G:%a /dev/ggas0)" = ggas:660 ]; }
# shellcheck disable=SC2046  # words
compiles() { gcc /program.c $(pkg-config --cflags --libs libggas-driver) -o /usr/local/bin/program; }
runs() {
  echo "7 1000" >/sys/class/ggas/ggas0/grant &&
    setpriv --reuid=1000 --regid=1000 --groups="$(getent group ggas | cut -d: -f3)" /usr/local/bin/program
}
is_refused() { ! setpriv --reuid=1001 --regid=1001 --clear-groups /usr/local/bin/program; }
lists_an_rdma_device() { modprobe ggas_verbs && [ -e /sys/class/infiniband/ggas_0 ]; }
is_gone() {
  for path in /usr/src/ggas-* /var/lib/dkms/ggas /usr/include/ggas /usr/lib/udev/rules.d/60-ggas.rules /dev/ggas0; do
    [ ! -e "$path" ] || { echo "$path"; return 1; }
  done
  ! modinfo ggas
}
is_quiet() { ! dmesg | grep -E 'BUG|WARNING|Oops'; }

echo  # what systemd wrote to reset the terminal ends here
echo "# Debian $(cat /etc/debian_version), Linux $(uname -r), $(dkms --version)"
check "the package is installed" dpkg -i /ggas-dkms.deb
check "DKMS has built it for this kernel" is_built
check "udev loads it for the NIC" is_loaded
check "the device belongs to the group" is_the_groups
check "a program is compiled with the installed headers" compiles
check "a user of the group runs it" runs
check "another user is refused" is_refused
check "the NIC is an RDMA device" lists_an_rdma_device
check "the drivers are unloaded" modprobe -r ggas_verbs ggas
check "the package is removed" dpkg --purge ggas-dkms
check "nothing of it is left" is_gone
check "the kernel has reported no fault" is_quiet
echo "1..$tests"
echo "# node ended"
poweroff -f
