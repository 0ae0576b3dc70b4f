// SPDX-License-Identifier: Apache-2.0
#include "sim/gpu/host_interface.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ggas::gpu {

using pcie::fc;
using pcie::now_ps;

namespace {
// Packets a sender keeps in the port's transmit queue: one on the wire, one after it.
constexpr size_t port_queue = 2;

void notify_at(pcie::timer& e, uint64_t at) {
  e.notify(sc_core::sc_time::from_value(at > now_ps() ? at - now_ps() : 0));
}
}  // namespace

host_interface::host_interface(sc_core::sc_module_name name, const gpu_config& cfg, uint16_t bus_id,
                               const pcie::port_config& port)
    : sc_module(name),
      link("link", port),
      l2(cfg),
      cfg_(cfg),
      id_(bus_id),
      requester_("reads", link,
                 {.id = bus_id, .tags = cfg.outstanding_reads, .timeout_ps = cfg.read_timeout_us * 1'000'000ull}) {
  link.on_receive = [this](pcie::tlp& t) { return receive(t); };
  link.on_sent = [this](fc) { pump_out(); };
}

// ------------------------------------------------------------------------------------------------ out

void host_interface::store(uint64_t bus, std::span<const std::byte> bytes, store_owner* owner) {
  ++stores_inside_;
  enter({now_ps() + cfg_.egress_ns * 1000ull, pcie::memory_write(bus, bytes, id_), owner, {}});
}

void host_interface::read(uint64_t bus, uint32_t bytes, pcie::requester::done done) {
  enter({now_ps() + cfg_.egress_ns * 1000ull, pcie::memory_read(bus, bytes, id_, 0), nullptr, std::move(done)});
}

void host_interface::enter(outbound&& o) {
  out_.push_back(std::move(o));
  if (out_.size() == 1) notify_at(out_event_, out_.front().at);
}

// Stores wait here while the port's queue is full, and block later requests. So a thread's read stays after its stores.
void host_interface::pump_out() {
  if (pumping_) return;
  pumping_ = true;
  bool freed = false;
  while (!out_.empty() && out_.front().at <= now_ps()) {
    const bool posted = out_.front().packet.posted();
    if (posted && link.tx_pending(fc::p) >= port_queue) break;
    outbound o = std::move(out_.front());
    out_.pop_front();
    if (posted) {
      --stores_inside_;
      ++stats_.stores;
      stats_.host_stores += o.packet.addr < host_end_;
      freed = true;
      link.send(std::move(o.packet));
      if (o.owner) o.owner->store_handed();
    } else {
      ++stats_.reads;
      stats_.host_reads += o.packet.addr < host_end_;
      requester_.read(std::move(o.packet), std::move(o.done));
      stats_.most_reads = std::max(stats_.most_reads, requester_.outstanding());
    }
  }
  if (!out_.empty() && out_.front().at > now_ps()) notify_at(out_event_, out_.front().at);
  pumping_ = false;
  if (freed && on_room) on_room();
}

void host_interface::flush(std::function<void(bool)> done) {
  flush_next_.push_back(std::move(done));
  if (flushing_.empty()) start_flush();
}

void host_interface::start_flush() {
  flushing_ = std::exchange(flush_next_, {});
  ++stats_.flushes;
  read(flush_bus_, 0, [this, epoch = epoch_](pcie::read_result&& r) {
    if (epoch != epoch_) return;
    const auto waiting = std::exchange(flushing_, {});
    if (!flush_next_.empty()) start_flush();
    for (const auto& f : waiting) f(r.ok());
  });
}

void host_interface::forget() {
  ++epoch_;
  flushing_.clear();
  flush_next_.clear();
  for (outbound& o : out_) o.owner = nullptr;
}

// ------------------------------------------------------------------------------------------------ in

bool host_interface::receive(pcie::tlp& t) {
  if (!t.completion()) return receive_request(t);
  requester_.complete(t);
  stats_.most_reads = std::max(stats_.most_reads, requester_.outstanding());
  return true;
}

// Where the first DW of a request lies; null: outside of what is exported.
std::byte* host_interface::exported(const pcie::tlp& t) const {
  for (const exported_memory& m : exports_)
    if (t.addr >= m.bus && t.addr - m.bus + 4ull * t.len_dw <= m.bytes.size()) return m.bytes.data() + (t.addr - m.bus);
  return nullptr;
}

