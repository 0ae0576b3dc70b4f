/* SPDX-License-Identifier: Apache-2.0 */
/* kernel/gpumap: memory by its address on the GPU, as of cudaMalloc(), by way of the interface of NVIDIA's driver, for
 * which the test GPU stands in. */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "kernel/include/uapi/gpumap.h"
#include "kernel/include/uapi/testgpu.h"
#include "tests/kernel/tests.h"

static int device(unsigned long what, struct testgpu_device* p) {
  const int fd = open("/dev/testgpu", O_RDWR | O_CLOEXEC);
  const int rc = ioctl(fd, what, p) ? -errno : 0;
  close(fd);
  return rc;
}

static int export_memory(uint64_t address, uint64_t bytes) {
  struct gpumap_export p = {.address = address, .bytes = bytes};
  const int fd = open("/dev/gpumap", O_RDWR | O_CLOEXEC);
  const int rc = ioctl(fd, GPUMAP_IOC_EXPORT, &p) ? -errno : p.fd;
  close(fd);
  return rc;
}

static void refused(const struct testgpu_device* memory) {
  CHECK_IS(export_memory(memory->address + 4096, BYTES), -EINVAL);
  CHECK_IS(export_memory(memory->address, BYTES / 2), -EINVAL);
  CHECK_IS(export_memory(memory->address, 0), -EINVAL);
  CHECK_IS(export_memory(~(uint64_t)0 - BYTES + 1, 2 * BYTES), -EINVAL);
  CHECK_IS(export_memory(memory->address, 4 * BYTES), -EINVAL); /* more than there is */
}

/* Node 0 puts there until it learns that node 1 has freed the memory. */
static void put_until_refused(node* n) {
  unsigned char* const from = pages(BYTES);
  ggas_region source = share(n, from, BYTES, GGAS_READ);
  fill(from, BYTES, 8);
  do
    post(n,
         ggas_rma_put(peer(n), source.nla, reported(n, 0) + BYTES, BYTES, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1));
  while (next_note(n).kind == GGAS_RMA_NOTE_REQUESTER);
  meet(n);
  ggas_region_end(&source);
  munmap(from, BYTES);
}

void gpu_memory_by_address(node* n) {
  struct testgpu_device memory = {.bytes = 2 * BYTES}, next = {.bytes = 2 * BYTES};
  ggas_region r, late;
  unsigned char* at;
  int fd;
  if (n->me == 0) {
    put_until_refused(n);
    return;
  }
  CHECK_IS(device(TESTGPU_IOC_DEVICE_ALLOC, &memory), 0);
  refused(&memory);
  fd = export_memory(memory.address, 2 * BYTES);
  CHECK(fd >= 0);
  at = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK_IS(ggas_region_begin_dmabuf(&r, &n->dev, n->domain, fd, 0, 2 * BYTES, GGAS_READ | GGAS_WRITE), 0);
  tell(n, 0, r.nla);
  tell(n, 1, n->context.self.vpid);
  meet(n);
  WAIT(wrong(at + BYTES, BYTES, 8) == 0);
  CHECK_IS(at[0], 0);
  /* It is freed while the other node goes on: others have it at once, untouched. */
  CHECK_IS(device(TESTGPU_IOC_DEVICE_FREE, &memory), 0);
  CHECK_IS(device(TESTGPU_IOC_DEVICE_ALLOC, &next), 0);
  CHECK_IS(next.address, memory.address);
  CHECK_IS(fault_of(at), SIGBUS);
  CHECK_IS(ggas_region_begin_dmabuf(&late, &n->dev, n->domain, fd, 0, BYTES, GGAS_READ), -ENODEV);
  meet(n);
  munmap(at, 2 * BYTES);
  close(fd);
  ggas_region_end(&r);
  fd = export_memory(next.address, 2 * BYTES);
  at = mmap(NULL, 2 * BYTES, PROT_READ, MAP_SHARED, fd, 0);
  CHECK_IS(at[BYTES], 0);
  CHECK_IS(at[2 * BYTES - 1], 0);
  munmap(at, 2 * BYTES);
  close(fd); /* given back before it is freed */
  CHECK_IS(device(TESTGPU_IOC_DEVICE_FREE, &next), 0);
  CHECK_IS(device(TESTGPU_IOC_DEVICE_FREE, &next), -EINVAL);
}

/* ---------------------------------------------------------------------------------------------- order of locks */

static pid_t free_memory(struct testgpu_device* memory) {
  const pid_t child = (fflush(stdout), fork());
  if (child == 0) _exit(device(TESTGPU_IOC_DEVICE_FREE, memory) != 0);
  return child;
}

/* Maps the memory for the NIC, which may be too late. */
static pid_t import_memory(int fd) {
  const pid_t child = (fflush(stdout), fork());
  ggas_device dev;
  ggas_region r;
  int domain, rc;
  if (child) return child;
  if (ggas_device_open(&dev, "/dev/ggas0")) _exit(2);
  domain = ggas_domain_join(&dev, DOMAIN);
  rc = ggas_region_begin_dmabuf(&r, &dev, domain, fd, 0, BYTES, GGAS_READ);
  if (rc == 0) ggas_region_end(&r);
  _exit(rc != 0 && rc != -ENODEV);
}

/* The test GPU's driver holds its lock for a while before it calls back, as NVIDIA's does, and meanwhile others map and
 * unmap the memory. If the locks are taken in a wrong order, two processes wait for each other for ever. */
void gpu_memory_freed_while_mapped(node* n) {
  enum { ROUNDS = 4 };
  struct testgpu_device memory = {.bytes = BYTES};
  pid_t work[2];
  unsigned round, k;
  int fd, status;
  (void)n;
  for (round = 0; round < ROUNDS; ++round) {
    CHECK_IS(device(TESTGPU_IOC_DEVICE_ALLOC, &memory), 0);
    fd = export_memory(memory.address, BYTES);
    CHECK(fd >= 0);
    work[0] = free_memory(&memory);
    usleep(2000 * round);
    work[1] = import_memory(fd);
    close(fd); /* the importer has the last one */
    for (k = 0; k < 2; ++k) {
      WAIT((usleep(1000), waitpid(work[k], &status, WNOHANG) == work[k]));
      CHECK_IS(status, 0);
    }
  }
}
