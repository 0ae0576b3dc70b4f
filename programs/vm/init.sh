#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# First process of a virtual node. Kernel command line: ggas.node=N ggas.nodes=N
# ggas.run=shell|ci|soak|two|gone|ends|next ggas.only=PART+OF+NAME,... ggas.left=KERNELS; of two of a kind the later counts
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
# shellcheck disable=SC2013  # words, not lines
for word in $(cat /proc/cmdline); do
  case $word in
    ggas.node=*) node=${word#*=} ;;
    ggas.nodes=*) nodes=${word#*=} ;;
    ggas.only=*) only=$(echo "${word#*=}" | tr + ' ') ;;
    ggas.run=*) what=${word#*=} ;;  # shell, or how long to test: ci, soak; or two NICs; or gone: the NIC; ends, next: the kernel, then the NIC
    ggas.left=*) left=${word#*=} ;;
  esac
done
# Leaks but for one of Linux 6.1: where an insertion into a radix tree finds no memory, the inner nodes that it made stay.
# ib_uverbs fills such a tree for every device, and the tests let each allocation fail in turn.
leaks_found() {
  awk 'function print_found() { if (!(node && uverbs)) printf "%s", text; text = ""; node = uverbs = 0 }
    /^unreferenced/ { print_found() }
    /radix_tree_node_alloc/ { node = 1 }
    /uapi_add_get_elm/ { uverbs = 1 }
    { text = text $0 "\n" }
    END { print_found() }' $leaks
}
# What the kernel had to say counts, too.
end_node() {
  wrong='BUG|WARNING|Oops|general protection|pagealloc:|DMA-API:.*(device driver|debugging out)|UBSAN'
  # Two warnings of Linux 6.1 are of its own limits. It does not remember that it could not make /proc/irq/N, and warns when
  # it removes it; and its DMA-API debug counts up to 7 mappings of the same memory, as an owner may make.
  dmesg | sed -e '/ exceeded 7 overlapping mappings/{N;d}' -e '/WARNING: .* at remove_proc_entry/d' > /dmesg
  grep -E "$wrong" /dmesg | sed 's/^/not ok - kernel: /'
  grep -qE "$wrong" /dmesg && grep -E -A 30 "$wrong" /dmesg | head -200 | sed 's/^/#   /'
  [ "$(grep -c 'does not stop' /dmesg)" = "$(grep -c 'is silenced by a test' /dmesg)" ] ||
    grep 'does not stop' /dmesg | sed 's/^/not ok - kernel: /'
  echo "# node ended"
  poweroff -f
}

# The files that the next kernel begins with: those of this one.
pack_files() {
  mkdir -p /tmp
  (cd / && find . -xdev -path ./tmp -prune -o -print | cpio -o -H newc >/tmp/next 2>/dev/null)
}

hostname "node$node"
ulimit -l unlimited
case $what in ends | next) [ "$node" = 0 ] && pack_files ;; esac
if [ "$what" = next ]; then
  dmesg -n 1
  /node_test "" next "$left"
  end_node
fi
leaks=/sys/kernel/debug/kmemleak  # of debug kernels
[ -e $leaks ] && echo clear > $leaks
# On a loaded machine an emulated NIC stops more slowly than a real one.
[ "$what" = two ] && numbers=0000:01:00.0=0,0000:02:00.0=1
insmod /ggas.ko node="${numbers:-$node}" nodes="$nodes" stop_ms=5000 || echo "Bail out! the driver does not load"
if insmod /e1000.ko; then  # for TCP between the nodes
  ifconfig lo 127.0.0.1 up
  ifconfig eth0 "10.0.0.$((node + 1))" netmask 255.255.255.0 up
fi
insmod /ib_core.ko
insmod /ib_uverbs.ko
insmod /ggas_verbs.ko || echo "Bail out! the second front end does not load"
insmod /testgpu.ko || echo "Bail out! the test GPU does not load"
insmod /gpumap.ko || echo "Bail out! gpumap does not load"
chmod 666 /dev/ggas0 /dev/testgpu /dev/gpumap

if [ "$what" = shell ]; then
  echo "node $node of $nodes: the driver is loaded, /dev/ggas0 is there; poweroff -f ends the node"
  while :; do setsid cttyhack sh; done
fi
dmesg -n 1
insmod /aer_inject.ko
/node_test "$only" "$what" "$left"
echo "# node_test ended with $?"
rmmod ggas_verbs aer_inject gpumap testgpu ggas && echo "# drivers unloaded"
if [ -e $leaks ]; then
  sleep 6  # younger objects do not count
  echo scan > $leaks
  echo scan > $leaks
  leaks_found | sed 's/^unreferenced/not ok - kernel: &/; s/^  /#   /'
fi
end_node