bool host_interface::receive_request(pcie::tlp& t) {
  const bool read = t.kind == pcie::tlp_kind::mrd;
  if (read && reads_.size() >= cfg_.bar_reads) return false;
  if (!exported(t) || (!read && t.kind != pcie::tlp_kind::mwr)) {
    ++stats_.unmapped;
    if (t.non_posted()) link.send(pcie::error_completion(t, pcie::cpl_status::ur, id_));
    return true;
  }
  auto& queue = read ? reads_ : writes_;
  const uint64_t at = read ? read_time(t) : write_time(t);
  queue.push_back({at, std::move(t)});
  if (queue.size() == 1) notify_at(read ? read_event_ : write_event_, at);
  return true;
}

// A write is visible after its latency, or when L2 has taken it, after all that came there before.
uint64_t host_interface::write_time(const pcie::tlp& t) {
  return std::max<uint64_t>(now_ps() + cfg_.bar_ns * 1000ull, l2.reserve(4ull * t.len_dw));
}

// When a read's data is at the port: after its latency, the writes before it and the reads in the same path.
uint64_t host_interface::read_time(const pcie::tlp& t) {
  const uint64_t there_ps = cfg_.bar_ns * 1000ull;
  uint64_t at = std::max<uint64_t>(now_ps() + there_ps, l2.reserve(4ull * t.len_dw)) + there_ps;
  if (!writes_.empty()) at = std::max(at, writes_.back().at);
  if (cfg_.bar_read_bytes_per_second > 0) {
    bar_path_free_ps_ =
        std::max(bar_path_free_ps_, now_ps()) + uint64_t(4.0 * t.len_dw * 1e12 / cfg_.bar_read_bytes_per_second);
    at = std::max<uint64_t>(at, bar_path_free_ps_ + cfg_.bar_ns * 2000ull);
  }
  if (!reads_.empty()) at = std::max(at, reads_.back().at);
  return at;
}

void host_interface::bring_in(uint64_t ps) {
  const uint64_t kept_ps = cfg_.l2_latency_ns > cfg_.bar_ns ? (cfg_.l2_latency_ns - cfg_.bar_ns) * 1000ull : 0;
  while (!late_writes_.empty() && late_writes_.front().at + kept_ps < now_ps()) late_writes_.pop_front();
  for (; !writes_.empty() && writes_.front().at <= ps; writes_.pop_front()) {
    apply(writes_.front().packet);
    if (kept_ps) late_writes_.push_back(std::move(writes_.front()));
  }
}

void host_interface::add_writes_since(uint64_t ps, std::span<const std::byte> there, std::span<std::byte> data) const {
  for (const inbound& w : late_writes_) {
    if (w.at < ps + cfg_.bar_ns * 1000ull || w.at > now_ps() || w.packet.poisoned) continue;
    const std::byte* const base = exported(w.packet);
    if (base + 4ull * w.packet.len_dw <= there.data() || there.data() + there.size() <= base) continue;
    pcie::for_each_byte(w.packet, [&](uint64_t addr, std::byte v) {
      const std::byte* const at = base + (addr - w.packet.addr);
      if (at >= there.data() && at < there.data() + there.size()) data[size_t(at - there.data())] = v;
    });
  }
}

void host_interface::pump_writes() {
  bring_in(now_ps());
  if (!writes_.empty()) notify_at(write_event_, writes_.front().at);
}

// Which of two processes runs first at the same time is not defined: writes that are due now always go first.
void host_interface::pump_reads() {
  pump_writes();
  while (!reads_.empty() && reads_.front().at <= now_ps()) {
    answer(reads_.front().packet);
    reads_.pop_front();
  }
  if (!reads_.empty()) notify_at(read_event_, reads_.front().at);
  link.resume();
}

void host_interface::apply(const pcie::tlp& w) {
  if (w.poisoned) {
    ++stats_.poisoned;
    return;
  }
  ++stats_.bar_writes;
  std::byte* const base = exported(w);
  if (w.first_be == 0xf && (w.len_dw == 1 || w.last_be == 0xf)) {
    std::memcpy(base, w.data.data(), 4ull * w.len_dw);
    return;
  }
  pcie::for_each_byte(w, [&](uint64_t addr, std::byte v) { base[addr - w.addr] = v; });
}

void host_interface::answer(const pcie::tlp& r) {
  ++stats_.bar_reads;
  std::vector<uint32_t> dws(r.len_dw);
  std::memcpy(dws.data(), exported(r), 4ull * r.len_dw);
  for (pcie::tlp& c : pcie::read_completions(r, dws, cfg_.bar_completion_bytes, cfg_.bar_completion_bytes, id_))
    link.send(std::move(c));
}

void attach(host_interface& host, const surroundings& s) {
  for (const own_memory& m : s.own) host.export_memory(m.bus, {m.base, m.bus_bytes});
  host.flush_address(s.flush_address);
  host.host_memory_end(s.host_memory_bytes);
}

}  // namespace ggas::gpu
