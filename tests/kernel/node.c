/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernel/node.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "tests/kernel/tests.h"

#define GONE "NIC gone under use, and another one"

static int tests_run, tests_failed, checks_failed;
static const char* only;

void check(int holds, const char* what, const char* file, int line, long long value) {
  if (holds) return;
  ++checks_failed;
  printf("# %s:%d: %s (%lld)\n", file, line, what, value);
}

double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double timeout_ms(void) {
  static double ms;
  if (ms == 0)
    ms = access("/sys/kernel/debug/kmemleak", F_OK) && access("/sys/kernel/debug/kcsan", F_OK) ? 60e3 : 600e3;
  return ms;
}

void ask_the_rig(const char* what) { printf("# rig: %s\n", what); }

unsigned char* pages(size_t bytes) {
  void* const p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED) exit(1);
  return p;
}

unsigned char pattern(unsigned seed, size_t i) { return (unsigned char)(seed * 31 + i * 7 + (i >> 8)); }

void fill(unsigned char* p, size_t bytes, unsigned seed) {
  size_t i;
  for (i = 0; i < bytes; ++i) p[i] = pattern(seed, i);
}

size_t wrong(const unsigned char* p, size_t bytes, unsigned seed) {
  size_t i, n = 0;
  for (i = 0; i < bytes; ++i) n += p[i] != pattern(seed, i);
  return n;
}

/* Registers memory and informs the other node of it, as word 0; its context, as word 1. */
ggas_region share(node* n, void* at, size_t bytes, unsigned rights) {
  ggas_region r;
  CHECK_IS(ggas_region_begin(&r, &n->dev, n->domain, at, bytes, rights), 0);
  tell(n, 0, r.nla);
  tell(n, 1, n->context.self.vpid);
  meet(n);
  return r;
}

ggas_rma_peer peer(node* n) {
  const ggas_rma_peer p = {(uint16_t)n->other, (uint8_t)reported(n, 1)};
  return p;
}

static sigjmp_buf faulted;
static void on_fault(int number) { siglongjmp(faulted, number); }

/* The signal that an access ends with; 0: none. */
int fault_of(volatile void* at) {
  volatile int number;
  signal(SIGBUS, on_fault);
  signal(SIGSEGV, on_fault);
  number = sigsetjmp(faulted, 1);
  if (!number) (void)*(volatile unsigned char*)at;
  signal(SIGBUS, SIG_DFL);
  signal(SIGSEGV, SIG_DFL);
  return number;
}

/* The other node may not have its window yet: words are reported until they are received. */
void greet(node* n, uint64_t word) {
  WAIT(ggas_device_link(&n->dev) == 1);
  WAIT((*remote_word(n, 8) = word, usleep(1000), own_word(n, 8) == word));
  *remote_word(n, 8) = word;
  (void)*(const volatile uint32_t*)n->context.rma.page; /* what the words before met is no failure */
}

/* Opens the device and makes what every test uses. */
void begin(node* n) {
  static const ggas_context_options sleeps = {.sleeps = 1};
  int rc = ggas_device_open(&n->dev, "/dev/ggas0");
  if (!rc) {
    n->me = n->dev.node;
    n->other = 1 - n->me;
    n->domain = ggas_domain_join(&n->dev, DOMAIN);
    rc = ggas_window_begin(&n->window, &n->dev, n->domain, 0, WINDOW_BYTES);
  }
  if (!rc) rc = ggas_context_begin(&n->context, &n->dev, n->domain, &sleeps);
  if (!rc && n->domain >= 0) return;
  printf("Bail out! set-up: domain %d, %d\n", n->domain, rc);
  exit(1);
}

void end(node* n) {
  ggas_context_end(&n->context);
  ggas_window_end(&n->window);
  ggas_device_close(&n->dev);
}

int has_iommu(void) {
  DIR* const d = opendir("/sys/class/iommu");
  int found = 0;
  struct dirent* e;
  while (d && (e = readdir(d))) found += e->d_name[0] != '.';
  if (d) closedir(d);
  return found;
}

long read_number(const char* path) {
  char text[32] = {0};
  const int fd = open(path, O_RDONLY);
  const int rc = fd < 0 || read(fd, text, sizeof text - 1) < 0 ? -errno : 0;
  if (fd >= 0) close(fd);
  return rc ? rc : atol(text);
}

int write_file(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY);
  const int rc = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
  if (fd >= 0) close(fd);
  return rc;
}

void write_number(const char* path, long number) {
  char text[32];
  snprintf(text, sizeof text, "%ld", number);
  CHECK_IS(write_file(path, text), 0);
}

/* One of the parts in `only`, between commas, is in the name. */
static int is_wanted(const char* name) {
  const char* at = only;
  while (at) {
    char part[128];
    snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);
    if (strstr(name, part)) return 1;
    at = strchr(at, ',');
    if (at) ++at;
  }
  return !only;
}

static void result(const char* name, double begun) {
  ++tests_run;
  tests_failed += checks_failed != 0;
  printf("%s %d - %s # %.0f ms\n", checks_failed ? "not ok" : "ok", tests_run, name, now_ms() - begun);
  fflush(stdout);
}

void run(node* n, const char* name, void (*test)(node*)) {
  const double begun = now_ms();
  if (!is_wanted(name)) return;
  checks_failed = 0;
  meet(n);
  test(n);
  meet(n);
  result(name, begun);
}

