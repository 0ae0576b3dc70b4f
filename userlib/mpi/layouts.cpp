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

// The layout of a datatype; a duplicate has the same one.
struct known_layout {
  std::atomic<bool> committed{false};  // seen to be
  std::once_flag asked_for;
  found_layout found;
};
using attribute = std::shared_ptr<known_layout>;

std::atomic<uint64_t> freed{0};  // datatypes with a layout

int drop(MPI_Datatype, int, void* value, void*) {
  ++freed;
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

  // Most calls have the datatype of the last one.
  found_layout of(MPI_Datatype type, MPI_Comm comm) {
    const recent& known = last();
    if (known.is(type) && (known.of->committed || comm == MPI_COMM_NULL)) return known.of->found;
    recent looked_at{type, freed, nullptr};
    found_layout found = look_up(type, comm, looked_at.of);
    last() = std::move(looked_at);
    return found;
  }

  static const layout* recently(MPI_Datatype type) {
    const recent& known = last();
    return known.is(type) && known.of->committed ? known.of->found.made.get() : nullptr;
  }

  void forget() {
    ++freed;
    int key = key_.exchange(MPI_KEYVAL_INVALID);
    if (key != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&key);
  }

 private:
  // What this thread knows of a datatype until one is freed.
  struct recent {
    MPI_Datatype type;
    uint64_t freed_before;
    attribute of;

    bool is(MPI_Datatype other) const { return of && type == other && freed_before == freed; }
  };
  static recent& last() {
    thread_local recent one;
    return one;
  }

  // `known`: that of the datatype; null: it has none.
  found_layout look_up(MPI_Datatype type, MPI_Comm comm, attribute& known) {
    const attribute* const there = attribute_of(type);
    if (!there && is_named(type)) return named(type);
    const bool check = comm != MPI_COMM_NULL && !(there && (*there)->committed);
    const int error = check ? committed(type, comm) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) return {nullptr, {}, error};
    known = there ? *there : first_use(type);
    if (check) known->committed = true;
    return made_once(known, type);
  }

  static found_layout made_once(const attribute& known, MPI_Datatype type) {
    std::call_once(known->asked_for, [&] { known->found = make(type); });
    return known->found;
  }

  // MPI's own are never freed: each thread has its list.
  static found_layout named(MPI_Datatype type) {
    thread_local std::map<MPI_Datatype, found_layout> known;
    const auto [k, fresh] = known.try_emplace(type);
    if (fresh) k->second = make(type);
    return k->second;
  }

  static int committed(MPI_Datatype type, MPI_Comm comm) {
    int world = 0;  // in a program of sessions the communicator of a probed message is not known
    PMPI_Initialized(&world);
    if (comm == MPI_COMM_WORLD && !world) return MPI_SUCCESS;
    static const char nothing = 0;  // an MPI may look at the datatype only if there is an item
    return below.Send(&nothing, 1, type, MPI_PROC_NULL, 0, comm);
  }

  attribute first_use(MPI_Datatype type) {
    const std::lock_guard one_at_a_time(lock_);
    if (const attribute* a = attribute_of(type)) return *a;  // another thread was first
    if (key_ == MPI_KEYVAL_INVALID) {
      int made = MPI_KEYVAL_INVALID;
      PMPI_Type_create_keyval(share, drop, &made, nullptr);
      key_ = made;
    }
    auto known = std::make_shared<known_layout>();
    PMPI_Type_set_attr(type, key_, new attribute(known));
    return known;
  }

  const attribute* attribute_of(MPI_Datatype type) const {
    void* value = nullptr;
    int there = 0;
    const int key = key_;
    if (key != MPI_KEYVAL_INVALID) PMPI_Type_get_attr(type, key, &value, &there);
    return there ? static_cast<const attribute*>(value) : nullptr;
  }

  std::mutex lock_;  // of first uses
  std::atomic<int> key_{MPI_KEYVAL_INVALID};
};

}  // namespace

found_layout layout_of(MPI_Datatype type, MPI_Comm comm) { return cache::here().of(type, comm); }
const layout* last_layout(MPI_Datatype type) { return cache::recently(type); }
void forget_layouts() { cache::here().forget(); }

}  // namespace ggas::mpi
