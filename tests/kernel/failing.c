/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a call fails in turn: the call says so, and leaves nothing. Where the kernel has fault
 * injection, as debug kernels have (programs/vm/debug). */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "kernel/include/uapi/gpumap.h"
#include "kernel/include/uapi/testgpu.h"
#include "tests/kernel/tests.h"

#define DEBUGFS "/sys/kernel/debug/"
#define DRIVER "/sys/bus/pci/drivers/ggas/"
enum { MOST = 100000 }; /* allocations of a call */

static int control = -1; /* fail-nth of this thread */

static int open_control(void) {
  static const char* const settings[][2] = {{"failslab/ignore-gfp-wait", "N"},
                                            {"fail_page_alloc/ignore-gfp-wait", "N"},
                                            {"fail_page_alloc/ignore-gfp-highmem", "N"},
                                            {"fail_page_alloc/min-order", "0"},
                                            {"failslab/verbose", "0"},
                                            {"fail_page_alloc/verbose", "0"}};
  char path[64];
  unsigned i;
  control = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
  for (i = 0; control >= 0 && i < sizeof settings / sizeof *settings; ++i) {
    snprintf(path, sizeof path, DEBUGFS "%s", settings[i][0]);
    CHECK_IS(write_file(path, settings[i][1]), 0);
  }
  return control >= 0;
}

/* From now on the nth allocation of this thread fails. */
static void arm(unsigned nth) {
  char text[16];
  const int length = snprintf(text, sizeof text, "%u", nth);
  CHECK_IS(pwrite(control, text, (size_t)length, 0), length);
}

/* Whether it has. */
static int has_failed(void) {
  char text[16] = {0};
  const int read_ = pread(control, text, sizeof text - 1, 0) > 0;
  arm(0);
  return read_ && atol(text) == 0;
}

/* What is in use now. */
typedef struct in_use {
  long contexts, windows, regions, pages;
} in_use;

static in_use count(void) {
  const in_use u = {read_number("/sys/class/ggas/ggas0/contexts"), read_number("/sys/class/ggas/ggas0/windows"),
                    read_number("/sys/class/ggas/ggas0/regions"), read_number("/sys/class/ggas/ggas0/pages")};
  return u;
}

/* Errors into which the kernel turns a lack of memory: a page that cannot be pinned or faulted in is -EFAULT; a
 * resource of PCI that cannot be recorded is -EBUSY. */
static int is_for_want_of_memory(int rc) {
  return rc == 0 || rc == -ENOMEM || rc == -ENOSPC || rc == -EAGAIN || rc == -EFAULT || rc == -EBUSY || rc == -ENODEV;
}

/* `act` makes something and ends it again. */
static void fail_each(const char* name, int (*act)(void)) {
  const in_use before = count();
  unsigned nth, reported_so = 0;
  for (nth = 1; nth < MOST; ++nth) {
    int rc, failed;
    arm(nth);
    rc = act();
    failed = has_failed();
    if (!failed) {
      CHECK_IS(rc, 0);
      break;
    }
    reported_so += rc != 0;
    CHECK_IS(is_for_want_of_memory(rc) ? 0 : rc, 0);
  }
  printf("# %s: %u allocations failed, %u calls said so\n", name, nth - 1, reported_so);
  if (act() == 0) {
    const in_use after = count();
    CHECK(!memcmp(&before, &after, sizeof before));
  } else {
    CHECK(!"works again");
  }
}

static ggas_device dev;
static int domain;
static unsigned char* memory;

static int opening(void) {
  ggas_device d;
  const int rc = ggas_device_open(&d, "/dev/ggas0");
  if (!rc) ggas_device_close(&d);
  return rc;
}

static int joining(void) {
  const int rc = ggas_domain_join(&dev, DOMAIN);
  return rc < 0 ? rc : 0;
}

static int sleeping_context(void) {
  static const ggas_context_options options = {.mailbox_log2 = 4, .queue_log2 = 8, .sleeps = 1};
  ggas_context c;
  const int rc = ggas_context_begin(&c, &dev, domain, &options);
  if (!rc) ggas_context_end(&c);
  return rc;
}

static int registering(void) {
  ggas_region r;
  const int rc = ggas_region_begin(&r, &dev, domain, memory, BYTES, GGAS_READ | GGAS_WRITE);
  if (!rc) ggas_region_end(&r);
  return rc;
}

