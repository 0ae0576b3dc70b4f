// SPDX-License-Identifier: Apache-2.0
// trace: a schedule of sends, receives and computations, for each rank a program of a node's processor. Each message is
// a put of GPU memory with notification; a computation takes time, while the processor continues with messages.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/trace/matcher.hpp"
#include "benchmarks/trace/schedule.hpp"

namespace ggas::bench {

namespace {

constexpr uint64_t most_put = 8u << 20;  // bytes of a descriptor
constexpr uint32_t not_last = UINT32_MAX;

// Messages are read from the first half of the data and written to the second.
uint64_t half(const schedule& plan) { return (plan.largest + 4095) / 4096 * 4096; }

struct rank_result {
  uint64_t begin_ns = 0, end_ns = 0;
  uint64_t computing_ns = 0;  // of the cpu that computes most
  std::string fault;          // empty: all went well
};

// A rank that runs its schedule.
class rank_run {
 public:
  rank_run(host& h, session& s, const schedule& plan, rank_result& out)
      : host_(h), session_(s), plan_(plan), ops_(plan.ranks[size_t(h.node())]), queue_(&h.queue(0)), out_(out) {
    for (const schedule_op& op : ops_) waits_.push_back(op.waits);
  }

  void run() {
    out_.begin_ns = out_.end_ns = host_.now_ns();
    for (uint32_t i = 0; i < ops_.size(); ++i)
      if (waits_[i] == 0) ready_.push_back(i);
    while (out_.fault.empty() && done_ < ops_.size()) {
      start_ready();
      if (out_.fault.empty() && done_ < ops_.size() && ready_.empty()) wait();
    }
    out_.end_ns = host_.now_ns();
  }

 private:
  struct computation {
    uint32_t op;
    uint64_t end_ns;
  };

  void start_ready() {
    while (out_.fault.empty() && !ready_.empty()) {
      const uint32_t i = ready_.front();
      ready_.pop_front();
      const schedule_op& op = ops_[i];
      if (op.what == schedule_op::kind::calc)
        compute(i);
      else if (op.what == schedule_op::kind::send)
        send(i);
      else
        receive(i);
      release(op.at_begin);
    }
  }
  void release(const std::vector<uint32_t>& list) {
    for (const uint32_t next : list)
      if (--waits_[next] == 0) ready_.push_back(next);
  }
  void end(uint32_t i) {
    ++done_;
    release(ops_[i].at_end);
  }

  void compute(uint32_t i) {
    auto& cpu = cpus_[ops_[i].cpu];
    const uint64_t from = cpu.empty() ? host_.now_ns() : cpu.back().end_ns;
    cpu.push_back({i, from + ops_[i].amount});
    computed_[ops_[i].cpu] += ops_[i].amount;
    out_.computing_ns = std::max(out_.computing_ns, computed_[ops_[i].cpu]);
  }

  // A message to the rank itself does not leave the processor: its copy takes no time.
  void send_to_itself(uint32_t i) {
    host_.library_call();
    arrive({uint32_t(host_.node()), ops_[i].tag, ops_[i].amount});
    end(i);
  }

  // All pieces use one path in order, so the last one's notification reports all. Without bytes there is only the
  // notification.
  void send(uint32_t i) {
    const schedule_op& op = ops_[i];
    if (op.peer == uint32_t(host_.node())) return send_to_itself(i);
    const uint64_t nla = session_.machine().device_context(host_.node()).segment_nla + session_.data_offset();
    const ggas_rma_peer to{static_cast<uint16_t>(op.peer),
                           static_cast<uint8_t>(session_.machine().host_queues(int(op.peer))[0].vpid)};
    const uint64_t destination = nla + half(plan_);
    if (op.amount == 0)
      post(ggas_rma_notify(to, destination, GGAS_RMA_STRONG | GGAS_RMA_NOTIFY_REQUESTER, uint64_t{op.tag} << 32 | i));
    for (uint64_t at = 0; at < op.amount && out_.fault.empty(); at += most_put) {
      const uint64_t bytes = std::min(most_put, op.amount - at);
      const bool last = at + bytes == op.amount;
      const uint64_t cookie = uint64_t{op.tag} << 32 | (last ? i : not_last);
      post(ggas_rma_put(to, nla + at, destination + at, uint32_t(bytes),
                        last ? GGAS_RMA_NOTIFY_REQUESTER | GGAS_RMA_NOTIFY_COMPLETER : 0, cookie));
    }
  }
  void post(const ggas_rma_desc& d) {
    host_.library_call();
    // A full queue empties only if arrivals are taken from the ring.
    if (!host_.wait_until([&] { return take_notes() || ggas_rma_post(queue_, &d) != 0; }, session_.opts().timeout_ns))
      out_.fault = fmt::format("no room in the queue in time ({})", session_.timeout_text());
  }
  void receive(uint32_t i) {
    if (const auto m = messages_.receive(i, ops_[i].peer, ops_[i].tag)) take(i, *m);
  }
  void take(uint32_t i, const message& m) {
    if (m.bytes > ops_[i].amount)
      out_.fault =
          fmt::format("a message of {} bytes from rank {} for a receive of {}", m.bytes, m.from, ops_[i].amount);
    end(i);
  }

