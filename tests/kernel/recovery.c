/* SPDX-License-Identifier: Apache-2.0 */
/* What takes the NIC from its users: function-level reset, driver unbound, an error of the bus, its own end. Node 1 has
 * it, node 0 sends to it; each learns of it, and everything works again. And a link that dies and comes back. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

#define PCI_DEVICE "0000:01:00.0"

/* Everything of a program whose NIC was taken is dead; it opens again. Calls end in an error before mappings are gone.
 * */
static void expect_nothing_left(node* n) {
  WAIT(ggas_device_link(&n->dev) == -ENODEV);
  CHECK_IS(ggas_domain_join(&n->dev, DOMAIN), -ENODEV);
  WAIT(fault_of(n->window.own) == SIGBUS);
  WAIT(fault_of(n->window.remote) == SIGBUS);
  WAIT(fault_of(n->context.rma.page) == SIGBUS);
  WAIT(fault_of(n->context.rings) == SIGBUS);
}

/* Until one ends in an error, which is reported in the usual way. */
static void put_until_an_error(node* n) {
  ggas_rma_note note;
  do {
    post(n, ggas_rma_imm(peer(n), 1, reported(n, 0), 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 9));
    note = next_note(n);
  } while (note.kind != GGAS_RMA_NOTE_ERROR);
}

static void under_use(node* n, void (*take)(node*), void (*give)(void)) {
  unsigned char* const memory = pages(4096);
  ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
  if (n->me == 1) {
    take(n);
    expect_nothing_left(n);
    ggas_region_end(&r);
    end(n);
    if (give) give();
    begin(n);
  } else {
    put_until_an_error(n); /* it is taken */
    ggas_region_end(&r);
  }
  munmap(memory, 4096);
  greet(n, ++n->greeted);
  if (n->me == 1) tell(n, 0, 0);
}

/* Reads what is in use, until it is killed. */
static pid_t reader_of_counts(void) {
  pid_t child;
  fflush(stdout);
  child = fork();
  while (child == 0) {
    read_number("/sys/class/ggas/ggas0/pages");
    read_number("/sys/class/ggas/ggas0/contexts");
    read_number("/sys/class/ggas/ggas0/windows");
  }
  return child;
}

static void reset(node* n) {
  const pid_t reader = reader_of_counts();
  (void)n;
  CHECK_IS(write_file("/sys/class/ggas/ggas0/device/reset", "1"), 0);
  kill(reader, SIGKILL);
  waitpid(reader, NULL, 0);
}

void reset_under_use(node* n) { under_use(n, reset, NULL); }

static void unbind(node* n) {
  (void)n;
  CHECK(syscall(SYS_delete_module, "ggas", O_NONBLOCK) != 0); /* in use */
  CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/unbind", PCI_DEVICE), 0);
  CHECK_IS(access("/dev/ggas0", F_OK), -1);
}

static void bind_again(void) {
  CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/bind", PCI_DEVICE), 0);
  WAIT(access("/dev/ggas0", F_OK) == 0);
  chmod("/dev/ggas0", 0666);
}

void unbound_under_use(node* n) { under_use(n, unbind, bind_again); }

/* The first to open a new device does so by a node on a tmpfs, which is unmounted while the device lives on. */
void opened_on_another_file_system(node* n) {
  const char *const folder = "/tmp/nodes", *const path = "/tmp/nodes/ggas";
  struct stat known;
  ggas_device d;
  if (n->me == 1) {
    CHECK_IS(stat("/dev/ggas0", &known), 0);
    end(n);
    CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/unbind", PCI_DEVICE), 0);
    CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/bind", PCI_DEVICE), 0);
    mkdir(folder, 0755);
    CHECK_IS(mount("none", folder, "tmpfs", 0, NULL), 0);
    CHECK_IS(mknod(path, S_IFCHR | 0600, known.st_rdev), 0);
    CHECK_IS(ggas_device_open(&d, path), 0);
    ggas_device_close(&d);
    CHECK_IS(umount(folder), 0);
    WAIT(access("/dev/ggas0", F_OK) == 0);
    chmod("/dev/ggas0", 0666);
    begin(n);
  }
  greet(n, ++n->greeted);
}

