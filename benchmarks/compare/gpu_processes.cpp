// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "benchmarks/compare/processes.hpp"

namespace ggas::compare {

namespace {

// GPUs that CUDA sees; 0 without a driver. Asked in a process of its own, because CUDA does not survive a fork.
int count_gpus() {
  const pid_t child = fork();
  if (child == 0) {
    int n = 0;
    _exit(cudaGetDeviceCount(&n) == cudaSuccess ? n : 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 0;
  return WEXITSTATUS(status);
}

}  // namespace

int run_on_gpus(int argc, char** argv, unsigned timeout_s, const std::function<int(crew&)>& work) {
  const int gpus = count_gpus();
  if (gpus == 0) {
    std::fprintf(stderr, "no GPU here\n");
    return 77;
  }
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 0;
  if (argc > 2 || wanted < 0 || wanted > gpus) {
    std::fprintf(stderr, "usage: %s [GPUs, 0 (all) ... %d]\n", argv[0], gpus);
    return 2;
  }
  return run_crew(wanted == 0 ? gpus : wanted, timeout_s, work);
}

}  // namespace ggas::compare