  // true: something is wrong.
  bool take_notes() {
    ggas_rma_note n{};
    while (out_.fault.empty() && ggas_rma_next_note(queue_, &n)) {
      if (n.status != 0 || n.kind >= GGAS_RMA_NOTE_ERROR)
        out_.fault = fmt::format("notification of kind {}, status {} from rank {}", n.kind, n.status, n.peer.node);
      else if (n.kind == GGAS_RMA_NOTE_REQUESTER)
        end(uint32_t(n.cookie));
      else
        arrive({n.peer.node, uint32_t(n.cookie >> 32), plan_.ranks[n.peer.node][uint32_t(n.cookie)].amount});
    }
    return !out_.fault.empty();
  }
  void arrive(const message& m) {
    if (const auto i = messages_.arrive(m)) take(*i, m);
  }

  // Ends the computations whose time is over. Returns the time until the next one ends; 0: none runs.
  uint64_t end_computations() {
    const uint64_t now = host_.now_ns();
    uint64_t next = 0;
    for (auto& [number, cpu] : cpus_) {
      for (; !cpu.empty() && cpu.front().end_ns <= now; cpu.pop_front()) end(cpu.front().op);
      if (!cpu.empty() && (next == 0 || cpu.front().end_ns - now < next)) next = cpu.front().end_ns - now;
    }
    return next;
  }
  // Until something ends: a message, which the processor polls for, or a computation.
  void wait() {
    const size_t before = done_;
    const uint64_t computing = end_computations();
    if (done_ != before) return;
    const auto changed = [&] { return take_notes() || done_ != before; };
    if (host_.wait_until(changed, computing ? computing : session_.opts().timeout_ns / 2)) return host_.library_call();
    if (computing == 0)
      out_.fault = fmt::format("{} of {} operations have ended, then nothing happened in time ({})", done_, ops_.size(),
                               session_.timeout_text());
  }

  host& host_;
  session& session_;
  const schedule& plan_;
  const std::vector<schedule_op>& ops_;
  ggas_rma_context* queue_;
  rank_result& out_;
  std::vector<uint32_t> waits_;
  std::deque<uint32_t> ready_;
  std::map<uint32_t, std::deque<computation>> cpus_;
  std::map<uint32_t, uint64_t> computed_;  // ns, by cpu
  matcher messages_;
  size_t done_ = 0;
};

// The rank that failed first: others may have waited for it.
std::optional<size_t> first_fault(const std::vector<rank_result>& results) {
  std::optional<size_t> first;
  for (size_t r = 0; r < results.size(); ++r)
    if (!results[r].fault.empty() && (!first || results[r].end_ns < results[*first].end_ns)) first = r;
  return first;
}

}  // namespace

result<> run_trace(session& s) {
  const schedule& plan = *s.opts().schedule;
  queue_config queues;
  queues.count = 0;
  queues.host_work_queue = true;
  queues.slots_log2 = 10;
  GGAS_TRY(s.start({.bytes = size_t(2 * half(plan)), .queues = queues}));
  std::vector<rank_result> results(plan.ranks.size());
  for (size_t r = 0; r < plan.ranks.size(); ++r)
    GGAS_TRY(
        s.machine().launch_host(int(r), [&s, &plan, &results, r](host& h) { rank_run(h, s, plan, results[r]).run(); }));
  GGAS_TRY(s.run(s.opts().schedule_name));
  uint64_t begin = ~uint64_t{0}, end = 0, longest = 0;
  if (const auto first = first_fault(results))
    return failed(errc::device_fault,
                  fmt::format("{}: rank {}: {}", s.opts().schedule_name, *first, results[*first].fault));
  for (size_t r = 0; r < results.size(); ++r) {
    begin = std::min(begin, results[r].begin_ns);
    end = std::max(end, results[r].end_ns);
    longest = std::max(longest, results[r].computing_ns);
  }
  const nlohmann::ordered_json params = {
      {"ranks", plan.ranks.size()}, {"messages", plan.messages}, {"bytes", plan.bytes}};
  const auto tell = [&](const char* metric, const char* unit, double value) {
    record r = s.begin(s.opts().schedule_name, metric, unit);
    r.params = params;
    r.value = value;
    s.emit(std::move(r));
  };
  tell("time", "ns", double(end - begin));
  tell("computing", "ns", double(longest));  // of the cpu that computes most
  return {};
}

}  // namespace ggas::bench
