// SPDX-License-Identifier: Apache-2.0
// The NIC of this computer through the driver: its contexts, and memory that it accesses. Errors of ggas/device.h are
// converted to those of the library here. If a NIC is removed, the call that notices fails, and so do all later ones.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <utility>

#include "ggas/device.h"
#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/nic/access.hpp"

namespace ggas::library::hw {

class device {
 public:
  device() = default;
  device(const device&) = delete;
  ~device();

  // By GGAS_DEVICE and GGAS_DOMAIN.
  ggas_rc open();
  // mailbox_log2 0: takes no messages. It stays until the end.
  ggas_rc begin_context(ggas_context*& c, bool sleeps, unsigned mailbox_log2);
  unsigned node() const { return nic_.node; }

  // Pages of zeros, or the caller's memory.
  ggas_rc take(uint64_t bytes, void* bound, nic::memory& m);
  // A dma-buf where it lies; else the pages that the caller has mapped.
  ggas_rc take(const buffer& b, nic::memory& m, bool& elsewhere);
  void give(const nic::memory& m);
  uint64_t nla_of(const void* at, uint64_t bytes) const;  // 0: none of it

  // Throws if the NIC has gone.
  void expect() const {
    if (lost_.load(std::memory_order_relaxed)) gone();
  }
  bool lost() const { return lost_; }

 private:
  struct region {
    ggas_region handle;
    uint64_t bytes;
    bool bound;
  };
  using regions = std::multimap<uintptr_t, region>;

  static void store(void* self, volatile void* to, const void* from, uint32_t bytes);
  static uint64_t load(void* self, const volatile void* from);
  [[noreturn]] void gone() const;
  ggas_rc refused(const std::string& what, int error);
  ggas_rc guard_all(const ggas_context& c);
  void end(const regions::value_type& r);
  regions::const_iterator find(uintptr_t at, uint64_t bytes) const;

  std::string path_;
  ggas_device nic_{.fd = -1, .node = 0, .nodes = 0, .contexts = 0, .clock_khz = 0, .window_bytes = 0};
  int domain_ = 0;
  unsigned domain_number_ = 0;
  ggas_rma_io io_{};
  std::atomic<bool> lost_{false};
  std::array<ggas_context, nic::contexts + 1> contexts_{};
  size_t begun_ = 0;
  regions regions_;  // by address; memory of the user may be in several
};

}  // namespace ggas::library::hw
