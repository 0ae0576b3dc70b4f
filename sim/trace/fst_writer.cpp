// SPDX-License-Identifier: Apache-2.0
// Compiles Verilator's FST writer with calls of the C library that record errors, and hands changes of
// signals to a sink. Its temporary files are in memory, because it maps them, and a full disk that refuses a page would
// end the process by SIGBUS.
#include "sim/trace/fst_writer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "verilated.h"
#include "verilated_fst_c.h"

namespace {

thread_local int* noted = nullptr;
thread_local std::vector<void*>* opened = nullptr;
thread_local ggas::trace::change_sink* taker = nullptr;

void note(bool failed) {
  if (failed && noted && *noted == 0) *noted = errno != 0 ? errno : EIO;
}
std::FILE* keep(std::FILE* f) {
  note(!f);
  if (f && opened) opened->push_back(f);
  return f;
}

[[maybe_unused]] std::FILE* watched_fopen(const char* name, const char* mode) { return keep(std::fopen(name, mode)); }
[[maybe_unused]] std::FILE* watched_tmpfile() {
  const int fd = memfd_create("fst", MFD_CLOEXEC);
  return keep(fd < 0 ? nullptr : fdopen(fd, "w+b"));
}
[[maybe_unused]] size_t watched_fwrite(const void* from, size_t size, size_t count, std::FILE* f) {
  const size_t done = std::fwrite(from, size, count, f);
  note(done != count && size != 0);
  return done;
}
[[maybe_unused]] int watched_fputc(int c, std::FILE* f) {
  const int done = std::fputc(c, f);
  note(done == EOF);
  return done;
}
[[maybe_unused]] int watched_fflush(std::FILE* f) {
  const int failed = std::fflush(f);
  note(failed != 0);
  return failed;
}
[[maybe_unused]] int watched_fseeko(std::FILE* f, off_t to, int from) {
  const int failed = ::fseeko(f, to, from);
  note(failed != 0);
  return failed;
}
[[maybe_unused]] int watched_fclose(std::FILE* f) {
  if (opened) std::erase(*opened, f);
  const int failed = std::fclose(f);
  note(failed != 0);
  return failed;
}

}  // namespace

// Verilator's changes come by here: of the two functions of this name it is the better match for a text of bits.
static void fstWriterEmitValueChange(void* fst, fstHandle signal, const char* bits) {
  if (taker)
    taker->change(signal, bits);
  else
    fstWriterEmitValueChange(fst, signal, static_cast<const void*>(bits));
}

namespace ggas::trace {

fst_watch::fst_watch(int& error) : outer_(noted), outer_files_(opened) {
  noted = &error;
  opened = &files_;
}
fst_watch::~fst_watch() {
  noted = outer_;
  opened = outer_files_;
}
void fst_watch::settle() {
  for (void* f : files_) watched_fflush(static_cast<std::FILE*>(f));
}

change_watch::change_watch(change_sink& sink) : outer_(taker) { taker = &sink; }
change_watch::~change_watch() { taker = outer_; }

}  // namespace ggas::trace

#define fopen watched_fopen
#define tmpfile watched_tmpfile
#define fwrite watched_fwrite
#define fputc watched_fputc
#define fflush watched_fflush
#define fseeko watched_fseeko
#define fclose watched_fclose
#include "verilated_fst_c.cpp"  // NOLINT(bugprone-suspicious-include)
