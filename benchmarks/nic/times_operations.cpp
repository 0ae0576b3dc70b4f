// SPDX-License-Identifier: Apache-2.0
// The operations whose times are measured, one after the other.
#include "benchmarks/nic/times.hpp"

namespace ggas::bench {

using nic::desc_op;
using nic::descriptor;
using nic::op;

void nic_times::drain() {
  constexpr unsigned most = 1'000;  // rounds; an operation takes some
  for (unsigned i = 0; i < most && wrong_.empty(); ++i) {
    left_ = false;
    rig_.drain();
    rig_.run(600);
    if (!left_) return;
  }
  wrong_ = "the NICs do not come to rest";
}

// Everything ends; what the RTL has joined or left out is forgotten.
void nic_times::settle() {
  drain();
  for (auto& s : sides_) {
    while (s->model.pop_request() || s->model.pop_completion() || s->model.pop_packet() || s->model.pop_event()) {
    }
    for (auto* q : {&s->writes, &s->reads, &s->completions}) q->clear();
    for (auto& q : s->packets) q.clear();
  }
}

void nic_times::forget_translations() {
  for (unsigned n = 0; n < 2; ++n)
    rig_.write_register(n, GGAS_REG_ATU_INVALIDATE,
                        GGAS_ATU_INVALIDATE_START_MASK | GGAS_ATU_INVALIDATE_EVERYTHING_MASK);
  settle();
}

// A context after the other, so that none waits for what it did before.
void nic_times::post(const descriptor& d) {
  if (cold_) forget_translations();
  rig_.post(0, posted_++ % nic_rig::contexts, d, post_dws_);
  settle();
}

void nic_times::window_operations(bool own) {
  for (unsigned i = 0; i < 4; ++i) {
    for (const unsigned bytes : {4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
      rig_.store(0, 256 * i, bytes / 4, own);
      settle();
      rig_.load(0, 256 * i, bytes / 4, own);
      settle();
    }
    rig_.quiet(0);  // after stores
    settle();
    rig_.quiet(0);  // after nothing
    settle();
    rig_.read_register(0, GGAS_REG_NODE);
    settle();
  }
}

// Back to back; one that finds nothing of what it asks about; one that asks both nodes.
void nic_times::further_quiets() {
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned twice = 0; twice < 2; ++twice) {
      rig_.store(0, 0, 1);
      rig_.quiet(0);
    }
    settle();
    rig_.store(0, 0, 1);
    rig_.store(1, 0, 1, true);
    settle();
    rig_.quiet(1);
    settle();
    rig_.quiet(0);
    settle();
    for (const unsigned n : {0u, 1u}) {  // its own node first, or last
      for (const bool own : {false, true}) rig_.store(n, 0, 1, own);
      settle();
      rig_.quiet(n);
      settle();
    }
  }
}

void nic_times::one_sided_operations(uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  constexpr unsigned word_dws = 2, slot_dws = 8;
  for (unsigned i = 0; i < 4; ++i) {
    post_dws_ = i % 2 ? word_dws : slot_dws;
    const uint64_t here = at + 4096 * i;
    for (const unsigned bytes : {8u, 64u, 128u, 256u})
      for (const bool notify : {false, true}) {
        post({.op = desc_op::put, .notify_completer = notify, .node = node, .size = bytes, .w1 = here, .w2 = here});
        post({.op = desc_op::get, .notify_completer = notify, .node = node, .size = bytes, .w1 = here, .w2 = here});
      }
    for (const bool notify : {false, true})
      post({.op = desc_op::imm, .notify_completer = notify, .node = node, .size = 8, .w1 = 7, .w2 = here});
    post({.op = desc_op::imm, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = here});
    post({.op = desc_op::imm, .notify_requester = true, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = here});
    for (const unsigned bytes : {16u, 64u})
      for (const bool notify : {false, true})
        post({.op = desc_op::inline_put,
              .notify_completer = notify,
              .node = node,
              .size = bytes,
              .w2 = here,
              .data = std::vector<uint8_t>(bytes)});
    post({.op = desc_op::notify, .notify_completer = true, .node = node});
    post({.op = desc_op::notify, .notify_completer = true, .strong = true, .node = node, .w2 = here});
    post({.op = desc_op::atomic, .node = node, .size = 8, .w1 = 1, .w2 = here});
    post({.op = desc_op::atomic,
          .notify_requester = true,
          .node = node,
          .size = 8,
          .w1 = 1,
          .w2 = here,
          .second = {0, here}});
    for (const unsigned bytes : {8u, 64u})
      post({.op = desc_op::send, .node = node, .size = bytes, .data = std::vector<uint8_t>(bytes)});
    for (const bool notify : {false, true}) {
      fill_queues({.op = desc_op::imm, .notify_completer = notify, .node = node, .size = 8, .w1 = 7, .w2 = here});
      rig_.ring_queue(0, nic_rig::first_queue, 1);
      settle();
    }
  }
  post_dws_ = slot_dws;
}

