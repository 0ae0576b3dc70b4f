// SPDX-License-Identifier: Apache-2.0
// Transfers from GPU to GPU that processors control: transfer_path's variant `staged`, through the memories of both
// hosts in chunks, and overhead, what a transfer costs the processor that works meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "benchmarks/cluster/one_sided/one_sided.hpp"
#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/messages/process.hpp"

namespace ggas::bench {

namespace {

constexpr int sender = 0, receiver = 1;

// Places of the data on both nodes.
struct buffers {
  size_t bytes;
  uint64_t source, target;  // offsets in the segments
};

buffers fill(session& s, size_t bytes) {
  const plan_of_buffers p = plan_buffers(s, bytes, 1, 1);
  fill_buffers(s, p, 0);
  return {bytes, p.args.source, p.args.target};
}

// ---------------------------------------------------------------------------------------------- staged, in chunks

struct part {
  size_t at, bytes;
};
std::vector<part> parts_of(size_t bytes, size_t chunk) {
  std::vector<part> all;
  for (size_t at = 0; at < bytes; at += chunk) all.push_back({at, std::min(chunk, bytes - at)});
  return all;
}

// Chunk after chunk comes to the host and is sent from there while the next one comes.
bool send_staged(mpi_process& p, const buffers& b, size_t chunk) {
  const std::byte* const from = p.machine.segment(sender) + b.source;
  std::vector<messages::handle> sent;
  for (const part& c : parts_of(b.bytes, chunk)) {
    if (!p.copy(p.pinned() + c.at, from + c.at, c.bytes)) return false;
    sent.push_back(p.net.send(receiver, 0, p.pinned() + c.at, c.bytes));
  }
  return p.net.wait_all(sent);
}

bool receive_staged(mpi_process& p, const buffers& b, size_t chunk) {
  std::byte* const to = p.machine.segment(receiver) + b.target;
  const std::vector<part> all = parts_of(b.bytes, chunk);
  std::vector<messages::handle> open;
  for (const part& c : all) open.push_back(p.net.receive(sender, 0, p.pinned() + c.at, c.bytes));
  for (size_t i = 0; i < all.size(); ++i)
    if (!p.net.wait(open[i]) || !p.copy(to + all[i].at, p.pinned() + all[i].at, all[i].bytes)) return false;
  return true;
}

result<> run_staged(session& s, size_t bytes, size_t chunk) {
  const std::string what = fmt::format("staged {} B, chunks of {} B", bytes, chunk);
  const buffers b = fill(s, bytes);
  uint64_t begin_ns = 0, end_ns = 0;
  GGAS_TRY(run_processes(s, what, [&](mpi_process& p) {
    if (!p.barrier()) return;
    if (p.node() == sender) {
      begin_ns = p.processor.now_ns();
      send_staged(p, b, chunk);
    } else if (p.node() == receiver && receive_staged(p, b, chunk)) {
      end_ns = p.processor.now_ns();
    }
  }));
  GGAS_TRY(check_target(s, receiver, b.target, bytes, 0, what));
  record r = s.begin("staged", "bandwidth", "B/s");
  r.params = {{"bytes", bytes}, {"chunk", chunk}};
  r.value = static_cast<double>(bytes) * 1e9 / static_cast<double>(end_ns - begin_ns);
  r.n = 1;
  s.emit(std::move(r));
  return {};
}

// ---------------------------------------------------------------------------------------------- overhead

// A transfer in two calls of the sender's processor; its memory may be used again after the second.
class two_calls {
 public:
  virtual ~two_calls() = default;
  virtual bool post() = 0;
  virtual bool wait() = 0;
};

constexpr uint64_t put_timeout_ns = 1'000'000'000;

// Calls of the communication library: a put, and the notification that it has left.
bool post_descriptor(mpi_process& p, ggas_rma_context& queue, const ggas_rma_desc& put) {
  p.processor.library_call();
  return p.processor.wait_until([&] { return ggas_rma_post(&queue, &put) != 0; }, put_timeout_ns);
}
bool take_requester_note(mpi_process& p, ggas_rma_context& queue) {
  ggas_rma_note note{};
  const bool here = p.processor.wait_until([&] { return ggas_rma_next_note(&queue, &note) != 0; }, put_timeout_ns);
  p.processor.library_call();
  if (!here || note.status != 0 || note.kind != GGAS_RMA_NOTE_REQUESTER) p.fail("the put failed");
  return p.fault().empty();
}

// The NIC reads the GPU's memory.
class direct_put final : public two_calls {
 public:
  direct_put(session& s, mpi_process& p, const buffers& b) : p_(p), queue_(p.processor.queue(0)) {
    const cluster& c = p.machine;
    const ggas_rma_peer peer{nic_of(s, receiver), uint8_t(c.host_queues(receiver)[0].vpid)};
    put_ = ggas_rma_put(peer, c.device_context(sender).segment_nla + b.source,
                        c.device_context(receiver).segment_nla + b.target, uint32_t(b.bytes), GGAS_RMA_NOTIFY_REQUESTER,
                        0);
  }
  bool post() override { return post_descriptor(p_, queue_, put_); }
  bool wait() override { return take_requester_note(p_, queue_); }

