// SPDX-License-Identifier: Apache-2.0
// Partitioned messages of MPI. The sender offers a channel once, by a message of the communicator's context for offers,
// so channels are matched in the order in which they were made. Then each of its partitions is a message, whose word
// says which one it is. The receiver may count other partitions of the same data. Included by point_to_point.cuh.
#pragma once

#include "ggas/detail/mpi/packed_items.cuh"

namespace ggas::mpi {

// Contexts after those of communicators: of the offers of each of them, and of all partitions. The tag of a partition
// is the number of its channel at the sender.
constexpr uint32_t number_mask = detail::tag_mask >> 1;
constexpr int offers_of_world = 2 * most_comms, context_of_partitions = offers_of_world + 1 + most_comms;
static_assert(context_of_partitions < detail::contexts);
GGAS_DEVICE int offer_tag(MPI_Comm comm, int tag) {
  return detail::tag_of_context(offers_of_world + static_cast<int>(comm) - MPI_COMM_WORLD, tag);
}

// What a request of partitions that has begun has for a number.
constexpr uint64_t number_of_partitions = 1;

struct channel_offer {
  uint64_t bytes, part_bytes;  // of all partitions, of one of the sender's
  uint32_t parts;              // of the sender
  uint32_t number;             // of the channel
  uint32_t info, unused;       // the basic type
};
// What is made by MPI_Psend_init or MPI_Precv_init: memory of the rank. `words` follow, one for each own partition: of
// a sender its state, of a receiver the bytes that have come.
struct partitioned {
  enum part_state : uint64_t { waits, ready, sent };  // or the number of its request
  packed_items* packed;                               // of a derived type
  char* data;                                         // of all partitions
  uint64_t bytes;
  int partitions;
  bool receives, begun;
  partitioned* next;      // of the rank
  int peer, source, tag;  // of all ranks; as called
  uint32_t info;
  uint32_t ended;                 // messages of this round
  uint32_t moving;                // receiver: the partition that comes
  ggas_message_request offering;  // the offer, until it has gone or come
  ggas_message_request coming;    // receiver: what comes
  channel_offer offer;
  GGAS_DEVICE uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  GGAS_DEVICE uint64_t own_part() const { return partitions == 0 ? 0 : bytes / static_cast<unsigned>(partitions); }
  GGAS_DEVICE int tag_of_parts() const {
    return detail::tag_of_context(context_of_partitions, static_cast<int>(offer.number));
  }
};

// The channels of a rank are a list. MPI_PROC_NULL's are not in it.
GGAS_DEVICE partitioned* first_partitioned() {
  return reinterpret_cast<partitioned*>(static_cast<uintptr_t>(self().matching().partitioned));
}
GGAS_DEVICE void set_first_partitioned(partitioned* p) {
  self().matching().partitioned = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p));
}
GGAS_DEVICE void enter_list(partitioned* p) {
  const rank_group g;
  g.sync();
  if (g.leads()) {
    p->next = first_partitioned();
    set_first_partitioned(p);
  }
  g.sync();
}
GGAS_DEVICE void leave_list(partitioned* p) {
  const rank_group g;
  g.sync();
  if (g.leads()) {
    partitioned* before = first_partitioned();
    if (before == p) set_first_partitioned(p->next);
    while (before != p && before->next != p) before = before->next;
    if (before != p) before->next = p->next;
  }
  g.sync();
}

