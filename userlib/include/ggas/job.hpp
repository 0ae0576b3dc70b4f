// SPDX-License-Identifier: Apache-2.0
// The processes of a program on one computer, one for each node, and the rank of this one. C++20.
#pragma once

#include <cstdint>
#include <string>

namespace ggas {

struct job {
  int rank = -1;          // of this process, 0 ... size - 1; -1: one process runs all nodes
  int size = 0;           // processes
  std::string name = {};  // the same in all processes and in no other job of the user; at most 64 letters
  uint64_t timeout_ns = 60'000'000'000;  // of a wait for other processes; 20 days or more: for ever
  // 32 hexadecimal digits that all processes of the job know, and no other process; empty: there is none.
  std::string secret = {};

  bool alone() const { return rank < 0; }

  // The job that the launcher of this process describes in its environment: `ggas run` (GGAS_RANK, GGAS_SIZE, GGAS_JOB,
  // GGAS_SECRET), Open MPI, an MPI with PMI variables, or Slurm's srun, looked for in this order. If there is none, the
  // process is alone. On an error `why` names the variable and the rule, else it is empty. Any thread may call it, when
  // none changes the environment.
  static job from_environment(std::string& why);
};

}  // namespace ggas
