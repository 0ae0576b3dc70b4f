/* SPDX-License-Identifier: Apache-2.0 */
/* 06: segments of GPUs. `06_gpu cuda`, or `06_gpu simt` where there is none: every rank puts numbers into the GPU of
 * its right neighbour, and all add up theirs. */
#include "host.h"

int main(int argc, char** argv) {
  enum { n = 100000, host = 0, gpu = 1, arrived = 0 /* slot */ };
  const uint64_t bytes = n * sizeof(uint64_t);
  void* on_gpu;
  start();
  MUST(ggas_gpu_open(p, argc > 1 ? argv[1] : "cuda", -1, 64 << 20, TIMEOUT_MS));
  uint64_t* words = segment(host, bytes);
  MUST(ggas_gpu_segment_create(p, gpu, bytes, GGAS_GROUP_ALL, TIMEOUT_MS));
  MUST(ggas_segment_pointer(p, gpu, &on_gpu)); /* an address of the GPU: for calls, not for this processor */
  for (int i = 0; i < n; ++i) words[i] = me + 1;
  const ggas_part out = {host, gpu, 0, 0, bytes}, back = {host, gpu, 0, 0, bytes};
  MUST(ggas_queue_write(p, &out, (me + 1) % all, 0, TIMEOUT_MS));
  MUST(ggas_queue_notify(p, gpu, (me + 1) % all, arrived, 1, 0, TIMEOUT_MS));
  take(gpu, arrived);
  MUST(ggas_group_allreduce(p, on_gpu, on_gpu, n, GGAS_ELEMENT_UINT64, GGAS_OP_SUM, GGAS_GROUP_ALL, TIMEOUT_MS));
  MUST(ggas_queue_read(p, &back, me, 0, TIMEOUT_MS));
  MUST(ggas_queue_wait(p, 0, TIMEOUT_MS));
  for (int i = 0; i < n; ++i) CHECK(words[i] == (uint64_t)all * (all + 1) / 2);
  if (me == 0) printf("%d sums are right\n", n);
  barrier();
  ggas_process_stop(p);
  return 0;
}
