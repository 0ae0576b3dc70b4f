// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/layouts.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>

#include "userlib/mpi/below.hpp"
#include "userlib/mpi/decode.hpp"

namespace ggas::mpi {

namespace {

// The layout of a committed datatype; a duplicate has the same one.
struct known_layout {
  std::once_flag asked_for;
  found_layout found;
};
using attribute = std::shared_ptr<known_layout>;

int drop(MPI_Datatype, int, void* value, void*) {
  delete static_cast<attribute*>(value);
  return MPI_SUCCESS;
}

int share(MPI_Datatype, int, void*, void* from, void* to, int* copied) {
  *static_cast<void**>(to) = new attribute(*static_cast<attribute*>(from));
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

// No lock is held over calls that may run functions of the program's.
class cache {
 public:
  static cache& here() {
    static cache one;
    return one;
  }

  void committed(MPI_Datatype type) {
    if (is_named(type)) return;
    const std::lock_guard one_at_a_time(lock_);
    if (key_ == MPI_KEYVAL_INVALID) {
      int made = MPI_KEYVAL_INVALID;
      PMPI_Type_create_keyval(share, drop, &made, nullptr);
      key_ = made;
    }
    if (!attribute_of(type)) PMPI_Type_set_attr(type, key_, new attribute(std::make_shared<known_layout>()));
  }

  found_layout of(MPI_Datatype type) {
    {
      const std::lock_guard one_at_a_time(lock_);
      if (const auto known = named_.find(type); known != named_.end()) return known->second;
    }
    if (const attribute* const a = attribute_of(type)) {
      const attribute known = *a;
      std::call_once(known->asked_for, [&] { known->found = make(type); });
      return known->found;
    }
    if (!is_named(type)) return {nullptr, "was not committed"};
    const found_layout made = make(type);
    const std::lock_guard one_at_a_time(lock_);
    return named_.emplace(type, made).first->second;
  }

  void forget() {
    const std::lock_guard one_at_a_time(lock_);
    named_.clear();
    int key = key_.exchange(MPI_KEYVAL_INVALID);
    if (key != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&key);
  }

 private:
  const attribute* attribute_of(MPI_Datatype type) const {
    void* value = nullptr;
    int there = 0;
    const int key = key_;
    if (key != MPI_KEYVAL_INVALID) PMPI_Type_get_attr(type, key, &value, &there);
    return there ? static_cast<const attribute*>(value) : nullptr;
  }

  std::mutex lock_;
  std::map<MPI_Datatype, found_layout> named_;
  std::atomic<int> key_{MPI_KEYVAL_INVALID};
};

}  // namespace

found_layout layout_of(MPI_Datatype type) { return cache::here().of(type); }
void forget_layouts() { cache::here().forget(); }

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

// MPI has no query for what is committed.
int MPI_Type_commit(MPI_Datatype* type) {
  const int error = below.Type_commit(type);
  if (error == MPI_SUCCESS && stays_out_for().empty()) cache::here().committed(*type);
  return error;
}

GGAS_MPI_TYPES(GGAS_MPI_SECOND_NAME)
}
