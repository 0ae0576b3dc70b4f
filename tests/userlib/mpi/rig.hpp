// SPDX-License-Identifier: Apache-2.0
// Cases of MPI programs: each is run by mpirun with the library in front of the MPI, and compares its results with
// those of the MPI alone: ALONE(Send) and so on, and those functions PMPI_... that the library leaves to the MPI.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "userlib/mpi/mpi.hpp"

namespace mpi_test {

struct test_case {
  const char* name;
  int ranks;
  std::function<void()> run;
  bool taken = true;  // the library has to move data in it
  int level = MPI_THREAD_SINGLE;
};
std::vector<test_case>& cases();
struct add_case {
  add_case(const char* name, int ranks, std::function<void()> run, bool taken = true, int level = MPI_THREAD_SINGLE) {
    cases().push_back({name, ranks, std::move(run), taken, level});
  }
};
// A case of this name, run by so many ranks.
#define MPI_CASE(name, ranks, ...)                                                     \
  static void run_##name();                                                            \
  static const mpi_test::add_case add_##name(#name, ranks, run_##name, ##__VA_ARGS__); \
  static void run_##name()

// The same with an mpirun of its own: it leaves something to MPI_Finalize, or has to begin in a new process.
#define MPI_CASE_ALONE MPI_CASE

// A function of the MPI itself; the library has both of its usual names.
void* of_mpi(const char* name);
#define ALONE(name) reinterpret_cast<decltype(&PMPI_##name)>(mpi_test::of_mpi("PMPI_" #name))

int rank();
int size();
// Ends all ranks with a line that says where.
void check(bool good, const char* what, const char* file, int line);
#define CHECK(condition) mpi_test::check(condition, #condition, __FILE__, __LINE__)

using bytes = std::vector<unsigned char>;
constexpr MPI_Aint area_bytes = 64 << 10, middle = area_bytes / 2;
bytes noise(uint64_t seed, size_t n = area_bytes);

// A primitive of a datatype, and where it lies.
struct entry {
  MPI_Datatype of;
  MPI_Aint at;
};

// A datatype with what it is by MPI's rules; freed with this.
struct typed {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<entry> entries;

  typed() = default;
  typed(MPI_Datatype t, std::vector<entry> e) : type(t), entries(std::move(e)) {}
  typed(typed&& other) noexcept : entries(std::move(other.entries)) { std::swap(type, other.type); }
  typed& operator=(typed&& other) noexcept {
    std::swap(type, other.type);
    std::swap(entries, other.entries);
    return *this;
  }
  ~typed() {
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
  }
};

// Items of a datatype that lie in an area of memory, none over another.
struct sample {
  typed of;
  int count = 1;

  int size() const;  // bytes of all items
  void* in(bytes& area) const { return area.data() + middle; }
  bytes packed(const bytes& area) const;  // by the MPI alone
  std::vector<MPI_Aint> places() const;   // of each byte, by MPI's rules
};

// Datatypes at random; the same on all ranks.
class generator {
 public:
  explicit generator(uint64_t seed) : random_(seed) {}
  sample any();
  sample like(const sample& s);  // the same primitives in another layout
  typed next(int depth);
  int between(int low, int high) { return low + static_cast<int>(random_() % static_cast<uint64_t>(high - low + 1)); }
  MPI_Datatype primitive();

 private:
  typed child(int depth);
  typed derived(const typed& of);
  typed structure(int depth);
  typed array(const typed& of);
  bool usable(const sample& s);
  std::mt19937_64 random_;
  int wrong_ = 0, tried_ = 0;
};

// A vector of `blocks` doubles, `stride` doubles apart.
typed column(int blocks, int stride);

// As MPI_Send, MPI_Recv and so on, of the library or of the MPI alone.
using send_function = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using receive_function = int (*)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
// `rounds` samples from rank 0 to rank 1; the receiver compares its area with what the MPI alone makes of it.
void compare_messages(uint64_t seed, int rounds, send_function send, receive_function receive, bool other_layout);

inline bool is_class(int error, int expected) {
  int found = MPI_SUCCESS;
  PMPI_Error_class(error, &found);
  return found == expected;
}

}  // namespace mpi_test
