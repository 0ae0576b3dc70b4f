// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/requests.hpp"

#include <atomic>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "userlib/mpi/below.hpp"

namespace ggas::mpi {

namespace {

struct given_up {
  MPI_Request request;
  begun what;
};

// Threads have requests of their own: each part of the messages has its own lock. What is looked up is small: of many
// thousand requests the cache has all of it, and a message is loaded only when it is finished.
struct part {
  std::mutex lock;
  std::unordered_map<MPI_Request, std::unique_ptr<begun>> messages;
};

struct table {
  static constexpr size_t parts = 64;
  part all[parts];
  std::mutex lock;  // of those given up
  std::vector<given_up> unasked;
  std::atomic<size_t> begun_ones{0}, unasked_ones{0};  // their numbers: most programs ask for requests of the MPI alone

  static table& here() {
    static table one;
    return one;
  }
  part& of(MPI_Request request) {
    const uint64_t mixed = std::hash<MPI_Request>()(request) * 0x9e3779b97f4a7c15u;
    return all[mixed >> 58];
  }
};
static_assert(table::parts == 64, "six bits of a hash");

bool was_cancelled(const MPI_Status& status) {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

void take_in(begun& what, MPI_Status& status) {
  what.wrong = what.data->unpack(status);
  what.bytes = direct::bytes_of(status);
  if (!what.persists) what.data.reset();
}

// Moves received data from the memory of the MPI below to their destination. The communicator may be freed: an error
// goes to the handler of all processes.
int arrive(begun& what, MPI_Status& status) {
  if (what.receives && what.data && !what.bytes && !was_cancelled(status)) {
    take_in(what, status);
  } else if (what.bytes) {
    direct::set_bytes(status, *what.bytes);
  }
  const direct::problem wrong = std::exchange(what.wrong, {});
  return wrong.text.empty() ? MPI_SUCCESS : fail(MPI_COMM_WORLD, "MPI_Irecv", wrong.text, wrong.error_class);
}

// After it sent data may be overwritten. If several sends share a request it is not known which one is meant: all are
// completed.
int leave(begun& what, const MPI_Status& status) {
  const bool cancelled = was_cancelled(status);
  what.more.push_back(std::move(what.data));
  std::string wrong;
  for (const std::unique_ptr<message>& m : what.more) {
    if (!m) continue;
    if (cancelled) m->withdraw();
    if (const std::string of_this = m->settle(fetch_begun); wrong.empty()) wrong = of_this;
  }
  return wrong.empty() ? MPI_SUCCESS : fail(MPI_COMM_WORLD, "MPI_Isend", wrong, MPI_ERR_OTHER);
}

// A send that persists was packed: its data are no process's concern.
int complete(begun& what, MPI_Status& status) {
  if (what.persists && (!what.active || !what.receives)) return MPI_SUCCESS;
  if (what.copies) return what.copies->store_of_request();
  if (what.parts) return what.parts->arrive();
  return what.receives ? arrive(what, status) : leave(what, status);
}

// For a request that is complete in the MPI below and has a ticket.
void fetch_if_come(MPI_Request request, begun& what) {
  MPI_Status status;
  int done = 0;
  if (below.Request_get_status(request, &done, &status) != MPI_SUCCESS || !done || was_cancelled(status)) return;
  if (what.data->ticket_of(direct::bytes_of(status))) take_in(what, status);
}

}  // namespace

static void keep(MPI_Request request, std::unique_ptr<begun> what) {
  table& t = table::here();
  part& p = t.of(request);
  const std::lock_guard one_at_a_time(p.lock);
  const auto [m, fresh] = p.messages.try_emplace(request);
  if (fresh) {
    ++t.begun_ones;
    m->second = std::move(what);
  } else if (begun& there = *m->second; !what->receives && !there.receives) {
    there.more.push_back(std::move(what->data));
    std::move(what->more.begin(), what->more.end(), std::back_inserter(there.more));
  } else {
    m->second = std::move(what);
  }
}
void keep(MPI_Request request, begun what) { keep(request, std::make_unique<begun>(std::move(what))); }

// MPICH 4.0 moves some data when a request that persists is made.
#ifdef MPICH_VERSION
constexpr bool moves_early = true;
#else
constexpr bool moves_early = false;
#endif

// MPICH has one request for all calls that are complete at once.
int keep_copies(MPI_Request request, std::shared_ptr<shadows> copies, bool persists) {
  int done = 0;
  if (const int error = persists && moves_early ? copies->store() : MPI_SUCCESS; error != MPI_SUCCESS) return error;
  if (!persists && below.Request_get_status(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
    return copies->store_of_request();
  begun rest{nullptr, true, {}, {}};
  rest.copies = std::move(copies);
  rest.persists = persists;
  rest.active = !persists;
  keep(request, std::move(rest));
  return MPI_SUCCESS;
}

taken::taken(int count, const MPI_Request* requests) {
  table& t = table::here();
  if (t.begun_ones == 0 || !requests || count <= 0) return;
  for (int i = 0; i < count; ++i) {
    part& p = t.of(requests[i]);
    const std::lock_guard one_at_a_time(p.lock);
    const auto m = p.messages.find(requests[i]);
    if (m == p.messages.end()) continue;
    if (index_.empty()) {
      index_.resize(static_cast<size_t>(count), -1);
      messages_.reserve(static_cast<size_t>(count - i));
    }
    index_[static_cast<size_t>(i)] = static_cast<int>(messages_.size());
    const bool receives = m->second->receives;
    messages_.push_back({m->first, std::move(m->second), receives});
    p.messages.erase(m);
    --t.begun_ones;
  }
}

taken::~taken() {
  for (one& m : messages_)
    if (!m.ended) keep(m.request, std::move(m.what));
}

taken::one* taken::at(int place) {
  const auto i = static_cast<size_t>(place);
  if (i >= index_.size() || index_[i] < 0) return nullptr;
  one& found = messages_[static_cast<size_t>(index_[i])];
  return found.ended ? nullptr : &found;
}

bool taken::receives(int i) const {
  const one* const m = at(i);
  return m && m->receives;
}

int taken::finish(int i, const MPI_Request& now, MPI_Status& status, int error, bool complete) {
  one* const m = at(i);
  if (m && m->what->persists) {
    if (!complete) return error;
    const int now_wrong = error == MPI_SUCCESS ? mpi::complete(*m->what, status) : error;
    m->what->active = false;
    return now_wrong;
  }
  if (!m || now != MPI_REQUEST_NULL) return error;
  m->ended = true;
  const std::unique_ptr<begun> what = std::move(m->what);
  if (error == MPI_SUCCESS) return mpi::complete(*what, status);
  if (!what->receives && what->data) what->data->withdraw();
  return error;
}

int taken::deliver(MPI_Status& status) { return complete(*messages_[0].what, status); }

int taken::prepare(const char* call) {
  for (one& m : messages_) {
    begun& what = *m.what;
    if (!what.persists) continue;
    what.bytes.reset();
    if (what.parts) what.parts->restart();
    if (const int error = what.copies ? what.copies->load() : MPI_SUCCESS; error != MPI_SUCCESS) return error;
    const std::string wrong = what.receives || !what.data ? "" : what.data->pack();
    if (!wrong.empty()) return fail(MPI_COMM_WORLD, call, wrong, MPI_ERR_OTHER);
  }
  return MPI_SUCCESS;
}

void taken::started() {
  for (one& m : messages_) m.what->active = true;
}

void taken::give_up(MPI_Request& request) {
  table& t = table::here();
  const std::lock_guard one_at_a_time(t.lock);
  t.unasked.push_back({request, std::move(*messages_[0].what)});
  t.unasked_ones = t.unasked.size();
  messages_[0].ended = true;
  request = MPI_REQUEST_NULL;
}

void fetch_begun() {
  table& t = table::here();
  if (t.begun_ones == 0) return;
  for (part& p : t.all) {
    const std::lock_guard one_at_a_time(p.lock);
    for (auto& [request, what] : p.messages)
      if (what->receives && what->data && !what->bytes && what->active) fetch_if_come(request, *what);
  }
}

// A persistent request stays a request when it is complete.
static void free_rest(given_up& g) {
  if (g.request != MPI_REQUEST_NULL) below.Request_free(&g.request);
}

// No other process looks after what this returns: a handler of errors may call MPI.
static std::vector<given_up> take_unasked() {
  table& t = table::here();
  const std::lock_guard one_at_a_time(t.lock);
  t.unasked_ones = 0;
  return std::exchange(t.unasked, {});
}

void look_after_given_up() {
  table& t = table::here();
  if (t.unasked_ones == 0) return;
  std::vector<given_up> all = take_unasked();
  std::erase_if(all, [](given_up& g) {
    MPI_Status status;
    int done = 0;
    const int error = below.Test(&g.request, &done, &status);
    if (done && error == MPI_SUCCESS && g.what.receives && g.what.active) arrive(g.what, status);
    if (done || error != MPI_SUCCESS) free_rest(g);
    return done != 0 || error != MPI_SUCCESS;
  });
  const std::lock_guard one_at_a_time(t.lock);
  std::move(all.begin(), all.end(), std::back_inserter(t.unasked));
  t.unasked_ones = t.unasked.size();
}

void end_given_up() {
  look_after_given_up();
  for (given_up& g : take_unasked()) {
    if (g.what.receives) PMPI_Cancel(&g.request);
    below.Wait(&g.request, MPI_STATUS_IGNORE);
    free_rest(g);
  }
}

void forget_persistent() {
  table& t = table::here();
  for (part& p : t.all) {
    const std::lock_guard one_at_a_time(p.lock);
    t.begun_ones -= std::erase_if(p.messages, [](const auto& m) { return m.second->persists; });
  }
}

}  // namespace ggas::mpi
