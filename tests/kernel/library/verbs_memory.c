/* SPDX-License-Identifier: Apache-2.0 */
/* A program of verbs, for libibverbs: registers BYTES of memory, 24 bytes from a page on, prints its network logical
 * address, and waits for a line. Then the memory must have the bytes of the argument's pattern, and none next to them.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BYTES = 65536, BEFORE = 24 };

static void fail(const char* what) {
  fprintf(stderr, "# verbs_memory: %s\n", what);
  exit(1);
}

int main(int argc, char** argv) {
  struct ibv_device** const all = ibv_get_device_list(NULL);
  struct ibv_context* const c = all && all[0] ? ibv_open_device(all[0]) : NULL;
  struct ibv_pd* const pd = c ? ibv_alloc_pd(c) : NULL;
  unsigned char* const at = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  struct ibv_mr* mr;
  if (!pd || at == MAP_FAILED) fail(c ? "no protection domain" : "no device");
  if (ibv_reg_mr(pd, at + BEFORE, BYTES, IBV_ACCESS_REMOTE_WRITE)) fail("writing by others alone was allowed");
  mr = ibv_reg_mr(pd, at + BEFORE, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (!mr) fail("memory is not registered");
  printf("%llu\n", ((unsigned long long)mr->rkey << 12) + BEFORE);
  fflush(stdout);
  if (getchar() != '\n') fail("no line");
  for (size_t i = 0; i < BYTES; ++i)
    if (at[BEFORE + i] != (unsigned char)(seed * 31 + i * 7 + (i >> 8))) fail("other bytes");
  if (at[BEFORE - 1] || at[BEFORE + BYTES]) fail("bytes next to the region");
  if (ibv_dereg_mr(mr) || ibv_dealloc_pd(pd) || ibv_close_device(c)) fail("an object does not end");
  ibv_free_device_list(all);
  return 0;
}
