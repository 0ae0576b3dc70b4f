/* SPDX-License-Identifier: Apache-2.0 */
/* libggas between the nodes: a rank on each, started by TCP, data by the NICs (tests/kernel/library/on_nodes.c). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

#define PROGRAM "/bin/on_nodes"
#define SAME_EVERYWHERE "/bin/sim_program"
#define GASPI "/bin/gaspi_on_nodes"
#define ROOT "10.0.0.1"

static void be(unsigned rank, unsigned size, const char* transport, const char* bootstrap) {
  static unsigned jobs;
  char number[32];
  snprintf(number, sizeof number, "%u", rank);
  setenv("GGAS_RANK", number, 1);
  snprintf(number, sizeof number, "%u", size);
  setenv("GGAS_SIZE", number, 1);
  setenv("GGAS_SECRET", "000102030405060708090a0b0c0d0e0f", 1);
  snprintf(number, sizeof number, ROOT ":%u", 4000 + ++jobs);
  setenv("GGAS_ROOT", number, 1);
  setenv("GGAS_JOB", number, 1);
  snprintf(number, sizeof number, "%d", DOMAIN);
  setenv("GGAS_DOMAIN", number, 1);
  setenv("GGAS_TRANSPORT", transport, 1);
  setenv("GGAS_BOOTSTRAP", bootstrap, 1);
}

/* A process that runs a program; what it prints goes to `to`, or where this one prints. */
static pid_t start(const char* program, const char* what, int to) {
  const pid_t child = (fflush(stdout), fork());
  if (child) return child;
  if (to >= 0) dup2(to, 1);
  execl(program, program, what, NULL);
  _exit(99);
}

static int ending(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void both(node* n, const char* what, int end_of_rank_1) {
  be(n->me, 2, "hw", "tcp");
  CHECK_IS(ending(start(PROGRAM, what, -1)), n->me ? end_of_rank_1 : 0);
}

void library_on_nodes(node* n) { both(n, "all", 0); }

/* Segments on the GPUs of the nodes, by ggas.h and by GASPI. */
void library_on_gpus(node* n) {
  both(n, "testgpu", 0);
  if (n->soak) both(n, "simt", 0);
  be(n->me, 2, "hw", "tcp");
  setenv("GGAS_GPU", "testgpu", 1);
  setenv("GGAS_GPU_BYTES", "8388608", 1);
  CHECK_IS(ending(start(GASPI, "gpu_write_notify_brings_the_data_first", -1)), 0);
}

void library_ranks_end(node* n) {
  both(n, "killed", 9); /* SIGKILL */
  both(n, "left", 0);
}

void library_is_refused(node* n) { both(n, "refused", 0); }

/* Two ranks on each node, with several threads; on a node they share its NIC. */
void library_several_on_a_node(node* n) {
  char root[32];
  pid_t child[2];
  unsigned k;
  for (k = 0; k < 2; ++k) {
    be(2 * n->me + k, 4, "hw", "tcp");
    if (k) setenv("GGAS_ROOT", root, 1);
    snprintf(root, sizeof root, "%s", getenv("GGAS_ROOT"));
    child[k] = start(PROGRAM, "crowd", -1);
  }
  for (k = 0; k < 2; ++k) CHECK_IS(ending(child[k]), 0);
}

/* Both ranks on this node, with one NIC, which sends to itself. */
void library_on_one_node(node* n) {
  pid_t child[2];
  unsigned r;
  (void)n;
  for (r = 0; r < 2; ++r) {
    be(r, 2, "hw", "unix");
    setenv("GGAS_JOB", "one NIC", 1);
    child[r] = start(PROGRAM, "all", -1);
  }
  for (r = 0; r < 2; ++r) CHECK_IS(ending(child[r]), 0);
}

/* A program prints the same whatever lies between its ranks: here both on this node, sharing memory. */
void library_is_the_same(node* n) {
  char by_nic[256] = "", by_memory[256] = "";
  const int nowhere = open("/dev/null", O_WRONLY);
  pid_t child[2];
  int ends[2];
  unsigned r;
  CHECK_IS(pipe(ends), 0);
  be(n->me, 2, "hw", "tcp");
  CHECK_IS(ending(start(SAME_EVERYWHERE, NULL, ends[1])), 0);
  CHECK(read(ends[0], by_nic, sizeof by_nic - 1) > 0);
  for (r = 0; r < 2; ++r) {
    be(r, 2, "shm", "unix");
    setenv("GGAS_JOB", "on one node", 1);
    child[r] = start(SAME_EVERYWHERE, NULL, r == n->me ? ends[1] : nowhere);
  }
  for (r = 0; r < 2; ++r) CHECK_IS(ending(child[r]), 0);
  CHECK(read(ends[0], by_memory, sizeof by_memory - 1) > 0);
  CHECK_IS(strcmp(by_nic, by_memory), 0);
  printf("# by NIC: %s", by_nic);
  close(ends[0]);
  close(ends[1]);
  close(nowhere);
}

/* Node 1's NIC is reset under its rank. This program holds it no more then. */
void library_under_reset(node* n) {
  if (n->me == 1) end(n);
  both(n, "reset", 0);
  if (n->me == 1) begin(n);
  greet(n, ++n->greeted);
}
