// SPDX-License-Identifier: Apache-2.0
#include "ggas/cluster.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "ggas/detail/platform/layout.hpp"
#include "userlib/cluster/providers.hpp"

namespace ggas {

using userlib::bad;
using userlib::provider;

namespace {

constexpr int most_nodes = 65536;  // node ids have 16 bits
constexpr size_t page = 4096;

// By the order of static initialisation, which is anyone's.
const provider*& first_provider() {
  static const provider* first = nullptr;
  return first;
}

std::string names_of_providers() {
  std::vector<std::string> names;
  for (const provider* p = first_provider(); p; p = p->next) names.emplace_back(p->name);
  std::ranges::sort(names);
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) all += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return all;
}

result<> check_queues(const queue_config& q) {
  struct {
    const char* name;
    unsigned value, least, most;
  } const rules[] = {
      {"count", static_cast<unsigned>(q.count), 0, 128},
      {"host_count", static_cast<unsigned>(q.host_count), 0, 128},
      {"notify_log2", q.notify_log2, 4, 16},
      {"slots_log2", q.slots_log2, 4, 16},
      {"mailbox_log2", q.mailbox_log2, 2, 12},
  };
  for (const auto& r : rules) {
    if (r.value < r.least || r.value > r.most) {
      return bad(std::string("queues.") + r.name + " = " + std::to_string(static_cast<int>(r.value)) + ": must be " +
                 std::to_string(r.least) + " ... " + std::to_string(r.most));
    }
  }
  return {};
}

error unsupported(const cluster& c, const std::string& what) {
  return {errc::unsupported, what + ": not with provider '" + c.config().provider + "'"};
}

}  // namespace

namespace userlib {

provider::provider(const char* its_name, maker its_make)
    : name(its_name), make(its_make), next(std::exchange(first_provider(), this)) {}

result<> check_config(const cluster_config& cfg) {
  if (cfg.nodes < 1 || cfg.nodes > most_nodes) {
    return bad("nodes = " + std::to_string(cfg.nodes) + ": must be 1 ... " + std::to_string(most_nodes));
  }
  if (cfg.segment_bytes % page != 0) {
    return bad("segment_bytes = " + std::to_string(cfg.segment_bytes) + ": must be a multiple of " +
               std::to_string(page));
  }
  const size_t least = layout::smallest_segment(static_cast<uint64_t>(cfg.nodes));
  if (cfg.segment_bytes < least) {
    return bad("segment_bytes = " + std::to_string(cfg.segment_bytes) + ": " + std::to_string(cfg.nodes) +
               " nodes need at least " + std::to_string(least) + " (the library's reserved area and a page)");
  }
  if (cfg.host_bytes % page != 0) {
    return bad("host_bytes = " + std::to_string(cfg.host_bytes) + ": must be a multiple of " + std::to_string(page));
  }
  if (!cfg.processes.alone()) return bad("processes: provider '" + cfg.provider + "' runs all nodes in one process");
  return check_queues(cfg.queues);
}

result<> check_node(const cluster& c, int node, const std::string& what) {
  if (c.local(node)) return {};
  if (node >= 0 && node < c.nodes())
    return bad(what + " on node " + std::to_string(node) + ": another process runs it");
  return bad(what + " on node " + std::to_string(node) + ": nodes are 0 ... " + std::to_string(c.nodes() - 1));
}

result<> check_copy(const cluster& c, int node, uint64_t offset, size_t bytes, const std::string& what) {
  if (auto ok = check_node(c, node, what); !ok) return ok;
  const size_t all = c.segment_bytes();
  if (bytes <= all && offset <= all - bytes) return {};
  return bad(what + ": " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
             " do not lie in segments of " + std::to_string(all));
}

result<> check_reach(cluster& c, int node, const void* p, size_t bytes, const std::string& what) {
  if (auto ok = check_node(c, node, what); !ok) return ok;
  const auto in = [&](const std::byte* base, size_t all) {
    const uint64_t offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(base);
    return base && offset <= all && bytes <= all - offset;
  };
  const host_region pinned = c.host_memory(node);
  if (in(c.segment(node), c.segment_bytes()) || in(pinned.base, pinned.bytes)) return {};
  return bad(what + " on node " + std::to_string(node) + ": " + std::to_string(bytes) +
             " bytes lie neither in its segment nor in its host_memory");
}

result<> check_program(const cluster& c, int node, const std::function<void(host&)>& program, const std::string& name) {
  if (auto ok = check_node(c, node, "program '" + name + "'"); !ok) return ok;
  if (!program) return bad("program '" + name + "': no function");
  return {};
}

bool checked_by_environment() {
  const char* const text = std::getenv("GGAS_CHECKED");
  return text && *text != 0 && std::string_view(text) != "0";
}

}  // namespace userlib

