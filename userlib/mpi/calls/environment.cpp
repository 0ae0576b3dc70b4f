// SPDX-License-Identifier: Apache-2.0
// Begin and end of MPI in a process: by MPI_Init, or by sessions, of which there may be several, also one after
// another.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "userlib/mpi/direct/ranks.hpp"
#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/layouts.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

std::atomic<int> begun_mpis{0};  // MPI_Init counts as a session

void say(const std::string& text) { std::fprintf(stderr, "libggas_mpi_types: %s\n", text.c_str()); }

std::string wrong_setting() {
  const std::string wrong = setting_error();
  return wrong.empty() ? direct::setting_error() : wrong;
}

void say_if_out() {
  if (!stays_out_for().empty())
    say("messages would be completed by " + stays_out_for() +
        ", which goes round this library: all is left to the MPI");
}

int begun_well(int error) {
  if (error != MPI_SUCCESS) return error;
  ++begun_mpis;
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (const std::string wrong = wrong_setting(); !wrong.empty()) {
    say(wrong);
    return PMPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) say_if_out();
  if (stays_out_for().empty()) direct::table::begin(rank, size);
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  other_threads_call(level == MPI_THREAD_MULTIPLE);
  quiet();
  return error;
}

// GGAS_MPI_REPORT: the number of messages, packs and copies of all ranks whose data this library has moved.
void say_moved() {
  static const char* const wish = std::getenv("GGAS_MPI_REPORT");
  if (!wish || std::strcmp(wish, "1") != 0) return;
  uint64_t here = ggas_mpi_types_moved(), all = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(&here, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) say("moved the data of " + std::to_string(all) + " messages and packs");
}

// Before the last one is finalised nothing may be left in MPI.
void end_if_last() {
  if (--begun_mpis > 0) return;
  end_given_up();
  forget_persistent();
  forget_layouts();
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

int ours_Init(int* argc, char*** argv) { return begun_well(below.Init(argc, argv)); }

int ours_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return begun_well(below.Init_thread(argc, argv, required, provided));
}

int ours_Finalize() {
  end_given_up();
  say_moved();
  direct::end_offers();
  direct::table::end();
  direct::forget_ranks();
  end_if_last();
  return below.Finalize();
}

#if MPI_VERSION >= 4
// A wrong setting is as if there were none: there is no communicator to abort.
int ours_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const int error = below.Session_init(info, handler, session);
  if (error != MPI_SUCCESS || begun_mpis++ > 0) return error;
  if (const std::string wrong = wrong_setting(); !wrong.empty()) say(wrong);
  say_if_out();
  return error;
}

int ours_Session_finalize(MPI_Session* session) {
  end_if_last();
  return below.Session_finalize(session);
}
#endif

GGAS_MPI_ENDS(GGAS_MPI_NAMES)
GGAS_MPI_SESSIONS(GGAS_MPI_NAMES)
}
