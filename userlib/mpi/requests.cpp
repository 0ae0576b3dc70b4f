// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/requests.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

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

// Data that were received, from the memory of the MPI below to where they belong. The communicator may be gone: an
// error goes to the handler of all processes.
int arrive(begun& what, const MPI_Status& status) {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  if (!what.data || !what.receives || cancelled) return MPI_SUCCESS;
  const std::string wrong = what.data->unpack(status);
  what.data.reset();
  return wrong.empty() ? MPI_SUCCESS : fail(MPI_COMM_WORLD, "MPI_Irecv", wrong, MPI_ERR_OTHER);
}

}  // namespace

void keep(MPI_Request request, begun what) {
  table& t = table::here();
  const std::lock_guard one_at_a_time(t.lock);
  t.messages.insert_or_assign(request, std::move(what));
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

int taken::finish(int i, const MPI_Request& now, const MPI_Status& status, int error) {
  const auto m = std::find_if(messages_.begin(), messages_.end(), [&](const one& o) { return o.place == i; });
  if (m == messages_.end() || now != MPI_REQUEST_NULL) return error;
  begun what = std::move(m->what);
  messages_.erase(m);
  return error == MPI_SUCCESS ? arrive(what, status) : error;
}

int taken::deliver(const MPI_Status& status) { return arrive(messages_[0].what, status); }

void taken::give_up(MPI_Request& request) {
  table& t = table::here();
  const std::lock_guard one_at_a_time(t.lock);
  t.unasked.push_back({request, std::move(messages_[0].what)});
  t.unasked_ones = t.unasked.size();
  messages_.clear();
  request = MPI_REQUEST_NULL;
}

// Nobody else looks after what this returns: a handler of errors may call MPI.
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
    const int error = PMPI_Test(&g.request, &done, &status);
    if (done && error == MPI_SUCCESS) arrive(g.what, status);
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
    PMPI_Wait(&g.request, MPI_STATUS_IGNORE);
  }
}

}  // namespace ggas::mpi
