// SPDX-License-Identifier: Apache-2.0
// All inputs of a run and all actions of the NICs, as lines of text (docs/drivers.md). Lines with inputs begin with "@"
// and the simulated time; a run is repeated from them alone, and its log is the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/nic/nic_core.hpp"
#include "sim/pcie/tlp.hpp"
#include "sim/trace/one_writer.hpp"

namespace ggas::device {

class tlp_log {
 public:
  // `header`: how the rig was made. `now_ps`: the simulated time.
  static std::expected<std::unique_ptr<tlp_log>, std::string> open(const std::filesystem::path& path,
                                                                   const std::string& header,
                                                                   std::function<uint64_t()> now_ps);
  ~tlp_log();

  // ---- what comes from outside
  void access(unsigned node, unsigned bar, uint64_t offset, std::span<const std::byte> written);
  void access(unsigned node, unsigned bar, uint64_t offset, uint32_t bytes_to_read);
  void reset(unsigned node);
  void master(unsigned node, bool may_access);
  void cable(bool in);  // of node 0, to node 1
  void guest_write(unsigned node, uint64_t address, bool mapped);
  // What the NIC read: at once, or `late`, as an answer from outside.
  void guest_memory(unsigned node, uint64_t address, const std::vector<std::byte>* read, bool late);

  void end();  // after it nothing happened

  // ---- what the NICs did, with the number of the clock edge
  void tlp(unsigned node, const pcie::tlp& t, bool to_nic, uint64_t edge);
  void flit(unsigned node, const nic::flit& f, bool to_nic, unsigned data_width, uint64_t edge);

  // The error: the file is not whole.
  std::expected<void, std::string> finish();

 private:
  tlp_log(std::filesystem::path path, trace::one_writer only, std::FILE* f, std::function<uint64_t()> now_ps)
      : path_(std::move(path)), only_(std::move(only)), file_(f), now_ps_(std::move(now_ps)) {}
  void line(const std::string& text);

  std::filesystem::path path_;
  trace::one_writer only_;
  std::FILE* file_;
  std::function<uint64_t()> now_ps_;
};

}  // namespace ggas::device
