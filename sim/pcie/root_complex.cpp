// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie/root_complex.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace ggas::pcie {

root_complex::root_complex(sc_core::sc_module_name name, const root_complex_config& cfg, mem::sparse_memory& memory)
    : router(name, cfg.router),
      cfg_(cfg),
      memory_(memory),
      pipe_("memory_pipe", [this](memory_answer&& a) { answer(a.to, std::move(a.completion)); }) {}

bool root_complex::local_request(unsigned from, tlp& t) {
  const uint64_t bytes = 4ull * t.len_dw;
  if (t.kind == tlp_kind::mwr && t.addr - cfg_.msi_base < cfg_.msi_bytes) {
    if (on_msi && !t.poisoned) on_msi(t.addr, t.data[0]);
    return true;
  }
  const uint64_t offset = t.addr - cfg_.memory_base;
  const bool hit = offset < cfg_.memory_bytes && bytes <= cfg_.memory_bytes - offset;
  if (!hit || (t.kind != tlp_kind::mrd && t.kind != tlp_kind::mwr)) return false;
  memory_access(from, t);
  return true;
}

// When the memory has moved so many bytes more.
uint64_t root_complex::memory_slot(uint64_t bytes) {
  memory_bytes_ += bytes;
  const uint64_t start = std::max(now_ps(), memory_free_ps_);
  if (cfg_.memory_bytes_per_second > 0) memory_free_ps_ = start + uint64_t(bytes * 1e12 / cfg_.memory_bytes_per_second);
  return start;
}

void root_complex::memory_write(const tlp& t) {
  const uint64_t offset = t.addr - cfg_.memory_base;
  if (t.first_be == 0xf && (t.len_dw == 1 || t.last_be == 0xf))
    memory_.write(offset, std::as_bytes(std::span(t.data.data(), t.len_dw)));
  else
    for_each_byte(t, [&](uint64_t a, std::byte b) { memory_.write(a - cfg_.memory_base, {&b, 1}); });
  if (on_memory_write) on_memory_write(offset, 4ull * t.len_dw);
}

// A write is visible as soon as it arrives, so a read after it sees it.
void root_complex::memory_access(unsigned from, tlp& t) {
  const uint64_t start = memory_slot(4ull * t.len_dw);
  if (t.kind == tlp_kind::mwr) {
    if (!t.poisoned) memory_write(t);
    return;
  }
  std::vector<uint32_t> dws(t.len_dw);
  memory_.read(t.addr - cfg_.memory_base, std::as_writable_bytes(std::span(dws)));
  for (tlp& c : read_completions(t, dws, cfg_.mps, cfg_.rcb, cfg_.router.id))
    pipe_.push_at(start + cfg_.memory_latency_ps, {from, std::move(c)});
}

}  // namespace ggas::pcie
