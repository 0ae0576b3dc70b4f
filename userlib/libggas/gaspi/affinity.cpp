// SPDX-License-Identifier: Apache-2.0
// GASPI_Ext.h: where the process runs, and a pause.
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "userlib/libggas/gaspi/self.hpp"

namespace {

using namespace ggas::library::gaspi;

// The kernel's lists of processors: "0-3,8". False: it has no such node.
bool processors_of(unsigned node, cpu_set_t& found) {
  std::ifstream in("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  CPU_ZERO(&found);
  for (std::string part; std::getline(in, part, ',');) {
    std::istringstream numbers(part);
    unsigned first = 0, last = 0;
    char dash = 0;
    if (!(numbers >> first)) continue;
    if (!(numbers >> dash >> last)) last = first;
    for (unsigned cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &found);
  }
  return CPU_COUNT(&found) > 0;
}

}  // namespace

gaspi_return_t gaspi_numa_socket(gaspi_uchar* socket) {
  unsigned cpu = 0, node = 0;
  if (getcpu(&cpu, &node) != 0) return refuse("the system does not say on which NUMA node this thread runs");
  return give(socket, node);
}

gaspi_return_t gaspi_set_socket_affinity(gaspi_uchar socket) {
  cpu_set_t there;
  if (!processors_of(socket, there)) return refuse("this computer has no such NUMA node");
  if (sched_setaffinity(0, sizeof there, &there) != 0) return refuse("no processor of this NUMA node may be used");
  return GASPI_SUCCESS;
}

void gaspi_print_affinity_mask() {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  std::string list;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &own)) list += ' ' + std::to_string(cpu);
  gaspi_printf("processors:%s\n", list.c_str());
}

void gaspi_delay() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}
