/* SPDX-License-Identifier: Apache-2.0 */
/* What one user may have, in all processes together, and no more; root may. Counters for people. */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

#define NODE "/sys/class/ggas/ggas0/"
enum { USER = 1000, OTHER_USER = 1001, CONTEXTS = 3, PAGES = 16, PAGE = 4096 };

/* As many contexts as the user gets, and what the next one gets; -1000: something else went wrong. */
static int contexts_until(int* why) {
  static ggas_context c[CONTEXTS + 2];
  ggas_device dev;
  int domain, n = 0;
  if (ggas_device_open(&dev, "/dev/ggas0")) return -1000;
  domain = ggas_domain_join(&dev, DOMAIN);
  while (n < CONTEXTS + 2 && !(*why = ggas_context_begin(&c[n], &dev, domain, NULL))) ++n;
  return n;
}

static int pages_until(void) {
  unsigned char* const at = pages(PAGES * PAGE);
  ggas_device dev;
  ggas_region r, more;
  int domain, rc;
  if (ggas_device_open(&dev, "/dev/ggas0")) return -1000;
  domain = ggas_domain_join(&dev, DOMAIN);
  rc = ggas_region_begin(&r, &dev, domain, at, PAGES * PAGE, GGAS_READ);
  if (rc) return rc;
  rc = ggas_region_begin(&more, &dev, domain, at, 1, GGAS_READ);
  ggas_region_end(&r);
  if (rc != -EDQUOT) return -1000;
  return ggas_region_begin(&more, &dev, domain, at, 1, GGAS_READ); /* what has ended counts no more */
}

static int windows_until(void) {
  ggas_device dev;
  ggas_window w, more;
  int domain;
  if (ggas_device_open(&dev, "/dev/ggas0")) return -1000;
  domain = ggas_domain_join(&dev, DOMAIN);
  if (ggas_window_begin(&w, &dev, domain, 51, PAGE)) return -1000;
  return ggas_window_begin(&more, &dev, domain, 52, PAGE);
}

/* Has all contexts that the user may have, and then a second process of the same user gets none. */
static int greedy(void) {
  int why = 0, status;
  pid_t second;
  if (contexts_until(&why) != CONTEXTS || why != -EDQUOT) return 1;
  second = fork();
  if (second == 0) _exit(contexts_until(&why) != 0 || why != -EDQUOT);
  if (waitpid(second, &status, 0) != second || status) return 2;
  if (pages_until()) return 3;
  return windows_until() == -EDQUOT ? 0 : 4;
}

static int modest(void) {
  int why = 0;
  return contexts_until(&why) >= 1 ? 0 : 1;
}

static int as_user(unsigned user, int (*act)(void)) {
  int status = -1;
  pid_t child;
  fflush(stdout);
  child = fork();
  if (child == 0) _exit(setgid(user) || setuid(user) ? 90 : act());
  waitpid(child, &status, 0);
  return status;
}

static void grant(const char* how) {
  char text[32];
  unsigned user;
  for (user = USER; user <= OTHER_USER; ++user) {
    char path[64];
    snprintf(path, sizeof path, NODE "%s", how);
    snprintf(text, sizeof text, "%u %u", DOMAIN, user);
    CHECK_IS(write_file(path, text), 0);
  }
}

void quotas(node* n) {
  static const char* const names[] = {NODE "user_contexts", NODE "user_windows", NODE "user_pages"};
  static const char* const small[] = {"3", "1", "16"};
  long before[3];
  unsigned i;
  (void)n;
  grant("grant");
  for (i = 0; i < 3; ++i) {
    before[i] = read_number(names[i]);
    CHECK(before[i] > 0);
    CHECK_IS(write_file(names[i], small[i]), 0);
    CHECK_IS(write_file(names[i], "many"), -EINVAL);
  }
  CHECK_IS(as_user(USER, greedy), 0);
  CHECK_IS(as_user(USER, greedy), 0); /* what ended counts no more */
  CHECK_IS(as_user(OTHER_USER, modest), 0);
  CHECK_IS(as_user(0, modest), 0);
  for (i = 0; i < 3; ++i) write_number(names[i], before[i]);
  grant("revoke");
  CHECK_IS(as_user(USER, modest), 1 << 8); /* no domain */
}

/* ------------------------------------------------------------------------------------------------ memory */

#define GROUPS "/tmp/groups"
enum { SEGMENT = 4 << 20, MEMORY_MB = 14, SEGMENTS = 8 };

/* As many segments as the cgroup has memory for; what ends it is an error, not the machine's end. */
static int segments_until(void) {
  ggas_device dev;
  ggas_window w;
  int domain, n = 0, rc = 0;
  if (write_file(GROUPS "/user/cgroup.procs", "0") || ggas_device_open(&dev, "/dev/ggas0")) return -1000;
  domain = ggas_domain_join(&dev, DOMAIN);
  while (n < SEGMENTS && !(rc = ggas_window_begin(&w, &dev, domain, (unsigned)(50 + n), SEGMENT))) ++n;
  return rc == -ENOMEM && n > 0 && n * (SEGMENT >> 20) < MEMORY_MB ? 0 : 1 + n;
}

/* Rings and segments are memory of the user's cgroup. */
void memory_of_a_cgroup(node* n) {
  (void)n;
  mkdir(GROUPS, 0755);
  if (mount("none", GROUPS, "cgroup2", 0, NULL) || write_file(GROUPS "/cgroup.subtree_control", "+memory")) {
    printf("# this kernel has no cgroups of memory\n");
    return;
  }
  mkdir(GROUPS "/user", 0755);
  write_number(GROUPS "/user/memory.max", MEMORY_MB << 20);
  CHECK_IS(as_user(0, segments_until), 0);
  rmdir(GROUPS "/user");
  umount(GROUPS);
}

void counters_for_people(node* n) {
  char text[2048] = {0};
  const int fd = open("/sys/kernel/debug/ggas/ggas0/counters", O_RDONLY);
  const char* at;
  unsigned long long served = 0;
  (void)n;
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
  if (fd >= 0) close(fd);
  at = strstr(text, "window_stores_served");
  CHECK(at && sscanf(at, "%*s %llu", &served) == 1);
  CHECK(served > 0); /* the other node was met */
}
