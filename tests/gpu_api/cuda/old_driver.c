/* SPDX-License-Identifier: Apache-2.0
 * A CUDA driver that is too old, for the test of what the provider then says: CUDA 11.4, no functions. */
#include <stddef.h>

enum { success = 0, not_found = 500 };

int cuInit(unsigned flags) { return success; }

int cuDriverGetVersion(int* version) {
  *version = 11040;
  return success;
}

int cuGetProcAddress(const char* name, void** function, int version, unsigned long flags) {
  *function = NULL;
  return not_found;
}
