/* SPDX-License-Identifier: Apache-2.0 */
/* What takes the NIC from its users: function-level reset, driver unbound, an error of the bus. Node 1 has it, node 0
 * sends to it; each hears of it, and everything works again. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/kernel/tests.h"

#define PCI_DEVICE "0000:01:00.0"

/* Everything of a program whose NIC was taken is dead; it opens anew. */
static void expect_nothing_left(node* n) {
  WAIT(ggas_device_link(&n->dev) == -ENODEV);
  CHECK_IS(ggas_domain_join(&n->dev, DOMAIN), -ENODEV);
  CHECK_IS(fault_of(n->window.own), SIGBUS);
  CHECK_IS(fault_of(n->window.remote), SIGBUS);
  CHECK_IS(fault_of(n->context.rma.page), SIGBUS);
  CHECK_IS(fault_of(n->context.rings), SIGBUS);
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
    ggas_rma_note note;
    do { /* until it is taken */
      post(n, ggas_rma_imm(peer(n), 1, told(n, 0), 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 9));
      note = next_note(n);
    } while (note.kind != GGAS_RMA_NOTE_ERROR);
    ggas_region_end(&r);
  }
  munmap(memory, 4096);
  greet(n, ++n->greeted);
  if (n->me == 1) tell(n, 0, 0);
}

static void reset(node* n) {
  (void)n;
  CHECK_IS(write_file("/sys/class/ggas/ggas0/device/reset", "1"), 0);
}

void reset_under_use(node* n) { under_use(n, reset, NULL); }

static void unbind(node* n) {
  (void)n;
  CHECK(syscall(SYS_delete_module, "ggas", O_NONBLOCK) != 0); /* in use */
  CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/unbind", PCI_DEVICE), 0);
  CHECK_IS(access("/dev/ggas0", F_OK), -1);
}

static void bind_anew(void) {
  CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/bind", PCI_DEVICE), 0);
  WAIT(access("/dev/ggas0", F_OK) == 0);
  chmod("/dev/ggas0", 0666);
}

void unbound_under_use(node* n) { under_use(n, unbind, bind_anew); }

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

void error_under_use(node* n) { under_use(n, inject, NULL); }
