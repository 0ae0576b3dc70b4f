// SPDX-License-Identifier: Apache-2.0
#include "ggas/upc_host.hpp"

#include <algorithm>
#include <utility>

#include "ggas/detail/plan.hpp"
#include "userlib/cluster/teams/zeroed.hpp"

namespace ggas::upc {

namespace {

constexpr uint64_t word = 8, most_rounds = 32;

std::string text(uint64_t n) { return std::to_string(n); }

bool is_first(const shared_const_void& p) { return p.thread() == 0 && p.phase() == 0; }

}  // namespace

// ------------------------------------------------------------------------------------------------ program

std::unique_ptr<program> program::create(cluster& c, heap& memory, std::string& why, const program_config& cfg) {
  why.clear();
  if (c.device(c.local_nodes()[0]) >= 0)
    why = "UPC programs of the processor: not with provider '" + c.config().provider + "'";
  if (static_cast<int>(c.local_nodes().size()) != c.nodes())
    why = "UPC programs of the processor: a job of one process";
  if (c.host_queues(0).empty() && c.device_context(0).quiet)
    why = "UPC programs of the processor: the NIC has no context for them (queues.host_count)";
  if (!why.empty()) return nullptr;
  std::unique_ptr<program> p(new program(c, memory, cfg));
  p->state_.resize(static_cast<size_t>(c.nodes()));
  p->channel_ = cfg.channel;
  if (!c.host_queues(0).empty()) why = p->take_channel();
  if (!why.empty()) return nullptr;
  auto words = userlib::allocate_zeroed(c, memory, most_rounds * word, "upc", why);
  if (!words) return nullptr;
  p->words_ = words->offset;
  p->kept_words_ = std::move(words->kept);
  return p;
}

program::~program() {
  if (words_ != 0) heap_.free(words_);
}

// The first one from cfg_.channel on that is free on every node.
std::string program::take_channel() {
  const auto channels = static_cast<unsigned>(cluster_.host_queues(0).size());
  std::string why = "there is no such context";
  for (unsigned i = 0; i < channels && cfg_.channel < channels; ++i) {
    channel_ = (cfg_.channel + i) % channels;
    const uint64_t begin = channel_ * pinned_bytes, end = begin + pinned_bytes;
    kept_pinned_.clear();
    for (int node = 0; node < cluster_.nodes(); ++node) {
      auto mine =
          end <= cluster_.host_memory(node).bytes ? cluster_.keep_for_host_heap(node, begin, end, why) : nullptr;
      if (end > cluster_.host_memory(node).bytes)
        why = "host_memory has " + text(cluster_.host_memory(node).bytes) + " bytes";
      if (!mine) break;
      kept_pinned_.push_back(std::move(mine));
    }
    if (kept_pinned_.size() == static_cast<size_t>(cluster_.nodes())) return {};
  }
  kept_pinned_.clear();
  return "upc: channel " + text(cfg_.channel) + ": none of " + text(channels) + " channels is free: " + why;
}

result<> program::launch(std::function<void(thread&)> body, const std::string& name) {
  for (int node = 0; node < cluster_.nodes(); ++node) {
    auto ok = cluster_.launch_host(
        node,
        [this, body](host& h) {
          thread t(h, *this);
          body(t);
          t.barrier();
        },
        name);
    if (!ok) return ok;
  }
  return {};
}

// ------------------------------------------------------------------------------------------------ accesses

thread::thread(host& h, program& p)
    : host_(h),
      program_(p),
      state_(p.state_[static_cast<size_t>(h.node())]),
      threads_(static_cast<uint64_t>(p.cluster_.nodes())),
      mythread_(static_cast<uint64_t>(h.node())) {
  state_.counts = {};
  if (!p.cluster_.host_queues(h.node()).empty()) queue_ = &h.queue(p.channel_);
}

void thread::check(const char* call, const shared_const_void& p, uint64_t bytes) const {
  const uint64_t all = program_.cluster_.segment_bytes();
  if (p.thread() < threads_ && bytes <= all && p.offset() <= all - bytes) return;
  throw failure("upc: " + std::string(call) + " of " + text(bytes) + " bytes at offset " + text(p.offset()) +
                " of thread " + text(p.thread()) + ": not in a segment");
}
std::byte* thread::own(uint64_t offset) const { return program_.cluster_.segment(host_.node()) + offset; }

ggas_rma_peer thread::peer(uint64_t thread) const {
  const context& seen = program_.cluster_.device_context(host_.node());
  const auto node = seen.places ? static_cast<uint64_t>(seen.places[thread].nic) : thread;
  return {.node = static_cast<uint16_t>(node), .vpid = 0};
}
uint64_t thread::nla(const shared_const_void& p) const {
  const context& seen = program_.cluster_.device_context(host_.node());
  return (seen.places ? seen.places[p.thread()].nla : seen.segment_nla) + p.offset();
}

// One operation of the NIC at a time: when it has arrived, at both ends.
void thread::post(const ggas_rma_desc& d) {
  ggas_rma_context& q = *queue_;
  const uint64_t limit = program_.cfg_.timeout_ns;
  const uint32_t errors = ggas_rma_read_status(&q).errors;
  const bool posted =
      host_.wait_until([&] { return ggas_rma_room(&q, d.slots) != 0; }, limit) && ggas_rma_post(&q, &d) != 0;
  if (!posted || !host_.wait_until([&] { return ggas_rma_remotely_done(&q) != 0; }, limit))
    throw failure("upc: an operation of the NIC did not end in time");
  const ggas_rma_status s = ggas_rma_read_status(&q);
  if (s.errors != errors) throw failure("upc: an operation of the NIC failed with status " + text(s.last_error));
}

void thread::get_piece(void* to, const shared_const_void& from, size_t n) {
  cluster& c = program_.cluster_;
  if (!queue_ || from.thread() == mythread_)
    return host_.read(to, c.segment(static_cast<int>(from.thread())) + from.offset(), n);
  const host_region pinned = c.host_memory(host_.node());
  const size_t at = program_.channel_ * program::pinned_bytes;
  ++state_.counts.gets;
  post(ggas_rma_get(peer(from.thread()), nla(from), pinned.nla + at, static_cast<uint32_t>(n), 0, 0));
  host_.read(to, pinned.base + at, n);
}

void thread::put_piece(const shared_void& to, const void* from, size_t n) {
  cluster& c = program_.cluster_;
  if (to.thread() == mythread_) stored_ = true;
  if (!queue_ || to.thread() == mythread_)
    return host_.write(c.segment(static_cast<int>(to.thread())) + to.offset(), from, n);
  const host_region pinned = c.host_memory(host_.node());
  const size_t at = program_.channel_ * program::pinned_bytes + chunk;
  ++state_.counts.puts;
  host_.write(pinned.base + at, from, n);
  post(ggas_rma_put(peer(to.thread()), pinned.nla + at, nla(to), static_cast<uint32_t>(n), GGAS_RMA_ACK, 0));
}

void thread::memget(void* to, const shared_const_void& from, size_t n) {
  check("memget", from, n);
  for (size_t at = 0; at < n; at += chunk)
    get_piece(static_cast<std::byte*>(to) + at, part(from, from.thread(), at), std::min(chunk, n - at));
}
void thread::memput(const shared_void& to, const void* from, size_t n) {
  check("memput", to, n);
  for (size_t at = 0; at < n; at += chunk)
    put_piece(part(to, to.thread(), at), static_cast<const std::byte*>(from) + at, std::min(chunk, n - at));
}
void thread::memcpy(const shared_void& to, const shared_const_void& from, size_t n) {
  check("memcpy", to, n);
  check("memcpy", from, n);
  std::vector<std::byte> between(std::min(chunk, n));
  for (size_t at = 0; at < n; at += chunk) {
    const size_t here = std::min(chunk, n - at);
    get_piece(between.data(), part(from, from.thread(), at), here);
    put_piece(part(to, to.thread(), at), between.data(), here);
  }
}
void thread::memset(const shared_void& to, int value, size_t n) {
  check("memset", to, n);
  const std::vector<std::byte> all(std::min(chunk, n), static_cast<std::byte>(value));
  for (size_t at = 0; at < n; at += chunk) put_piece(part(to, to.thread(), at), all.data(), std::min(chunk, n - at));
}

// A load from the GPU's memory does not pass the stores before it, which others reach by another way.
void thread::fence() {
  if (queue_ && std::exchange(stored_, false))
    static_cast<void>(host_.load(reinterpret_cast<const uint64_t*>(own(program_.words_))));
}

// ------------------------------------------------------------------------------------------------ barrier

// Dissemination, as between nodes of ranks: the word of a round has one writer and only grows.
void thread::notify() {
  fence();
  if (notified_) throw failure("upc_notify: after another one, without upc_wait");
  notified_ = true;
  ++state_.barriers;
  ++state_.counts.barriers;
  const ggas::detail::dissemination_plan plan{static_cast<int>(threads_)};
  if (plan.steps() == 0) return;
  const auto to = static_cast<uint64_t>(plan.at(static_cast<int>(mythread_), 0).to);
  put_piece({to, 0, program_.words_}, &state_.barriers, word);
}
void thread::wait() {
  if (!notified_) throw failure("upc_wait: without upc_notify");
  notified_ = false;
  const ggas::detail::dissemination_plan plan{static_cast<int>(threads_)};
  for (int step = 0; step < plan.steps(); ++step) {
    const uint64_t place = program_.words_ + static_cast<uint64_t>(step) * word;
    if (step != 0)
      put_piece({static_cast<uint64_t>(plan.at(static_cast<int>(mythread_), step).to), 0, place}, &state_.barriers,
                word);
    const auto* const here = reinterpret_cast<const uint64_t*>(own(place));
    if (!host_.wait_until([&] { return host_.load(here) >= state_.barriers; }, program_.cfg_.timeout_ns))
      throw failure("upc_wait: thread " + text(static_cast<uint64_t>(plan.at(static_cast<int>(mythread_), step).from)) +
                    " did not come in time");
  }
}

// ------------------------------------------------------------------------------------------------ collectives

void thread::check_collective(const char* call, bool good, size_t n, ggas_sync_mode mode) const {
  if (good && n != 0 && (mode & 3u) != 3u && mode < 12u) return;
  throw failure("upc_" + std::string(call) + ": " +
                (n == 0 ? "0 bytes or elements"
                 : good ? "no mode"
                        : "a bad argument"));
}
void thread::check_reduction(const char* call, bool good, const shared_const_void& dst, const shared_const_void& src,
                             size_t n) const {
  if (good && dst.thread() < threads_ && src.thread() < threads_ && src.phase() == 0) return;
  throw failure("upc_" + std::string(call) + " of " + text(n) +
                " elements: no such thread, threads or phases that do not fit");
}
void thread::enter(ggas_sync_mode mode) {
  if ((mode & 3u) != ggas_in_none) barrier();
}
void thread::leave(ggas_sync_mode mode) {
  if ((mode & 12u) != ggas_out_none) barrier();
}

void thread::all_broadcast(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode) {
  check_collective("all_broadcast: dst", is_first(dst), n, mode);
  enter(mode);
  memcpy(part(dst, mythread_, 0), src, n);
  leave(mode);
}
void thread::all_scatter(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode) {
  check_collective("all_scatter: dst", is_first(dst), n, mode);
  enter(mode);
  memcpy(part(dst, mythread_, 0), part(src, src.thread(), mythread_ * n), n);
  leave(mode);
}
void thread::all_gather(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode) {
  check_collective("all_gather: src", is_first(src), n, mode);
  enter(mode);
  memcpy(part(dst, dst.thread(), mythread_ * n), part(src, mythread_, 0), n);
  leave(mode);
}
void thread::all_gather_all(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode) {
  check_collective("all_gather_all: dst, src", is_first(dst) && is_first(src), n, mode);
  enter(mode);
  for (uint64_t t = 0; t < threads_; ++t) memcpy(part(dst, mythread_, t * n), part(src, t, 0), n);
  leave(mode);
}
void thread::all_exchange(const shared_void& dst, const shared_const_void& src, size_t n, ggas_sync_mode mode) {
  check_collective("all_exchange: dst, src", is_first(dst) && is_first(src), n, mode);
  enter(mode);
  for (uint64_t t = 0; t < threads_; ++t) memcpy(part(dst, mythread_, t * n), part(src, t, mythread_ * n), n);
  leave(mode);
}
void thread::all_permute(const shared_void& dst, const shared_const_void& src, const shared_ptr<int>& perm, size_t n,
                         ggas_sync_mode mode) {
  check_collective("all_permute: dst, src, perm", is_first(dst) && is_first(src) && is_first(perm), n, mode);
  enter(mode);
  const int to = (*this)[plus(perm, static_cast<int64_t>(mythread_))];
  if (to < 0 || static_cast<uint64_t>(to) >= threads_)
    throw failure("upc_all_permute: perm[" + text(mythread_) + "] = " + std::to_string(to) + ": no such thread");
  memcpy(part(dst, static_cast<uint64_t>(to), 0), part(src, mythread_, 0), n);
  leave(mode);
}

}  // namespace ggas::upc
