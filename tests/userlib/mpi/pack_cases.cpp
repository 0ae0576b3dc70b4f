// SPDX-License-Identifier: Apache-2.0
// MPI_Pack and MPI_Unpack of every constructor.
#include <malloc.h>

#include <thread>

#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

namespace {

// Packed by the library and by the MPI alone, and unpacked by the other one.
void compare_packing(const sample& s, uint64_t seed) {
  const bytes source = noise(seed);
  bytes area = source;
  const bytes expected = s.packed(source);
  bytes got(expected.size() + 16, 0x5a);
  int place = 8;
  CHECK(MPI_Pack(s.in(area), s.count, s.of.type, got.data(), static_cast<int>(got.size()), &place, MPI_COMM_WORLD) ==
        0);
  CHECK(place == 8 + s.size());
  CHECK(bytes(got.begin() + 8, got.end() - 8) == expected);
  CHECK(got[7] == 0x5a && got[got.size() - 8] == 0x5a && area == source);
  bytes mine = noise(seed + 1), theirs = mine;
  int a = 8, b = 0;
  CHECK(MPI_Unpack(got.data(), place, &a, s.in(mine), s.count, s.of.type, MPI_COMM_WORLD) == 0);
  ALONE(Unpack)(expected.data(), s.size(), &b, s.in(theirs), s.count, s.of.type, MPI_COMM_SELF);
  CHECK(a == place && mine == theirs);
}

void compare_type(MPI_Datatype t, int count = 2) {
  PMPI_Type_commit(&t);
  compare_packing({{t, {}}, count}, 7);
}

MPI_Datatype made;  // by the constructor of a case
const int lengths[] = {2, 0, 1, 3}, places[] = {9, 4, 0, 13};
const MPI_Aint far[] = {88, 3, -40, 160};

}  // namespace

