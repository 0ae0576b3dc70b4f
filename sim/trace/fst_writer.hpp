// SPDX-License-Identifier: Apache-2.0
// The FST writer that comes with Verilator looks at no error of its files. Here they are noted.
#pragma once

#include <cstdint>
#include <vector>

namespace ggas::trace {

// While one lives, errors of the writer's files in this thread are noted in it.
class fst_watch {
 public:
  explicit fst_watch(int& error);  // errno of the first; a value other than 0 stays
  ~fst_watch();
  fst_watch(const fst_watch&) = delete;
  fst_watch& operator=(const fst_watch&) = delete;

  // Has what was written to the files that were opened under this watch taken by the system.
  void settle();

 private:
  int* const outer_;
  std::vector<void*>* const outer_files_;
  std::vector<void*> files_;
};

// Receives changes of signals instead of the file.
class change_sink {
 public:
  virtual ~change_sink() = default;
  // The new value of a signal, a character '0' or '1' for each of its bits.
  virtual void change(uint32_t signal, const char* bits) = 0;
};

// While one lives, changes that models report in this thread go to the sink.
class change_watch {
 public:
  explicit change_watch(change_sink& sink);
  ~change_watch();
  change_watch(const change_watch&) = delete;
  change_watch& operator=(const change_watch&) = delete;

 private:
  change_sink* const outer_;
};

}  // namespace ggas::trace
