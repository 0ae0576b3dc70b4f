// SPDX-License-Identifier: Apache-2.0
// The FST writer that comes with Verilator looks at no error of its files. Here they are noted.
#pragma once

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

}  // namespace ggas::trace
