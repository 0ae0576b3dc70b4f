/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#ifdef __cplusplus
extern "C"
#endif
    int
    check_rma_c99(void);
