// SPDX-License-Identifier: Apache-2.0
#include "tests/userlib/mpi/rig.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace mpi_test {

std::vector<test_case>& cases() {
  static std::vector<test_case> all;
  return all;
}

void* of_mpi(const char* name) {
  static void* const mpi = [] {
    Dl_info at{};
    CHECK(dladdr(reinterpret_cast<void*>(PMPI_Comm_rank), &at) != 0);
    return dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  void* const found = mpi ? dlsym(mpi, name) : nullptr;
  CHECK(found != nullptr);
  return found;
}

int rank() {
  int r = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}
int size() {
  int n = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

void check(bool good, const char* what, const char* file, int line) {
  if (good) return;
  std::fprintf(stderr, "rank %d: %s:%d: not true: %s\n", rank(), file, line, what);
  _exit(1);  // not MPI_Abort: the mpirun of MPICH then drops what was written just before. Both end the other ranks
}

bytes noise(uint64_t seed, size_t n) {
  std::mt19937_64 random(seed);
  bytes all(n);
  for (unsigned char& b : all) b = static_cast<unsigned char>(random());
  return all;
}

static int size_of(MPI_Datatype t) {
  int n = 0;
  PMPI_Type_size(t, &n);
  return n;
}

static MPI_Aint extent_of(MPI_Datatype t) {
  MPI_Aint lb = 0, extent = 0;
  PMPI_Type_get_extent(t, &lb, &extent);
  return extent;
}

int sample::size() const { return size_of(of.type) * count; }

bytes sample::packed(const bytes& area) const {
  bytes out(static_cast<size_t>(size()) + 1);
  int place = 0;
  ALONE(Pack)(area.data() + middle, count, of.type, out.data(), size() + 1, &place, MPI_COMM_SELF);
  CHECK(place == size());
  out.resize(static_cast<size_t>(place));
  return out;
}

std::vector<MPI_Aint> sample::places() const {
  std::vector<MPI_Aint> all;
  const MPI_Aint step = extent_of(of.type);
  for (int i = 0; i < count; ++i)
    for (const entry& e : of.entries)
      for (int b = 0; b < size_of(e.of); ++b) all.push_back(middle + i * step + e.at + b);
  return all;
}

// ---- datatypes at random

namespace {

// Copies of another one, `step` bytes apart, after what is there.
void add(std::vector<entry>& all, const std::vector<entry>& more, MPI_Aint at, int64_t copies, MPI_Aint step) {
  for (int64_t i = 0; i < copies; ++i)
    for (const entry& e : more) all.push_back({e.of, e.at + at + i * step});
}

}  // namespace

// Whether all data lie within the area, without overlaps. Both MPIs pack a few datatypes wrongly; those are left out as
// long as they are few.
bool generator::usable(const sample& s) {
  std::vector<MPI_Aint> all = s.places();
  if (all.empty() || all.size() > area_bytes / 4) return false;
  const auto in_area = [](MPI_Aint p) { return p >= 0 && p < area_bytes; };
  if (!std::all_of(all.begin(), all.end(), in_area)) return false;
  const bytes area = noise(1);
  bytes expected;
  for (const MPI_Aint p : all) expected.push_back(area[static_cast<size_t>(p)]);
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) return false;
  ++tried_;
  const bool right = s.packed(area) == expected;
  if (!right) ++wrong_;
  CHECK(wrong_ <= 2 + tried_ / 10);
  return right;
}

MPI_Datatype generator::primitive() {
  const MPI_Datatype all[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX};
  return all[between(0, 6)];
}

// MPICH 4.0 divides by the size and the extent of what a datatype is made of.
typed generator::child(int depth) {
  for (;;) {
    typed t = next(depth);
    if (!t.entries.empty() && extent_of(t.type) != 0) return t;
  }
}

typed generator::next(int depth) {
  if (depth == 0) {
    const MPI_Datatype p = primitive();
    MPI_Datatype made;
    PMPI_Type_dup(p, &made);
    return {made, {{p, 0}}};
  }
  switch (between(0, 7)) {
    case 0:
      return structure(depth);
    case 1:
      return array(child(depth - 1));
    default:
      return derived(child(depth - 1));
  }
}

typed generator::derived(const typed& of) {
  const int few = of.entries.size() > 60 ? 1 : 3, n = between(0, few + 1), length = between(0, few);
  const MPI_Aint extent = extent_of(of.type);
  const int reach = static_cast<int>(std::min<MPI_Aint>(std::abs(extent) + 9, 4000));
  std::vector<int> lengths, places;
  std::vector<MPI_Aint> far;
  for (int i = 0; i < n; ++i) {
    lengths.push_back(between(0, few));
    places.push_back(between(-9, 9));
    far.push_back(between(-3 * reach, 3 * reach));
  }
  MPI_Datatype t = MPI_DATATYPE_NULL;
  std::vector<entry> all;
  // A block for each i: so many copies there.
  const auto blocks = [&](auto place, auto copies) {
    for (int i = 0; i < n; ++i) add(all, of.entries, place(i), copies(i), extent);
  };
  const auto same = [&](int) { return length; };
  const auto each = [&](int i) { return lengths[static_cast<size_t>(i)]; };
  const auto in_items = [&](int i) { return places[static_cast<size_t>(i)] * extent; };
  const auto in_bytes = [&](int i) { return far[static_cast<size_t>(i)]; };
  const int stride = between(-4, 4), step = between(-2 * reach, 2 * reach);
  switch (between(0, 8)) {
    case 0:
      PMPI_Type_contiguous(n, of.type, &t);
      blocks([&](int i) { return i * extent; }, [](int) { return 1; });
      break;
    case 1:
      PMPI_Type_vector(n, length, stride, of.type, &t);
      blocks([&](int i) { return i * stride * extent; }, same);
      break;
    case 2:
      PMPI_Type_create_hvector(n, length, step, of.type, &t);
      blocks([&](int i) { return MPI_Aint{i} * step; }, same);
      break;
    case 3:
      PMPI_Type_indexed(n, lengths.data(), places.data(), of.type, &t);
      blocks(in_items, each);
      break;
    case 4:
      PMPI_Type_create_hindexed(n, lengths.data(), far.data(), of.type, &t);
      blocks(in_bytes, each);
      break;
    case 5:
      PMPI_Type_create_indexed_block(n, length, places.data(), of.type, &t);
      blocks(in_items, same);
      break;
    case 6:
      PMPI_Type_create_hindexed_block(n, length, far.data(), of.type, &t);
      blocks(in_bytes, same);
      break;
    case 7:
      PMPI_Type_create_resized(of.type, between(-60, 20), between(-100, 300), &t);
      all = of.entries;
      break;
    default:
      PMPI_Type_dup(of.type, &t);
      all = of.entries;
  }
  return {t, std::move(all)};
}

typed generator::structure(int depth) {
  const int n = between(1, 3);
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  std::vector<typed> children;
  std::vector<MPI_Datatype> types;
  std::vector<entry> all;
  for (int i = 0; i < n; ++i) {
    children.push_back(child(between(0, depth - 1)));
    types.push_back(children.back().type);
    lengths.push_back(between(0, children.back().entries.size() > 60 ? 1 : 2));
    places.push_back(between(-400, 400));
    add(all, children.back().entries, places.back(), lengths.back(), extent_of(types.back()));
  }
  MPI_Datatype t;
  PMPI_Type_create_struct(n, lengths.data(), places.data(), types.data(), &t);
  return {t, std::move(all)};
}

typed generator::array(const typed& of) {
  const int n = between(1, of.entries.size() > 20 ? 2 : 4);
  const bool fortran = between(0, 1) == 1;
  std::vector<int> sizes, parts, starts;
  int copies = 1;
  for (int d = 0; d < n; ++d) {
    sizes.push_back(between(1, 4));
    parts.push_back(between(1, sizes.back()));
    starts.push_back(between(0, sizes.back() - parts.back()));
    copies *= parts.back();
  }
  std::vector<entry> all;
  for (int i = 0; i < copies; ++i) {
    MPI_Aint at = 0, row = extent_of(of.type);
    for (int k = 0, left = i; k < n; ++k) {
      const auto d = static_cast<size_t>(fortran ? k : n - 1 - k);  // the k-th fastest
      at += (starts[d] + left % parts[d]) * row;
      left /= parts[d];
      row *= sizes[d];
    }
    add(all, of.entries, at, 1, 0);
  }
  MPI_Datatype t;
  PMPI_Type_create_subarray(n, sizes.data(), parts.data(), starts.data(), fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                            of.type, &t);
  return {t, std::move(all)};
}

sample generator::any() {
  for (;;) {
    sample s{child(between(1, 4)), between(1, 4)};
    PMPI_Type_commit(&s.of.type);
    if (usable(s)) return s;
  }
}

sample generator::like(const sample& s) {
  std::vector<MPI_Datatype> all;
  std::vector<entry> entries;
  std::vector<MPI_Aint> places;
  MPI_Aint at = between(-200, 0);
  for (int i = 0; i < s.count; ++i)
    for (const entry& e : s.of.entries) {
      all.push_back(e.of);
      places.push_back(at);
      entries.push_back({e.of, at});
      at += size_of(e.of) + (between(0, 2) == 0 ? between(1, 9) : 0);
    }
  const std::vector<int> ones(all.size(), 1);
  MPI_Datatype t;
  PMPI_Type_create_struct(static_cast<int>(all.size()), ones.data(), places.data(), all.data(), &t);
  PMPI_Type_commit(&t);
  return {{t, std::move(entries)}, 1};
}

typed column(int blocks, int stride) {
  MPI_Datatype t;
  PMPI_Type_vector(blocks, 1, stride, MPI_DOUBLE, &t);
  PMPI_Type_commit(&t);
  return {t, {}};
}

void compare_messages(uint64_t seed, int rounds, send_function send, receive_function receive, bool other_layout) {
  generator make(seed);
  for (int i = 0; i < rounds; ++i) {
    const sample out = make.any();
    const sample in = make.like(out);
    const sample& layout = other_layout ? in : out;
    bytes source = noise(seed + static_cast<uint64_t>(i));
    if (rank() == 0) {
      CHECK(send(out.in(source), out.count, out.of.type, 1, i, MPI_COMM_WORLD) == MPI_SUCCESS);
    } else if (rank() == 1) {
      bytes got = noise(seed + 1000), expected = got;
      MPI_Status status;
      CHECK(receive(layout.in(got), layout.count, layout.of.type, 0, i, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
      const bytes sent = out.packed(source);
      int place = 0;
      ALONE(Unpack)(sent.data(), out.size(), &place, layout.in(expected), layout.count, layout.of.type, MPI_COMM_SELF);
      CHECK(got == expected);
      int n = 0;
      PMPI_Get_count(&status, layout.of.type, &n);
      CHECK(n == layout.count && status.MPI_SOURCE == 0 && status.MPI_TAG == i);
    }
  }
}

}  // namespace mpi_test
