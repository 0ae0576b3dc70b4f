/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a real GPU on its way to the NIC, the half in user space: a dma-buf of what CUDA allocated, and, where
 * there is a NIC (/dev/ggas0), a region of it, with a put from one half to the other. Exit status 77: no GPU, or none
 * that makes dma-bufs (there kernel/gpumap does). The CUDA driver is loaded when the program runs. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ggas/device.h"

enum { BYTES = 4 << 20, HALF = BYTES / 2, SKIP = 77, DOMAIN = 7 };

static int failed;
#define CHECK(x)                                                           \
  do {                                                                     \
    if (!(x)) failed = 1, printf("# %s:%d: %s\n", __FILE__, __LINE__, #x); \
  } while (0)

static struct {
  CUresult (*init)(unsigned);
  CUresult (*device)(CUdevice*, int);
  CUresult (*attribute)(int*, CUdevice_attribute, CUdevice);
  CUresult (*name)(char*, int, CUdevice);
  CUresult (*retain)(CUcontext*, CUdevice);
  CUresult (*use)(CUcontext);
  CUresult (*allocate)(CUdeviceptr*, size_t);
  CUresult (*release)(CUdeviceptr);
  CUresult (*set)(CUdeviceptr, unsigned char, size_t);
  CUresult (*read)(void*, CUdeviceptr, size_t);
  CUresult (*handle)(void*, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long);
} cuda;

static int load(void) {
  static const char* const names[] = {"cuInit",
                                      "cuDeviceGet",
                                      "cuDeviceGetAttribute",
                                      "cuDeviceGetName",
                                      "cuDevicePrimaryCtxRetain",
                                      "cuCtxSetCurrent",
                                      "cuMemAlloc_v2",
                                      "cuMemFree_v2",
                                      "cuMemsetD8_v2",
                                      "cuMemcpyDtoH_v2",
                                      "cuMemGetHandleForAddressRange"};
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* found[sizeof names / sizeof *names];
  unsigned i;
  for (i = 0; driver && i < sizeof names / sizeof *names; ++i)
    if (!(found[i] = dlsym(driver, names[i]))) return 0;
  if (driver) memcpy(&cuda, found, sizeof found);
  return driver != NULL;
}

static int open_gpu(void) {
  CUdevice gpu;
  CUcontext context;
  char name[128] = "";
  int makes_them = 0;
  if (!load() || cuda.init(0) || cuda.device(&gpu, 0)) {
    printf("# no GPU, or no driver of CUDA 11.7 and later\n");
    return 0;
  }
  CHECK(!cuda.name(name, sizeof name, gpu));
  CHECK(!cuda.attribute(&makes_them, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, gpu));
  CHECK(!cuda.retain(&context, gpu) && !cuda.use(context));
  printf("# %s, dma-bufs: %s\n", name, makes_them ? "yes" : "no");
  return makes_them;
}

static int dmabuf_of(CUdeviceptr at, size_t bytes) {
  int fd = -1;
  return cuda.handle(&fd, at, bytes, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0) ? -1 : fd;
}

/* The descriptor is a dma-buf of that size; ranges that are not the allocation's are refused. */
static void describe(CUdeviceptr at, int fd) {
  char link[64], is[128] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  CHECK(readlink(link, is, sizeof is - 1) > 0 && strstr(is, "dmabuf"));
  CHECK(lseek(fd, 0, SEEK_END) == BYTES);
  CHECK(dmabuf_of(at, 64 * (size_t)BYTES) < 0);
  CHECK(dmabuf_of(at + 1, 4096) < 0);
  CHECK(dmabuf_of(0, 4096) < 0);
}

/* Two regions of the buffer, and a put from the first to the second. */
static void put_between_halves(ggas_device* dev, int fd, CUdeviceptr at) {
  const int domain = ggas_domain_join(dev, DOMAIN);
  static unsigned char got[HALF];
  ggas_context context;
  ggas_region from, to;
  ggas_rma_note note;
  ggas_rma_desc put;
  size_t i, wrong = 0;
  CHECK(domain >= 0 && !ggas_context_begin(&context, dev, domain, NULL));
  CHECK(!ggas_region_begin_dmabuf(&from, dev, domain, fd, 0, HALF, GGAS_READ));
  CHECK(!ggas_region_begin_dmabuf(&to, dev, domain, fd, HALF, HALF, GGAS_WRITE));
  if (failed) return;
  CHECK(!cuda.set(at, 0x5a, HALF) && !cuda.set(at + HALF, 0, HALF));
  put = ggas_rma_put(context.self, from.nla, to.nla, HALF, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1);
  while (!ggas_rma_post(&context.rma, &put)) continue;
  while (!ggas_rma_next_note(&context.rma, &note)) continue;
  CHECK(note.kind != GGAS_RMA_NOTE_ERROR);
  CHECK(!cuda.read(got, at + HALF, HALF));
  for (i = 0; i < HALF; ++i) wrong += got[i] != 0x5a;
  CHECK(wrong == 0);
  ggas_region_end(&to);
  ggas_region_end(&from);
  ggas_context_end(&context);
}

int main(void) {
  ggas_device dev;
  CUdeviceptr at = 0;
  int fd;
  alarm(30); /* nothing waits for ever */
  if (!open_gpu()) return failed ? 1 : SKIP;
  CHECK(!cuda.allocate(&at, BYTES));
  fd = dmabuf_of(at, BYTES);
  CHECK(fd >= 0);
  if (fd >= 0) describe(at, fd);
  if (failed || ggas_device_open(&dev, "/dev/ggas0")) {
    printf("# no NIC: no region of the dma-buf\n");
  } else {
    put_between_halves(&dev, fd, at);
    ggas_device_close(&dev);
  }
  CHECK(!cuda.release(at)); /* the dma-buf holds what it needs */
  if (fd >= 0) CHECK(lseek(fd, 0, SEEK_END) == BYTES && close(fd) == 0);
  printf("%s 1 - dma-buf of memory of a GPU\n1..1\n", failed ? "not ok" : "ok");
  return failed;
}
