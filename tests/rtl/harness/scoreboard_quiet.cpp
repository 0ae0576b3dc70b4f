// SPDX-License-Identifier: Apache-2.0
// The scoreboard: what a quiet promises, looked at where the writes leave the NIC.
#include "ggas_regs.h"
#include "tests/rtl/harness/scoreboard.hpp"

namespace ggas::test {

using pcie::cpl_status;
using pcie::tlp;

std::optional<nic::reference_model::exported> scoreboard::export_at(uint64_t bus) const {
  for (unsigned i = 0; i < GGAS_EXPORT_NUM; ++i)
    if (const auto e = model_.export_of(i); e && bus - e->base < e->size) return e;
  return std::nullopt;
}

// The empty read of an export, for a quiet of this host or of another node.
void scoreboard::flush_out(const tlp& t) {
  const auto e = export_at(t.addr);
  if (!e || e->base != t.addr) return fail_.add("empty read at {:#x}, where no export begins", t.addr);
  bool wanted = !host_quiets_.empty();
  flush& x = flushes_[t.tag] = {e->base, e->size, {}};
  for (const auto& [source, f] : flows_) {
    x.after_writes[source] = f.writes_seen;
    wanted |= !f.quiets.empty();
  }
  if (!wanted) fail_.add("empty read at {:#x} without a quiet", t.addr);
}

// A completion of a flush; false: it is none.
bool scoreboard::flushed(const tlp& t) {
  const auto it = flushes_.find(t.tag);
  if (it == flushes_.end()) return false;
  const flush x = std::move(it->second);
  flushes_.erase(it);
  for (auto& [source, f] : flows_) {
    const auto before = x.after_writes.find(source);
    if (t.status != cpl_status::sc || before == x.after_writes.end()) continue;
    std::erase_if(f.unflushed, [&](const auto& w) { return w.second <= before->second && w.first - x.base < x.size; });
  }
  return true;
}

// The NIC says that the first `writes` DWs of a node's stores are visible here.
void scoreboard::check_visible(uint16_t source, uint64_t writes) {
  const flow& f = flows_[source];
  if (f.writes_seen < writes) fail_.add("quiet of node {} passed {} DW of writes", source, writes - f.writes_seen);
  if (!f.unflushed.empty() && f.unflushed.front().second <= writes)
    fail_.add("quiet of node {}: the write to {:#x} was not flushed", source, f.unflushed.front().first);
}

}  // namespace ggas::test