// By work queues: what is read there may ask for more reads.
void nic_times::queued_operations() {
  const uint64_t at = nic_rig::segment_nla;
  for (const auto& [what, size] : {std::pair{desc_op::put, 64u}, {desc_op::put, 256u}, {desc_op::get, 64u}}) {
    fill_queues({.op = what, .node = 1, .size = size, .w1 = at, .w2 = at});
    for (unsigned i = 0; i < 4; ++i) {
      rig_.ring_queue(0, nic_rig::first_queue, 1);
      settle();
    }
  }
}

// The child's contribution comes first or last, so each of the causes is the last one of an operation.
void nic_times::collectives() {
  for (unsigned i = 0; i < 4; ++i)
    for (const unsigned words : {0u, 1u, 2u, 4u, 8u, 16u, 31u})
      for (const unsigned first : {0u, 1u})
        for (const unsigned node : {first, 1 - first}) {
          rig_.collective(node, {.words = words, .kind = nic::coll::float32, .contributes = words > 0, .wants = true});
          settle();
        }
  // Barriers after fences that find no stores.
  for (unsigned i = 0; i < 4; ++i)
    for (const unsigned first : {0u, 1u})
      for (const unsigned node : {first, 1 - first}) {
        rig_.collective(node, {.fenced = true});
        settle();
      }
}

// After stores to the other node and to the own one.
void nic_times::asking_fences() {
  for (unsigned i = 0; i < 4; ++i)
    for (const bool own : {false, true})
      for (const unsigned first : {0u, 1u})
        for (const unsigned node : {first, 1 - first}) {
          rig_.store(node, 0, 1, own);
          rig_.collective(node, {.fenced = true});
          settle();
        }
}

void nic_times::every_notification(uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  for (const auto& [what, size] : {std::pair{desc_op::put, 64u},
                                   {desc_op::imm, 8u},
                                   {desc_op::inline_put, 16u},
                                   {desc_op::get, 64u},
                                   {desc_op::notify, 0u},
                                   {desc_op::atomic, 8u},
                                   {desc_op::send, 8u}})
    for (unsigned flags = 0; flags < 16; ++flags) {
      const bool carries = what == desc_op::inline_put || what == desc_op::send;
      const descriptor d{.op = what,
                         .notify_requester = (flags & 1) != 0,
                         .notify_completer = (flags & 2) != 0,
                         .notify_responder = (flags & 4) != 0,
                         .ack = (flags & 8) != 0,
                         .node = node,
                         .size = size,
                         .w1 = at,
                         .w2 = at,
                         .data = std::vector<uint8_t>(carries ? size : 0)};
      if (d.good()) post(d);
    }
}

// The answer to a descriptor that holds its context lets the next one begin.
void nic_times::what_waits_for_answers(uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  const auto make = [&](desc_op what, unsigned size) {
    const bool carries = what == desc_op::inline_put || what == desc_op::send;
    return descriptor{
        .op = what, .node = node, .size = size, .w1 = at, .w2 = at, .data = std::vector<uint8_t>(carries ? size : 0)};
  };
  for (const auto& [holds, its] : {std::pair{desc_op::imm, 8u}, {desc_op::get, 64u}, {desc_op::atomic, 8u}})
    for (const auto& [what, size] : {std::pair{desc_op::imm, 8u},
                                     {desc_op::inline_put, 16u},
                                     {desc_op::put, 64u},
                                     {desc_op::get, 64u},
                                     {desc_op::notify, 0u},
                                     {desc_op::atomic, 8u},
                                     {desc_op::send, 8u}}) {
      descriptor first = make(holds, its);
      (holds == desc_op::atomic ? first.notify_requester : first.notify_completer) = true;
      rig_.post(0, posted_ % nic_rig::contexts, first);
      post(make(what, size));
    }
}

