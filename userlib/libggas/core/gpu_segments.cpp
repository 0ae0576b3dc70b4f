// SPDX-License-Identifier: Apache-2.0
// GPUs and their segments of ggas.h.
#include "ggas/detail/platform/context.hpp"
#include "userlib/libggas/core/opening.hpp"
#include "userlib/libggas/gpu/gpus.hpp"

using namespace ggas::library;

namespace {

// Calls the body with the GPUs of the transport, open or not.
template <class Body>
ggas_rc with_gpus(const ggas_process* p, Body&& body) {
  return call(p, [&] {
    gpus* const g = p->transport->of_gpus();
    return g ? body(*g) : fail(GGAS_ERR_SYSTEM, "GPU: this transport has none");
  });
}

ggas_rc open_on_gpu(ggas_process* p, gpus& g, uint32_t segment, uint64_t bytes, void* memory) {
  ggas_rc rc = check_segment(segment);
  if (rc == GGAS_OK && bytes == 0) rc = fail(GGAS_ERR_SIZE, "bytes 0: a segment has at least one");
  return rc == GGAS_OK ? g.segment_open(segment, bytes, memory) : rc;
}

ggas_rc open_together_on_gpu(ggas_process* p, uint32_t segment, uint64_t bytes, void* memory, uint32_t group,
                             uint64_t timeout_ns) {
  return with_gpus(p, [&](gpus& g) {
    return open_together(p, segment, {bytes, memory, group, true}, timeout_ns,
                         [&] { return open_on_gpu(p, g, segment, bytes, memory); });
  });
}

}  // namespace

ggas_rc ggas_gpu_open(ggas_process* p, const char* module, int32_t gpu, uint64_t bytes, uint64_t timeout_ns) {
  return with_gpus(p, [&](gpus& g) {
    if (ggas_rc rc = check_pointer(module, "module"); rc != GGAS_OK) return rc;
    if (gpu < -1) return fail(GGAS_ERR_ARGUMENT, "gpu ", gpu, ": must be -1 or more");
    const uint64_t ranks = p->transport->size(), least = ggas::layout::smallest_segment(ranks);
    if (bytes < least || bytes > uint64_t{1} << 46)
      return fail(GGAS_ERR_SIZE, "bytes ", bytes, ": must be ", least, " ... 2^46 with ", ranks, " ranks");
    ggas::job j = p->job;
    j.name += ".gpu";
    j.timeout_ns = timeout_ns;
    return g.open(j, module, gpu, bytes, ggas::layout::reserved_bytes(ranks, bytes));
  });
}

ggas_rc ggas_gpu_number(const ggas_process* p, int32_t* gpu) {
  return with_gpus(p, [&](gpus& g) {
    if (ggas_rc rc = check_pointer(gpu, "gpu"); rc != GGAS_OK) return rc;
    if (!g.device()) return fail(GGAS_ERR_STATE, "GPU: ggas_gpu_open() has not been called");
    *gpu = g.device()->number();
    return GGAS_OK;
  });
}

ggas_rc ggas_gpu_context(ggas_process* p, void* context, size_t bytes) {
  return with_gpus(p, [&](gpus& g) {
    if (ggas_rc rc = check_pointer(context, "context"); rc != GGAS_OK) return rc;
    if (bytes != sizeof(ggas::context))
      return fail(GGAS_ERR_SIZE, "bytes ", bytes, ": a context of this library has ", sizeof(ggas::context));
    const gpu::own_gpu* const d = g.device();
    if (!d) return fail(GGAS_ERR_STATE, "GPU: ggas_gpu_open() has not been called");
    ggas::context c{};
    c.node = static_cast<int32_t>(p->transport->rank());
    c.nodes = static_cast<int32_t>(p->transport->size());
    c.window = reinterpret_cast<char*>(d->window());
    c.stride = d->stride();
    c.local = c.window + c.stride * p->transport->rank();
    c.segment_bytes = g.bytes();
    c.reserved = g.kept();
    std::memcpy(context, &c, sizeof c);
    return GGAS_OK;
  });
}

ggas_rc ggas_gpu_segment_allocate(ggas_process* p, uint32_t segment, uint64_t bytes) {
  return with_gpus(p, [&](gpus& g) { return open_on_gpu(p, g, segment, bytes, nullptr); });
}

ggas_rc ggas_gpu_segment_bind(ggas_process* p, uint32_t segment, void* memory, uint64_t bytes) {
  return with_gpus(p, [&](gpus& g) {
    const ggas_rc rc = check_pointer(memory, "memory");
    return rc == GGAS_OK ? open_on_gpu(p, g, segment, bytes, memory) : rc;
  });
}

ggas_rc ggas_gpu_segment_create(ggas_process* p, uint32_t segment, uint64_t bytes, uint32_t group,
                                uint64_t timeout_ns) {
  return open_together_on_gpu(p, segment, bytes, nullptr, group, timeout_ns);
}

ggas_rc ggas_gpu_segment_use(ggas_process* p, uint32_t segment, void* memory, uint64_t bytes, uint32_t group,
                             uint64_t timeout_ns) {
  if (!memory) return fail(GGAS_ERR_ARGUMENT, "memory: must not be null");
  return open_together_on_gpu(p, segment, bytes, memory, group, timeout_ns);
}

ggas_rc ggas_gpu_segment_place(ggas_process* p, uint32_t segment, uint32_t rank, uint64_t* offset) {
  return with_gpus(p, [&](gpus& g) {
    const ggas_rc rc = first_of([&] { return check_pointer(offset, "offset"); }, [&] { return check_segment(segment); },
                                [&] { return check_rank(p, rank); });
    return rc == GGAS_OK ? g.segment_place(segment, rank, *offset) : rc;
  });
}

ggas_rc ggas_gpu_segment_slots(ggas_process* p, uint32_t segment, uint32_t rank, uint32_t** slots) {
  return with_gpus(p, [&](gpus& g) {
    const ggas_rc rc = first_of([&] { return check_pointer(slots, "slots"); }, [&] { return check_segment(segment); },
                                [&] { return check_rank(p, rank); });
    return rc == GGAS_OK ? g.segment_slots(segment, rank, *slots) : rc;
  });
}
