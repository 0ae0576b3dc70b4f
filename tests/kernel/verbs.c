/* SPDX-License-Identifier: Apache-2.0 */
/* The NIC as a device of the RDMA subsystem (kernel/verbs): by the system calls of uverbs, and by libibverbs with our
 * provider and programs of rdma-core. */
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <sys/wait.h>

#include "kernel/include/uapi/ggas_verbs.h"
#include "tests/kernel/tests.h"

#define LOADER "/verbs/ld-linux-x86-64.so.2"
#define DEVICE "/sys/class/infiniband/ggas_0/"

/* A command with what it says, and its answer. 0, or a negative errno. */
static int call(int fd, unsigned what, void* command, size_t bytes, size_t answer_bytes) {
  struct ib_uverbs_cmd_hdr* const head = command;
  head->command = what;
  head->in_words = (uint16_t)(bytes / 4);
  head->out_words = (uint16_t)(answer_bytes / 4);
  return write(fd, command, bytes) == (ssize_t)bytes ? 0 : -errno;
}

static int open_context(void) {
  struct ib_uverbs_get_context_resp answer = {0};
  struct {
    struct ib_uverbs_cmd_hdr head;
    struct ib_uverbs_get_context body;
  } p = {.body.response = (uintptr_t)&answer};
  const int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  CHECK_IS(call(fd, IB_USER_VERBS_CMD_GET_CONTEXT, &p, sizeof p, sizeof answer), 0);
  return fd;
}

/* The handle of a protection domain, or a negative errno. */
static int join(int fd, uint32_t number) {
  struct ib_uverbs_alloc_pd_resp answer = {0};
  struct {
    struct ib_uverbs_cmd_hdr head;
    struct ib_uverbs_alloc_pd body;
    struct ggas_verbs_alloc_pd own;
  } p = {.body.response = (uintptr_t)&answer, .own.domain = number};
  const int rc = call(fd, IB_USER_VERBS_CMD_ALLOC_PD, &p, sizeof p, sizeof answer);
  return rc ? rc : (int)answer.pd_handle;
}

static int register_memory(int fd, uint32_t pd, void* at, size_t bytes, struct ib_uverbs_reg_mr_resp* answer) {
  struct {
    struct ib_uverbs_cmd_hdr head;
    struct ib_uverbs_reg_mr body;
  } p = {.body = {.response = (uintptr_t)answer,
                  .start = (uintptr_t)at,
                  .length = bytes,
                  .hca_va = (uintptr_t)at,
                  .pd_handle = pd,
                  .access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE}};
  return call(fd, IB_USER_VERBS_CMD_REG_MR, &p, sizeof p, sizeof *answer);
}

static int deregister(int fd, uint32_t mr) {
  struct {
    struct ib_uverbs_cmd_hdr head;
    struct ib_uverbs_dereg_mr body;
  } p = {.body.mr_handle = mr};
  return call(fd, IB_USER_VERBS_CMD_DEREG_MR, &p, sizeof p, 0);
}