/* ---------------------------------------------------------------------------------------------- the driver before */

enum { ENTRY_USABLE = 7, PIPES = 24, PIPE_BYTES = 1 << 20 };

/* A page of the test GPU, by its bus address: no one minds what lands there. */
static uint64_t page_of_the_gpu(void) {
  glob_t found;
  uint64_t at[3] = {0};
  FILE* f = NULL;
  unsigned i;
  if (!glob("/sys/bus/pci/drivers/testgpu/0000:*/resource", 0, NULL, &found)) f = fopen(found.gl_pathv[0], "r");
  for (i = 0; f && i < 3; ++i) CHECK_IS(fscanf(f, "%" SCNx64 " %*x %*x", &at[i]), 1);
  if (f) fclose(f);
  globfree(&found);
  return at[2];
}

/* Fills memory of the kernel by pipes, so that memory which the driver frees is soon used again. (Pages of processes
 * come from other blocks.) */
static void fill_pipes(int (*ends)[2], const uint64_t* entries) {
  unsigned i;
  for (i = 0; i < PIPES; ++i) {
    CHECK_IS(pipe(ends[i]), 0);
    CHECK_IS(fcntl(ends[i][1], F_SETPIPE_SZ, PIPE_BYTES), PIPE_BYTES);
    CHECK_IS(write(ends[i][1], entries, PIPE_BYTES), PIPE_BYTES);
  }
}

/* Pipes that do not hold what was written. */
static unsigned empty_pipes(int (*ends)[2], const uint64_t* entries) {
  unsigned char* const read_ = pages(PIPE_BYTES);
  unsigned i, changed = 0;
  for (i = 0; i < PIPES; ++i) {
    CHECK_IS(read(ends[i][0], read_, PIPE_BYTES), PIPE_BYTES);
    changed += memcmp(read_, entries, PIPE_BYTES) != 0;
    close(ends[i][0]);
    close(ends[i][1]);
  }
  munmap(read_, PIPE_BYTES);
  return changed;
}

/* Memory that the driver freed when it was unbound from the NIC is not used when it is bound again: neither the
 * table of translations nor the rings. All the while the other node puts to an address that was valid. */
void bound_again_under_puts(node* n) {
  const unsigned rounds = n->soak ? 10 : 4;
  unsigned char* const memory = pages(4096);
  ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
  unsigned i, puts = 0, landed = 0;
  if (n->me == 1) {
    uint64_t* const entries = (uint64_t*)pages(PIPE_BYTES); /* what would be valid translations */
    const uint64_t page = page_of_the_gpu();
    int ends[PIPES][2];
    for (i = 0; i < PIPE_BYTES / 8; ++i) entries[i] = i % 2 ? DOMAIN : page | ENTRY_USABLE;
    ggas_region_end(&r);
    end(n);
    for (i = 0; i < rounds; ++i) {
      CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/unbind", PCI_DEVICE), 0);
      fill_pipes(ends, entries);
      bind_again();
      usleep(20000); /* of the other node's puts */
      CHECK_IS(empty_pipes(ends, entries), 0);
    }
    munmap(entries, PIPE_BYTES);
    begin(n);
  } else {
    put_until_an_error(n);
    for (; own_word(n, 8) != n->greeted + 1; ++puts) {
      post(n, ggas_rma_imm(peer(n), 1, reported(n, 0), 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 9));
      landed += next_note(n).kind != GGAS_RMA_NOTE_ERROR;
    }
    printf("# %u puts while the other node bound its driver again\n", puts);
    CHECK_IS(landed, 0);
    ggas_region_end(&r);
  }
  munmap(memory, 4096);
  greet(n, ++n->greeted);
}

/* ---------------------------------------------------------------------------------------------- errors of the bus */

