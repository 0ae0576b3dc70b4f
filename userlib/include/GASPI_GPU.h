/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * GASPI with segments on GPUs, like the GPU version of GPI-2, based on ggas_gpu_... of ggas/ggas.h. After
 * gaspi_gpu_init() the policy GASPI_MEM_GPU makes a segment of GPU memory, and the description GASPI_MEMORY_GPU takes
 * memory of the user on the GPU. All procedures of GASPI.h work on such segments; notifications lie in memory of the
 * host.
 */
#ifndef GASPI_GPU_H
#define GASPI_GPU_H

#include <GASPI.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An allocation policy; may be or-ed to the others. */
#define GASPI_MEM_GPU (2ul)
/** A memory description: memory of a GPU. 0 is memory of the host. */
#define GASPI_MEMORY_GPU 1

typedef int gaspi_gpu_id_t;

/**
 * Opens a GPU for this rank. All ranks call it. The environment selects it: GGAS_GPU is the module ("cuda", which is
 * the default, or "simt"), GGAS_GPU_BYTES the memory of each GPU for segments (256 MiB).
 */
gaspi_return_t gaspi_gpu_init(void);
/** GPUs that this rank uses: 1, or 0 before gaspi_gpu_init(). */
gaspi_return_t gaspi_gpu_number(gaspi_number_t* number);
/** Their CUDA numbers. @param ids room for gaspi_gpu_number() */
gaspi_return_t gaspi_gpu_ids(gaspi_gpu_id_t* ids);

/** gaspi_write() from a segment on the GPU. Long ones are staged through the host (docs/gaspi.md). */
gaspi_return_t gaspi_gpu_write(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                               gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
                               gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** gaspi_gpu_write() with a notification, which is visible after the data. */
gaspi_return_t gaspi_gpu_write_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                      gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                                      gaspi_offset_t offset_remote, gaspi_size_t size,
                                      gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
                                      gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);

/* Names of the releases 1.1 to 1.3 of GPI-2. */
typedef int gaspi_gpu_t;
typedef int gaspi_gpu_num;
/** A segment of so many bytes fits into the memory of a GPU for segments. */
#define GASPI_GPU_MAX_SEG (224 * 1024 * 1024)
/** gaspi_gpu_init() by its earlier name. */
gaspi_return_t gaspi_init_GPUs(void);
/** gaspi_gpu_ids() by its earlier name. */
gaspi_return_t gaspi_GPU_ids(gaspi_gpu_t* gpu_ids);
/** GPUs that this rank uses: 1. GASPI_ERROR before gaspi_init_GPUs(). */
gaspi_return_t gaspi_number_of_GPUs(gaspi_gpu_num* gpus);

#ifdef __cplusplus
}
#endif
#endif