MPI_CASE(pack_vector, 1) { compare_type((PMPI_Type_vector(5, 2, 3, MPI_INT, &made), made)); }
MPI_CASE(pack_vector_backwards, 1) { compare_type((PMPI_Type_vector(5, 1, -3, MPI_DOUBLE, &made), made), 1); }
MPI_CASE(pack_hvector, 1) { compare_type((PMPI_Type_create_hvector(4, 2, -37, MPI_SHORT, &made), made), 1); }
MPI_CASE(pack_indexed, 1) { compare_type((PMPI_Type_indexed(4, lengths, places, MPI_FLOAT, &made), made)); }
MPI_CASE(pack_hindexed, 1) { compare_type((PMPI_Type_create_hindexed(4, lengths, far, MPI_FLOAT, &made), made)); }
MPI_CASE(pack_indexed_block, 1) { compare_type((PMPI_Type_create_indexed_block(4, 3, places, MPI_LONG, &made), made)); }
MPI_CASE(pack_hindexed_block, 1) { compare_type((PMPI_Type_create_hindexed_block(4, 3, far, MPI_SHORT, &made), made)); }
MPI_CASE(pack_struct, 1) {
  const MPI_Datatype of[] = {MPI_DOUBLE, MPI_CHAR, MPI_SHORT, MPI_INT};
  compare_type((PMPI_Type_create_struct(4, lengths, far, of, &made), made));
}
MPI_CASE(pack_subarray_c, 1) {
  const int sizes[] = {5, 6, 7}, parts[] = {2, 3, 4}, starts[] = {1, 2, 3};
  compare_type((PMPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &made), made));
}
MPI_CASE(pack_subarray_fortran, 1) {
  const int sizes[] = {5, 6, 7}, parts[] = {2, 3, 4}, starts[] = {1, 2, 3};
  compare_type((PMPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &made), made));
}
MPI_CASE(pack_darray, 1) {
  for (int r = 0; r < 6; ++r) {
    const int sizes[] = {7, 9}, args[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {3, 2};
    const int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int order = r % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    compare_type((PMPI_Type_create_darray(6, r, 2, sizes, how, args, grid, order, MPI_INT, &made), made));
  }
}
MPI_CASE(pack_resized, 1) {
  const typed of = column(3, 2);
  compare_type((PMPI_Type_create_resized(of.type, -16, 72, &made), made), 4);
}
MPI_CASE(pack_dup, 1) {
  const typed of = column(3, 2);
  compare_type((PMPI_Type_dup(of.type, &made), made), 3);
}
MPI_CASE(pack_pairs, 1) {
  for (const MPI_Datatype p : {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_2INT})
    compare_type((PMPI_Type_vector(3, 2, 3, p, &made), made));
}
MPI_CASE(pack_every_primitive, 1) {
  const MPI_Datatype all[] = {MPI_CHAR,          MPI_SIGNED_CHAR,     MPI_UNSIGNED_CHAR,
                              MPI_BYTE,          MPI_SHORT,           MPI_UNSIGNED_SHORT,
                              MPI_INT,           MPI_UNSIGNED,        MPI_LONG,
                              MPI_UNSIGNED_LONG, MPI_LONG_LONG,       MPI_FLOAT,
                              MPI_DOUBLE,        MPI_WCHAR,           MPI_C_BOOL,
                              MPI_INT8_T,        MPI_UINT16_T,        MPI_INT32_T,
                              MPI_UINT64_T,      MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                              MPI_AINT,          MPI_OFFSET,          MPI_COUNT};
  for (const MPI_Datatype p : all) compare_type((PMPI_Type_vector(3, 2, 5, p, &made), made));
}
MPI_CASE(pack_long_double, 1) {
  // Six of its bytes belong to no number, and are what they are.
  const std::vector<long double> area{1.5L, 2, 3, 4.25L, 5, 6, 7.125L};
  std::vector<long double> packed(3), back(7);
  const int room = 3 * sizeof(long double);
  int place = 0;
  PMPI_Type_vector(3, 1, 3, MPI_LONG_DOUBLE, &made);
  PMPI_Type_commit(&made);
  CHECK(MPI_Pack(area.data(), 1, made, packed.data(), room, &place, MPI_COMM_WORLD) == 0 && place == room);
  CHECK(packed == (std::vector<long double>{1.5L, 4.25L, 7.125L}));
  place = 0;
  ALONE(Unpack)(packed.data(), room, &place, back.data(), 1, made, MPI_COMM_WORLD);
  CHECK(back == (std::vector<long double>{1.5L, 0, 0, 4.25L, 0, 0, 7.125L}));
  PMPI_Type_free(&made);
}
MPI_CASE(pack_random, 1) {
  generator make(11);
  for (uint64_t i = 0; i < 300; ++i) compare_packing(make.any(), i);
}
MPI_CASE(pack_children_freed, 1) {
  MPI_Datatype inner, outer;
  PMPI_Type_vector(3, 1, 2, MPI_INT, &inner);
  PMPI_Type_create_hvector(2, 1, 100, inner, &outer);
  PMPI_Type_free(&inner);
  compare_type(outer);
}
MPI_CASE(pack_same_handle_again, 1) {
  // A datatype that is freed and made again may get the number of the old one: nothing of the old one is used.
  for (int stride = 2; stride < 40; ++stride) compare_packing({column(4, stride), 1}, static_cast<uint64_t>(stride));
}
MPI_CASE(pack_bottom, 1) {
  const bytes source = noise(3);
  MPI_Aint places_of[2];
  PMPI_Get_address(source.data() + 16, &places_of[0]);
  PMPI_Get_address(source.data() + 400, &places_of[1]);
  const int ones[] = {4, 2};
  PMPI_Type_create_hindexed(2, ones, places_of, MPI_INT, &made);
  PMPI_Type_commit(&made);
  bytes a(24), b(source.begin() + 16, source.begin() + 32);
  b.insert(b.end(), source.begin() + 400, source.begin() + 408);
  int i = 0;
  CHECK(MPI_Pack(MPI_BOTTOM, 1, made, a.data(), 24, &i, MPI_COMM_WORLD) == 0);
  CHECK(a == b && i == 24);
  PMPI_Type_free(&made);
}
MPI_CASE(pack_with_threads, 1, true, MPI_THREAD_MULTIPLE) {
  std::vector<std::thread> all;
  const typed shared = column(40, 3);
  for (uint64_t t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      generator make(t);
      const bytes source = noise(t);
      for (uint64_t i = 0; i < 50; ++i) {
        bytes area = source, out(320);
        int place = 0;
        CHECK(MPI_Pack(area.data(), 1, shared.type, out.data(), 320, &place, MPI_COMM_WORLD) == 0);
        CHECK(out[8] == source[24] && out[319] == source[39 * 24 + 7]);
        compare_packing(make.any(), i);
      }
    });
  for (std::thread& t : all) t.join();
}
MPI_CASE(memory_of_a_long_list, 1) {
  // At most three times that of the arrays it was made with.
  constexpr int blocks = 1'000'000;
  std::vector<int> lengths(blocks), places(blocks);
  for (size_t i = 0; i < blocks; ++i) lengths[i] = 1 + static_cast<int>(i % 2), places[i] = static_cast<int>(5 * i);
  MPI_Datatype t;
  PMPI_Type_indexed(blocks, lengths.data(), places.data(), MPI_SHORT, &t);
  PMPI_Type_commit(&t);
  bytes area(size_t{10} * blocks + 8, 1), packed(size_t{3} * blocks);
  int at = 0;
  const auto used = [] {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  const size_t before = used();
  CHECK(MPI_Pack(area.data(), 1, t, packed.data(), 3 * blocks, &at, MPI_COMM_WORLD) == 0 && at == 3 * blocks);
  CHECK(used() - before <= size_t{3} * 2 * sizeof(int) * blocks);
  PMPI_Type_free(&t);
  CHECK(used() <= before + (size_t{1} << 20));
}
