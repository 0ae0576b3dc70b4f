// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/one_sided/one_sided.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ggas::bench {

using place = queue_config::place;

const controller controllers[7] = {
    {"host", true, true, control::notify, place::gpu, place::none, 1},
    {"host_assisted", true, true, control::assisted, place::gpu, place::none, 1},
    {"gpu_notify_host", false, true, control::old_way, place::host, place::none, 1},
    {"gpu_notify_gpu", false, false, control::notify, place::gpu, place::none, 32},
    {"gpu_poll", false, false, control::poll, place::gpu, place::none, 32},
    {"queue_host", false, true, control::notify, place::host, place::host, 32},
    {"queue_gpu", false, true, control::notify, place::gpu, place::gpu, 32},
};

const controller& find_controller(std::string_view name) {
  return *std::find_if(std::begin(controllers), std::end(controllers),
                       [&](const controller& c) { return name == c.name; });
}

queue_config controller::queues(int count) const {
  queue_config q;
  q.count = count;
  q.host_count = by_host ? count : 1;
  q.notifications = q.status = rings;
  q.work_queue = work_queue;
  return q;
}

namespace {
constexpr int original_mhz = 157;
bool sets_clock(const session& s) {
  const auto& all = s.opts().cluster.overrides;
  return std::any_of(all.begin(), all.end(), [](const std::string& o) { return o.starts_with("nic.clock_mhz"); });
}
}  // namespace

std::vector<std::string> measured_clock(const session& s) {
  if (!s.opts().cluster.platform.starts_with("galibier-k20") || !s.simulated() || sets_clock(s)) return {};
  return {fmt::format("nic.clock_mhz={}", original_mhz)};
}

nlohmann::ordered_json with_clock(const session& s, nlohmann::ordered_json params) {
  if (!measured_clock(s).empty()) params["clock_mhz"] = original_mhz;
  return params;
}

bool published_conditions(const session& s) { return s.calibrated(); }

// ---------------------------------------------------------------------------------------------- buffers

plan_of_buffers plan_buffers(session& s, size_t bytes, size_t samples, size_t blocks) {
  plan_of_buffers p;
  p.bytes = bytes;
  layout_plan room(s.data_offset());
  p.args.source = room.place<std::byte>(bytes);
  p.args.target = room.place<std::byte>(bytes);
  p.args.flag = room.place<uint64_t>(blocks);
  p.args.outcomes = room.place<outcome>(blocks);
  p.args.samples = room.place<uint64_t>(samples);
  p.args.seed = s.opts().cluster.seed;
  p.args.timeout_ns = s.opts().timeout_ns / 4;
  return p;
}

size_t room_for(size_t bytes, size_t samples, size_t blocks) {
  return 2 * bytes + samples * sizeof(uint64_t) + blocks * (sizeof(outcome) + sizeof(uint64_t)) + 8192;
}

uint64_t* host_word(session& s, int node) { return reinterpret_cast<uint64_t*>(s.machine().host_memory(node).base); }

void fill_buffers(session& s, const plan_of_buffers& p, uint64_t round) {
  for (int node = 0; node < s.nodes(); ++node) {
    uint64_t* const from = at_offset<uint64_t>(s, node, p.args.source);
    for (size_t i = 0; i < p.bytes / 8; ++i) from[i] = pattern(p.args.seed, round, i);
    std::fill_n(at_offset<uint64_t>(s, node, p.args.target), p.bytes / 8, 0);
  }
}

result<> check_target(session& s, int node, uint64_t offset, size_t bytes, uint64_t round, const std::string& what) {
  const uint64_t* const to = at_offset<uint64_t>(s, node, offset);
  size_t wrong = 0;
  for (size_t i = 0; i < bytes / 8; ++i) wrong += to[i] != pattern(s.opts().cluster.seed, round, i) ? 1 : 0;
  if (wrong == 0) return {};
  return failed(errc::device_fault,
                fmt::format("{}: node {}: verification failed, {} of {} words wrong", what, node, wrong, bytes / 8));
}

// ---------------------------------------------------------------------------------------------- costs on PCIe

void pcie_meter::begin() {
  const auto now = session_.machine().counters(0);
  for (int i = 0; i < 3; ++i) before_[i] = now.contains(names[i]) ? now.at(names[i]) : 0;
}

void pcie_meter::end(uint64_t messages) {
  const auto now = session_.machine().counters(0);
  for (int i = 0; i < 3; ++i) sum_[i] += now.contains(names[i]) ? now.at(names[i]) - before_[i] : 0;
  messages_ += messages;
}

void pcie_meter::emit(const std::string& variant, const nlohmann::ordered_json& params) {
  static constexpr const char* metrics[3] = {"gpu_instructions", "gpu_pcie_reads", "gpu_pcie_writes"};
  if (sum_[0] == 0) return;
  for (int i = 0; i < 3; ++i) {
    record r = session_.begin(variant, metrics[i], "1");
    r.params = params;
    r.value = static_cast<double>(sum_[i]) / static_cast<double>(messages_);
    r.n = messages_;
    session_.emit(std::move(r));
  }
}

// ---------------------------------------------------------------------------------------------- bounds

std::optional<limit> payload_bound(const session& s, size_t bytes, bool peer_read) {
  cluster_config cfg = s.opts().cluster;
  for (std::string& o : measured_clock(s)) cfg.overrides.push_back(std::move(o));
  const auto l = find_limits(cfg);
  if (!l || !l->known) return std::nullopt;
  const auto packet = static_cast<unsigned>(std::min<size_t>(bytes, l->mtu_bytes));
  const double link = l->payload_bytes_per_s(packet), peer = l->peer_read_bytes_per_s;
  if (peer_read && peer > 0 && peer < link)
    return limit{peer, true, "reads of the GPU's memory through the root complex"};
  return limit{link, true, fmt::format("link payload: {} flits for {} bytes", l->flits(packet), packet)};
}

}  // namespace ggas::bench
