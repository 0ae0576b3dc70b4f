// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/direct/offer.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "userlib/mpi/watch.hpp"

namespace ggas::mpi::direct {

namespace {

constexpr uint64_t most_lent = uint64_t{256} << 20;  // memory of the GPU for messages that wait for their receivers

uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

// The own slots: what was lent for each.
struct own_slots {
  struct loan {
    memory* gpu = nullptr;
    void* at = nullptr;
    uint64_t bytes = 0;
  };
  std::mutex lock;
  loan loans[slots_of_process];
  uint64_t lent = 0, generation = 0;

  static own_slots& here() {
    static own_slots one;
    return one;
  }

  // What receivers are done with is free again.
  void sweep(table& t) {
    for (unsigned i = 0; i < slots_of_process; ++i) {
      std::atomic<uint64_t>& state = t.slot_of(t.me(), i).state;
      if (!loans[i].gpu || stage_of(state.load(std::memory_order_acquire)) != stage::done) continue;
      loans[i].gpu->give_back(loans[i].at);
      lent -= loans[i].bytes;
      loans[i] = {};
      state.store(0, std::memory_order_release);
    }
  }

  // A slot with memory to pack in; slots_of_process: there is none.
  unsigned take(table& t, memory& gpu, uint64_t bytes) {
    sweep(t);
    const auto* const unused =
        std::find_if(std::begin(loans), std::end(loans), [](const loan& l) { return l.gpu == nullptr; });
    if (unused == std::end(loans) || bytes > most_lent || lent > most_lent - bytes) return slots_of_process;
    const auto i = static_cast<unsigned>(unused - loans);
    void* const at = gpu.borrow(bytes);
    if (!at) return slots_of_process;
    loans[i] = {&gpu, at, bytes};
    lent += bytes;
    return i;
  }
};

memory* introduced = nullptr;
std::mutex meeting;
std::atomic<uint32_t> met{0};  // greetings that were answered
std::atomic<memory*> shared_gpu{nullptr};

bool may_fetch(table& t, int to) {
  return t.valid(to) && to != t.me() && t.reaches(to, t.me()) == 1 && t.of(to).closed == 0 && t.lives(to);
}

// What the receiver needs to fetch the items themselves; false: they have to be packed first.
bool describe(memory& gpu, const items& data, slot& s) {
  const layout& l = *data.of;
  if (l.words().size() > most_words || !gpu.share(data.first_byte(), s.own)) return false;
  const detail::data_range all = detail::range_of(l.handle(), data.count);
  s.own_at = reinterpret_cast<uintptr_t>(data.at);
  s.own_count = data.count;
  s.layout = l.number();
  s.words = l.words().size();
  s.type = l.handle();
  std::copy(l.words().begin(), l.words().end(), s.image);
  return all.good && s.own.holds(s.own_at + all.low, all.bytes);
}

}  // namespace

memory* own_gpu() { return shared_gpu; }

void close_to_offers() {
  if (table* const t = table::here()) t->of(t->me()).closed = 1;
}

void meet(memory& gpu) {
  table* const t = table::here();
  if (!t || (shared_gpu && (shared_gpu != &gpu || t->greetings() == met))) return;
  const std::lock_guard one_at_a_time(meeting);
  page& mine = t->of(t->me());
  if (!introduced) {
    introduced = &gpu;
    if (ggas_mpi_load_watch.unseen) close_to_offers();
    void* const block = gpu.borrow(4096);
    if (block && gpu.share(block, mine.hello)) {
      mine.has_hello.store(1, std::memory_order_release);
      ++t->greetings();
    }
    shared_gpu = &gpu;
  }
  if (introduced != &gpu) return;
  met = t->greetings().load();
  for (int p = 0; p < t->size(); ++p) {
    std::atomic<uint8_t>& known = t->reaches(t->me(), p);
    if (p == t->me() || known != 0 || t->of(p).has_hello.load(std::memory_order_acquire) == 0) continue;
    known.store(gpu.reaches(p, t->of(p).hello) ? 1 : 2, std::memory_order_release);
  }
}

std::unique_ptr<offer> offer::make(memory& gpu, const items& data, int to, int tag) {
  table* const t = table::here();
  if (!t || data.bytes() < least_bytes() || &gpu != own_gpu() || !may_fetch(*t, to)) return nullptr;
  own_slots& own = own_slots::here();
  std::unique_ptr<offer> made(new offer(gpu, data));
  {
    const std::lock_guard one_at_a_time(own.lock);
    const unsigned i = own.take(*t, gpu, data.bytes());
    if (i == slots_of_process) return nullptr;
    made->wire_.plain = {{t->job()[0], t->job()[1]}, t->me(), i, ++own.generation, {}};
  }
  slot& s = made->place();
  s.to = to;
  s.tag = tag;
  s.bytes = data.bytes();
  s.middle_at = reinterpret_cast<uintptr_t>(own.loans[made->wire_.plain.slot].at);
  const bool shared = gpu.share(reinterpret_cast<void*>(s.middle_at), s.middle);
  const bool described = shared && describe(gpu, data, s);
  s.state.store(state_of(made->wire_.plain.generation, described ? stage::offered : stage::packing),
                std::memory_order_release);
  if (!shared || (!described && !made->pack().empty())) {
    made->withdraw();
    return nullptr;
  }
  return made;
}

slot& offer::place() const { return table::here()->slot_of(wire_.plain.process, wire_.plain.slot); }

std::string offer::pack() {
  slot& s = place();
  const std::string wrong = gpu_.pack(data_, data_.bytes(), reinterpret_cast<void*>(s.middle_at));
  settled_ = true;
  s.state.store(state_of(wire_.plain.generation, wrong.empty() ? stage::packed : stage::done),
                std::memory_order_release);
  return wrong;
}

std::string offer::settle(void (*meanwhile)()) {
  if (settled_) return {};
  slot& s = place();
  const uint64_t begun = now_ns();
  for (;;) {
    uint64_t state = s.state.load(std::memory_order_acquire);
    // Another generation: it was fetched, and the slot has a new message.
    if (state >> 3 != wire_.plain.generation || stage_of(state) == stage::done) break;
    const bool impatient = now_ns() - begun >= timeout_ns();
    if (stage_of(state) == stage::offered && impatient &&
        s.state.compare_exchange_strong(state, state_of(wire_.plain.generation, stage::packing)))
      return pack();
    if (stage_of(state) == stage::fetching && impatient && !table::here()->lives(s.to))
      return "the receiver ended while it fetched the message";
    meanwhile();
  }
  settled_ = true;
  return {};
}

void offer::withdraw() {
  place().state.store(state_of(wire_.plain.generation, stage::done), std::memory_order_release);
  settled_ = true;
}

void end_offers() {
  table* const t = table::here();
  if (!t) return;
  own_slots& own = own_slots::here();
  t->of(t->me()).process = 0;  // this process fetches nothing any more: who waits for that goes on
  for (unsigned i = 0; i < slots_of_process; ++i) {
    slot& s = t->slot_of(t->me(), i);
    while (own.loans[i].gpu && stage_of(s.state.load(std::memory_order_acquire)) != stage::done && t->lives(s.to))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace ggas::mpi::direct
