// SPDX-License-Identifier: Apache-2.0
// GASPI: GPUs and writes from them.
#include <GASPI_GPU.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "userlib/libggas/gaspi/self.hpp"

using namespace ggas::library::gaspi;

namespace {

constexpr uint64_t usual_bytes = uint64_t{256} << 20, timeout_ns = 60'000'000'000;

// A number of bytes in the environment; 0: it is none.
uint64_t bytes_wanted() {
  const char* const said = std::getenv("GGAS_GPU_BYTES");
  if (!said) return usual_bytes;
  const std::string_view text = said;
  uint64_t bytes = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return code == std::errc() && end == text.data() + text.size() ? bytes : 0;
}

}  // namespace

gaspi_return_t gaspi_gpu_init(void) {
  const char* const module = std::getenv("GGAS_GPU");
  const uint64_t bytes = bytes_wanted();
  if (bytes == 0) return refuse("GGAS_GPU_BYTES: must be a number of bytes");
  return as_gaspi(ggas_gpu_open(self(), module ? module : "cuda", -1, bytes, timeout_ns));
}

gaspi_return_t gaspi_gpu_number(gaspi_number_t* number) {
  if (!self()) return refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
  int32_t gpu = 0;
  return give(number, ggas_gpu_number(self(), &gpu) == GGAS_OK ? 1 : 0);
}

gaspi_return_t gaspi_gpu_ids(gaspi_gpu_id_t* ids) {
  int32_t gpu = 0;
  const ggas_rc rc = ggas_gpu_number(self(), &gpu);
  return rc == GGAS_OK ? give(ids, gpu) : as_gaspi(rc);
}

gaspi_return_t gaspi_init_GPUs(void) { return gaspi_gpu_init(); }
gaspi_return_t gaspi_GPU_ids(gaspi_gpu_t* ids) { return gaspi_gpu_ids(ids); }
gaspi_return_t gaspi_number_of_GPUs(gaspi_gpu_num* gpus) {
  gaspi_gpu_id_t gpu = 0;
  const gaspi_return_t rc = gaspi_gpu_ids(&gpu);
  return rc == GASPI_SUCCESS ? give(gpus, 1) : rc;
}

gaspi_return_t gaspi_gpu_write(gaspi_segment_id_t here, gaspi_offset_t offset_here, gaspi_rank_t rank,
                               gaspi_segment_id_t there, gaspi_offset_t offset_there, gaspi_size_t size,
                               gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  const ggas_part part{here, there, offset_here, offset_there, size};
  const gaspi_return_t rc = check_transfer(part, rank, queue);
  if (rc != GASPI_SUCCESS || size == 0) return rc;
  return as_gaspi(ggas_gpu_write(self(), &part, rank, queue, GGAS_GPU_HYBRID, nanoseconds(timeout_ms)));
}

gaspi_return_t gaspi_gpu_write_notify(gaspi_segment_id_t here, gaspi_offset_t offset_here, gaspi_rank_t rank,
                                      gaspi_segment_id_t there, gaspi_offset_t offset_there, gaspi_size_t size,
                                      gaspi_notification_id_t slot, gaspi_notification_t value, gaspi_queue_id_t queue,
                                      gaspi_timeout_t timeout_ms) {
  if (const gaspi_return_t rc = check_notification(slot, value); rc != GASPI_SUCCESS) return rc;
  const gaspi_return_t rc = gaspi_gpu_write(here, offset_here, rank, there, offset_there, size, queue, timeout_ms);
  return rc == GASPI_SUCCESS ? notify(there, rank, slot, value, queue, timeout_ms, size != 0) : rc;
}