GGAS_DEVICE void free_partitioned(partitioned* p) {
  if (p->packed) free_items(p->packed);
  free_memory(p);
}
// Not offered yet. Of good arguments.
GGAS_DEVICE partitioned* new_partitioned(const void* buffer, int partitions, int64_t items, MPI_Datatype type, int peer,
                                         int tag, MPI_Comm comm, bool receives) {
  const rank_group g;
  packed_items* packed = nullptr;
  if (derived(type)) {
    packed = new_items(buffer, static_cast<uint64_t>(items), type, receives);
    if (!packed) return nullptr;
  }
  auto* const p = reinterpret_cast<partitioned*>(
      new_memory<char>(static_cast<int64_t>(sizeof(partitioned)) + int64_t{8} * partitions));
  if (!p && packed) free_items(packed);
  if (!p) return nullptr;
  if (g.leads()) {
    const uint64_t bytes = packed ? packed->bytes : static_cast<uint64_t>(items * TYPE_SIZE(type));
    *p = {packed,
          packed ? packed->data() : as_bytes(buffer),
          bytes,
          partitions,
          receives,
          false,
          nullptr,
          peer_in(comm, peer),
          peer,
          tag,
          packed ? packed->type->shape.info : info_of(type),
          0,
          0,
          {},
          {},
          {}};
    if (!receives)
      p->offer = {
          bytes, p->own_part(), static_cast<uint32_t>(partitions), self().matching().channels++ & number_mask, p->info,
          0};
  }
  g.sync();
  return p;
}
// The offer goes to the receiver, or a receive waits for it.
GGAS_DEVICE int offer_partitions(partitioned* p, int offered_as) {
  const rank_group g;
  if (p->peer == MPI_PROC_NULL) return MPI_SUCCESS;
  auto* const offer = reinterpret_cast<char*>(&p->offer);
  const ggas_status s =
      p->receives ? detail::begin_receive(g, world(), offer, sizeof p->offer, p->peer, offered_as, &p->offering)
                  : ggas_isend(g, world(), offer, sizeof p->offer, p->peer, offered_as, &p->offering);
  if (s == ggas_ok && !p->receives) (void)ggas_wait(g, world(), &p->offering, nullptr, 0);
  g.sync();
  return error_of(s);
}

GGAS_DEVICE void start_partitions(partitioned* p) {
  const rank_group g;
  g.sync();
  for (unsigned i = g.rank(); i < static_cast<unsigned>(p->partitions); i += g.size())
    p->words()[i] = partitioned::waits;
  if (g.leads()) p->ended = 0, p->begun = true;
  g.sync();
}

// ---- the sender

// Sends a partition that is ready, if a request is free; looks whether it has gone.
GGAS_DEVICE_FUNCTION ggas_status move_sent(partitioned* p, int i, uint64_t time) {
  const rank_group g;
  const uint64_t part = p->own_part(), state = p->words()[i];
  g.sync();
  if (state == partitioned::waits || state == partitioned::sent) return ggas_ok;
  ggas_message_request q{state};
  if (state == partitioned::ready) {
    const ggas_status s = ggas_isend(g, world(), p->data + static_cast<unsigned>(i) * part, part, p->peer,
                                     p->tag_of_parts(), &q, static_cast<uint32_t>(i));
    if (s != ggas_ok) return s == ggas_bad_argument ? ggas_timed_out : s;  // all requests are in use
  }
  const ggas_status s = ggas_wait(g, world(), &q, nullptr, time);
  if (g.leads()) p->words()[i] = q.number == 0 ? uint64_t{partitioned::sent} : q.number;
  if (g.leads() && q.number == 0) ++p->ended;
  g.sync();
  return s;
}
GGAS_DEVICE_FUNCTION ggas_status move_all_sent(partitioned* p, uint64_t time) {
  ggas_status all = ggas_ok;
  for (int i = 0; i < p->partitions; ++i) {
    const ggas_status s = move_sent(p, i, time);
    if (all == ggas_ok) all = s;
  }
  return all;
}
GGAS_DEVICE bool are_all_ready(partitioned* p) {
  for (int i = 0; i < p->partitions; ++i)
    if (p->words()[i] == partitioned::waits) return false;
  return true;
}

// ---- the receiver

