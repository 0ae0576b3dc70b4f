// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/direct/fetch.hpp"

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "userlib/mpi/direct/offer.hpp"
#include "userlib/mpi/direct/ranks.hpp"
#include "userlib/mpi/message.hpp"

namespace ggas::mpi::direct {

namespace {

std::atomic<uint64_t> straight{0}, out_of_packed{0};

// Layouts of other processes: the image of each goes to the GPU once.
std::shared_ptr<const layout> layout_in(int process, const slot& s) {
  constexpr size_t most = 256;
  static std::mutex lock;
  static std::map<std::pair<int, uint64_t>, std::shared_ptr<const layout>> known;
  const std::lock_guard one_at_a_time(lock);
  if (known.size() >= most) known.clear();
  std::shared_ptr<const layout>& l = known[{process, s.layout}];
  if (!l) l = std::make_shared<const layout>(s.type, std::vector<uint64_t>(s.image, s.image + s.words));
  return l;
}

// Finds the items to fetch from. If the sender is packing at this moment, it waits for the sender as long as the sender
// lives. Returns false if the sender has ended.
bool claim(table& t, const ticket& of, slot& s, stage& found) {
  for (;;) {
    uint64_t state = s.state.load(std::memory_order_acquire);
    if (state >> 3 != of.generation) return false;
    found = stage_of(state);
    if (found == stage::packed) return true;
    if (found == stage::offered) {
      if (s.state.compare_exchange_strong(state, state_of(of.generation, stage::fetching))) return true;
    } else if (found != stage::packing || !t.lives(of.process)) {
      return false;
    }
    std::this_thread::yield();
  }
}

// By a GPU that reaches the sender's: that of the items, or, for all other memory, the own one and pinned memory.
std::string move(const foreign_items& from, const items& to, memory& mover, uint64_t bytes) {
  memory* const gpu = own_gpu();
  if (!gpu) return "no GPU of this process reaches the sender's";
  if (gpu == &mover) return gpu->fetch(to, bytes, from);
  const layout piece(datatype::contiguous(static_cast<int64_t>(bytes), primitive::byte));
  const staging middle = gpu->stage(bytes);
  if (!middle) return "no memory for " + std::to_string(bytes) + " bytes of packed data";
  const std::string wrong = gpu->fetch({&piece, static_cast<char*>(middle.get()), 1}, bytes, from);
  return wrong.empty() ? mover.unpack(to, bytes, middle.get()) : wrong;
}

}  // namespace

std::optional<ticket> ticket_in(const void* first, uint64_t n) {
  table* const t = table::here();
  if (!t || !is_ticket_length(n)) return {};
  ticket of;
  std::memcpy(&of, first, sizeof of);
  const bool one = of.job[0] == t->job()[0] && of.job[1] == t->job()[1] && t->valid(of.process) &&
                   of.slot == n - ticket_bytes && t->slot_of(of.process, of.slot).to == t->me();
  return one ? std::optional(of) : std::nullopt;
}

problem fetch(const ticket& of, const items& to, memory& mover, uint64_t& bytes) {
  table& t = *table::here();
  slot& s = t.slot_of(of.process, of.slot);
  stage found{};
  if (!claim(t, of, s, found)) return {"the sender of the message has ended"};
  bytes = s.bytes;
  problem p;
  if (bytes > to.bytes()) {
    p = {"a message of " + std::to_string(bytes) + " bytes for a receive of " + std::to_string(to.bytes()),
         MPI_ERR_TRUNCATE};
  } else if (found == stage::packed) {
    ++out_of_packed;
    p.text = move({of.process, s.middle, nullptr, s.middle_at, 1}, to, mover, bytes);
  } else {
    ++straight;
    const std::shared_ptr<const layout> theirs = layout_in(of.process, s);
    p.text = move({of.process, s.own, theirs.get(), s.own_at, s.own_count}, to, mover, bytes);
  }
  s.state.store(state_of(of.generation, stage::done), std::memory_order_release);
  count_moved();
  return p;
}

uint64_t bytes_of(const MPI_Status& status) {
  MPI_Count n = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &n);
  return n > 0 ? static_cast<uint64_t>(n) : 0;
}

void set_bytes(MPI_Status& status, uint64_t bytes) {
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

void correct(MPI_Comm comm, MPI_Status* status) {
  table* const t = table::here();
  if (!t || status == MPI_STATUS_IGNORE) return;
  const uint64_t n = bytes_of(*status);
  if (!is_ticket_length(n)) return;
  const int from = world_rank(comm, status->MPI_SOURCE);
  if (!t->valid(from)) return;
  slot& s = t->slot_of(from, static_cast<unsigned>(n - ticket_bytes));
  const stage now = stage_of(s.state.load(std::memory_order_acquire));
  if (now != stage::free && now != stage::done && s.to == t->me() && s.tag == status->MPI_TAG)
    set_bytes(*status, s.bytes);
}

}  // namespace ggas::mpi::direct

extern "C" {
uint64_t ggas_mpi_types_straight() { return ggas::mpi::direct::straight; }
uint64_t ggas_mpi_types_from_packed() { return ggas::mpi::direct::out_of_packed; }
}