// What waits for a unit that walks for a translation: of another context, or of the same one.
void nic_times::what_waits_for_walks(unsigned first, uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  const std::vector<uint8_t> word(8);
  const std::array<descriptor, waiting_kinds> all{{
      {.op = desc_op::put, .ack = true, .node = node, .size = 64, .w1 = at, .w2 = at},
      {.op = desc_op::imm, .notify_completer = true, .node = node, .size = 8, .w1 = 7, .w2 = at},
      {.op = desc_op::imm, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = at},
      {.op = desc_op::get, .notify_responder = true, .node = node, .size = 512, .w1 = at, .w2 = at},
      {.op = desc_op::get, .notify_completer = true, .node = node, .size = 64, .w1 = at, .w2 = at},
      {.op = desc_op::notify, .notify_completer = true, .strong = true, .node = node, .w2 = at},
      {.op = desc_op::notify, .notify_completer = true, .node = node},
      {.op = desc_op::atomic, .node = node, .size = 8, .w1 = 1, .w2 = at},
      {.op = desc_op::atomic, .notify_requester = true, .node = node, .size = 8, .w1 = 1, .w2 = at, .second = {0, at}},
      {.op = desc_op::send, .node = node, .size = 8, .data = word},
  }};
  for (const descriptor& second : all)
    for (const unsigned next : {0u, 1u}) {
      forget_translations();
      rig_.post(0, posted_ % nic_rig::contexts, all[first]);
      posted_ += next;
      rig_.post(0, posted_++ % nic_rig::contexts, second);
      settle();
    }
}

// A notification that waits for room in its ring, until the host has read some.
void nic_times::full_ring() {
  constexpr unsigned context = 0, log2 = 4;
  const descriptor reported{
      .op = desc_op::imm, .notify_requester = true, .node = 1, .size = 8, .w1 = 7, .w2 = nic_rig::segment_nla};
  rig_.restart(0, context, log2, true);
  settle();
  for (unsigned i = 0; i < 1u << log2; ++i) {
    rig_.post(0, context, reported);
    settle();
  }
  for (unsigned i = 1; i <= 4; ++i) {
    rig_.post(0, context, reported);
    settle();
    rig_.ring_notes(0, context, i);
    settle();
  }
  rig_.restart(0, context, nic_rig::notify_log2);  // else what notifies it later is repeated for ever
  settle();
}

// Where nothing is mapped, then by node 1, which has closed its export and its RMA.
void nic_times::what_is_refused() {
  rig_.load(0, 4 * nic_rig::segment_bytes, 1);
  settle();
  rig_.write_register(1, GGAS_REG_EXPORT_ACCESS(0), 0);
  rig_.load(0, 0, 1);
  settle();
  rig_.write_register(1, GGAS_REG_RMA_CTRL, 0);
  every_notification(1);
}

// Node 1 with a parent and a child. Its child is NIC 0 under another number, which then is its parent.
void nic_times::inner_node() {
  constexpr unsigned child = 2;
  for (const unsigned words : {0u, 1u, 4u, 8u, 16u, 31u}) {
    const nic::coll::ask ask{.words = words, .kind = nic::coll::float32, .contributes = words > 0, .wants = true};
    rig_.place_in_group(1, {.parent = 0, .child = child});
    rig_.write_register(0, GGAS_REG_NODE, child);
    rig_.place_in_group(0, {.parent = 1});
    settle();
    rig_.collective(0, ask);
    settle();
    rig_.write_register(0, GGAS_REG_NODE, 0);
    rig_.place_in_group(0, {.child = 1});
    settle();
    rig_.collective(1, ask);
    rig_.collective(0, ask);
    settle();
  }
}

}  // namespace ggas::bench
