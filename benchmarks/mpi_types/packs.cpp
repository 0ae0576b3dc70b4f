// SPDX-License-Identifier: Apache-2.0
// MPI_Pack and MPI_Unpack of 60 layouts in host memory: lines "pack <layout> <tab> ns" and "unpack <layout> <tab> ns".
// An argument: only those with it in their name.
#include <string>
#include <vector>

#include "benchmarks/mpi_types/timing.hpp"
#include "userlib/mpi/mpi.hpp"

namespace {

std::string wanted;
std::vector<char> area(size_t{64} << 20, 1), packed(size_t{16} << 20);

// Times items of a datatype, which is freed.
void time_layout(const std::string& name, MPI_Datatype type, int count = 1) {
  MPI_Type_commit(&type);
  const int room = static_cast<int>(packed.size());
  const auto time = [&](const char* what, auto work) {
    if ((what + name).find(wanted) != std::string::npos) mpi_costs::print_time((what + name).c_str(), work);
  };
  time("pack ", [&] {
    int place = 0;
    MPI_Pack(area.data(), count, type, packed.data(), room, &place, MPI_COMM_WORLD);
  });
  time("unpack ", [&] {
    int place = 0;
    MPI_Unpack(packed.data(), room, &place, area.data(), count, type, MPI_COMM_WORLD);
  });
  MPI_Type_free(&type);
}

// Blocks of some bytes, half of the memory between them unused.
void vectors(const std::string& size, int bytes) {
  for (const int block : {4, 8, 12, 16, 24, 32, 64, 128, 256, 1024}) {
    MPI_Datatype t;
    MPI_Type_vector(bytes / block, block / 4, block / 2, MPI_FLOAT, &t);
    time_layout("vector of " + std::to_string(block) + " B, " + size, t);
  }
}

// A face of a cube, in each direction, and the cube without its faces.
void cubes(int n) {
  const std::string size = "cube of " + std::to_string(n);
  for (int d = 0; d < 4; ++d) {
    const int sizes[] = {n, n, n};
    int parts[] = {n, n, n}, starts[] = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
      if (k == d || d == 3) parts[k] = d == 3 ? n - 2 : 1, starts[k] = 1;
    MPI_Datatype t;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &t);
    time_layout((d == 3 ? "inside of a " : "face " + std::to_string(d) + " of a ") + size, t);
  }
}

// Blocks of `low` to `high` elements at irregular places.
void lists(const std::string& size, int blocks) {
  const struct {
    const char* name;
    int low, high;
    MPI_Datatype of;
  } kinds[] = {{"1 int", 1, 1, MPI_INT},
               {"1 double", 1, 1, MPI_DOUBLE},
               {"4 doubles", 4, 4, MPI_DOUBLE},
               {"1 to 4 ints", 1, 4, MPI_INT},
               {"1 to 8 doubles", 1, 8, MPI_DOUBLE}};
  for (const auto& k : kinds) {
    std::vector<int> lengths, places;
    unsigned random = 1, at = 0;
    for (int i = 0; i < blocks; ++i) {
      random = random * 1664525u + 1013904223u;
      lengths.push_back(k.low + static_cast<int>((random >> 16) % static_cast<unsigned>(k.high - k.low + 1)));
      at += (random >> 24) % 5 + 1;
      places.push_back(static_cast<int>(at));
      at += static_cast<unsigned>(lengths.back());
    }
    MPI_Datatype t;
    MPI_Type_indexed(blocks, lengths.data(), places.data(), k.of, &t);
    time_layout(std::string("list of ") + k.name + ", " + size, t);
  }
}

void structs(const std::string& size, int count) {
  const int lengths[][3] = {{1, 1, 0}, {1, 1, 1}, {3, 1, 2}};
  const MPI_Aint places[] = {0, 8, 24};
  const MPI_Datatype of[][3] = {
      {MPI_INT, MPI_DOUBLE, MPI_CHAR}, {MPI_CHAR, MPI_DOUBLE, MPI_INT}, {MPI_SHORT, MPI_DOUBLE, MPI_FLOAT}};
  for (int i = 0; i < 3; ++i) {
    MPI_Datatype fields, t;
    MPI_Type_create_struct(3, lengths[i], places, of[i], &fields);
    MPI_Type_create_resized(fields, 0, 40, &t);
    MPI_Type_free(&fields);
    time_layout("structs " + std::to_string(i) + ", " + size, t, count);
  }
}

// Columns of a matrix, one after another.
void transposed(int n) {
  MPI_Datatype column, next, t;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, 8, &next);
  MPI_Type_contiguous(n, next, &t);
  MPI_Type_free(&column);
  MPI_Type_free(&next);
  time_layout("transpose of " + std::to_string(n), t);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) wanted = argv[1];
  vectors("2 KB", 2 << 10);
  vectors("64 KB", 64 << 10);
  vectors("2 MB", 2 << 20);
  for (const int n : {16, 64, 128}) cubes(n);
  lists("100 blocks", 100);
  lists("20,000 blocks", 20'000);
  structs("10", 10);
  structs("10,000", 10'000);
  transposed(32);
  transposed(512);
  return MPI_Finalize();
}
