// SPDX-License-Identifier: Apache-2.0
// Messages of memory of GPUs; each rank has a GPU, or all the only one. In CI that of fake_driver.cpp.
#include <algorithm>

#include "tests/userlib/mpi/gpu_area.hpp"

using namespace mpi_test;

namespace {

enum class in { gpu, host };

// Random samples from rank 0 to rank 1, each in memory of its kind, in different layouts.
template <class Send, class Receive>
void compare(uint64_t seed, in source_in, in target_in, Send send, Receive receive) {
  generator make(seed);
  gpu_area there(noise(0));
  for (int i = 0; i < 40; ++i) {
    const sample out = make.any(), in_layout = make.like(out);
    bytes source = noise(seed + static_cast<uint64_t>(i)), got = noise(seed + 1000);
    if (rank() == 0) {
      there.write(source);
      send(source_in == in::gpu ? there.at(middle) : out.in(source), out.count, out.of.type, i);
      CHECK(there.read() == source);
    } else {
      const bytes expected = expected_of(out, source, in_layout, got);
      there.write(got);
      MPI_Status s;
      receive(target_in == in::gpu ? there.at(middle) : in_layout.in(got), in_layout.count, in_layout.of.type, i, &s);
      CHECK((target_in == in::gpu ? there.read() : got) == expected);
      int n = 0;
      PMPI_Get_count(&s, in_layout.of.type, &n);
      CHECK(n == 1 && s.MPI_SOURCE == 0 && s.MPI_TAG == i);
    }
  }
}

void send_to_1(const void* at, int n, MPI_Datatype t, int tag) {
  CHECK(MPI_Send(at, n, t, 1, tag, MPI_COMM_WORLD) == 0);
}
void receive_from_0(void* at, int n, MPI_Datatype t, int tag, MPI_Status* s) {
  CHECK(MPI_Recv(at, n, t, 0, tag, MPI_COMM_WORLD, s) == 0);
}

}  // namespace

MPI_CASE(gpu_pack, 1) {
  generator make(41);
  for (uint64_t i = 0; i < 100; ++i) {
    const sample s = make.any();
    const bytes source = noise(i), expected = s.packed(source);
    const gpu_area there(source), packed(bytes(expected.size() + 64)), back(noise(i + 1));
    bytes on_host(expected.size() + 8);
    const int room = static_cast<int>(on_host.size());
    int place = 8;
    CHECK(MPI_Pack(there.at(middle), s.count, s.of.type, on_host.data(), room, &place, MPI_COMM_WORLD) == 0);
    CHECK(bytes(on_host.begin() + 8, on_host.end()) == expected);
    place = 3;  // from GPU to GPU, and from there to the host
    CHECK(MPI_Pack(there.at(middle), s.count, s.of.type, packed.at(), room + 8, &place, MPI_COMM_WORLD) == 0);
    CHECK(place == 3 + s.size());
    int from = 3;
    bytes mine = noise(i + 1);
    CHECK(MPI_Unpack(packed.at(), place, &from, s.in(mine), s.count, s.of.type, MPI_COMM_WORLD) == 0 && from == place);
    CHECK(mine == expected_of(s, source, s, noise(i + 1)));
    from = 8;
    CHECK(MPI_Unpack(on_host.data(), room, &from, back.at(middle), s.count, s.of.type, MPI_COMM_WORLD) == 0);
    CHECK(back.read() == mine);
  }
}
MPI_CASE(gpu_to_gpu, 2) { compare(42, in::gpu, in::gpu, send_to_1, receive_from_0); }
MPI_CASE(gpu_to_host, 2) { compare(43, in::gpu, in::host, send_to_1, receive_from_0); }
MPI_CASE(gpu_from_host, 2) { compare(44, in::host, in::gpu, send_to_1, receive_from_0); }
MPI_CASE(gpu_begun, 2) {
  const auto begin_send = [](const void* at, int n, MPI_Datatype t, int tag) {
    MPI_Request r;
    CHECK(MPI_Isend(at, n, t, 1, tag, MPI_COMM_WORLD, &r) == 0 && MPI_Wait(&r, MPI_STATUS_IGNORE) == 0);
  };
  const auto begin_receive = [](void* at, int n, MPI_Datatype t, int tag, MPI_Status* s) {
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status both[2];
    CHECK(MPI_Irecv(at, n, t, 0, tag, MPI_COMM_WORLD, &r[1]) == 0 && MPI_Waitall(2, r, both) == 0);
    *s = both[1];
  };
  compare(45, in::gpu, in::gpu, begin_send, begin_receive);
}
MPI_CASE(gpu_contiguous, 2) {
  // Data in one piece, too: the MPI below reaches no memory of a GPU.
  gpu_area area(noise(static_cast<uint64_t>(rank()), 1 << 20));
  const int peer = 1 - rank(), half = 1 << 19;
  CHECK(MPI_Sendrecv(area.at(), half, MPI_CHAR, peer, 0, area.at(half), half / 8, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) == 0);
  const bytes mine = noise(static_cast<uint64_t>(rank()), 1 << 20),
              theirs = noise(static_cast<uint64_t>(peer), 1 << 20);
  bytes expected(mine.begin(), mine.begin() + half);
  expected.insert(expected.end(), theirs.begin(), theirs.begin() + half);
  CHECK(area.read() == expected);
}
MPI_CASE(gpu_faces, 4) {
  // A cube in each GPU; its six faces go round a ring.
  constexpr int n = 40;
  bytes cube = noise(static_cast<uint64_t>(rank()), n * n * n * 8);
  gpu_area there(cube);
  const int right = (rank() + 1) % 4, left = (rank() + 3) % 4;
  const bytes of_left = noise(static_cast<uint64_t>(left), n * n * n * 8);
  for (int d = 0; d < 3; ++d) {
    const auto face = [&](int at) {
      int sizes[] = {n, n, n}, parts[] = {n, n, n}, starts[] = {0, 0, 0};
      parts[d] = 1;
      starts[d] = at;
      MPI_Datatype t;
      PMPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &t);
      PMPI_Type_commit(&t);
      return typed(t, {});
    };
    const typed last = face(n - 2), ghost = face(0);
    CHECK(MPI_Sendrecv(there.at(), 1, last.type, right, d, there.at(), 1, ghost.type, left, d, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE) == 0);
    const size_t step = d == 0 ? n * n : d == 1 ? n : 1;
    const bytes now = there.read();
    const auto same = [&](size_t to, size_t from) {
      return std::equal(&now[8 * to], &now[8 * to] + 8, &of_left[8 * from]);
    };
    for (const size_t i : {1, n / 2, n - 2}) {
      const size_t k = d == 0 ? i * n + i : d == 1 ? i * n * n + i : i * n * n + i * n;  // in the face
      CHECK(same(k, k + (n - 2) * step));
    }
  }
}
MPI_CASE(gpu_errors, 1) {
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  gpu_area area(noise(1));
  const int sizes[] = {2, 2, 2, 2, 2, 2, 2}, parts[] = {1, 1, 1, 1, 1, 1, 1}, starts[] = {0, 0, 0, 0, 0, 0, 0};
  MPI_Datatype seven;
  PMPI_Type_create_subarray(7, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &seven);
  PMPI_Type_commit(&seven);
  // More dimensions than the library supports: an error, as no other library can send them.
  CHECK(is_class(MPI_Send(area.at(), 1, seven, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE));
  PMPI_Type_free(&seven);
  const typed col = column(20, 2);
  CHECK(is_class(MPI_Send(area.at(), 1, col.type, 5, 0, MPI_COMM_WORLD), MPI_ERR_RANK));
}
