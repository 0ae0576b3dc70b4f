// SPDX-License-Identifier: Apache-2.0
// Blobs by a communicator of Open MPI: every rank's are gathered by all. The collectives are nonblocking, so that a
// missing rank is a time-out. MPI cannot cancel them, so their buffers are left to them then.
#include <mpi.h>

#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "userlib/start/blobs.hpp"

namespace ggas::library::start {

namespace {

using clock = std::chrono::steady_clock;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int n = 0;
  MPI_Error_string(code, text, &n);
  return "MPI: " + std::string(text, size_t(n));
}

// Until a request is done: nothing, or why it is not.
std::string await(MPI_Request& request, deadline until) {
  for (unsigned looks = 0;; ++looks) {
    int done = 0;
    if (const int e = MPI_Test(&request, &done, MPI_STATUS_IGNORE); e != MPI_SUCCESS) return text_of(e);
    if (done) return "";
    if (clock::now() >= until) return "other ranks of the communicator did not arrive in time";
    if (looks > 1000) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

class mpi_blobs final : public blobs {
 public:
  // A communicator of its own: errors are codes, and messages of the program are not taken for others.
  static attempt<std::unique_ptr<blobs>> make(MPI_Comm of, deadline until) {
    auto b = std::make_unique<mpi_blobs>();
    auto twin = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
    MPI_Request request;
    if (const int e = MPI_Comm_idup(of, twin.get(), &request); e != MPI_SUCCESS) return std::unexpected(text_of(e));
    if (const std::string why = await(request, until); !why.empty()) {
      twin.release();  // MPI may still write it
      return std::unexpected(why);
    }
    b->all_ = *twin;
    MPI_Comm_set_errhandler(b->all_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(b->all_, &b->rank_);
    MPI_Comm_size(b->all_, &b->size_);
    b->reported_.resize(size_t(b->size_));
    return b;
  }
  ~mpi_blobs() override {
    if (all_ != MPI_COMM_NULL && !broken_) MPI_Comm_free(&all_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  attempt<> put(const std::string& name, const std::string& bytes) override {
    if (mine_.size() >= most_blobs || name.size() > most_name || bytes.size() > most_bytes)
      return std::unexpected("blob '" + name.substr(0, most_name) + "': too long, or one too many");
    mine_.push_back({});
    entry& e = mine_.back();
    name.copy(e.name, most_name);
    bytes.copy(e.bytes, most_bytes);
    e.length = static_cast<uint32_t>(bytes.size());
    return {};
  }

  attempt<> fence(deadline until) override {
    if (broken_) return std::unexpected("a fence failed before");
    mine_.resize(most_blobs);
    auto from = std::make_unique<std::vector<entry>>(std::move(mine_));
    auto to = std::make_unique<std::vector<entry>>(most_blobs * size_t(size_));
    mine_.clear();
    constexpr int bytes = int(most_blobs * sizeof(entry));
    MPI_Request request;
    const int e = MPI_Iallgather(from->data(), bytes, MPI_BYTE, to->data(), bytes, MPI_BYTE, all_, &request);
    const std::string why = e == MPI_SUCCESS ? await(request, until) : text_of(e);
    if (!why.empty()) {
      broken_ = true;
      from.release(), to.release();  // MPI may still read and write them
      return std::unexpected(why);
    }
    for (size_t i = 0; i < to->size(); ++i)
      if (const entry& one = (*to)[i]; one.name[0] && one.length <= most_bytes)
        reported_[i / most_blobs][one.name] = std::string(one.bytes, one.length);
    return {};
  }

  attempt<std::string> get(int rank, const std::string& name, deadline) override {
    const auto& of = reported_[size_t(rank)];
    if (const auto found = of.find(name); found != of.end()) return found->second;
    return std::unexpected("rank " + std::to_string(rank) + " has not published '" + name + "'");
  }

 private:
  struct entry {
    char name[most_name + 1] = "";
    uint32_t length = 0;
    char bytes[most_bytes] = "";
  };

  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool broken_ = false;
  std::vector<entry> mine_;
  std::vector<std::map<std::string, std::string>> reported_;
};

}  // namespace

}  // namespace ggas::library::start

extern "C" ggas::library::start::blobs* ggas_start_1(const void* communicator, ggas::userlib::deadline until,
                                                     std::string& why) {
  using namespace ggas::library::start;
  int begun = 0, over = 0, inter = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  if (!begun || over) {
    why = "MPI is not initialized: the program must call MPI_Init before, and MPI_Finalize after";
    return nullptr;
  }
  const MPI_Comm of = communicator ? *static_cast<const MPI_Comm*>(communicator) : MPI_COMM_WORLD;
  if (of == MPI_COMM_NULL || MPI_Comm_test_inter(of, &inter) != MPI_SUCCESS || inter) {
    why = "communicator: must be one of processes of one group, and not MPI_COMM_NULL";
    return nullptr;
  }
  auto made = mpi_blobs::make(of, until);
  if (!made) why = made.error();
  return made ? made->release() : nullptr;
}