 private:
  mpi_process& p_;
  ggas_rma_context& queue_;
  ggas_rma_desc put_{};
};

// Copies to the host in chunks, each put from there into the GPU's memory at the target when its copy has ended.
class hybrid_put final : public two_calls {
 public:
  static constexpr size_t chunk = 256 << 10;  // what the tuner of libggas found for galibier-k20 (docs/libggas.md)
  hybrid_put(session& s, mpi_process& p, const buffers& b) : s_(s), p_(p), b_(b), queue_(p.processor.queue(0)) {}

  bool post() override {
    cluster& c = p_.machine;
    const host_region host = c.host_memory(sender);
    const ggas_rma_peer peer{nic_of(s_, receiver), uint8_t(c.host_queues(receiver)[0].vpid)};
    for (const part& x : parts_of(b_.bytes, chunk)) {
      if (!p_.copy(p_.pinned() + x.at, p_.machine.segment(sender) + b_.source + x.at, x.bytes)) return false;
      const bool last = x.at + x.bytes == b_.bytes;
      const ggas_rma_desc put = ggas_rma_put(peer, host.nla + uint64_t(p_.pinned() + x.at - host.base),
                                             c.device_context(receiver).segment_nla + b_.target + x.at,
                                             uint32_t(x.bytes), last ? GGAS_RMA_NOTIFY_REQUESTER : 0, 0);
      if (!post_descriptor(p_, queue_, put)) return false;
    }
    return true;
  }
  bool wait() override { return take_requester_note(p_, queue_); }

 private:
  session& s_;
  mpi_process& p_;
  const buffers& b_;
  ggas_rma_context& queue_;
};

// A copy to the host, which returns when it has ended, then a message.
class copied_message final : public two_calls {
 public:
  copied_message(mpi_process& p, const buffers& b) : p_(p), b_(b) {}
  bool post() override {
    if (!p_.copy(p_.pinned(), p_.machine.segment(sender) + b_.source, b_.bytes)) return false;
    sent_ = p_.net.send(receiver, 0, p_.pinned(), b_.bytes);
    return true;
  }
  bool wait() override { return p_.net.wait(sent_).has_value(); }

