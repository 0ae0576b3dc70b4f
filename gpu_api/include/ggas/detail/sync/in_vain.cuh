// SPDX-License-Identifier: Apache-2.0
// Waits that ended in vain: why, and a record for the host that says who waited for what (docs/failures.md). Nothing of
// it runs in a wait that ends well. Included by wait.cuh.
#pragma once

#include "ggas/detail/sync/trace.cuh"

namespace ggas::detail {

GGAS_DEVICE uint64_t* own_word(uint64_t offset) { return reinterpret_cast<uint64_t*>(device_context().local + offset); }

// The host ends all waits of this node. They look at its word as seldom as at the timer.
GGAS_DEVICE bool aborted() { return device_context().local && glance(own_word(layout::aborted)) != 0; }

// Why a wait was in vain, if it may have been the host.
GGAS_DEVICE_FUNCTION ggas_status in_vain() { return aborted() ? ggas_aborted : ggas_timed_out; }
GGAS_DEVICE bool is_in_vain(ggas_status s) { return (s == ggas_timed_out) | (s == ggas_aborted); }

// This thread, as records name it.
GGAS_DEVICE uint64_t who_waits() { return uint64_t{block_rank()} << 32 | uint64_t{thread_rank()} << 1 | 1; }

GGAS_DEVICE wait_record* records() { return reinterpret_cast<wait_record*>(own_word(own_layout().wait_record_at(0))); }
// The record of this thread; null: it has none.
GGAS_DEVICE wait_record* own_record() {
  const uint64_t who = who_waits();
  wait_record* r = records();
  GGAS_NO_UNROLL
  for (unsigned left = layout::wait_records; left != 0; --left, ++r) {
    if (load_relaxed(&r->who) == who) return r;
  }
  return nullptr;
}

// The record of this thread, or one for it, with what every record has. Whose it is, is written last, by
// record_writer::end(): the host looks at records when kernels have ended, or in spite of what still runs.
GGAS_DEVICE_FUNCTION wait_record* begin_record(waited_for kind, ggas_status s) {
  const uint64_t number = add_gpu(own_word(own_layout().waits_in_vain()), uint64_t{1}) + 1;
  wait_record* const mine = own_record();
  wait_record* const at = mine ? mine : records() + (number - 1) % layout::wait_records;
  store_relaxed(&at->who, uint64_t{0});
  fence_acq_rel_system();
  store_relaxed(&at->at_ns, clock_ns());
  store_relaxed(&at->number, number);
  store_relaxed(&at->call, 0u);
  store_relaxed(&at->status, static_cast<uint32_t>(s));
  store_relaxed(&at->kind, static_cast<uint32_t>(kind));
  return at;
}

class record_writer {
 public:
  GGAS_DEVICE record_writer(waited_for kind, ggas_status s) : at_(begin_record(kind, s)) {}
  // The word, or the number, that was waited for, and what was there.
  GGAS_DEVICE void wanted(uint64_t expected, uint64_t seen, const void* word = nullptr, uint32_t type = 0,
                          ggas_cmp cmp = ggas_ge) {
    store_relaxed(&at_->address, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(word)));
    store_relaxed(&at_->expected, expected);
    store_relaxed(&at_->seen, seen);
    store_relaxed(&at_->type, type);
    store_relaxed(&at_->cmp, static_cast<uint32_t>(cmp));
  }
  // Of what was refused: the call, and how those of two members differ.
  GGAS_DEVICE void of_call(call_id call) { store_relaxed(&at_->call, static_cast<uint32_t>(call)); }
  GGAS_DEVICE void differs(const call_terms& mine, const call_terms& other) {
    char* const record = reinterpret_cast<char*>(at_);
    store_terms(record + wait_record::own_terms, mine);
    store_terms(record + wait_record::other_terms, other);
  }
  // Nodes or blocks that did not come.
  GGAS_DEVICE void forget_missing() { missing_ = 0; }
  GGAS_DEVICE unsigned missing() const { return missing_; }
  GGAS_DEVICE void add_missing(int which) {
    if (missing_ < wait_record::most_missing) store_relaxed(&at_->missing[missing_], which);
    ++missing_;
  }
  GGAS_DEVICE void end() {
    store_relaxed(&at_->missing_count, missing_);
    fence_acq_rel_system();
    store_relaxed(&at_->who, who_waits());
  }

