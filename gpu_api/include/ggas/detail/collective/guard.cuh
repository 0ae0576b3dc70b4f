// SPDX-License-Identifier: Apache-2.0
// Refuses calls that break the rules of collectives before they do harm: two blocks or streams of the node on one
// channel, memory that overlaps, and, in the checked mode, members whose calls differ. A guard runs before the call,
// and a refused call starts nothing. Without checked mode kernels of nvcc have no guard. Rules: docs/collectives.md.
// Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/exchange.cuh"

namespace ggas::detail {

// What a call uses of the own segment; no bytes: nothing.
struct used_memory {
  const void *read, *written;
  uint64_t read_bytes, written_bytes;
  bool in_place;  // what is read is where the rules let it lie in what is written, or the other way round
};

// A call as its guard sees it.
struct call_facts_of_member {
  call_terms terms;
  used_memory memory;
};

// n elements for each of `times` members; what no segment holds stays too much.
GGAS_DEVICE uint64_t bytes_of_parts(uint64_t n, uint64_t bytes, int times) {
  const uint64_t most = ggas_segment_bytes() + 1;
  return n > most / bytes ? most : n * bytes * static_cast<uint64_t>(times);
}

// ------------------------------------------------------------------------------------------------ own memory

GGAS_DEVICE bool range_good(const void* p, uint64_t bytes, unsigned element) {
  uint64_t offset;
  return bytes == 0 || ((reinterpret_cast<uintptr_t>(p) % element == 0) & own_place(p, bytes, offset));
}
GGAS_DEVICE bool overlaps(const used_memory& m) {
  const auto read = reinterpret_cast<uintptr_t>(m.read), written = reinterpret_cast<uintptr_t>(m.written);
  const bool apart = (read + m.read_bytes <= written) | (written + m.written_bytes <= read);
  return !(apart | m.in_place | (m.read_bytes == 0) | (m.written_bytes == 0));
}
GGAS_DEVICE unsigned element_bytes(const call_terms& t) { return static_cast<unsigned>(t.how >> 8 & 0x1f); }
GGAS_DEVICE bool memory_good(const call_facts_of_member& c) {
  const unsigned element = element_bytes(c.terms);
  return range_good(c.memory.read, c.memory.read_bytes, element) &
         range_good(c.memory.written, c.memory.written_bytes, element) & !overlaps(c.memory);
}

// ------------------------------------------------------------------------------------------------ the other members

GGAS_DEVICE bool is_checked() {
#ifdef GGAS_CHECKED
  return true;
#else
  return device_context().checked;
#endif
}

GGAS_DEVICE call_id call_of(const call_terms& t) { return static_cast<call_id>(t.how & 0xff); }
GGAS_DEVICE unsigned blocks_of(const call_terms& t) { return static_cast<unsigned>(t.how >> 48); }
GGAS_DEVICE bool differ(const call_terms& a, const call_terms& b) {
  return ((a.n ^ b.n) | (a.how ^ b.how) | (a.team ^ b.team)) != 0;
}

GGAS_DEVICE_FUNCTION void record_difference(call_terms mine, call_terms other, int node) {
  wait_record* const at = begin_refusal(waited_for::same_call, call_of(mine), node);
  if (!at) return;
  store_terms(at, wait_record::own_terms, mine);
  store_terms(at, wait_record::other_terms, other);
  end_record(at);
}

// What a thread has learned of the members that it listens to.
struct heard_terms {
  call_terms other;  // of the first one that differs
  int node = -1;
  unsigned most_blocks = 0;
  bool all = true;
};

GGAS_DEVICE heard_terms hear_terms(const channel& c, const call_terms& mine, poll_deadline& end) {
  heard_terms h;
  for (int hop = 1 + static_cast<int>(thread_rank()); hop < c.team.size && h.all;
       hop += static_cast<int>(thread_count())) {
    const int member = member_behind(c, hop);
    const channel_line* const in = c.inbox(member);
    call_terms t{};
    h.all = take_line(c, in, t.n, end) && take_line(c, in + 1, t.how, end) && take_line(c, in + 2, t.team, end);
    if (!h.all) break;
    if (h.most_blocks < blocks_of(t)) h.most_blocks = blocks_of(t);
    if (h.node < 0 && differ(mine, t)) {
      h.other = t;
      h.node = ggas_team_node(c.team, member);
    }
  }
  return h;
}
GGAS_DEVICE void tell_terms(const channel& c, const call_terms& mine) {
  for (int hop = 1 + static_cast<int>(thread_rank()); hop < c.team.size; hop += static_cast<int>(thread_count())) {
    channel_line* const out = c.outbox(member_behind(c, hop));
    send_line(c, out, mine.n);
    send_line(c, out + 1, mine.how);
    send_line(c, out + 2, mine.team);
  }
  refresh_slots(c, [](int) { return 3u; });
}

// The largest of the threads' numbers below 256, for all of them.
GGAS_DEVICE unsigned largest_of_block(unsigned mine) {
  unsigned largest = 0;
  for (int bit = 7; bit >= 0; --bit) {
    const unsigned tried = largest | 1u << bit;
    if (__syncthreads_or(mine >> bit == tried >> bit)) largest = tried;
  }
  return largest;
}

#ifdef __CUDACC__
constexpr uint64_t mark_of_taken = channel_taken;
#else
constexpr uint64_t mark_of_taken = 0;
#endif

// A separate exchange on the channel, in which every member sends the parameters of its call to every member. If
// parameters differ, every member sees it. So either all members refuse or none, and the channel stays in step.
// `most_blocks` becomes the largest number of all members. The mark of the block that uses the channel is kept.
GGAS_DEVICE_FUNCTION ggas_status agree_on_channel(ggas_team team, unsigned number, bool own, call_terms mine,
                                                  uint64_t timeout_ns, unsigned& most_blocks) {
  channel c = open_channel(team, number);
  most_blocks = blocks_of(mine);
  if (c.failed) return ggas_ok;  // the call says so
  poll_deadline end(timeout_ns);
  tell_terms(c, mine);
  const heard_terms h = hear_terms(c, mine, end);
  if (__syncthreads_or(!h.all)) return close_channel(c, h.all ? ggas_ok : ggas_timed_out);
  if (thread_rank() == 0) store_own(c.word, c.seq | (own ? mark_of_taken : 0));
  if (!__syncthreads_or(h.node >= 0)) return ggas_ok;
  if (h.node >= 0) record_difference(mine, h.other, h.node);
  most_blocks = largest_of_block(h.most_blocks);
  return ggas_bad_argument;
}

// Block 0 stands in for blocks that members have and this one has not: those would wait for it.
GGAS_DEVICE_FUNCTION ggas_status agree(ggas_team team, unsigned block, call_terms mine, uint64_t timeout_ns) {
  unsigned most, ignored;
  ggas_status s = agree_on_channel(team, block, true, mine, timeout_ns, most);
  if (s != ggas_bad_argument || block != 0) return s;
  for (unsigned b = blocks_of(mine); b < most; ++b) {
    const ggas_status in_place = agree_on_channel(team, b, false, mine, timeout_ns, ignored);
    if (in_place != ggas_bad_argument) s = in_place;
  }
  return s;
}

// ------------------------------------------------------------------------------------------------ guards

// Words of the node that a block has to itself as long as this lives.
class taken_words {
 public:
  GGAS_DEVICE taken_words(uint64_t* first, unsigned count)
      : first_(first), count_(count), taken_(count == 0 || take(first, count)) {}
  GGAS_DEVICE ~taken_words() {
    if (taken_ && count_ != 0) give(first_, count_);
  }
  taken_words(const taken_words&) = delete;
  taken_words& operator=(const taken_words&) = delete;
  GGAS_DEVICE bool refused() const { return !taken_; }

