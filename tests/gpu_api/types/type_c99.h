/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Makes and asks datatypes as a C program does: 0, or the line of what went wrong. */
#ifdef __cplusplus
extern "C"
#endif
    int
    try_types_from_c(void);
