// SPDX-License-Identifier: Apache-2.0
#include "sim/cpu/cpu.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace ggas::cpu {

processor::processor(sc_core::sc_module_name name, const cpu_config& cfg)
    : sc_module(name),
      cfg_(cfg),
      port_("port"),
      requester_("requester", port_, {.id = cfg.id, .tags = 16, .timeout_ps = cfg.timeout_ps}),
      operations_("operations", [this](operation&& o) { issue(std::move(o)); }),
      agenda_("agenda") {
  port_.on_receive = [this](pcie::tlp& t) { return receive(t); };
}

void processor::store(uint64_t addr, uint64_t value, unsigned bytes) {
  ++stores_;
  auto t = pcie::memory_write(addr, std::as_bytes(std::span(&value, 1)).first(bytes), cfg_.id);
  operations_.push_at(pcie::now_ps() + cfg_.store_ps, {std::move(t), {}, bytes});
}

void processor::write(uint64_t addr, std::span<const std::byte> bytes) {
  const uint64_t at = pcie::now_ps() + cfg_.store_ps;
  while (!bytes.empty()) {
    const bool whole = addr % line_bytes == 0 && bytes.size() >= line_bytes;
    const unsigned piece = whole ? line_bytes : cfg_.combine_bytes;
    const size_t n = std::min<size_t>(bytes.size(), piece - addr % piece);
    ++stores_;
    operations_.push_at(at, {pcie::memory_write(addr, bytes.first(n), cfg_.id), {}, unsigned(n)});
    bytes = bytes.subspan(n);
    addr += n;
  }
}

void processor::load(uint64_t addr, unsigned bytes, std::function<void(std::optional<uint64_t>)> done) {
  ++loads_;
  operations_.push_at(pcie::now_ps() + cfg_.load_ps,
                      {pcie::memory_read(addr, bytes, cfg_.id, 0), std::move(done), bytes});
}

void processor::issue(operation&& o) {
  if (!o.done) {
    port_.send(std::move(o.request));
    return;
  }
  const auto lead = unsigned(pcie::first_byte_address(o.request) & 3);
  requester_.read(std::move(o.request), [this, lead, bytes = o.bytes, done = std::move(o.done)](pcie::read_result&& r) {
    if (!r.ok()) {
      ++load_errors_;
      done(std::nullopt);
      return;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
      value |= uint64_t(r.dws[(lead + i) / 4] >> 8 * ((lead + i) % 4) & 0xff) << 8 * i;
    done(value);
  });
}

bool processor::receive(pcie::tlp& t) {
  if (t.completion()) {
    requester_.complete(t);
    return true;
  }
  // Nothing of the processor is a target.
  ++unexpected_;
  if (t.non_posted()) port_.send(pcie::error_completion(t, pcie::cpl_status::ur, cfg_.id));
  return true;
}

}  // namespace ggas::cpu