 private:
#ifdef __CUDACC__
  // A bit of each word. At least as many threads as words would be one turn; a block may have fewer.
  GGAS_DEVICE static bool take(uint64_t* first, unsigned count) {
    uint32_t mine = 0;
    bool free = true;
    for (unsigned i = thread_rank(), k = 0; i < count; i += thread_count(), ++k) {
      const bool here = (or_gpu(first + i, channel_taken) & channel_taken) == 0;
      free &= here;
      mine |= uint32_t{here} << k;
    }
    if (!__syncthreads_or(!free)) return true;
    for (unsigned i = thread_rank(), k = 0; i < count; i += thread_count(), ++k)
      if (mine >> k & 1) and_gpu(first + i, ~channel_taken);
    return false;
  }
  GGAS_DEVICE static void give(uint64_t* first, unsigned count) {
    __syncthreads();
    for (unsigned i = thread_rank(); i < count; i += thread_count()) and_gpu(first + i, ~channel_taken);
    __syncthreads();
  }
#else
  static bool take(uint64_t* first, unsigned count) { return take_place(first, count * sizeof *first); }
  static void give(uint64_t* first, unsigned) { give_place(first); }
#endif

  uint64_t* first_;
  unsigned count_;
  bool taken_;
};

// Channels that a call of `blocks` blocks uses, from that of the block on.
GGAS_DEVICE unsigned channels_of_call(unsigned blocks) { return blocks == 1 ? usable_channels(most_bundled) : 1; }

// Stands before a call as long as this takes. Its status is ggas_ok where the call may be made.
class guarded_call {
 public:
  // Where the team is none the call says so; blocks without a channel have no part in it.
  GGAS_DEVICE guarded_call(const ggas_team& team, const call_part& part, call_facts_of_member facts,
                           uint64_t timeout_ns, bool guards = true)
      : has_channel_(guards && ggas_team_good(team) && part.block < usable_channels(part.blocks)),
        words_(has_channel_ ? own_word(own_layout().channel_seq(team.id, part.block)) : nullptr,
               has_channel_ ? channels_of_call(part.blocks) : 0) {
    if (!has_channel_) return;
    if (words_.refused())
      status_ = refused_for(waited_for::free_place, call_of(facts.terms), team.id);
    else
      status_ = begin(team, part, facts, timeout_ns);
  }
  GGAS_DEVICE ggas_status status() const { return status_; }