result<std::unique_ptr<cluster>> cluster::create(const cluster_config& cfg) {
  for (const provider* p = first_provider(); p; p = p->next)
    if (cfg.provider == p->name) return p->make(cfg);
  return bad("provider '" + cfg.provider + "': must be " + names_of_providers() +
             ", which is what this program is linked with");
}

bool cluster::local(int node) const { return std::ranges::find(local_nodes(), node) != local_nodes().end(); }

result<> cluster::write(int node, uint64_t offset, const void* from, size_t bytes) {
  if (auto ok = userlib::check_copy(*this, node, offset, bytes, "write"); !ok) return ok;
  std::memcpy(segment(node) + offset, from, bytes);
  return {};
}
result<> cluster::read(int node, uint64_t offset, void* to, size_t bytes) {
  if (auto ok = userlib::check_copy(*this, node, offset, bytes, "read"); !ok) return ok;
  std::memcpy(to, segment(node) + offset, bytes);
  return {};
}

cluster::cluster()
    : of_heaps_(std::make_shared<ranges>()),
      of_teams_(std::make_shared<ranges>()),
      when_freed_(std::make_shared<std::list<freed_memory>>()) {}

namespace {
// Until what is returned is gone. The cluster may be gone before.
template <class Ranges>
std::shared_ptr<void> keep(const std::shared_ptr<Ranges>& in, uint64_t begin, uint64_t end) {
  const auto at = in->emplace(begin, end).first;
  return {in.get(), [in, at](void*) { in->erase(at); }};
}

template <class Ranges>
std::shared_ptr<void> keep_alone(const std::shared_ptr<Ranges>& in, uint64_t begin, uint64_t end, std::string& why) {
  const auto next = in->lower_bound(end);  // after the last one that begins before the end
  const auto last = next == in->begin() ? in->end() : std::prev(next);
  if (last == in->end() || last->second <= begin) return keep(in, begin, end);
  why = "heap of " + std::to_string(begin) + " ... " + std::to_string(end) + ": another heap of the cluster has " +
        std::to_string(last->first) + " ... " + std::to_string(last->second) +
        "; share that one, or set begin, end and most_end so that they do not overlap";
  return nullptr;
}
}  // namespace

std::shared_ptr<void> cluster::keep_for_heap(uint64_t begin, uint64_t end, std::string& why) {
  return keep_alone(of_heaps_, begin, end, why);
}
std::shared_ptr<void> cluster::keep_for_host_heap(int node, uint64_t begin, uint64_t end, std::string& why) {
  auto& of_node = of_host_heaps_[node];
  if (!of_node) of_node = std::make_shared<ranges>();
  return keep_alone(of_node, begin, end, why);
}
std::shared_ptr<void> cluster::keep_for_team(uint64_t begin, uint64_t end) { return keep(of_teams_, begin, end); }

std::shared_ptr<void> cluster::when_freed(freed_memory f) {
  const auto in = when_freed_;
  const auto at = in->insert(in->end(), std::move(f));
  return {in.get(), [in, at](void*) { in->erase(at); }};
}
void cluster::tell_freed(int node, const std::byte* at, size_t bytes) const {
  for (const freed_memory& f : *when_freed_) f(node, at, bytes);
}

// What most providers do not have.
result<> cluster::grow(size_t bytes) { return unsupported(*this, "grow(" + std::to_string(bytes) + ")"); }
result<block_room> cluster::room_for(const stream&, extent) const {
  return unsupported(*this, "room_for without a kernel");
}
result<uint64_t> cluster::map_memory(int, const void*, size_t) {
  return unsupported(*this, "memory registered with a NIC");
}
result<> cluster::unmap_memory(int, uint64_t) { return unsupported(*this, "memory registered with a NIC"); }
result<> cluster::write_constants(int, void*) { return unsupported(*this, "kernels compiled by nvcc"); }
uint64_t cluster::constants_number() const { return 0; }
int cluster::device(int) const { return -1; }
result<stream> cluster::make_stream_on(int, unsigned) { return unsupported(*this, "make_stream_on"); }
unsigned cluster::multiprocessors(const stream&) const { return 0; }
CUstream_st* cluster::cuda_stream(const stream&) const { return nullptr; }
std::optional<cluster::target_side> cluster::at_target(int) const { return {}; }
bool cluster::shares_gpu(int) const { return false; }
const std::string& cluster::lacks_atomics() const {
  static const std::string nothing;
  return nothing;
}
result<> cluster::meet(const std::string&) { return {}; }  // one process has come, and says the same as itself
result<> cluster::same(const std::string&) { return {}; }
std::span<const rma_queue> cluster::host_queues(int) const { return {}; }
std::map<std::string, uint64_t> cluster::counters(int) const { return {}; }
std::vector<std::string> cluster::events(int) const { return {}; }

}  // namespace ggas
