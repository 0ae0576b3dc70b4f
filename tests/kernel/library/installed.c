/* SPDX-License-Identifier: Apache-2.0 */
/* A program of a user on a node where the driver's package is installed (programs/vm/installed.sh). */
#include <ggas/device.h>
#include <ggas/rma.h>
#include <stdio.h>

static int failed(const char* what, int rc) {
  printf("%s: %d\n", what, rc);
  return 1;
}

int main(void) {
  static char memory[1 << 16];
  ggas_device dev;
  ggas_context context;
  ggas_region region;
  int domain, rc = ggas_device_open(&dev, "/dev/ggas0");
  if (rc) return failed("open", rc);
  domain = ggas_domain_join(&dev, 7);
  if (domain < 0) return failed("domain", domain);
  rc = ggas_context_begin(&context, &dev, domain, NULL);
  if (rc) return failed("context", rc);
  rc = ggas_region_begin(&region, &dev, domain, memory, sizeof memory, GGAS_READ | GGAS_WRITE);
  if (rc) return failed("region", rc);
  ggas_region_end(&region);
  ggas_context_end(&context);
  ggas_device_close(&dev);
  return 0;
}