 private:
  GGAS_DEVICE static ggas_status begin(const ggas_team& team, const call_part& part, call_facts_of_member& facts,
                                       uint64_t timeout_ns) {
    if (overlaps(facts.memory)) static_cast<void>(refused_for(waited_for::overlap, call_of(facts.terms), 0));
    const bool good = memory_good(facts);
    if (!is_checked() || team.size == 1) return good ? ggas_ok : ggas_bad_argument;
    facts.terms.how |= uint64_t{usable_channels(part.blocks)} << 48;
    facts.terms.team = static_cast<uint64_t>(team.first) | static_cast<uint64_t>(team.stride) << 16 |
                       static_cast<uint64_t>(team.size - 1) << 32 | (good ? 0 : call_terms::refuses);
    const ggas_status s = agree(team, part.block, facts.terms, timeout_ns);
    return s == ggas_ok && !good ? ggas_bad_argument : s;
  }

  bool has_channel_;
  taken_words words_;
  ggas_status status_ = ggas_ok;
};

// ------------------------------------------------------------------------------------------------ what calls are

// Elements that are moved are bytes, those that are reduced numbers.
template <class T>
GGAS_DEVICE constexpr uint64_t element_of_numbers() {
  return sizeof(T) | (is_floating<T> ? call_terms::is_float : 0) |
         (is_plain_integer<T> && has_sign<T> ? call_terms::is_signed : 0);
}
GGAS_DEVICE constexpr call_terms terms_of(call_id call, uint64_t n, uint64_t element, int root, unsigned op = 0,
                                          unsigned method = 0) {
  return {n,
          static_cast<uint64_t>(call) | element << 8 | uint64_t{op & 0xff} << 16 | uint64_t{method & 0xff} << 24 |
              uint64_t{static_cast<uint32_t>(root) & 0xffff} << 32,
          0};
}

// The own rank in a team that the call has not yet checked.
GGAS_DEVICE int rank_here(const ggas_team& t) { return t.stride > 0 ? ggas_team_rank(t) : -1; }

// Checks src and dst of a call in which a member reads `reads` parts of n elements and writes `writes` parts. If one
// side has one part and the other the parts of all members, the one part may be the own part of the other side.
template <class T>
GGAS_DEVICE used_memory memory_of_parts(const T* dst, const T* src, size_t n, int reads, int writes,
                                        const ggas_team& team) {
  const int rank = rank_here(team);
  const size_t own = rank > 0 ? static_cast<size_t>(rank) * n : 0;
  const bool in_place = reads == writes ? reads == 1 && src == dst
                        : reads == 1    ? src == dst + own
                                        : writes == 1 && dst == src + own;
  return {src, dst, bytes_of_parts(n, sizeof(T), reads), bytes_of_parts(n, sizeof(T), writes), in_place};
}

template <class T>
GGAS_DEVICE call_facts_of_member facts_of_move(call_id call, const T* dst, const T* src, size_t n, int root, int reads,
                                               int writes, const ggas_team& team) {
  return {terms_of(call, n, sizeof(T), root), memory_of_parts(dst, src, n, reads, writes, team)};
}
template <class T>
GGAS_DEVICE call_facts_of_member facts_of_broadcast(const T* dst, const T* src, size_t n, int root,
                                                    const ggas_team& team) {
  return facts_of_move(call_id::ggas_broadcast, dst, src, n, root, rank_here(team) == root, 1, team);
}
template <class T>
GGAS_DEVICE call_facts_of_member facts_of_allgather(const T* dst, const T* src, size_t n, const ggas_team& team) {
  return facts_of_move(call_id::ggas_allgather, dst, src, n, everybody, 1, team.size, team);
}
template <class T>
GGAS_DEVICE call_facts_of_member facts_of_alltoall(const T* dst, const T* src, size_t n, const ggas_team& team) {
  return facts_of_move(call_id::ggas_alltoall, dst, src, n, everybody, team.size, team.size, team);
}
template <class T>
GGAS_DEVICE call_facts_of_member facts_of_permute(const T* dst, const T* src, size_t n, const ggas_team& team) {
  call_facts_of_member f = facts_of_move(call_id::ggas_permute, dst, src, n, everybody, 1, 1, team);
  f.memory.in_place = false;
  return f;
}
template <class T>
GGAS_DEVICE call_facts_of_member facts_of_gather(const T* dst, const T* src, size_t n, int root,
                                                 const ggas_team& team) {
  const bool is_root = rank_here(team) == root;
  return facts_of_move(call_id::ggas_gather, dst, src, n, root, 1, is_root ? team.size : 0, team);
}
template <class T>
GGAS_DEVICE call_facts_of_member facts_of_scatter(const T* dst, const T* src, size_t n, int root,
                                                  const ggas_team& team) {
  const bool is_root = rank_here(team) == root;
  return facts_of_move(call_id::ggas_scatter, dst, src, n, root, is_root ? team.size : 0, 1, team);
}
template <class T>
GGAS_DEVICE call_facts_of_member facts_of_reduction(call_id call, const T* dst, const T* src, size_t n, ggas_op op,
                                                    int root, ggas_method method, const ggas_team& team) {
  const int writes = root == everybody || rank_here(team) == root;
  const int reads = call == call_id::ggas_reducescatter ? team.size : 1;
  return {terms_of(call, n, element_of_numbers<T>(), root, static_cast<unsigned>(op), static_cast<unsigned>(method)),
          memory_of_parts(dst, src, n, reads, writes, team)};
}

template <class T>
GGAS_DEVICE call_facts_of_member facts_of_scan(const T* dst, const T* src, size_t n, ggas_op op, ggas_scan_kind kind,
                                               const ggas_team& team) {
  return {terms_of(call_id::ggas_scan, n, element_of_numbers<T>(), everybody, static_cast<unsigned>(op),
                   kind == ggas_scan_exclusive ? static_cast<unsigned>(call_terms::exclusive) : 0),
          memory_of_parts(dst, src, n, 1, 1, team)};
}

}  // namespace ggas::detail

// Before the call of a collective, and around it. Where calls are not guarded nothing of it is compiled.
#if defined(__CUDACC__) && !defined(GGAS_CHECKED)
#define GGAS_GUARD(...)
#define GGAS_GUARDED(...) __VA_ARGS__
#else
#define GGAS_GUARD(...) const guarded_call guard(team, part, __VA_ARGS__, timeout_ns);
#define GGAS_GUARDED(...) guard.status() != ggas_ok ? guard.status() : (__VA_ARGS__)
#endif