static void state_in_sysfs(void) {
  char text[64] = {0};
  const int fd = open(DEVICE "ports/1/state", O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
  if (fd >= 0) close(fd);
  CHECK(strstr(text, "ACTIVE") != NULL);
}

static ggas_rma_note put_there(node* n, uint64_t source, uint64_t to) {
  post(n, ggas_rma_put(peer(n), source, to, BYTES, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1));
  return next_note(n);
}

/* Node 1 registers memory by verbs, and node 0 puts there; then it ends, and puts are refused. */
void memory_by_verbs(node* n) {
  unsigned char* const memory = pages(2 * BYTES);
  const long regions = read_number("/sys/class/ggas/ggas0/regions");
  struct ib_uverbs_reg_mr_resp mr = {0};
  ggas_region r;
  int fd, pd;
  state_in_sysfs();
  if (n->me == 1) {
    fd = open_context();
    pd = join(fd, DOMAIN);
    CHECK(pd >= 0);
    CHECK_IS(join(fd, 1 << 16), -EINVAL);
    CHECK_IS(register_memory(fd, (uint32_t)pd, memory + 24, BYTES, &mr), 0);
    CHECK_IS(read_number("/sys/class/ggas/ggas0/regions"), regions + 1);
    tell(n, 0, ((uint64_t)mr.rkey << 12) + 24);
    tell(n, 1, n->context.self.vpid);
    meet(n);
    meet(n); /* it has put */
    CHECK_IS(wrong(memory + 24, BYTES, 6), 0);
    CHECK_IS(memory[23] + memory[24 + BYTES], 0);
    CHECK_IS(deregister(fd, mr.mr_handle), 0);
    CHECK_IS(read_number("/sys/class/ggas/ggas0/regions"), regions);
    meet(n);
    close(fd);
  } else {
    CHECK_IS(ggas_region_begin(&r, &n->dev, n->domain, memory, BYTES, GGAS_READ), 0);
    fill(memory, BYTES, 6);
    meet(n);
    CHECK_IS(put_there(n, r.nla, reported(n, 0)).kind, GGAS_RMA_NOTE_REQUESTER);
    meet(n);
    meet(n); /* it has ended */
    CHECK_IS(put_there(n, r.nla, reported(n, 0)).kind, GGAS_RMA_NOTE_ERROR);
    ggas_region_end(&r);
  }
  munmap(memory, 2 * BYTES);
}

/* ---------------------------------------------------------------------------------------------- libibverbs */

/* A program with the C library that it wants. in, out: its ends; -1: those of this one. */
static pid_t start(const char* program, const char* argument, int in, int out) {
  const pid_t child = (fflush(stdout), fork());
  char number[16];
  if (child) return child;
  snprintf(number, sizeof number, "%d", DOMAIN);
  setenv("GGAS_DOMAIN", number, 1);
  if (in >= 0) dup2(in, 0);
  if (out >= 0) dup2(out, 1);
  execl(LOADER, LOADER, "--library-path", "/verbs", program, argument, NULL);
  _exit(99);
}

static int ending(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void prints(const char* program, const char* argument, const char* const* wanted) {
  static char text[8192];
  int ends[2], status;
  size_t n = 0;
  ssize_t got;
  pid_t child;
  CHECK_IS(pipe(ends), 0);
  child = start(program, argument, -1, ends[1]);
  close(ends[1]);
  while ((got = read(ends[0], text + n, sizeof text - 1 - n)) > 0) n += (size_t)got;
  text[n] = 0;
  close(ends[0]);
  status = ending(child);
  CHECK_IS(status, 0);
  for (; *wanted; ++wanted) {
    if (strstr(text, *wanted)) continue;
    printf("# %s does not say '%s':\n%s", program, *wanted, text);
    CHECK(0);
  }
}

/* A program of verbs on node 1 registers memory; node 0 puts there. */
static void region_of_a_program(node* n) {
  enum { SEED = 5 };
  unsigned char* const memory = pages(BYTES);
  const long regions = read_number("/sys/class/ggas/ggas0/regions");
  char address[32] = "";
  int to[2], from[2];
  ggas_region r;
  pid_t child;
  if (n->me == 1) {
    CHECK_IS(pipe(to) | pipe(from), 0);
    child = start("/verbs/verbs_memory", "5", to[0], from[1]);
    close(from[1]);
    CHECK(read(from[0], address, sizeof address - 1) > 0);
    tell(n, 0, strtoull(address, NULL, 10));
    tell(n, 1, n->context.self.vpid);
    meet(n);
    meet(n); /* it has put */
    CHECK_IS(write(to[1], "\n", 1), 1);
    CHECK_IS(ending(child), 0);
    CHECK_IS(read_number("/sys/class/ggas/ggas0/regions"), regions);
    close(to[0]), close(to[1]), close(from[0]);
  } else {
    CHECK_IS(ggas_region_begin(&r, &n->dev, n->domain, memory, BYTES, GGAS_READ), 0);
    fill(memory, BYTES, SEED);
    meet(n);
    CHECK_IS(put_there(n, r.nla, reported(n, 0)).kind, GGAS_RMA_NOTE_REQUESTER);
    meet(n);
    ggas_region_end(&r);
  }
  munmap(memory, BYTES);
}

void programs_of_verbs(node* n) {
  static const char* const listed[] = {"ggas_0", NULL};
  static const char* const described[] = {"hca_id:\tggas_0",
                                          "vendor_id:\t\t\t0x1209",
                                          "vendor_part_id:\t\t\t18247",
                                          "max_pd:\t\t\t\t65535",
                                          "PORT_ACTIVE",
                                          "GID[  0]",
                                          NULL};
  prints("/verbs/ibv_devices", NULL, listed);
  prints("/verbs/ibv_devinfo", "-v", described);
  region_of_a_program(n);
}
