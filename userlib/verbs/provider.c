/* SPDX-License-Identifier: Apache-2.0 */
/* The NIC for libibverbs: a provider, as rdma-core loads one for each kind of device. It passes on what the module
 * ggas_verbs knows: queries, protection domains, memory regions. Built next to rdma-core's own headers, as these are
 * installed nowhere: programs/vm/provider.py. */
#include <errno.h>
#include <infiniband/driver.h>
#include <stdlib.h>

#include "kernel/include/uapi/ggas.h"
#include "kernel/include/uapi/ggas_verbs.h"

enum { MOST_DOMAIN = 65535 };

/* ---------------------------------------------------------------------------------------------- queries */

static int query_device(struct ibv_context* c, const struct ibv_query_device_ex_input* input,
                        struct ibv_device_attr_ex* attr, size_t bytes) {
  struct ib_uverbs_ex_query_device_resp answer;
  size_t answer_bytes = sizeof answer;
  return ibv_cmd_query_device_any(c, input, attr, bytes, &answer, &answer_bytes);
}

static int query_port(struct ibv_context* c, uint8_t port, struct ibv_port_attr* attr) {
  struct ibv_query_port command = {0};
  return ibv_cmd_query_port(c, port, attr, &command, sizeof command);
}

/* ---------------------------------------------------------------------------------------------- objects */

/* The number that libggas takes, too; without one the module chooses. */
static int read_domain(uint32_t* domain) {
  const char* const text = getenv("GGAS_DOMAIN");
  char* end;
  unsigned long n;
  if (!text) return 0;
  n = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || n == 0 || n > MOST_DOMAIN) return EINVAL;
  *domain = (uint32_t)n;
  return 0;
}

static struct ibv_pd* alloc_pd(struct ibv_context* c) {
  struct {
    struct ibv_alloc_pd verbs;
    struct ggas_verbs_alloc_pd own;
  } command = {0};
  struct ib_uverbs_alloc_pd_resp answer = {0};
  struct ibv_pd* const pd = calloc(1, sizeof *pd);
  int rc = pd ? read_domain(&command.own.domain) : ENOMEM;
  const size_t bytes = command.own.domain ? sizeof command : sizeof command.verbs; /* else the module's own */
  if (!rc) rc = ibv_cmd_alloc_pd(c, pd, &command.verbs, bytes, &answer, sizeof answer);
  if (!rc) return pd;
  free(pd);
  errno = rc;
  return NULL;
}

static int dealloc_pd(struct ibv_pd* pd) {
  const int rc = ibv_cmd_dealloc_pd(pd);
  if (!rc) free(pd);
  return rc;
}

static struct ibv_mr* reg_mr(struct ibv_pd* pd, void* at, size_t bytes, uint64_t address, int access) {
  struct ibv_reg_mr command;
  struct ib_uverbs_reg_mr_resp answer;
  struct verbs_mr* const mr = calloc(1, sizeof *mr);
  const int rc =
      mr ? ibv_cmd_reg_mr(pd, at, bytes, address, access, mr, &command, sizeof command, &answer, sizeof answer)
         : ENOMEM;
  if (!rc) return &mr->ibv_mr;
  free(mr);
  errno = rc;
  return NULL;
}

static int dereg_mr(struct verbs_mr* mr) {
  const int rc = ibv_cmd_dereg_mr(mr);
  if (!rc) free(mr);
  return rc;
}

/* ---------------------------------------------------------------------------------------------- the device */

struct context {
  struct verbs_context verbs;
};

static void free_context(struct ibv_context* c) {
  struct context* const own = container_of(c, struct context, verbs.context);
  verbs_uninit_context(&own->verbs);
  free(own);
}

static const struct verbs_context_ops context_ops = {
    .query_device_ex = query_device,
    .query_port = query_port,
    .alloc_pd = alloc_pd,
    .dealloc_pd = dealloc_pd,
    .reg_mr = reg_mr,
    .dereg_mr = dereg_mr,
    .free_context = free_context,
};

static struct verbs_context* alloc_context(struct ibv_device* device, int fd, void* unused) {
  struct ibv_get_context command = {0};
  struct ib_uverbs_get_context_resp answer;
  struct context* c = NULL;
  (void)unused;
  c = verbs_init_and_alloc_context(device, fd, c, verbs, RDMA_DRIVER_UNKNOWN);
  if (!c) return NULL;
  if (ibv_cmd_get_context(&c->verbs, &command, sizeof command, &answer, sizeof answer)) {
    verbs_uninit_context(&c->verbs);
    free(c);
    return NULL;
  }
  verbs_set_ops(&c->verbs, &context_ops);
  return &c->verbs;
}

static struct verbs_device* alloc_device(struct verbs_sysfs_dev* unused) {
  (void)unused;
  return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device* device) { free(device); }

static const struct verbs_match_ent devices[] = {VERBS_PCI_MATCH(GGAS_PCI_VENDOR, GGAS_PCI_DEVICE, NULL), {0}};

static const struct verbs_device_ops device_ops = {
    .name = "ggas",
    .match_min_abi_version = GGAS_VERBS_ABI_VERSION,
    .match_max_abi_version = GGAS_VERBS_ABI_VERSION,
    .match_table = devices,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
    .alloc_context = alloc_context,
};
PROVIDER_DRIVER(ggas, device_ops);