 private:
  GGAS_DEVICE static void store_terms(char* at, const call_terms& t) {
    auto* const words = reinterpret_cast<uint64_t*>(at);
    store_relaxed(words, t.n);
    store_relaxed(words + 1, t.how);
    store_relaxed(words + 2, t.team);
  }

  wait_record* at_;
  uint32_t missing_ = 0;
};

template <class T>
GGAS_DEVICE constexpr uint32_t type_of_word() {
  if constexpr (is_floating<T>)
    return sizeof(T) | wait_record::is_float;
  else if constexpr (is_integer<T>)
    return sizeof(T) | (has_sign<T> ? wait_record::is_signed : 0);
  else
    return sizeof(T);
}
template <class T>
GGAS_DEVICE uint64_t bits_of_word(const T& v) {
  uint64_t bits = 0;
  memcpy(&bits, &v, sizeof v);
  return bits;
}

// A word of this node did not become what it should.
GGAS_DEVICE_FUNCTION void record_word(ggas_status s, const void* word, uint32_t type, ggas_cmp cmp, uint64_t expected,
                                      uint64_t seen) {
  if (!device_context().local) return;
  record_writer r(waited_for::word, s);
  r.wanted(expected, seen, word, type, cmp);
  r.end();
}
template <class T>
GGAS_DEVICE ggas_status word_in_vain(ggas_status s, const T* word, ggas_cmp cmp, const T& expected, const T& seen) {
  record_word(s, word, type_of_word<T>(), cmp, bits_of_word(expected), bits_of_word(seen));
  return s;
}

// Somebody did not do something.
GGAS_DEVICE_FUNCTION ggas_status in_vain_for(waited_for kind, ggas_status s, uint64_t expected, int missing) {
  if (!device_context().local) return s;
  record_writer r(kind, s);
  r.wanted(expected, 0);
  r.add_missing(missing);
  r.end();
  return s;
}

// A call of the block that the rules forbid. By all its threads. On a broken node nothing is worth a record.
GGAS_DEVICE_FUNCTION ggas_status refused_for(waited_for why, call_id call, uint64_t expected) {
  if (!device_context().local) return ggas_bad_argument;
  if (__syncthreads_or(glance(own_word(layout::broken)) != 0)) return ggas_broken;
  if (thread_rank() != 0) return ggas_bad_argument;
  record_writer r(why, ggas_bad_argument);
  r.wanted(expected, 0);
  r.of_call(call);
  r.end();
  return ggas_bad_argument;
}

// ------------------------------------------------------------------------------------------------ calls

// The call that made the wait of this thread's record.
GGAS_DEVICE_FUNCTION void name_record(call_id call) {
  if (!device_context().local) return;
  wait_record* const mine = own_record();
  if (mine && load_relaxed(&mine->call) == 0) store_relaxed(&mine->call, static_cast<uint32_t>(call));
}

// Around a public call: it stands in the trace, if the node is traced; a wait in vain gets the call's name. No lambda:
// nvcc would forget what it knows of the call's arguments, and keep code for all of them.
template <class G>
class made_call {
 public:
  GGAS_DEVICE made_call(const traced_call<G>& traced, ggas_status s) : traced_(traced), status_(s) {}
  GGAS_DEVICE ggas_status end(call_id call, const G& g) const {
    if (is_in_vain(status_)) [[unlikely]]
      name_record(call);
    traced_.end(call, g, status_);
    return status_;
  }

 private:
  traced_call<G> traced_;
  ggas_status status_;
};

}  // namespace ggas::detail

// The expression as the call of that name, made by a group. In braces, as what begins the call comes before the
// expression there; nvcc 13.0 evaluates the arguments of a member function before its object.
#define GGAS_AS_CALL(name, group, ...) \
  ggas::detail::made_call{ggas::detail::traced_call(group), ggas_status(__VA_ARGS__)}.end(ggas::call_id::name, group)
