// SPDX-License-Identifier: Apache-2.0
// What ends a message that was begun: the families of MPI_Wait and MPI_Test, and what else takes a request.
#include <vector>

#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/requests.hpp"
#include "userlib/mpi/watch.hpp"

namespace ggas::mpi {

namespace {

// Where the MPI below writes what the caller does not want to know.
class statuses {
 public:
  statuses(MPI_Status* given, MPI_Status* ignored, int count) : at_(given) {
    if (given != ignored) return;
    own_.resize(static_cast<size_t>(count) + 1);
    at_ = own_.data();
  }
  MPI_Status* at() { return at_; }
  MPI_Status& operator[](int i) { return at_[i]; }

 private:
  std::vector<MPI_Status> own_;
  MPI_Status* at_;
};

// Called after a call for `n` requests, all of them `done` or none. `place(k)` is the index of the k-th request; the
// k-th status is its status, with its error if some failed. Receives come first: a process that waits until this one
// fetches a message must not wait for this one's sends.
template <class Place>
int finish_each(taken& ours, int n, Place place, const MPI_Request* requests, statuses& all, int error, bool done) {
  int worst = error;
  for (const bool receives : {true, false})
    for (int k = 0; k < n; ++k) {
      const int i = place(k);
      if (ours.receives(i) != receives) continue;
      const int of_this = error == MPI_ERR_IN_STATUS ? all[k].MPI_ERROR : error;
      const int now = ours.finish(i, requests[i], all[k], of_this, done && of_this != MPI_ERR_PENDING);
      if (worst == MPI_SUCCESS) worst = now;
    }
  return worst;
}
int finish_all(taken& ours, int n, const MPI_Request* requests, statuses& all, int error, bool done) {
  return finish_each(
      ours, n, [](int k) { return k; }, requests, all, error, done);
}
int finish_some(taken& ours, int n, const int* places, const MPI_Request* requests, statuses& all, int error) {
  return finish_each(
      ours, n == MPI_UNDEFINED ? 0 : n, [&](int k) { return places[k]; }, requests, all, error, true);
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

int ours_Wait(MPI_Request* request, MPI_Status* status) {
  if (quiet()) return below.Wait(request, status);
  const attention to_given_up;
  taken ours(1, request);
  if (ours.none()) return below.Wait(request, status);
  statuses all(status, MPI_STATUS_IGNORE, 1);
  const int error = below.Wait(request, all.at());
  return ours.finish(0, *request, all[0], error, true);
}

int ours_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (quiet()) return below.Test(request, done, status);
  const attention to_given_up;
  taken ours(1, request);
  if (ours.none()) return below.Test(request, done, status);
  statuses all(status, MPI_STATUS_IGNORE, 1);
  const int error = below.Test(request, done, all.at());
  return ours.finish(0, *request, all[0], error, *done != 0);
}

int ours_Waitall(int n, MPI_Request* requests, MPI_Status* status) {
  if (quiet()) return below.Waitall(n, requests, status);
  const attention to_given_up;
  taken ours(n, requests);
  if (ours.none()) return below.Waitall(n, requests, status);
  statuses all(status, MPI_STATUSES_IGNORE, n);
  const int error = below.Waitall(n, requests, all.at());
  return finish_all(ours, n, requests, all, error, true);
}

int ours_Testall(int n, MPI_Request* requests, int* done, MPI_Status* status) {
  if (quiet()) return below.Testall(n, requests, done, status);
  const attention to_given_up;
  taken ours(n, requests);
  if (ours.none()) return below.Testall(n, requests, done, status);
  statuses all(status, MPI_STATUSES_IGNORE, n);
  const int error = below.Testall(n, requests, done, all.at());
  return finish_all(ours, n, requests, all, error, *done != 0);
}

int ours_Waitany(int n, MPI_Request* requests, int* place, MPI_Status* status) {
  if (quiet()) return below.Waitany(n, requests, place, status);
  const attention to_given_up;
  taken ours(n, requests);
  if (ours.none()) return below.Waitany(n, requests, place, status);
  statuses all(status, MPI_STATUS_IGNORE, 1);
  const int error = below.Waitany(n, requests, place, all.at());
  return *place == MPI_UNDEFINED ? error : ours.finish(*place, requests[*place], all[0], error, true);
}

int ours_Testany(int n, MPI_Request* requests, int* place, int* done, MPI_Status* status) {
  if (quiet()) return below.Testany(n, requests, place, done, status);
  const attention to_given_up;
  taken ours(n, requests);
  if (ours.none()) return below.Testany(n, requests, place, done, status);
  statuses all(status, MPI_STATUS_IGNORE, 1);
  const int error = below.Testany(n, requests, place, done, all.at());
  return *place == MPI_UNDEFINED ? error : ours.finish(*place, requests[*place], all[0], error, true);
}

int ours_Waitsome(int n, MPI_Request* requests, int* finished, int* places, MPI_Status* status) {
  if (quiet()) return below.Waitsome(n, requests, finished, places, status);
  const attention to_given_up;
  taken ours(n, requests);
  if (ours.none()) return below.Waitsome(n, requests, finished, places, status);
  statuses all(status, MPI_STATUSES_IGNORE, n);
  const int error = below.Waitsome(n, requests, finished, places, all.at());
  return finish_some(ours, *finished, places, requests, all, error);
}

int ours_Testsome(int n, MPI_Request* requests, int* finished, int* places, MPI_Status* status) {
  if (quiet()) return below.Testsome(n, requests, finished, places, status);
  const attention to_given_up;
  taken ours(n, requests);
  if (ours.none()) return below.Testsome(n, requests, finished, places, status);
  statuses all(status, MPI_STATUSES_IGNORE, n);
  const int error = below.Testsome(n, requests, finished, places, all.at());
  return finish_some(ours, *finished, places, requests, all, error);
}

int ours_Start(MPI_Request* request) {
  if (quiet()) return below.Start(request);
  const attention to_given_up;
  taken ours(1, request);
  if (const int error = ours.prepare("MPI_Start"); error != MPI_SUCCESS) return error;
  const int error = below.Start(request);
  if (error == MPI_SUCCESS) ours.started();
  return error;
}

int ours_Startall(int n, MPI_Request* requests) {
  if (quiet()) return below.Startall(n, requests);
  const attention to_given_up;
  taken ours(n, requests);
  if (const int error = ours.prepare("MPI_Startall"); error != MPI_SUCCESS) return error;
  const int error = below.Startall(n, requests);
  if (error == MPI_SUCCESS) ours.started();
  return error;
}

int ours_Request_get_status(MPI_Request request, int* done, MPI_Status* status) {
  if (quiet()) return below.Request_get_status(request, done, status);
  const attention to_given_up;
  taken ours(1, &request);
  if (ours.none()) return below.Request_get_status(request, done, status);
  statuses all(status, MPI_STATUS_IGNORE, 1);
  const int error = below.Request_get_status(request, done, all.at());
  return error == MPI_SUCCESS && *done ? ours.deliver(all[0]) : error;
}

int ours_Request_free(MPI_Request* request) {
  if (quiet()) return below.Request_free(request);
  taken ours(1, request);
  if (ours.none()) return below.Request_free(request);
  ours.give_up(*request);
  return MPI_SUCCESS;
}

GGAS_MPI_COMPLETIONS(GGAS_MPI_NAMES)
}
