// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/requests.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "userlib/mpi/below.hpp"

namespace ggas::mpi {

namespace {

struct given_up {
  MPI_Request request;
  begun what;
};

struct table {
  std::mutex lock;
  std::map<MPI_Request, begun> messages;
  std::vector<given_up> unasked;
  std::atomic<size_t> begun_ones{0}, unasked_ones{0};  // their numbers: most programs ask for requests of the MPI alone

  static table& here() {
    static table one;
    return one;
  }
};

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

void keep(MPI_Request request, begun what) {
  table& t = table::here();
  const std::lock_guard one_at_a_time(t.lock);
  if (const auto m = t.messages.find(request); m != t.messages.end() && !what.receives && !m->second.receives) {
    m->second.more.push_back(std::move(what.data));
    std::move(what.more.begin(), what.more.end(), std::back_inserter(m->second.more));
  } else {
    t.messages.insert_or_assign(request, std::move(what));
  }
  t.begun_ones = t.messages.size();
}

taken::taken(int count, const MPI_Request* requests) {
  table& t = table::here();
  if (t.begun_ones == 0 || !requests) return;
  const std::lock_guard one_at_a_time(t.lock);
  for (int i = 0; i < count; ++i) {
    const auto m = t.messages.find(requests[i]);
    if (m == t.messages.end()) continue;
    messages_.push_back({i, m->first, std::move(m->second)});
    t.messages.erase(m);
  }
  t.begun_ones = t.messages.size();
}

taken::~taken() {
  for (one& m : messages_) keep(m.request, std::move(m.what));
}

bool taken::receives(int i) const {
  return std::any_of(messages_.begin(), messages_.end(), [&](const one& m) { return m.place == i && m.what.receives; });
}

int taken::finish(int i, const MPI_Request& now, MPI_Status& status, int error, bool complete) {
  const auto m = std::find_if(messages_.begin(), messages_.end(), [&](const one& o) { return o.place == i; });
  if (m != messages_.end() && m->what.persists) {
    if (!complete) return error;
    const int now_wrong = error == MPI_SUCCESS ? mpi::complete(m->what, status) : error;
    m->what.active = false;
    return now_wrong;
  }
  if (m == messages_.end() || now != MPI_REQUEST_NULL) return error;
  begun what = std::move(m->what);
  messages_.erase(m);
  if (error == MPI_SUCCESS) return mpi::complete(what, status);
  if (!what.receives && what.data) what.data->withdraw();
  return error;
}

int taken::deliver(MPI_Status& status) { return complete(messages_[0].what, status); }

int taken::prepare(const char* call) {
  for (one& m : messages_) {
    if (!m.what.persists) continue;
    m.what.bytes.reset();
    const std::string wrong = m.what.receives ? "" : m.what.data->pack();
    if (!wrong.empty()) return fail(MPI_COMM_WORLD, call, wrong, MPI_ERR_OTHER);
  }
  return MPI_SUCCESS;
}

void taken::started() {
  for (one& m : messages_) m.what.active = true;
}

void taken::give_up(MPI_Request& request) {
  table& t = table::here();
  const std::lock_guard one_at_a_time(t.lock);
  t.unasked.push_back({request, std::move(messages_[0].what)});
  t.unasked_ones = t.unasked.size();
  messages_.clear();
  request = MPI_REQUEST_NULL;
}

void fetch_begun() {
  table& t = table::here();
  if (t.begun_ones == 0) return;
  const std::lock_guard one_at_a_time(t.lock);
  for (auto& [request, what] : t.messages)
    if (what.receives && what.data && !what.bytes && what.active) fetch_if_come(request, what);
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
  const std::lock_guard one_at_a_time(t.lock);
  std::erase_if(t.messages, [](const auto& m) { return m.second.persists; });
  t.begun_ones = t.messages.size();
}

}  // namespace ggas::mpi
