// SPDX-License-Identifier: Apache-2.0
// The names of CUDA that hapi.h needs: CUDA's own for nvcc and where its headers were included before, else the same
// types. Included by hapi.h.
#pragma once

#if defined(__CUDACC__) || defined(__CUDA_RUNTIME_API_H__)
#include <cuda_runtime_api.h>

// Charm++'s names for CUDA's.
#define hapiEvent_t cudaEvent_t
#define hapiDeviceProp cudaDeviceProp
#define hapiSuccess cudaSuccess
#define hapiMemcpyHostToDevice cudaMemcpyHostToDevice
#define hapiMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hapiMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hapiMemcpyDefault cudaMemcpyDefault
#define hapiMemset cudaMemset
#define hapiMemsetAsync cudaMemsetAsync
#define hapiMemcpy cudaMemcpy
#define hapiMemGetInfo cudaMemGetInfo
#define hapiGetErrorString cudaGetErrorString
#define hapiGetLastError cudaGetLastError
#define hapiPeekAtLastError cudaPeekAtLastError
#define hapiGetDevice cudaGetDevice
#define hapiSetDevice cudaSetDevice
#define hapiGetDeviceCount cudaGetDeviceCount
#define hapiGetDeviceProperties cudaGetDeviceProperties
#define hapiDeviceSynchronize cudaDeviceSynchronize
#define hapiDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define hapiDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define hapiEventDefault cudaEventDefault
#define hapiEventDisableTiming cudaEventDisableTiming
#define hapiEventCreate cudaEventCreate
#define hapiEventCreateWithFlags cudaEventCreateWithFlags
#define hapiEventDestroy cudaEventDestroy
#define hapiEventElapsedTime cudaEventElapsedTime
#define hapiEventQuery cudaEventQuery
#define hapiEventRecord cudaEventRecord
#define hapiEventSynchronize cudaEventSynchronize
#define hapiStreamDefault cudaStreamDefault
#define hapiStreamNonBlocking cudaStreamNonBlocking
#define hapiStreamPerThread cudaStreamPerThread
#define hapiStreamCreate cudaStreamCreate
#define hapiStreamCreateWithFlags cudaStreamCreateWithFlags
#define hapiStreamCreateWithPriority cudaStreamCreateWithPriority
#define hapiStreamDestroy cudaStreamDestroy
#define hapiStreamSynchronize cudaStreamSynchronize
#define hapiStreamWaitEvent cudaStreamWaitEvent
#define hapiLaunchHostFunc cudaLaunchHostFunc

#else

struct CUstream_st;
using cudaStream_t = CUstream_st*;
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
using cudaError_t = cudaError;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

#endif