static int making_a_window(void) {
  ggas_window w;
  const int rc = ggas_window_begin(&w, &dev, domain, 45, 4096);
  if (!rc) ggas_window_end(&w);
  return rc;
}

static int granting(void) {
  const int rc = write_file("/sys/class/ggas/ggas0/grant", "9 1000");
  return rc ? rc : write_file("/sys/class/ggas/ggas0/revoke", "9 1000");
}

/* Takes the descriptor. */
static int registering_a_dmabuf(int fd) {
  ggas_region r;
  int rc = fd < 0 ? fd : ggas_region_begin_dmabuf(&r, &dev, domain, fd, 0, BYTES, GGAS_READ | GGAS_WRITE);
  if (fd >= 0 && !rc) ggas_region_end(&r);
  if (fd >= 0) close(fd);
  return rc;
}

static int memory_of_a_gpu(void) {
  const int gpu = open("/dev/testgpu", O_RDWR | O_CLOEXEC);
  struct testgpu_alloc p = {.bytes = BYTES, .fd = -1};
  int rc;
  if (gpu < 0) return -errno;
  rc = ioctl(gpu, TESTGPU_IOC_ALLOC, &p) ? -errno : 0;
  close(gpu);
  return rc ? rc : registering_a_dmabuf(p.fd);
}

static uint64_t gpu_address;

static int memory_by_its_address(void) {
  struct gpumap_export p = {.address = gpu_address, .bytes = BYTES};
  const int map = open("/dev/gpumap", O_RDWR | O_CLOEXEC);
  int rc;
  if (map < 0) return -errno;
  rc = ioctl(map, GPUMAP_IOC_EXPORT, &p) ? -errno : 0;
  close(map);
  return rc ? rc : registering_a_dmabuf(p.fd);
}

static void failing_calls(void) {
  struct testgpu_device at = {.bytes = BYTES};
  const int gpu = open("/dev/testgpu", O_RDWR | O_CLOEXEC);
  memory = pages(BYTES);
  CHECK_IS(ggas_device_open(&dev, "/dev/ggas0"), 0);
  domain = ggas_domain_join(&dev, DOMAIN);
  CHECK_IS(ioctl(gpu, TESTGPU_IOC_DEVICE_ALLOC, &at), 0);
  gpu_address = at.address;
  fail_each("open", opening);
  fail_each("domain", joining);
  fail_each("context", sleeping_context);
  fail_each("region", registering);
  fail_each("window", making_a_window);
  fail_each("grant", granting);
  fail_each("dma-buf of a GPU", memory_of_a_gpu);
  fail_each("GPU memory by its address", memory_by_its_address);
  CHECK_IS(ioctl(gpu, TESTGPU_IOC_DEVICE_FREE, &at), 0);
  close(gpu);
  ggas_device_close(&dev);
  munmap(memory, BYTES);
}

static char slot[64]; /* the NIC's name on the bus */

/* The driver takes the NIC, and lets go of it again: a write that failed for want of memory is repeated. */
static int binding(void) {
  int rc = write_file(DRIVER "bind", slot);
  if (rc) return rc;
  rc = write_file(DRIVER "unbind", slot);
  if (!rc) return 0;
  arm(0);
  CHECK_IS(write_file(DRIVER "unbind", slot), 0);
  return rc;
}

static void failing_probe(node* n) {
  char path[256];
  const ssize_t length = readlink("/sys/class/ggas/ggas0/device", path, sizeof path - 1);
  CHECK(length > 12);
  memcpy(slot, path + length - 12, 12); /* 0000:01:00.0 */
  end(n);
  CHECK_IS(write_file(DRIVER "unbind", slot), 0);
  fail_each("bind", binding);
  CHECK_IS(write_file(DRIVER "bind", slot), 0);
  WAIT(access("/dev/ggas0", F_OK) == 0);
  chmod("/dev/ggas0", 0666);
  begin(n);
  greet(n, ++n->greeted);
}

void each_allocation_fails(node* n) {
  if (!open_control()) {
    printf("# this kernel has no fault injection\n");
    return;
  }
  failing_calls();
  meet(n);
  failing_probe(n);
  close(control);
}