 private:
  mpi_process& p_;
  const buffers& b_;
  messages::handle sent_ = 0;
};

constexpr unsigned overhead_rounds = 3;  // the first one is a warm-up

// The work between post and wait grows, in percent of the time of the transfer alone. The longest hides all that can be
// hidden.
constexpr std::array<unsigned, 4> works{0, 50, 100, 200};

struct costs {
  std::array<std::vector<double>, works.size()> times;  // ns, by work
  std::vector<double> overhead;                         // what is left of the longest beyond its work
};

// One transfer with so much work, in ns; 0: it failed.
uint64_t with_work(host& h, two_calls& t, uint64_t work_ns, uint64_t& beyond) {
  const uint64_t begin = h.now_ns();
  if (!t.post()) return 0;
  const uint64_t work_begin = h.now_ns();
  while (h.now_ns() < work_begin + work_ns) h.library_call();  // stands for the program's own work
  const uint64_t work = h.now_ns() - work_begin;
  if (!t.wait()) return 0;
  beyond = h.now_ns() - begin - work;
  return h.now_ns() - begin;
}

bool measure(host& h, two_calls& t, costs& out) {
  for (unsigned round = 0; round < overhead_rounds; ++round) {
    uint64_t alone = 0, beyond = 0;
    for (size_t i = 0; i < works.size(); ++i) {
      const uint64_t ns = with_work(h, t, alone * works[i] / 100, beyond);
      if (ns == 0) return false;
      if (i == 0) alone = ns;
      if (round > 0) out.times[i].push_back(static_cast<double>(ns));
    }
    if (round > 0) out.overhead.push_back(static_cast<double>(beyond));
  }
  return true;
}

bool receive_all(mpi_process& p, const buffers& b) {
  for (unsigned i = 0; i < works.size() * overhead_rounds; ++i)
    if (!p.net.receive_now(sender, 0, p.pinned(), b.bytes) ||
        !p.copy(p.machine.segment(receiver) + b.target, p.pinned(), b.bytes))
      return false;
  return true;
}

void emit(session& s, const std::string& variant, const char* metric, size_t bytes, unsigned work,
          const std::vector<double>& samples) {
  record r = s.begin(variant, metric, "ns");
  r.params = {{"bytes", bytes}, {"work", work}};
  summarise(r, samples);
  s.emit(std::move(r));
}

result<> run_overhead_point(session& s, const std::string& variant, size_t bytes) {
  const bool by_message = variant == "mpi";
  const std::string what = fmt::format("{} {} B", variant, bytes);
  const buffers b = fill(s, bytes);
  costs found;
  GGAS_TRY(run_processes(s, what, [&](mpi_process& p) {
    if (p.node() == sender) {
      const auto run = [&](auto&& transfer) { measure(p.processor, transfer, found); };
      if (by_message)
        run(copied_message(p, b));
      else if (variant == "hybrid")
        run(hybrid_put(s, p, b));
      else
        run(direct_put(s, p, b));
    } else if (p.node() == receiver && by_message) {
      receive_all(p, b);
    }
  }));
  GGAS_TRY(check_target(s, receiver, b.target, bytes, 0, what));
  emit(s, variant, "overhead", bytes, works.back(), found.overhead);
  for (size_t i = 0; i < works.size(); ++i) emit(s, variant, "time", bytes, works[i], found.times[i]);
  return {};
}

result<> start_with(session& s, size_t bytes) {
  return s.start(with_processes(s, {.bytes = room_for(bytes, 1, 1), .part = "staged"}, bytes));
}

}  // namespace

result<> run_staged_path(session& s) {
  if (!has_processes(s)) return {};
  const auto sizes = s.opts().sized<std::vector<size_t>>({65536}, {262144}, {65536, 1u << 20, 4u << 20});
  const auto chunks =
      s.opts().sized<std::vector<size_t>>({16384, 65536}, {65536}, {4096, 16384, 65536, 262144, 1u << 20});
  GGAS_TRY(start_with(s, sizes.back()));
  for (const size_t bytes : sizes)
    for (const size_t chunk : chunks)
      if (chunk <= bytes) GGAS_TRY(run_staged(s, bytes, chunk));
  return {};
}

result<> run_overhead(session& s) {
  if (!has_processes(s)) return {};
  const auto sizes =
      s.opts().sized<std::vector<size_t>>({8, 65536}, {1024, 262144}, {8, 1024, 16384, 262144, 4u << 20});
  GGAS_TRY(start_with(s, sizes.back()));
  for (const size_t bytes : sizes)
    for (const char* const variant : {"direct", "hybrid", "mpi"}) GGAS_TRY(run_overhead_point(s, variant, bytes));
  return {};
}

}  // namespace ggas::bench
