// SPDX-License-Identifier: Apache-2.0
#include "ggas/channel.hpp"

#include <deque>
#include <mutex>

#include "userlib/cluster/providers.hpp"

namespace ggas {

using userlib::bad;

struct gpu_channel::state {
  struct side {
    gpu_piece piece;
    end then;
    std::vector<request> after;
    int processor;
  };
  dispatcher& work;
  int from, to;
  channel_config cfg;
  std::mutex mutex;
  std::deque<side> sends, receives;  // one of them is empty

  result<> check(const gpu_piece& p, int node, const char* call) const {
    const std::string what =
        std::string("channel from node ") + std::to_string(from) + " to " + std::to_string(to) + ", " + call + ": ";
    if (!p.memory) return bad(what + "its memory of the GPU was freed, or never allocated");
    if (p.memory.node() != node) return bad(what + "memory of node " + std::to_string(p.memory.node()));
    if (p.at > p.memory.bytes() || p.bytes > p.memory.bytes() - p.at)
      return bad(what + "bytes " + std::to_string(p.at) + " ... " + std::to_string(p.at + p.bytes) + " of memory of " +
                 std::to_string(p.memory.bytes()));
    return {};
  }
  result<> add(std::deque<side>& own, std::deque<side>& other, side s);
  void tell(const side& s, const result<size_t>& how) const {
    if (s.then) work.of().post(s.processor, [then = s.then, how] { then(how); });
  }
  void transfer(const side& sender, const side& receiver) const;
};

result<> gpu_channel::state::add(std::deque<side>& own, std::deque<side>& other, side s) {
  s.processor = std::max(work.of().here(), 0);
  side first;
  {
    const std::lock_guard lock(mutex);
    if (other.empty()) {
      own.push_back(std::move(s));
      return {};
    }
    first = std::move(other.front());
    other.pop_front();
  }
  &own == &sends ? transfer(s, first) : transfer(first, s);
  return {};
}

void gpu_channel::state::transfer(const side& sender, const side& receiver) const {
  const size_t bytes = sender.piece.bytes;
  const auto end = [this, sender, receiver, bytes](const result<>& how) {
    const auto what = how ? result<size_t>(bytes) : result<size_t>(how.error());
    tell(sender, what);
    tell(receiver, what);
  };
  if (bytes > receiver.piece.bytes)
    return end(bad("channel from node " + std::to_string(from) + " to " + std::to_string(to) + ": " +
                   std::to_string(bytes) + " bytes sent, but " + std::to_string(receiver.piece.bytes) +
                   " bytes of room"));
  const auto* const data = static_cast<const std::byte*>(sender.piece.memory.address()) + sender.piece.at;
  const uint64_t offset = receiver.piece.memory.block()->offset + receiver.piece.at;
  request r(from, cfg.blocks, cfg.threads, channel_move, to, offset, data, uint64_t{bytes});
  for (const request& before : sender.after) r.after(before);
  for (const request& before : receiver.after) r.after(before);
  if (const auto taken = work.enqueue(r.then(end)); !taken) end(taken);
}

result<gpu_channel> gpu_channel::make(dispatcher& work, int from, int to, const channel_config& cfg) {
  for (const int node : {from, to})
    if (auto ok = userlib::check_node(work.of().cluster(), node, "channel"); !ok) return std::move(ok.error());
  if (cfg.blocks == 0 || cfg.threads == 0 || cfg.threads > 1024)
    return bad("channel: " + std::to_string(cfg.blocks) + " blocks of " + std::to_string(cfg.threads) +
               " threads: must be 1 or more, and at most 1,024 threads");
  return gpu_channel(std::make_shared<state>(work, from, to, cfg));
}

result<> gpu_channel::send(const gpu_piece& data, end then, const std::vector<request>& after) const {
  if (auto ok = state_->check(data, state_->from, "send"); !ok) return ok;
  return state_->add(state_->sends, state_->receives, {data, std::move(then), after, 0});
}
result<> gpu_channel::receive(const gpu_piece& room, end then, const std::vector<request>& after) const {
  if (auto ok = state_->check(room, state_->to, "receive"); !ok) return ok;
  return state_->add(state_->receives, state_->sends, {room, std::move(then), after, 0});
}

}  // namespace ggas
