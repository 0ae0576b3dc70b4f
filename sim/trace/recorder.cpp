// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/nic/packet.hpp"

namespace ggas::trace {

namespace {

// Tracks of a node's process.
enum : unsigned { track_gpu_tx = 1, track_nic_rx, track_link_tx, track_link_rx, track_nic_tx, track_gpu_rx };

// How far a message has come.
enum : unsigned { at_gpu = 1, at_nic, on_link, at_target_nic, at_target };

constexpr size_t most_dws = 2048;       // of a packet that never ends
constexpr size_t messages_kept = 4096;  // per path; older ones lost their way (dropped, unmapped)

unsigned track_of(place p) {
  switch (p) {
    case place::gpu_to_host:
      return track_gpu_tx;
    case place::host_to_nic:
      return track_nic_rx;
    case place::nic_to_host:
      return track_nic_tx;
    case place::host_to_gpu:
      return track_gpu_rx;
  }
  return 0;
}

const char* kind_name(pcie::tlp_kind k) {
  static constexpr const char* names[] = {"MRd", "MWr", "Cpl", "CplD", "Msg", "other"};
  return names[unsigned(k) % 6];
}

}  // namespace

std::expected<std::unique_ptr<recorder>, std::string> recorder::open(const recorder_config& cfg) {
  std::unique_ptr<recorder> r(new recorder(cfg));
  if (!cfg.trace.empty()) {
    auto w = chrome_writer::open(cfg.trace);
    if (!w) return std::unexpected(w.error());
    r->trace_ = std::move(*w);
  }
  if (!cfg.pcap.empty()) {
    auto w = pcapng_writer::open(cfg.pcap);
    if (!w) return std::unexpected(w.error());
    r->pcap_ = std::move(*w);
  }
  return r;
}

void recorder::power(power_track::meter m) {
  if (trace_) power_ = std::make_unique<power_track>(*trace_, std::move(m));
}

std::expected<void, std::string> recorder::finish() {
  if (power_) power_->finish();
  const auto trace = trace_ ? trace_->finish() : std::expected<void, std::string>();
  const auto pcap = pcap_ ? pcap_->finish() : std::expected<void, std::string>();
  if (!trace && !pcap) return std::unexpected(trace.error() + "\n" + pcap.error());
  return trace ? pcap : trace;
}

void recorder::node(unsigned n, const node_map& map) {
  node_state s{.map = map, .incoming = {}};
  const auto name = [n](const char* what) { return fmt::format("node{} {}", n, what); };
  if (pcap_) {
    s.link_tx = pcap_->add_interface(name("link tx"), link_type::packet);
    s.link_rx = pcap_->add_interface(name("link rx"), link_type::packet);
    s.host_tx = pcap_->add_interface(name("host tx"), link_type::tlp);
    s.host_rx = pcap_->add_interface(name("host rx"), link_type::tlp);
  }
  if (trace_) {
    trace_->name_process(n, fmt::format("node {}", n));
    static constexpr const char* tracks[] = {"",        "GPU to host", "host to NIC", "link out",
                                             "link in", "NIC to host", "host to GPU"};
    for (unsigned t = track_gpu_tx; t <= track_gpu_rx; ++t) trace_->name_track(n, t, tracks[t]);
  }
  nodes_.push_back(std::move(s));
}

// ------------------------------------------------------------------------------------------------ following

recorder::message* recorder::find(const path_key& path, uint64_t offset, unsigned seen_below) {
  const auto it = messages_.find(path);
  if (it == messages_.end()) return nullptr;
  for (message& m : it->second)
    if (offset >= m.first && offset <= m.last && m.seen <= seen_below) return &m;
  return nullptr;
}

// A request to the window: the message begins, or reaches its NIC.
std::optional<std::pair<flow, uint64_t>> recorder::follow_window(unsigned n, place where, const pcie::tlp& t) {
  const node_map& map = nodes_[n].map;
  const uint64_t offset = t.addr - map.window_base;
  const path_key path{n, unsigned(offset / map.stride), t.kind == pcie::tlp_kind::mrd};
  if (path.dst >= nodes_.size()) return std::nullopt;  // for a group
  const uint64_t at = offset % map.stride;
  message* m = where == place::host_to_nic ? find(path, at, at_gpu) : nullptr;
  const bool begins = !m;
  if (begins) {
    auto& list = messages_[path];
    if (list.size() >= messages_kept) list.pop_front();
    m = &list.emplace_back(message{next_id_++, at, at + 4ull * t.len_dw - 1, at_gpu});
  }
  if (where == place::host_to_nic) m->seen = at_nic;
  if (path.load) reads_[{n, t.requester, t.tag}] = m->id;
  return std::pair(begins ? flow::begin : flow::step, m->id);
}

// A request of a NIC to its own segment, on behalf of another node.
std::optional<std::pair<flow, uint64_t>> recorder::follow_segment(unsigned n, place where, const pcie::tlp& t) {
  const uint64_t offset = t.addr - nodes_[n].map.segment_base;
  const bool load = t.kind == pcie::tlp_kind::mrd;
  for (unsigned src = 0; src < nodes_.size(); ++src) {
    const path_key path{src, n, load};
    message* m = find(path, offset, where == place::nic_to_host ? at_target_nic : at_target);
    if (!m) continue;
    m->seen = std::max<unsigned>(m->seen, where == place::nic_to_host ? at_target_nic : at_target);
    const uint64_t id = m->id;
    if (load) reads_[{n, t.requester, t.tag}] = id;
    const bool reached_end = offset + 4ull * t.len_dw - 1 >= m->last;
    const bool last_place =
        where == place::host_to_gpu || nodes_[n].map.segment_base < (1ull << 32);  // host memory: no wire after
    if (!load && reached_end && last_place) {
      std::erase_if(messages_[path], [id](const message& x) { return x.id == id; });
      return std::pair(flow::end, id);
    }
    return std::pair(flow::step, id);
  }
  return std::nullopt;
}

std::optional<std::pair<flow, uint64_t>> recorder::follow_completion(unsigned n, place where, const pcie::tlp& t) {
  const auto it = reads_.find({n, t.requester, t.tag});
  if (it == reads_.end()) return std::nullopt;
  const uint64_t id = it->second;
  const bool last = where == place::host_to_gpu && t.byte_count <= 4u * t.len_dw;
  if (!last) return std::pair(flow::step, id);
  reads_.erase(it);
  for (auto& [path, list] : messages_)
    if (path.src == n && path.load) std::erase_if(list, [id](const message& x) { return x.id == id; });
  return std::pair(flow::end, id);
}

std::optional<std::pair<flow, uint64_t>> recorder::follow(unsigned n, place where, const pcie::tlp& t) {
  const node_map& map = nodes_[n].map;
  if (t.completion()) return follow_completion(n, where, t);
  if (t.kind != pcie::tlp_kind::mrd && t.kind != pcie::tlp_kind::mwr) return std::nullopt;
  const bool outbound = where == place::gpu_to_host || where == place::host_to_nic;
  if (outbound && t.addr - map.window_base < map.window_bytes) return follow_window(n, where, t);
  if (!outbound && t.addr - map.segment_base < map.segment_bytes) return follow_segment(n, where, t);
  return std::nullopt;
}

void recorder::tlp(unsigned n, place where, const pcie::tlp& t, uint64_t start_ps, uint64_t end_ps) {
  if (pcap_ && (where == place::host_to_nic || where == place::nic_to_host))
    pcap_->write(where == place::host_to_nic ? nodes_[n].host_rx : nodes_[n].host_tx, start_ps, tlp_bytes(t));
  if (power_) power_->seen(n, start_ps);
  if (!trace_) return;
  const auto f = follow(n, where, t);
  const std::string args =
      t.completion() ? fmt::format(R"("tag":{},"bytes":{},"status":{})", t.tag, 4 * t.len_dw, unsigned(t.status))
                     : fmt::format(R"("addr":"{:#x}","bytes":{},"tag":{})", t.addr, 4 * t.len_dw, t.tag);
  trace_->slice(n, track_of(where), fmt::format("{} {} B", kind_name(t.kind), 4 * t.len_dw), start_ps, end_ps, args,
                f ? f->first : flow::none, f ? f->second : 0);
}

// ------------------------------------------------------------------------------------------------ link

void recorder::flit(unsigned from, unsigned to, const nic::flit& f, uint64_t start_ps, uint64_t end_ps) {
  assembly& a = nodes_[to].incoming;
  if (f.kind == nic::flit_kind::ctrl) return;
  if (f.kind == nic::flit_kind::sop) a = {.dws = {}, .start_ps = start_ps, .open = true};
  if (!a.open || a.dws.size() > most_dws) return;
  for (unsigned i = 0; i < cfg_.data_width / 32; ++i) a.dws.push_back(uint32_t(f.data[i / 2] >> 32 * (i & 1)));
  if (!nic::ends_packet(f, cfg_.data_width)) return;
  if (power_) power_->seen(to, start_ps);
  packet(from, to, a, end_ps);
  a.open = false;
}

// Also packets with a wrong CRC or length: a capture shows what was on the wire.
void recorder::packet(unsigned from, unsigned to, const assembly& a, uint64_t end_ps) {
  const auto read = nic::from_flits(a.dws, cfg_.data_width);
  if (!read) return;
  const nic::packet& p = *read;

  if (pcap_) {
    std::vector<uint32_t> image;
    for (uint32_t w : p.header()) image.push_back(w);
    image.insert(image.end(), p.data.begin(), p.data.end());
    image.push_back(a.dws.back());
    const auto* at = reinterpret_cast<const uint8_t*>(image.data());
    const std::vector<uint8_t> bytes(at, at + 4 * image.size());
    pcap_->write(nodes_[from].link_tx, a.start_ps, bytes);
    pcap_->write(nodes_[to].link_rx, end_ps, bytes);
  }
  if (!trace_) return;

  flow f = flow::none;
  uint64_t id = 0;
  if (p.is(nic::op::store) || p.is(nic::op::load)) {
    const bool load = p.is(nic::op::load);
    if (message* m = find({p.src, p.dst, load}, p.addr, on_link)) {
      m->seen = on_link;
      f = flow::step;
      id = m->id;
      if (load) loads_[{p.src, p.tag}] = id;
    }
  } else if (p.is(nic::op::load_rsp)) {
    if (const auto it = loads_.find({p.dst, p.tag}); it != loads_.end()) {
      f = flow::step;
      id = it->second;
    }
  }
  const unsigned dws = p.len_dw || p.one_sided() ? p.len_dw : p.req_dw;
  const std::string name = fmt::format("{} {} B", nic::to_text(nic::op(p.op & ~nic::op_multicast)), 4 * dws);
  const std::string args = p.one_sided() ? fmt::format(R"("seq":{},"addr":"{:#x}","context":{},"to":{},"flags":{})",
                                                       p.seq, p.addr, p.svpid(), p.dvpid(), p.flags())
                                         : fmt::format(R"("seq":{},"addr":"{:#x}","tag":{})", p.seq, p.addr, p.tag);
  trace_->slice(from, track_link_tx, name, a.start_ps, end_ps, args, f, id);
  trace_->slice(to, track_link_rx, name, a.start_ps, end_ps, args, f, id);
}

}  // namespace ggas::trace