GGAS_DEVICE ggas_status wait_for_offer(partitioned* p, uint64_t time) {
  const rank_group g;
  ggas_message_request q = p->offering;
  g.sync();
  if (q.number == 0) return ggas_ok;
  const ggas_status s = ggas_wait(g, world(), &q, nullptr, time);
  if (g.leads()) p->offering = q;
  g.sync();
  return q.number == 0 ? ggas_ok : s;
}
// What is wrong with the offer that has come. The partitions are then received without data.
GGAS_DEVICE int check_offer(const partitioned* p) {
  if (!detail::fits_info(p->info, p->offer.info)) return MPI_ERR_TYPE;
  return p->offer.bytes == p->bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}
// The first thread counts bytes first ... first + bytes for the own partitions.
GGAS_DEVICE void count_received(partitioned* p, uint64_t first, uint64_t bytes) {
  const uint64_t part = p->own_part(), last = first + bytes;
  for (uint64_t at = first; at < last;) {
    const uint64_t i = at / part, end = (i + 1) * part < last ? (i + 1) * part : last;
    p->words()[i] += end - at;
    at = end;
  }
}
// The message of a partition that comes next: its receive begins.
GGAS_DEVICE ggas_status begin_partition(partitioned* p, uint64_t time) {
  const rank_group g;
  ggas_message m;
  ggas_status s = ggas_probe(g, world(), p->peer, p->tag_of_parts(), &m, time);
  if (s != ggas_ok) return s;
  const bool good = check_offer(p) == MPI_SUCCESS;
  ggas_message_request q{};
  s = detail::begin_receive(g, world(), good ? p->data + m.info * p->offer.part_bytes : nullptr, good ? m.bytes : 0,
                            p->peer, p->tag_of_parts(), &q);
  if (g.leads()) {
    p->coming = q;
    p->moving = m.info;
  }
  g.sync();
  return s == ggas_bad_argument ? ggas_timed_out : s;  // all requests are in use
}
// Receives the partitions that are there.
GGAS_DEVICE_FUNCTION ggas_status move_received(partitioned* p, uint64_t time) {
  const rank_group g;
  ggas_status s = wait_for_offer(p, time);
  while (s == ggas_ok && p->ended < p->offer.parts) {
    ggas_message_request q = p->coming;
    g.sync();
    if (q.number == 0) {
      s = begin_partition(p, time);
      continue;
    }
    ggas_message m;
    s = ggas_wait(g, world(), &q, &m, time);
    if (q.number != 0) return s;
    const uint64_t first = p->moving * p->offer.part_bytes;
    const bool good = s == ggas_ok && check_offer(p) == MPI_SUCCESS;
    if (good && p->packed) p->packed->unpack_part(first, m.bytes);
    g.sync();
    if (g.leads()) {
      if (good) count_received(p, first, m.bytes);
      p->coming = q;
      ++p->ended;
    }
    g.sync();
    s = ggas_ok;
  }
  return s;
}

// ---- both

