// SPDX-License-Identifier: Apache-2.0
#include "sim/ranks/mpi.hpp"

#define OMPI_SKIP_MPICXX  // bindings of another library
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace ggas::sim {

namespace {

using clock = std::chrono::steady_clock;

// What fits goes with its length, in one call; more takes a second one.
constexpr size_t short_bytes = 2048;
struct envelope {
  uint64_t bytes;
  std::array<char, short_bytes> text;
};

class mpi_ranks final : public ranks {
 public:
  explicit mpi_ranks(unsigned timeout_s) : timeout_(timeout_s) {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &number_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    arrived_.resize(size_t(count_));
  }
  ~mpi_ranks() override { MPI_Finalize(); }
  unsigned number() const override { return unsigned(number_); }
  unsigned count() const override { return unsigned(count_); }

  std::vector<std::string> gather(const std::string& mine) override {
    envelope own{mine.size(), {}};
    std::memcpy(own.text.data(), mine.data(), std::min(mine.size(), short_bytes));
    MPI_Request request;
    MPI_Iallgather(&own, sizeof own, MPI_BYTE, arrived_.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD, &request);
    wait(request);
    std::vector<std::string> all;
    bool long_ones = false;
    for (const envelope& e : arrived_) {
      all.emplace_back(e.text.data(), std::min<size_t>(e.bytes, short_bytes)).resize(e.bytes);
      long_ones = long_ones || e.bytes > short_bytes;
    }
    if (long_ones) gather_rest(mine, all);
    return all;
  }
  void copy(std::span<std::byte> bytes, unsigned from) override {
    constexpr size_t most = 1u << 30;  // MPI counts with an int
    for (size_t at = 0; at < bytes.size(); at += most) {
      MPI_Request request;
      MPI_Ibcast(bytes.data() + at, int(std::min(most, bytes.size() - at)), MPI_BYTE, int(from), MPI_COMM_WORLD,
                 &request);
      wait(request);
    }
  }

 private:
  void gather_rest(const std::string& mine, std::vector<std::string>& all) {
    std::vector<int> counts, places;
    size_t sum = 0;
    for (const std::string& text : all) {
      places.push_back(int(sum));
      counts.push_back(int(text.size() - std::min(text.size(), short_bytes)));
      sum += size_t(counts.back());
    }
    std::string rest(sum, 0);
    const size_t kept = std::min(mine.size(), short_bytes);
    MPI_Request request;
    MPI_Iallgatherv(mine.data() + kept, int(mine.size() - kept), MPI_BYTE, rest.data(), counts.data(), places.data(),
                    MPI_BYTE, MPI_COMM_WORLD, &request);
    wait(request);
    for (size_t r = 0; r < all.size(); ++r)
      if (counts[r] != 0) std::memcpy(all[r].data() + short_bytes, rest.data() + places[r], size_t(counts[r]));
  }
  // Polls for a while, then yields the processor between polls, and at last sleeps, because there may be more ranks
  // than cores.
  void wait(MPI_Request& request) {
    constexpr unsigned eager_looks = 100, yielding_looks = 1000;
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    const auto end = clock::now() + std::chrono::seconds(timeout_);
    for (unsigned looks = 0; !done; ++looks) {
      if (looks > yielding_looks)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      else if (looks > eager_looks)
        std::this_thread::yield();
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (!done && looks % 256 == 255 && clock::now() > end) give_up();
    }
  }
  [[noreturn]] void give_up() {
    std::fprintf(stderr, "rank %d: a rank has given no answer for %u s: the run ends\n", number_, timeout_);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }

  unsigned timeout_;
  int number_ = 0, count_ = 1;
  std::vector<envelope> arrived_;
};

}  // namespace

bool has_mpi() { return true; }

std::expected<std::unique_ptr<ranks>, std::string> join_mpi(unsigned timeout_s) {
  return std::make_unique<mpi_ranks>(timeout_s);
}

}  // namespace ggas::sim
