// Marks functions that run on the CPU and in kernels: the arithmetic that both have to agree on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __CUDACC__
#define YOLOAD_HD __host__ __device__
#else
#define YOLOAD_HD
#endif
