// SPDX-License-Identifier: Apache-2.0
// Files written from memory of GPUs and read into it: the same bytes as the MPI alone has of host memory.
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "tests/userlib/mpi/gpu_area.hpp"

using namespace mpi_test;

namespace {

constexpr int n = 20;  // doubles in a column
constexpr size_t column_bytes = 8 * n;

// Open while it lives, in a folder of its own.
struct open_file {
  MPI_File at = MPI_FILE_NULL;
  std::array<char, 64> folder{"/tmp/ggas-mpi-file-XXXXXX"};
  MPI_Comm comm;

  explicit open_file(MPI_Comm c) : comm(c) {
    int first = 0;
    PMPI_Comm_rank(comm, &first);
    if (first == 0) CHECK(mkdtemp(folder.data()) != nullptr);
    PMPI_Bcast(folder.data(), static_cast<int>(folder.size()), MPI_CHAR, 0, comm);
    const std::string name = std::string(folder.data()) + "/file";
    const int how = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK(PMPI_File_open(comm, name.c_str(), how, MPI_INFO_NULL, &at) == MPI_SUCCESS);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    PMPI_File_close(&at);
    rmdir(folder.data());
  }
};

int ended(int error, MPI_Request& request, MPI_Status* status) {
  return error == MPI_SUCCESS ? MPI_Wait(&request, status) : error;
}

// A way to write a column at the beginning of a file, and one to read it.
struct way {
  std::function<int(MPI_File, const void*, MPI_Datatype, MPI_Status*)> write;
  std::function<int(MPI_File, void*, MPI_Datatype, MPI_Status*)> read;
};
#define NOW(name, ...)                                                 \
  [](MPI_File f, auto* at, MPI_Datatype t, MPI_Status* s) {            \
    return MPI_File_##name(f __VA_OPT__(, ) __VA_ARGS__, at, 1, t, s); \
  }
#define LATER(name, ...)                                                             \
  [](MPI_File f, auto* at, MPI_Datatype t, MPI_Status* s) {                          \
    MPI_Request r;                                                                   \
    return ended(MPI_File_##name(f __VA_OPT__(, ) __VA_ARGS__, at, 1, t, &r), r, s); \
  }
#define HALVES(name, ...)                                                              \
  [](MPI_File f, auto* at, MPI_Datatype t, MPI_Status* s) {                            \
    const int error = MPI_File_##name##_begin(f __VA_OPT__(, ) __VA_ARGS__, at, 1, t); \
    return error == MPI_SUCCESS ? MPI_File_##name##_end(f, at, s) : error;             \
  }
const way ways[] = {
    {NOW(write), NOW(read)},
    {NOW(write_all), NOW(read_all)},
    {NOW(write_at, 0), NOW(read_at, 0)},
    {NOW(write_at_all, 0), NOW(read_at_all, 0)},
    {NOW(write_shared), NOW(read_shared)},
    {NOW(write_ordered), NOW(read_ordered)},
    {LATER(iwrite), LATER(iread)},
    {LATER(iwrite_all), LATER(iread_all)},
    {LATER(iwrite_at, 0), LATER(iread_at, 0)},
    {LATER(iwrite_at_all, 0), LATER(iread_at_all, 0)},
    {LATER(iwrite_shared), LATER(iread_shared)},
    {HALVES(write_all), HALVES(read_all)},
    {HALVES(write_at_all, 0), HALVES(read_at_all, 0)},
    {HALVES(write_ordered), HALVES(read_ordered)},
#if MPI_VERSION >= 4
    {NOW(write_c), NOW(read_c)},
    {LATER(iwrite_at_c, 0), LATER(iread_at_c, 0)},
    {HALVES(write_at_all, 0), LATER(iread_all_c)},
#endif
};

void rewind(MPI_File f) {
  CHECK(PMPI_File_seek(f, 0, MPI_SEEK_SET) == MPI_SUCCESS && PMPI_File_seek_shared(f, 0, MPI_SEEK_SET) == MPI_SUCCESS);
}

bool is_column(const MPI_Status& s, MPI_Datatype column) {
  int items = 0;
  PMPI_Get_count(&s, column, &items);
  return items == 1;
}

}  // namespace

MPI_CASE(gpu_files, 1) {
  const typed col = column(n, 2);
  const bytes source = noise(1, 2 * column_bytes), before = noise(2, 2 * column_bytes);
  bytes packed(column_bytes), expected = before;
  int at = 0;
  ALONE(Pack)(source.data(), 1, col.type, packed.data(), column_bytes, &at, MPI_COMM_SELF);
  at = 0;
  ALONE(Unpack)(packed.data(), column_bytes, &at, expected.data(), 1, col.type, MPI_COMM_SELF);
  const gpu_area out(source);
  gpu_area in(before);
  for (const way& w : ways) {
    const open_file f(MPI_COMM_SELF);
    MPI_Status s;
    bytes there(column_bytes);
    CHECK(w.write(f.at, out.at(), col.type, &s) == MPI_SUCCESS && is_column(s, col.type));
    CHECK(ALONE(File_read_at)(f.at, 0, there.data(), column_bytes, MPI_BYTE, &s) == MPI_SUCCESS && there == packed);
    rewind(f.at);
    in.write(before);
    CHECK(w.read(f.at, in.at(), col.type, &s) == MPI_SUCCESS && is_column(s, col.type));
    CHECK(in.read() == expected && out.read() == source);
  }
}
MPI_CASE(gpu_files_end_early, 1) {
  // A file that is shorter than the items that are read: the others stay.
  const typed col = column(n, 2);
  const bytes source = noise(3, 2 * column_bytes), before = noise(4, 2 * column_bytes);
  const gpu_area out(source), in(before);
  const open_file f(MPI_COMM_SELF);
  MPI_Status s;
  CHECK(MPI_File_write_at(f.at, 0, out.at(), 3, MPI_DOUBLE, &s) == MPI_SUCCESS);
  CHECK(MPI_File_read_at(f.at, 0, in.at(), 1, col.type, &s) == MPI_SUCCESS);
  bytes expected = before;
  CHECK(ALONE(File_read_at)(f.at, 0, expected.data(), 1, col.type, &s) == MPI_SUCCESS);
  CHECK(in.read() == expected);
}
MPI_CASE(gpu_files_of_all, 2) {
  // Each rank's column is every other double of the file.
  const typed col = column(n, 2);
  const open_file f(MPI_COMM_WORLD);
  CHECK(PMPI_File_set_view(f.at, 8 * rank(), MPI_DOUBLE, col.type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  const gpu_area out(noise(static_cast<uint64_t>(rank()), 2 * column_bytes)), in(bytes(2 * column_bytes, 0));
  CHECK(MPI_File_write_at_all(f.at, 0, out.at(), 1, col.type, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_File_read_at_all(f.at, 0, in.at(), 1, col.type, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  const bytes mine = out.read(), back = in.read();
  for (size_t i = 0; i < back.size(); ++i) CHECK(back[i] == (i % 16 < 8 ? mine[i] : 0));
}
