// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/layouts.hpp"

#include <map>
#include <mutex>
#include <stdexcept>

#include "userlib/mpi/decode.hpp"

namespace ggas::mpi {

namespace {

int drop(MPI_Datatype, int, void* value, void*) {
  delete static_cast<found_layout*>(value);
  return MPI_SUCCESS;
}

// A duplicate has the same layout.
int share(MPI_Datatype, int, void*, void* from, void* to, int* copied) {
  *static_cast<void**>(to) = new found_layout(*static_cast<found_layout*>(from));
  *copied = 1;
  return MPI_SUCCESS;
}

found_layout make(MPI_Datatype type) {
  try {
    return {std::make_shared<const layout>(decode(type)), {}};
  } catch (const std::runtime_error& e) {
    return {nullptr, e.what()};
  }
}

class cache {
 public:
  static cache& here() {
    static cache one;
    return one;
  }

  found_layout of(MPI_Datatype type) {
    const std::lock_guard one_at_a_time(lock_);
    if (const auto known = named_.find(type); known != named_.end()) return known->second;
    begin();
    void* value = nullptr;
    int there = 0;
    PMPI_Type_get_attr(type, key_, &value, &there);
    if (there) return *static_cast<found_layout*>(value);
    if (!committed(type)) return {nullptr, "was not committed"};
    found_layout made = make(type);
    if (is_named(type))
      named_.emplace(type, made);
    else
      PMPI_Type_set_attr(type, key_, new found_layout(made));
    return made;
  }

  void forget() {
    const std::lock_guard one_at_a_time(lock_);
    named_.clear();
    if (key_ == MPI_KEYVAL_INVALID) return;
    PMPI_Type_free_keyval(&key_);
    PMPI_Comm_free(&quiet_);
  }

 private:
  void begin() {
    if (key_ != MPI_KEYVAL_INVALID) return;
    PMPI_Type_create_keyval(share, drop, &key_, nullptr);
    PMPI_Comm_dup(MPI_COMM_SELF, &quiet_);
    PMPI_Comm_set_errhandler(quiet_, MPI_ERRORS_RETURN);
  }

  // Packing nothing tells: MPI has no query for it.
  bool committed(MPI_Datatype type) {
    char nothing = 0;
    int place = 0;
    return PMPI_Pack(&nothing, 0, type, &nothing, 1, &place, quiet_) == MPI_SUCCESS;
  }

  std::mutex lock_;
  std::map<MPI_Datatype, found_layout> named_;
  int key_ = MPI_KEYVAL_INVALID;
  MPI_Comm quiet_ = MPI_COMM_NULL;  // its errors are returned
};

}  // namespace

found_layout layout_of(MPI_Datatype type) { return cache::here().of(type); }
void forget_layouts() { cache::here().forget(); }

}  // namespace ggas::mpi
