// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/guest_port.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/nic/tlp_rules.hpp"

namespace ggas::device {

namespace {

// As many of `left` bytes from `at` as one request may hold.
uint32_t piece(uint64_t at, uint64_t left, unsigned limit) {
  const uint64_t start = at & 3;  // a request of n DWs may begin inside the first
  return uint32_t(std::min<uint64_t>({left, nic::page_bytes - at % nic::page_bytes, limit - start}));
}

}  // namespace

guest_port::guest_port(sc_core::sc_module_name name, const guest_port_config& cfg, guest& owner)
    : sc_module(name),
      cfg_(cfg),
      owner_(owner),
      port_("port", cfg.port),
      requester_("requester", port_, {.id = cfg.id, .tags = 32, .timeout_ps = cfg.read_timeout_ps}),
      answers_("answers", [this](pcie::tlp&& completion) { port_.send(std::move(completion)); }) {
  port_.on_receive = [this](pcie::tlp& t) { return receive(t); };
}

void guest_port::write(unsigned bar, uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const uint32_t n = piece(offset, bytes.size(), cfg_.mps);
    port_.send(pcie::memory_write(bar_address(bar) + offset, bytes.first(n), cfg_.id));
    bytes = bytes.subspan(n);
    offset += n;
  }
}

void guest_port::read(unsigned bar, uint64_t offset, uint32_t bytes, std::function<void(std::vector<std::byte>)> done) {
  struct whole {
    std::vector<std::byte> bytes;
    size_t left;
    std::function<void(std::vector<std::byte>)> done;
  };
  auto all = std::make_shared<whole>(std::vector<std::byte>(bytes, std::byte{0xff}), bytes, std::move(done));
  for (uint32_t at = 0; at < bytes;) {
    const uint32_t n = piece(offset + at, bytes - at, cfg_.mps);
    const unsigned lead = (offset + at) & 3;
    requester_.read(pcie::memory_read(bar_address(bar) + offset + at, n, 0, 0), [all, at, n, lead](auto&& r) {
      if (r.ok())
        for (uint32_t i = 0; i < n; ++i) all->bytes[at + i] = std::byte(r.dws[(lead + i) / 4] >> 8 * ((lead + i) % 4));
      all->left -= n;
      if (all->left == 0) all->done(std::move(all->bytes));
    });
    at += n;
  }
}

bool guest_port::receive(pcie::tlp& t) {
  if (t.completion())
    requester_.complete(t);
  else
    from_nic(t);
  return true;
}

void guest_port::from_nic(const pcie::tlp& t) {
  if (!owner_.may_access()) {
    ++stats_.refused;
    if (t.non_posted()) complete(t, std::nullopt);
  } else if (t.kind == pcie::tlp_kind::mwr && t.addr == interrupt_address) {
    ++stats_.interrupts;
    owner_.interrupt(t.data[0]);
  } else if (t.kind == pcie::tlp_kind::mwr) {
    memory_write(t);
  } else if (t.kind == pcie::tlp_kind::mrd) {
    memory_read(t);
  } else if (t.non_posted()) {
    complete(t, std::nullopt);
  }
}

// The enabled bytes of a write lie together: the NIC's writes have no holes.
void guest_port::memory_write(const pcie::tlp& t) {
  std::vector<std::byte> bytes;
  uint64_t first = 0;
  pcie::for_each_byte(t, [&](uint64_t a, std::byte b) {
    if (bytes.empty()) first = a;
    bytes.push_back(b);
  });
  if (!bytes.empty() && !t.poisoned && !owner_.write(first, bytes)) ++stats_.strays;
}

void guest_port::memory_read(const pcie::tlp& t) {
  owner_.read(pcie::first_byte_address(t), pcie::enabled_bytes(t), [this, t](auto bytes) {
    if (!bytes) ++stats_.strays;
    complete(t, std::move(bytes));
  });
}

void guest_port::complete(const pcie::tlp& t, std::optional<std::vector<std::byte>> bytes) {
  const uint64_t due = pcie::now_ps() + cfg_.memory_latency_ps;
  if (!bytes || bytes->size() != pcie::enabled_bytes(t)) {
    answers_.push_at(due, pcie::error_completion(t, pcie::cpl_status::ur, cfg_.id));
    return;
  }
  std::vector<uint32_t> dws(t.len_dw);
  const uint64_t lead = pcie::first_byte_address(t) - t.addr;
  for (size_t i = 0; i < bytes->size(); ++i) dws[(lead + i) / 4] |= uint32_t((*bytes)[i]) << 8 * ((lead + i) % 4);
  for (pcie::tlp& c : pcie::read_completions(t, dws, cfg_.mps, cfg_.rcb, cfg_.id)) answers_.push_at(due, std::move(c));
}

}  // namespace ggas::device