/* As Linux' aer_inject has it. */
struct aer_error {
  uint8_t bus, dev, fn;
  uint32_t uncorrectable, correctable, header[4], domain;
};

static void inject(node* n) {
  const struct aer_error completion_timeout = {.bus = 1, .uncorrectable = 0x4000};
  const int fd = open("/dev/aer_inject", O_WRONLY);
  (void)n;
  CHECK(fd >= 0);
  CHECK_IS(write(fd, &completion_timeout, sizeof completion_timeout), sizeof completion_timeout);
  close(fd);
}

/* The kernel resets the NIC in its own time, and no one can open it meanwhile. */
static void wait_until_it_opens(void) {
  ggas_device d;
  WAIT(ggas_device_open(&d, "/dev/ggas0") == 0);
  ggas_device_close(&d);
}

void error_under_use(node* n) { under_use(n, inject, wait_until_it_opens); }

/* ---------------------------------------------------------------------------------------------- link and NIC gone */

/* Both nodes lose the link and get it back; nothing of theirs is taken. */
void cable_out_under_use(node* n) {
  unsigned char* const memory = pages(4096);
  ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
  ask_the_rig("cable out");
  put_until_an_error(n);
  WAIT(ggas_device_link(&n->dev) == 0);
  CHECK_IS(*remote_word(n, 16), -1);
  CHECK_IS(fault_of(n->window.remote), 0);
  ask_the_rig("cable in");
  greet(n, ++n->greeted);
  tell(n, 3, 77 + n->me);
  meet(n);
  CHECK_IS(reported(n, 3), 77 + n->other);
  memory[0] = 0;
  meet(n);
  post(n, ggas_rma_imm(peer(n), 5, reported(n, 0), 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 10));
  CHECK(next_note(n).kind != GGAS_RMA_NOTE_ERROR);
  meet(n);
  CHECK_IS(memory[0], 5);
  ggas_region_end(&r);
  munmap(memory, 4096);
}

/* Puts on and on, by a context of its own, until its mappings fault. */
static void put_for_ever(uint64_t to) {
  ggas_device dev;
  ggas_context c;
  int domain;
  if (ggas_device_open(&dev, "/dev/ggas0")) _exit(1);
  domain = ggas_domain_join(&dev, DOMAIN);
  if (ggas_context_begin(&c, &dev, domain, NULL)) _exit(2);
  for (;;) {
    const ggas_rma_peer there = {(uint16_t)(1 - dev.node), 0};
    const ggas_rma_desc d = ggas_rma_imm(there, 1, to, 8, GGAS_RMA_ACK, 0);
    ggas_rma_post(&c.rma, &d);
    (void)*(const volatile uint32_t*)c.rma.page;
  }
}

/* The NIC stops answering (its server is killed). Programs are informed as after a removal, and the node continues.
 * Then another NIC is plugged in, and works. */
void nic_is_gone(node* n) {
  unsigned char* const memory = pages(4096);
  ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
  const uint64_t to = reported(n, 0);
  pid_t child;
  int status;
  fflush(stdout);
  child = fork();
  if (child == 0) put_for_ever(to);
  meet(n);
  usleep(100000); /* of its puts */
  ask_the_rig("kill NICs");
  expect_nothing_left(n);
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK_IS(WTERMSIG(status), SIGBUS);
  ggas_region_end(&r);
  end(n);
  CHECK_IS(ggas_device_open(&n->dev, "/dev/ggas0"), -ENODEV);
  CHECK_IS(write_file("/sys/bus/pci/devices/" PCI_DEVICE "/remove", "1"), 0);
  CHECK_IS(access("/dev/ggas0", F_OK), -1);
  ask_the_rig("replace NICs");
  WAIT(access("/dev/ggas0", F_OK) == 0);
  chmod("/dev/ggas0", 0666);
  begin(n);
  greet(n, ++n->greeted);
  meet(n);
  put_with_notification(n);
  munmap(memory, 4096);
}
