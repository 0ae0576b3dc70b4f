// SPDX-License-Identifier: Apache-2.0
// The process: makes a cluster of one node on the host engine and a rank of GGAS_MPI_RANKS from each thread of a grid,
// each of which calls the program's main().
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"
#include "ggas/heap.hpp"
#include "ggas/launch.hpp"
#include "ggas/messages.hpp"
#include "userlib/cluster/mpi_threads/ranks.hpp"

extern "C" int ggas_mpi_main(int argc, char** argv);  // the program's; one without parameters ignores them

namespace ggas::mpi_threads {

namespace {

constexpr unsigned most_ranks = 1024, most_of_a_block = 64;
std::vector<rank_state> states;

// The most threads of a block that make blocks of the same size.
unsigned threads_of_block(unsigned ranks) {
  unsigned threads = std::min(ranks, most_of_a_block);
  while (ranks % threads != 0) --threads;
  return threads;
}

unsigned ranks_wanted() {
  const char* const text = std::getenv("GGAS_MPI_RANKS");
  unsigned ranks = 0;
  const char* const end = text ? text + std::strlen(text) : text;
  if (!text || std::from_chars(text, end, ranks).ptr != end || ranks < 1 || ranks > most_ranks)
    end_program("GGAS_MPI_RANKS = " + std::string(text ? text : "") + ": must be 1 ... " + std::to_string(most_ranks),
                2);
  return ranks;
}

void call_main(int argc, char** argv) { rank_state::mine().returned = ggas_mpi_main(argc, argv); }

int run(int argc, char** argv) {
  const unsigned ranks = ranks_wanted(), threads = threads_of_block(ranks), blocks = ranks / threads;
  cluster_config config;
  config.provider = "shm";
  config.nodes = 1;
  config.segment_bytes = size_t{256} << 20;
  config.overrides = {"shm.stack_kb=256"};
  auto c = cluster::create(config);
  if (!c) end_program(c.error().text, 1);
  std::string why;
  const auto memory = heap::create(heap_of(**c), why);
  if (!memory) end_program(why, 1);
  message_space space(**c, *memory);
  const ggas_messages world = space.make(
      {.blocks = blocks, .threads = threads, .lines = 1024, .waiting = 1024, .requests = 64, .stage_bytes = 1024}, why);
  if (why.empty()) why = space.use(world);
  if (!why.empty()) end_program(why, 1);
  states.resize(ranks);
  if (auto ok = launch_grid(**c, 0, blocks, threads, call_main, argc, argv); !ok) end_program(ok.error().text, 1);
  if (auto ran = (*c)->run(GGAS_FOREVER); !ran) end_program(ran.error().text, 1);
  return std::ranges::max_element(states, {}, &rank_state::returned)->returned;
}

}  // namespace

unsigned own_rank() { return blockIdx.x * blockDim.x + threadIdx.x; }
rank_state& rank_state::mine() { return states[own_rank()]; }

void end_program(const std::string& why, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(status);
}

std::string computer_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace ggas::mpi_threads

int main(int argc, char** argv) { return ggas::mpi_threads::run(argc, argv); }
