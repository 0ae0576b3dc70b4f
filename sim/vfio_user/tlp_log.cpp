// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/tlp_log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ggas::device {

namespace {

std::string hex(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string s;
  s.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    s += digits[unsigned(b) >> 4];
    s += digits[unsigned(b) & 15];
  }
  return s.empty() ? "-" : s;
}

const char* name(pcie::tlp_kind k) {
  static constexpr const char* names[] = {"MRd", "MWr", "Cpl", "CplD", "P", "NP"};
  return names[unsigned(k)];
}

}  // namespace

std::expected<std::unique_ptr<tlp_log>, std::string> tlp_log::open(const std::filesystem::path& path,
                                                                   const std::string& header,
                                                                   std::function<uint64_t()> now_ps) {
  auto only = trace::one_writer::of_file(path);
  if (!only) return std::unexpected(only.error());
  std::FILE* const f = fdopen(dup(only->descriptor()), "w");
  if (!f) return std::unexpected(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  std::unique_ptr<tlp_log> log(new tlp_log(path, std::move(*only), f, std::move(now_ps)));
  log->line(header);
  return log;
}

tlp_log::~tlp_log() { (void)finish(); }

std::expected<void, std::string> tlp_log::finish() {
  if (!file_) return {};
  const bool failed = std::ferror(file_) | std::fclose(std::exchange(file_, nullptr));
  if (failed) return std::unexpected(fmt::format("{}: not whole: {}", path_.string(), std::strerror(errno)));
  return {};
}

void tlp_log::line(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fputc('\n', file_);
}

void tlp_log::access(unsigned node, unsigned bar, uint64_t offset, std::span<const std::byte> written) {
  line(fmt::format("@{} {} write {} {:x} {}", now_ps_(), node, bar, offset, hex(written)));
}

void tlp_log::access(unsigned node, unsigned bar, uint64_t offset, uint32_t bytes) {
  line(fmt::format("@{} {} read {} {:x} {}", now_ps_(), node, bar, offset, bytes));
}

void tlp_log::reset(unsigned node) { line(fmt::format("@{} {} reset", now_ps_(), node)); }

void tlp_log::master(unsigned node, bool may_access) {
  line(fmt::format("@{} {} master {}", now_ps_(), node, int(may_access)));
}

void tlp_log::cable(bool in) { line(fmt::format("@{} 0 cable {}", now_ps_(), int(in))); }

void tlp_log::end() { line(fmt::format("@{} 0 end", now_ps_())); }

void tlp_log::guest_write(unsigned node, uint64_t address, bool mapped) {
  line(fmt::format("@{} {} store {:x} {}", now_ps_(), node, address, int(mapped)));
}

void tlp_log::guest_memory(unsigned node, uint64_t address, const std::vector<std::byte>* read, bool late) {
  line(fmt::format("@{} {} {} {:x} {}", now_ps_(), node, late ? "answer" : "memory", address,
                   read ? hex(*read) : "unmapped"));
}

void tlp_log::tlp(unsigned node, const pcie::tlp& t, bool to_nic, uint64_t edge) {
  line(fmt::format("{} {} {} {} {} {:x} {:x}.{:x} {} {} {}", edge, node, to_nic ? ">" : "<", name(t.kind), t.bar,
                   t.addr, t.first_be, t.last_be, t.tag, unsigned(t.status),
                   hex(std::as_bytes(std::span(t.data.data(), t.data.size())))));
}

void tlp_log::flit(unsigned node, const nic::flit& f, bool to_nic, unsigned data_width, uint64_t edge) {
  line(fmt::format("{} {} {} {} {}", edge, node, to_nic ? ">>" : "<<", unsigned(f.kind),
                   hex(std::as_bytes(std::span(f.data).first(data_width / 64)))));
}

}  // namespace ggas::device
