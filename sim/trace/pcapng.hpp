// SPDX-License-Identifier: Apache-2.0
// pcapng files. Link type USER0 carries network packets: the seven DWs of the header little-endian, the payload, the
// CRC-32; USER1 carries TLPs as PCIe lays them out (header DWs big-endian, payload bytes in address order). Dissector
// of both: sim/trace/ggas.lua.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/pcie/tlp.hpp"
#include "sim/trace/whole_file.hpp"

namespace ggas::trace {

enum class link_type : uint16_t { packet = 147, tlp = 148 };  // LINKTYPE_USER0, LINKTYPE_USER1

class pcapng_writer {
 public:
  static std::expected<std::unique_ptr<pcapng_writer>, std::string> open(const std::filesystem::path& file);

  // Interfaces are numbered from 0 in the order they are added.
  unsigned add_interface(const std::string& name, link_type type);
  void write(unsigned interface, uint64_t time_ps, std::span<const uint8_t> bytes);
  // Ends the file; nothing may follow. The error says that not everything is in it (a full disk).
  std::expected<void, std::string> finish() { return file_->finish(); }
  uint64_t packets() const { return packets_; }

 private:
  explicit pcapng_writer(std::unique_ptr<whole_file> f) : file_(std::move(f)) {}
  void block(uint32_t type, std::span<const uint8_t> body);

  std::unique_ptr<whole_file> file_;
  unsigned interfaces_ = 0;
  uint64_t packets_ = 0;
};

// A TLP as PCIe carries it, without framing, sequence number and LCRC.
std::vector<uint8_t> tlp_bytes(const pcie::tlp& t);

}  // namespace ggas::trace
