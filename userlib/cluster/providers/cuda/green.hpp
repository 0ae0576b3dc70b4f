// SPDX-License-Identifier: Apache-2.0
// Streams with multiprocessors of their own: green contexts of the driver, which it has since CUDA 12.5.
#pragma once

#include <map>
#include <vector>

#include "userlib/cluster/providers/cuda/driver.hpp"

namespace ggas::userlib {

#if CUDA_VERSION >= 12050
using sm_part = CUdevResource;
using green_context = CUgreenCtx;
#else
struct sm_part {};
using green_context = void*;
#endif

class green_contexts {
 public:
  // A stream of that GPU with `count` multiprocessors, or a few more: the GPU gives them out in groups. No other stream
  // of this object has them.
  attempt<cudaStream_t> make_stream(int gpu, unsigned count, int priority, const std::string& what);
  // 0: it is no stream of these.
  unsigned multiprocessors(cudaStream_t s) const;
  // After their streams were destroyed.
  void destroy();

 private:
  struct one {
    green_context context;
    cudaStream_t stream;
    unsigned count;
  };
  attempt<> divide(int gpu, const std::string& what);
  attempt<std::vector<sm_part>> take(int gpu, unsigned count, const std::string& what);

  std::vector<one> all_;
  std::map<int, std::vector<sm_part>> left_;  // groups of a GPU that no stream has
};

}  // namespace ggas::userlib