static void all_tests(node* n) {
  run(n, "window: stores, loads, quiet", window_stores_and_loads);
  run(n, "barriers by window stores", barriers);
  run(n, "put with notifications", put_with_notification);
  run(n, "get", get);
  run(n, "atomics of both nodes", atomics);
  run(n, "sleep until a notification interrupts", sleep_on_an_interrupt);
  run(n, "errors and rights", errors_are_reported);
  run(n, "memory registered for reading follows its owner", read_only_follows_its_owner);
  run(n, "windows of two domains", windows_of_two_domains);
  run(n, "windows run out", windows_run_out);
  run(n, "windows of several blocks", large_windows);
  run(n, "contexts with the largest rings", large_contexts);
  run(n, "stores before the end of a window", stores_before_the_end);
  run(n, "GPU memory to GPU memory", gpu_to_gpu);
  run(n, "GPU memory moves under puts", gpu_memory_moves);
  run(n, "GPU memory moves because memory is short", gpu_memory_moves_when_short);
  run(n, "GPU memory is revoked under puts", gpu_memory_is_revoked);
  run(n, "GPU memory by its address, freed under puts", gpu_memory_by_address);
  run(n, "GPU memory freed while it is mapped", gpu_memory_freed_while_mapped);
  run(n, "dma-buf of another exporter", memory_of_another_exporter);
  run(n, "memory registered by verbs", memory_by_verbs);
  run(n, "programs of libibverbs", programs_of_verbs);
  run(n, "libggas: everything", library_on_nodes);
  run(n, "libggas: segments on GPUs", library_on_gpus);
  run(n, "libggas: the same as in shared memory", library_is_the_same);
  run(n, "libggas: four ranks with threads", library_several_on_a_node);
  if (n->soak) run(n, "libggas: both ranks on one node", library_on_one_node);
  run(n, "libggas: ranks that end", library_ranks_end);
  run(n, "libggas: no right to the domain", library_is_refused);
  run(n, "ways to what is others'", intruders);
  run(n, "calls that are refused leave nothing", interface_is_strict);
  run(n, "random calls, mappings, accesses", random_calls);
  run(n, "mapping next to the end of what is mapped", mapping_next_to_the_end);
  run(n, "owners killed under puts", owners_are_killed);
  run(n, "owners killed at every step", owners_die_at_every_step);
  run(n, "nothing is left over", nothing_is_left);
  run(n, "memory is free after the end of a region", memory_is_free_after_an_end);
  run(n, "registering 1 GB", registering_much);
  run(n, "64 sleepers on one vector", many_sleepers);
  run(n, "quotas of users", quotas);
  run(n, "memory of a cgroup", memory_of_a_cgroup);
  run(n, "counters for people", counters_for_people);
  run(n, "each allocation fails", each_allocation_fails);
  run(n, "a user who floods the NIC", one_user_floods);
  run(n, "reset under use", reset_under_use);
  run(n, "libggas: NIC reset under a rank", library_under_reset);
  run(n, "driver unbound under use", unbound_under_use);
  run(n, "driver bound again under puts", bound_again_under_puts);
  run(n, "a page that does not come, and the driver unbound", page_does_not_come);
  run(n, "error recovery under use", error_under_use);
  run(n, "suspended under sleepers", node_sleeps);
  run(n, "a NIC that is silent", nic_is_silent);
  run(n, "cable out under use", cable_out_under_use);
  run(n, "opened first by a node on another file system", opened_on_another_file_system);
  run(n, "put with notifications, after all that", put_with_notification);
}

static int planned(void) {
  printf("1..%d\n", tests_run);
  return tests_failed != 0;
}

static int ended(node* n) {
  end(n);
  return planned();
}

/* Arguments: parts of the names of the tests to be run, with commas, or ""; how long: "ci" or "soak"; or "gone": the
 * NIC goes; or "two": NICs, both in this node; or "ends" and a number of kernels, which node 0 begins before that, with
 * "next" in those. */
int main(int argc, char** argv) {
  static node n;
  const char* const how = argc > 2 ? argv[2] : "";
  const long kernels = argc > 3 ? atol(argv[3]) : 0;
  const double begun = now_ms();
  only = argc > 1 && argv[1][0] ? argv[1] : NULL;
  n.soak = !strcmp(how, "soak");
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!strcmp(how, "two")) {
    two_nics_in_a_node();
    result("two NICs in a node", begun);
    return planned();
  }
  if (!strcmp(how, "next")) {
    next_kernel(&n, kernels);
    result("memory of a kernel that began by kexec under stores", begun);
    run(&n, GONE, nic_is_gone);
    return ended(&n);
  }
  begin(&n);
  greet(&n, ++n.greeted);
  printf("# node %u of %u, core clock %u kHz; first store %.1f s after boot\n", n.me, n.dev.nodes, n.dev.clock_khz,
         now_ms() / 1e3);
  if (!strcmp(how, "gone")) {
    run(&n, GONE, nic_is_gone);
  } else if (!strcmp(how, "ends")) {
    into_next_kernel(&n, kernels);
    result("stores to a node that begins another kernel", begun);
    run(&n, GONE, nic_is_gone);
  } else {
    all_tests(&n);
  }
  return ended(&n);
}