GGAS_DEVICE bool have_all_ended(const partitioned* p) {
  return p->ended == p->offer.parts && !(p->receives && p->offering.number != 0);
}
// What can be done at once for all channels of the rank that have begun: a rank that waits for one receives for all.
GGAS_DEVICE_FUNCTION ggas_status move_partitions() {
  ggas_status all = ggas_ok;
  for (partitioned* p = first_partitioned(); p; p = p->next) {
    if (!p->begun) continue;
    const ggas_status s = p->receives ? move_received(p, 0) : move_all_sent(p, 0);
    if (s != ggas_ok && s != ggas_timed_out) all = s;
  }
  return all;
}
// Whether the rank has waited too long; the clocks of its threads differ.
GGAS_DEVICE bool is_late(uint64_t begin, uint64_t time) {
  const bool late = time == 0 || detail::clock_ns() - begin > time;
  return rank_group{}.join(late ? ggas_timed_out : ggas_ok) != ggas_ok;
}
// Until the round has ended or the time is over; `ended`: it has.
GGAS_DEVICE_FUNCTION int end_partitions(partitioned* p, uint64_t time, bool& ended) {
  const rank_group g;
  ended = p->peer == MPI_PROC_NULL;
  if (ended) return MPI_SUCCESS;
  if (!p->receives && time != 0 && !are_all_ready(p)) return MPI_ERR_REQUEST;  // no other thread can do it
  const uint64_t begin = detail::clock_ns();
  for (;;) {
    const ggas_status s = move_partitions();
    ended = have_all_ended(p);
    g.sync();
    if (ended && g.leads()) p->begun = false;
    g.sync();
    if (ended) return p->receives ? check_offer(p) : MPI_SUCCESS;
    if (s != ggas_ok) return error_of(s);
    if (is_late(begin, time)) break;
  }
  if (time != 0) (void)(p->receives ? move_received(p, 1) : move_all_sent(p, 1));  // for the report
  return MPI_ERR_TIMEOUT;
}
// A request of one message that has begun.
GGAS_DEVICE ggas_status wait_for(ggas_message_request* request, ggas_message* m, uint64_t time) {
  if (!first_partitioned()) return ggas_wait(rank_group{}, world(), request, m, time);
  const uint64_t begin = detail::clock_ns();
  for (;;) {
    const ggas_status moved = move_partitions();
    const ggas_status s = ggas_wait(rank_group{}, world(), request, m, 0);
    if (request->number == 0 || s != ggas_timed_out) return s;
    if (moved != ggas_ok) return moved;
    if (is_late(begin, time)) return s;
  }
}
// A call that waits for one message, by the request that begin(q) makes; withdrawn if the time is over.
template <class Begin>
GGAS_DEVICE ggas_status among_partitions(Begin begin, ggas_message* m) {
  const uint64_t began = detail::clock_ns();
  ggas_message_request q{};
  ggas_status s = begin(q);
  // All requests are in use.
  while (s == ggas_bad_argument && move_partitions() == ggas_ok && !is_late(began, timeout_ns)) s = begin(q);
  if (s == ggas_ok) s = wait_for(&q, m, timeout_ns);
  int which;
  return q.number == 0 ? s : detail::wait_for_any(rank_group{}, world(), &q, 1, &which, m, 0, true);
}
GGAS_DEVICE_FUNCTION ggas_status send_among_partitions(const void* data, uint64_t bytes, int to, int tag,
                                                       uint32_t info) {
  using namespace detail;
  GGAS_CALL(ggas_send, rank_group{},
            record_message(rank_group{}, world(), waited_for::receipt, this_call, s, timeout_ns, to, tag),
            among_partitions(
                [&](ggas_message_request& q) {
                  return ggas_isend(rank_group{}, world(), static_cast<const char*>(data), bytes, to, tag, &q, info);
                },
                nullptr));
}
GGAS_DEVICE_FUNCTION ggas_status receive_among_partitions(void* buffer, uint64_t most, int from, int tag, uint32_t info,
                                                          ggas_message* m) {
  using namespace detail;
  GGAS_CALL(ggas_recv, rank_group{},
            record_message(rank_group{}, world(), waited_for::message, this_call, s, timeout_ns, from, tag),
            among_partitions(
                [&](ggas_message_request& q) {
                  return begin_receive(rank_group{}, world(), buffer, most, from, tag, &q, info);
                },
                m));
}

// Withdraws the offer if it has not gone or come, and frees the memory. By a rank with no partitions under way.
GGAS_DEVICE_FUNCTION void drop_partitions(partitioned* p) {
  const rank_group g;
  ggas_message_request q = p->offering;
  g.sync();
  if (q.number != 0 && !p->receives) (void)ggas_wait(g, world(), &q, nullptr, timeout_ns);
  if (q.number != 0) (void)ggas_cancel(g, world(), &q);
  if (p->peer != MPI_PROC_NULL) leave_list(p);
  free_partitioned(p);
}

}  // namespace ggas::mpi
