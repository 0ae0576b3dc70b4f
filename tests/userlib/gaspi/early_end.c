/* SPDX-License-Identifier: Apache-2.0 */
/* `gaspi_run -n N early_end RANK`: that rank ends before gaspi_proc_init; the others report what that call says. */
#include <stdio.h>
#include <stdlib.h>

#include "conformance.h"

int main(int argc, char** argv) {
  gaspi_return_t rc;
  if (argc != 2) return fprintf(stderr, "early_end RANK, by a launcher\n"), 2;
  if (strtoul(getenv("GGAS_RANK"), NULL, 10) == strtoul(argv[1], NULL, 10)) return 0;
  rc = gaspi_proc_init(GASPI_BLOCK);
  printf("gaspi_proc_init: %s\n", gaspi_error_str(rc));
  return rc == GASPI_SUCCESS;
}
