// SPDX-License-Identifier: Apache-2.0
// MPI as means of the patterns. Its errors end the program, which is its default.
#include <sched.h>

#define OMPI_SKIP_MPICXX  // bindings of another library
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "benchmarks/host/means.hpp"

namespace ggas::host_bench {
namespace {

constexpr std::chrono::seconds mpi_timeout{30};

class session {
 public:
  session() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  ~session() { MPI_Finalize(); }
  int rank = 0, size = 0;
};

class mpi_means : public means {
 public:
  explicit mpi_means(std::shared_ptr<session> s) : session_(std::move(s)) {}
  std::string provider() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, size_t(length));
    return all.substr(0, all.find(','));
  }
  unsigned rank() const override { return unsigned(session_->rank); }
  unsigned size() const override { return unsigned(session_->size); }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  void sum(const double* from, double* to, size_t elements) override {
    MPI_Allreduce(from, to, int(elements), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }

 protected:
  int other() const { return 1 - session_->rank; }

 private:
  std::shared_ptr<session> session_;
};

class two_sided final : public mpi_means {
 public:
  two_sided(std::shared_ptr<session> s, size_t most) : mpi_means(std::move(s)), memory_(2 * most), most_(most) {}
  std::string name() const override { return "mpi_two_sided"; }
  std::byte* out() override { return memory_.data(); }
  std::byte* in() override { return memory_.data() + most_; }

  void send(size_t bytes) override { MPI_Send(out(), int(bytes), MPI_BYTE, other(), 0, MPI_COMM_WORLD); }
  void post(size_t bytes) override {
    MPI_Isend(out(), int(bytes), MPI_BYTE, other(), 0, MPI_COMM_WORLD, &requests_.emplace_back());
  }
  void tell() override {}  // a message that is received is reported
  void flush() override { finish(); }
  void receive(unsigned messages, size_t bytes) override {
    if (messages == 1) {
      MPI_Recv(in(), int(bytes), MPI_BYTE, other(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      return;
    }
    for (unsigned i = 0; i < messages; ++i)
      MPI_Irecv(in(), int(bytes), MPI_BYTE, other(), 0, MPI_COMM_WORLD, &requests_.emplace_back());
    finish();
  }

 private:
  void finish() {
    MPI_Waitall(int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }
  std::vector<std::byte> memory_;
  std::vector<MPI_Request> requests_;
  size_t most_;
};

// Put into a window that MPI has allocated, which is its fastest; a counter after the data says that they are there.
class one_sided final : public mpi_means {
 public:
  one_sided(std::shared_ptr<session> s, size_t most) : mpi_means(std::move(s)), most_(most) {
    MPI_Win_allocate(MPI_Aint(2 * most + counter_bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &window_);
    counter() = 0;
    barrier();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    yields_ = size() > std::thread::hardware_concurrency();
  }
  ~one_sided() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  std::string name() const override { return "mpi_one_sided"; }
  bool has_collectives() const override { return false; }
  std::byte* out() override { return memory_; }
  std::byte* in() override { return memory_ + most_; }

  void post(size_t bytes) override {
    MPI_Put(out(), int(bytes), MPI_BYTE, other(), MPI_Aint(most_), int(bytes), MPI_BYTE, window_);
  }
  void tell() override {
    MPI_Win_flush(other(), window_);
    ++reported_;
    MPI_Accumulate(&reported_, 1, MPI_UINT64_T, other(), MPI_Aint(2 * most_), 1, MPI_UINT64_T, MPI_REPLACE, window_);
    MPI_Win_flush(other(), window_);
  }
  void flush() override {}  // report() has done it
  void receive(unsigned, size_t) override {
    ++heard_;
    const auto end = std::chrono::steady_clock::now() + mpi_timeout;
    for (unsigned looks = 1;; ++looks) {
      if (std::atomic_ref(counter()).load(std::memory_order_acquire) == heard_) break;
      if (yields_) sched_yield();
      if (looks % 65536 == 0) MPI_Win_sync(window_);
      if (looks % 65536 == 0 && std::chrono::steady_clock::now() > end) throw failure("MPI: nothing has arrived");
    }
    MPI_Win_sync(window_);
  }

 private:
  static constexpr size_t counter_bytes = 64;
  uint64_t& counter() { return *reinterpret_cast<uint64_t*>(memory_ + 2 * most_); }

  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  uint64_t reported_ = 0, heard_ = 0;
  size_t most_;
  bool yields_ = false;
};

}  // namespace

std::vector<std::unique_ptr<means>> make_mpi(size_t most_bytes) {
  const auto s = std::make_shared<session>();
  std::vector<std::unique_ptr<means>> made;
  made.push_back(std::make_unique<two_sided>(s, most_bytes));
  made.push_back(std::make_unique<one_sided>(s, most_bytes));
  return made;
}

}  // namespace ggas::host_bench
