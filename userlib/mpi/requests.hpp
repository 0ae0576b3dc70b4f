// SPDX-License-Identifier: Apache-2.0
// Messages in progress. The request that MPI_Isend and MPI_Irecv returned belongs to the MPI below; the work that
// remains after its completion is stored here.
#pragma once

#include <memory>
#include <vector>

#include "userlib/mpi/message.hpp"
#include "userlib/mpi/partitions.hpp"
#include "userlib/mpi/shadow.hpp"

namespace ggas::mpi {

struct begun {
  std::unique_ptr<message> data;  // of a receive: null once its data are where they belong
  bool receives;
  // What came of a message on offer that was fetched before its request was asked for.
  std::optional<uint64_t> bytes;
  direct::problem wrong;
  // Further sends with this request: MPICH has one for all that were complete when they were begun.
  std::vector<std::unique_ptr<message>> more = {};
  // The request is started again and again, and its message with it; now it is.
  bool persists = false, active = true;
  std::shared_ptr<shadows> copies = {};    // of a collective or one-sided call
  std::shared_ptr<partitions> parts = {};  // of a partitioned one
};

void keep(MPI_Request request, begun what);
// Copies of a call: stored when its request is complete. If it persists they are loaded whenever it is started.
int keep_copies(MPI_Request request, std::shared_ptr<shadows> copies, bool persists);
// `work()` calls the MPI's function, which begins a call on copies.
template <class Work>
int begin_on(std::shared_ptr<shadows> copies, MPI_Request* request, bool persists, Work work) {
  if (const int error = copies->load(); error != MPI_SUCCESS) return error;
  if (const int error = work(); error != MPI_SUCCESS || copies->none()) return error;
  return keep_copies(*request, std::move(copies), persists);
}

// The messages of this library among the requests of a call. They are removed from the table while the MPI below works
// on them, because it may give the number of a completed request to another thread; unfinished ones are put back.
class taken {
 public:
  taken(int count, const MPI_Request* requests);
  ~taken();
  taken(const taken&) = delete;
  taken& operator=(const taken&) = delete;

  bool none() const { return messages_.empty(); }
  bool receives(int i) const;
  // Finishes request `i` if it has ended: it is null now, or persistent and `complete`; `error` is the MPI's error for
  // it. Received data are moved to their destination. Returns MPI_SUCCESS, `error`, or an error of the move.
  int finish(int i, const MPI_Request& now, MPI_Status& status, int error, bool complete);
  // For a persistent request that is complete.
  int deliver(MPI_Status& status);
  // Called before persistent requests are started: packs data to send. started(): called after it.
  int prepare(const char* call);
  void started();
  // No process asks for it any more: its data are kept until it is complete.
  void give_up(MPI_Request& request);

 private:
  struct one {
    MPI_Request request;
    std::unique_ptr<begun> what;
    bool receives, ended = false;
  };
  one* at(int place);
  const one* at(int place) const { return const_cast<taken*>(this)->at(place); }

  std::vector<one> messages_;
  std::vector<int> index_;  // in messages_, of each place; -1: not one of this library
};

// Fetches offered messages for receives of this process: called by a sender that waits, because the other side may be a
// sender that waits, too.
void fetch_begun();

// Messages that were given up and are complete are finished; the cost of a load if there is none.
void look_after_given_up();
// Before and after a call: messages that have arrived before one that it completes have arrived, too.
struct attention {
  attention() { look_after_given_up(); }
  ~attention() { look_after_given_up(); }
  attention(const attention&) = delete;
  attention& operator=(const attention&) = delete;
};
// Before MPI is finalised: sends are waited for, receives are cancelled.
void end_given_up();
// Requests that persist and that no process has freed.
void forget_persistent();

}  // namespace ggas::mpi
