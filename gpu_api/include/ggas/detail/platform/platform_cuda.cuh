// SPDX-License-Identifier: Apache-2.0
// CUDA after platform.cuh: PTX for accesses of system scope. From sm_70 on the PTX memory model has relaxed and acquire
// loads; older GPUs have volatile accesses, which according to their manuals reach the memory system one by one.
#pragma once

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#include <string.h>
#endif

#define GGAS_DEVICE __device__ __forceinline__
// A separate copy for each translation unit. Where nvlink links units (-rdc=true), a single copy would read the
// constant memory of only one of them. It could also use more registers than the launch bounds of a kernel allow.
#define GGAS_DEVICE_FUNCTION [[maybe_unused]] static __device__ __noinline__
// Long paths. They are part of the program, or, with GGAS_LINKED, of libggas_device, which is compiled once: then the
// program has only declarations, and nvlink links them. GGAS_APART: always a separate function; GGAS_LONG: separate in
// the library only. (GGAS_MAKES_LIBRARY: the library itself.)
#if defined(GGAS_LINKED)
#ifndef __CUDACC_RDC__
#error "GGAS_LINKED: kernels are linked with libggas_device, so compile with -rdc=true (docs/how-to/another-project.md)"
#endif
#ifdef GGAS_NIC
#error "GGAS_LINKED and GGAS_NIC: libggas_device is for peers' memory"
#endif
#define GGAS_APART __device__
#define GGAS_LONG __device__
#elif defined(GGAS_MAKES_LIBRARY)
#define GGAS_APART __device__ __noinline__
#define GGAS_LONG __device__ __noinline__
#else
#define GGAS_APART GGAS_DEVICE_FUNCTION
#define GGAS_LONG GGAS_DEVICE
#endif
#define GGAS_UNROLL _Pragma("unroll")
#define GGAS_INLINED __attribute__((always_inline))  // of lambdas
// Without the 1 nvcc 13.0 keeps room for two blocks if all functions that a kernel calls are small: half the registers.
#define GGAS_LAUNCH_BOUNDS(threads) __launch_bounds__(threads, 1)
#define GGAS_HOST_DEVICE __host__ __device__
#define GGAS_SHARED(type, name) __shared__ type name
#define GGAS_SHARED_ARRAY(type, name, count) __shared__ type name[count]
#define GGAS_DYNAMIC_SHARED(type, name)                                \
  extern __shared__ __align__(16) unsigned char ggas_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(ggas_dynamic_shared)
#define GGAS_COMPUTE(flops, bytes) ((void)0)
// The loop after it.
#define GGAS_NO_UNROLL _Pragma("unroll 1")

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define GGAS_PTX_LD "ld.volatile"
#define GGAS_PTX_LD_ACQUIRE "ld.volatile"
#define GGAS_PTX_ST "st.volatile"
#else
#define GGAS_PTX_LD "ld.relaxed.sys"
#define GGAS_PTX_LD_ACQUIRE "ld.acquire.sys"
#define GGAS_PTX_ST "st.relaxed.sys"
#endif

namespace ggas {
using ::dim3;

namespace detail {}  // namespace detail
}  // namespace ggas

// Filled by set_device_context(). Each translation unit has one. If nvlink links the units, the whole program has one:
// kernels that are templates are then merged, and must not read the constants of another unit. In a module of NVRTC the
// host fills the symbol of this name with the result of ggas::constants_of() (detail/platform/context.hpp).
#if defined(__CUDACC_RTC__)
extern "C" {
__constant__ ggas::constants ggas_node_constants;
}
#elif defined(__CUDACC_RDC__)
inline __constant__ ggas::constants ggas_node_constants;
#else
static __constant__ ggas::constants ggas_node_constants;
#endif

namespace ggas {
namespace detail {

__device__ __forceinline__ const context& device_context() { return ggas_node_constants.own; }
__device__ __forceinline__ const layout& own_layout() { return ggas_node_constants.shape; }
__device__ __forceinline__ uint64_t window_bytes() { return ggas_node_constants.window_bytes; }

// Whether the own segment's address is that in the window, as on all GPUs that reach each other's memory.
constexpr bool own_segment_in_window = true;

// Whether kernels may find a NIC: only with GGAS_NIC. Programs for peers' memory have no code for queues. A test at run
// time, at every address, would cost instructions, and nvcc 13.0 once put an address and the test's result into one
// uniform register (docs/device-api.md).
#ifdef GGAS_NIC
constexpr bool nic_possible = true;
#else
constexpr bool nic_possible = false;
#endif

// Whether calls of the program may be traced (docs/tracing.md): code next to every call.
#ifdef GGAS_TRACED
constexpr bool trace_possible = true;
#else
constexpr bool trace_possible = false;
#endif

// Which segment lies `offset` bytes after the window's start, and how far into it that is. Strides are powers of two.
__device__ __forceinline__ uint32_t segment_at(uint64_t offset) {
  return static_cast<uint32_t>(offset >> ggas_node_constants.stride_log2);
}
__device__ __forceinline__ uint64_t offset_in_segment(uint64_t offset) {
  return offset & (ggas_node_constants.own.stride - 1);
}

// Whether only the calling thread may access it: a variable of its own.
__device__ __forceinline__ bool is_private(const void* p) { return __isLocal(p) != 0; }
__device__ __forceinline__ bool is_in_shared(const void* p) { return __isShared(p) != 0; }
__device__ __forceinline__ int leading_zeros(unsigned v) { return __clz(static_cast<int>(v)); }
__device__ __forceinline__ uint64_t clock_ns() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// A register of the hardware: counted from the thread's three numbers it takes seven instructions.
__device__ __forceinline__ unsigned lane_rank() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// Only the checked mode looks at a call's arguments and at who else is in one: it would cost every call instructions.
#ifdef GGAS_CHECKED
constexpr bool calls_are_guarded = true;
#else
constexpr bool calls_are_guarded = false;
#endif
__device__ __forceinline__ constexpr bool take_place(const void*, size_t) { return true; }
__device__ __forceinline__ constexpr void give_place(const void*) {}

// Barrier 1 ... 15 of the block, of `threads` threads, whole warps; whether one of them says so.
__device__ __forceinline__ bool sync_some(unsigned id, unsigned threads, bool vote) {
  int any;
  asm volatile(
      "{\n .reg .pred mine, all;\n setp.ne.s32 mine, %3, 0;\n barrier.red.or.pred all, %1, %2, mine;\n"
      " selp.s32 %0, 1, 0, all;\n}"
      : "=r"(any)
      : "r"(id), "r"(threads), "r"(static_cast<int>(vote))
      : "memory");
  return any != 0;
}

// Accesses of 1, 2, 4, 8 and 16 bytes; the last is one vector access.
template <size_t Bytes>
struct ptx;

template <>
struct ptx<1> {
  using bits = uint8_t;
  static __device__ __forceinline__ bits load(const void* p) {
    uint16_t v;
    asm volatile(GGAS_PTX_LD ".u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory");
    return static_cast<bits>(v);
  }
  static __device__ __forceinline__ bits acquire(const void* p) {
    uint16_t v;
    asm volatile(GGAS_PTX_LD_ACQUIRE ".u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory");
    return static_cast<bits>(v);
  }
  static __device__ __forceinline__ void store(void* p, bits v) {
    asm volatile(GGAS_PTX_ST ".u8 [%0], %1;" ::"l"(p), "h"(static_cast<uint16_t>(v)) : "memory");
  }
};

#define GGAS_PTX_ACCESS(bytes, type, suffix, reg)                                             \
  template <>                                                                                 \
  struct ptx<bytes> {                                                                         \
    using bits = type;                                                                        \
    static __device__ __forceinline__ bits load(const void* p) {                              \
      bits v;                                                                                 \
      asm volatile(GGAS_PTX_LD suffix " %0, [%1];" : "=" reg(v) : "l"(p) : "memory");         \
      return v;                                                                               \
    }                                                                                         \
    static __device__ __forceinline__ bits load_weak(const void* p) {                         \
      bits v;                                                                                 \
      asm volatile("ld" suffix " %0, [%1];" : "=" reg(v) : "l"(p) : "memory");                \
      return v;                                                                               \
    }                                                                                         \
    static __device__ __forceinline__ bits acquire(const void* p) {                           \
      bits v;                                                                                 \
      asm volatile(GGAS_PTX_LD_ACQUIRE suffix " %0, [%1];" : "=" reg(v) : "l"(p) : "memory"); \
      return v;                                                                               \
    }                                                                                         \
    static __device__ __forceinline__ void store(void* p, bits v) {                           \
      asm volatile(GGAS_PTX_ST suffix " [%0], %1;" ::"l"(p), reg(v) : "memory");              \
    }                                                                                         \
  };
GGAS_PTX_ACCESS(2, uint16_t, ".u16", "h")
GGAS_PTX_ACCESS(4, uint32_t, ".u32", "r")
GGAS_PTX_ACCESS(8, uint64_t, ".u64", "l")
#undef GGAS_PTX_ACCESS

template <>
struct ptx<16> {
  struct alignas(16) bits {
    uint64_t lo, hi;
  };
  static __device__ __forceinline__ bits load(const void* p) {
    bits v;
    asm volatile(GGAS_PTX_LD ".v2.u64 {%0, %1}, [%2];" : "=l"(v.lo), "=l"(v.hi) : "l"(p) : "memory");
    return v;
  }
  static __device__ __forceinline__ bits load_weak(const void* p) {
    bits v;
    asm volatile("ld.v2.u64 {%0, %1}, [%2];" : "=l"(v.lo), "=l"(v.hi) : "l"(p) : "memory");
    return v;
  }
  // A record of the NIC: one request of 16 bytes, which its one write does not tear.
  static __device__ __forceinline__ bits acquire(const void* p) {
    const bits v = load(p);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
    return v;
  }
  static __device__ __forceinline__ void store(void* p, bits v) {
    asm volatile(GGAS_PTX_ST ".v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(v.lo), "l"(v.hi) : "memory");
  }
};

template <class To, class From>
__device__ __forceinline__ To bits_as(const From& from) {
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

template <class T>
__device__ __forceinline__ T load_relaxed(const T* p) {
  return bits_as<T>(ptx<sizeof(T)>::load(p));
}
template <class T>
__device__ __forceinline__ T load_acquire(const T* p) {
  return bits_as<T>(ptx<sizeof(T)>::acquire(p));
}
// For wait loops: each poll acquires, so that nothing stands between the last one and what waits for it.
template <class T>
__device__ __forceinline__ T load_poll(const T* p) {
  return load_acquire(p);
}
// For loops that wait for a value that carries its own flag: no order next to it.
template <class T>
__device__ __forceinline__ T load_spin(const T* p) {
  return load_relaxed(p);
}
// Generates no instruction. The compiler computes nothing from v before this place.
__device__ __forceinline__ void keep_here(uint64_t& v) { asm volatile("" : "+l"(v)); }
// At a word that hardly ever changes, next to a loop that polls another one.
__device__ __forceinline__ uint64_t glance(const uint64_t* p) { return load_relaxed(p); }
template <class T>
__device__ __forceinline__ void store_relaxed(T* p, const T& v) {
  using bits = typename ptx<sizeof(T)>::bits;
  ptx<sizeof(T)>::store(p, bits_as<bits>(v));
}
// Weak accesses, from the first-level cache if it has the word: for words that no thread writes at the same time.
// Earlier writes of other threads must be ordered by a block barrier or a stronger order.
template <class T>
__device__ __forceinline__ T load_own(const T* p) {
  return *p;
}
// The same, and the compiler leaves it where it stands: for what is to be on the way while something else is done.
template <class T>
__device__ __forceinline__ T load_own_now(const T* p) {
  return bits_as<T>(ptx<sizeof(T)>::load_weak(p));
}
template <class T>
__device__ __forceinline__ void store_own(T* p, const T& v) {
  *p = v;
}

// An address of an unrolled loop that the compiler must not compute ahead: all addresses together need more registers
// than the data.
template <class T>
__device__ __forceinline__ T* one_by_one(T* p) {
  asm volatile("" : "+l"(p));
  return p;
}

// Orders what was done before with what comes after, but no store with a later load: that takes ggas_fence().
__device__ __forceinline__ void fence_acq_rel_system() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
  __threadfence_system();
#else
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
}
__device__ __forceinline__ void fence_acq_rel_gpu() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
  __threadfence();
#else
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}
// Only what was done before, with stores that come after: the first-level cache stays as it is, if the toolkit has that
// fence.
__device__ __forceinline__ void fence_release_system() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700 && __CUDACC_VER_MAJOR__ >= 13
  asm volatile("fence.release.sys;" ::: "memory");
#else
  fence_acq_rel_system();
#endif
}
__device__ __forceinline__ void fence_release_gpu() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700 && __CUDACC_VER_MAJOR__ >= 13
  asm volatile("fence.release.gpu;" ::: "memory");
#else
  fence_acq_rel_gpu();
#endif
}
// st.release is the same two instructions, and has no form of 16 bytes.
template <class T>
__device__ __forceinline__ void store_release(T* p, const T& v) {
  fence_acq_rel_system();
  store_relaxed(p, v);
}
__device__ __forceinline__ void acquire_after_poll() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
  __threadfence_system();
#endif
}

// Ends a wait whose polls were load_spin(p): an acquire. One acquire after the polls costs less than polls that
// acquire, if the toolkit has the fence that only invalidates the first-level cache.
template <class T>
__device__ __forceinline__ void acquire_after_spin(const T* p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700 && __CUDACC_VER_MAJOR__ >= 13
  asm volatile("fence.acquire.sys;" ::: "memory");
#else
  load_acquire(p);
  acquire_after_poll();
#endif
}
// The same for waits at several places, whose words may have changed since.
__device__ __forceinline__ void acquire_after_spins() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700 && __CUDACC_VER_MAJOR__ >= 13
  asm volatile("fence.acquire.sys;" ::: "memory");
#else
  fence_acq_rel_system();
#endif
}

// The smaller or the larger of two numbers, minimumNumber and maximumNumber of IEEE 754-2019: a NaN counts as missing,
// and -0 is less than 0. Numbers of 2 bytes have separate functions; types of the program have none. For doubles the
// maximum is computed as the minimum of the negated numbers: that is one more operation, and half the code.
__device__ __forceinline__ double with_sign_turned(double v, unsigned long long sign) {
  return __longlong_as_double(static_cast<long long>(static_cast<unsigned long long>(__double_as_longlong(v)) ^ sign));
}
template <class T>
__device__ __forceinline__ T extreme(bool least, T a, T b) {
  if constexpr (is_same<T, float>) {
    return least ? fminf(a, b) : fmaxf(a, b);
  } else if constexpr (is_same<T, double>) {
    const unsigned long long sign = least ? 1ull << 63 : 0;
    return with_sign_turned(fmax(with_sign_turned(a, sign), with_sign_turned(b, sign)), sign);
  } else if constexpr (!is_integer<T> && requires { __hmin(a, b); }) {
    return least ? __hmin(a, b) : __hmax(a, b);
  } else {
    return (least ? b < a : a < b) ? b : a;
  }
}

// Read-modify-writes on 4- and 8-byte integers, relaxed.
template <class T>
struct cuda_integer {
  using bits = unsigned;
  using number = int;
};
template <class T>
requires(sizeof(T) == 8) struct cuda_integer<T> {
  using bits = unsigned long long;
  using number = long long;
};
#define GGAS_CUDA_ATOMIC(name, function)                                               \
  template <class T>                                                                   \
  __device__ __forceinline__ T name(T* p, same_t<T> v) {                               \
    using bits = typename cuda_integer<T>::bits;                                       \
    return static_cast<T>(function(reinterpret_cast<bits*>(p), static_cast<bits>(v))); \
  }
template <class T>
requires(is_floating<T>) __device__ __forceinline__ T add_system(T* p, same_t<T> v) { return atomicAdd_system(p, v); }
GGAS_CUDA_ATOMIC(add_gpu, atomicAdd)
GGAS_CUDA_ATOMIC(or_gpu, atomicOr)
GGAS_CUDA_ATOMIC(and_gpu, atomicAnd)
GGAS_CUDA_ATOMIC(add_system, atomicAdd_system)
GGAS_CUDA_ATOMIC(swap_system, atomicExch_system)
GGAS_CUDA_ATOMIC(and_system, atomicAnd_system)
GGAS_CUDA_ATOMIC(or_system, atomicOr_system)
GGAS_CUDA_ATOMIC(xor_system, atomicXor_system)
#undef GGAS_CUDA_ATOMIC
#define GGAS_CUDA_ATOMIC(name, function)                                                     \
  template <class T>                                                                         \
  __device__ __forceinline__ T name(T* p, same_t<T> v) {                                     \
    if constexpr (static_cast<T>(-1) < static_cast<T>(0)) {                                  \
      using number = typename cuda_integer<T>::number;                                       \
      return static_cast<T>(function(reinterpret_cast<number*>(p), static_cast<number>(v))); \
    } else {                                                                                 \
      using bits = typename cuda_integer<T>::bits;                                           \
      return static_cast<T>(function(reinterpret_cast<bits*>(p), static_cast<bits>(v)));     \
    }                                                                                        \
  }
GGAS_CUDA_ATOMIC(min_system, atomicMin_system)
GGAS_CUDA_ATOMIC(max_system, atomicMax_system)
#undef GGAS_CUDA_ATOMIC
// Atomics without a result and an answer, relaxed. The compiler turns an atomic whose result is not used into a
// reduction only in kernels without fences.
#define GGAS_CUDA_RED(name, scope, operation, type)                                                                \
  template <class T>                                                                                               \
  __device__ __forceinline__ void name(T* p, same_t<T> v) {                                                        \
    if constexpr (sizeof(T) == 8) {                                                                                \
      asm volatile("red.relaxed." scope ".global." operation "." type "64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); \
    } else {                                                                                                       \
      asm volatile("red.relaxed." scope ".global." operation "." type "32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); \
    }                                                                                                              \
  }
GGAS_CUDA_RED(red_xor_gpu, "gpu", "xor", "b")
GGAS_CUDA_RED(red_add_system, "sys", "add", "u")
GGAS_CUDA_RED(red_and_system, "sys", "and", "b")
GGAS_CUDA_RED(red_or_system, "sys", "or", "b")
GGAS_CUDA_RED(red_xor_system, "sys", "xor", "b")
#undef GGAS_CUDA_RED
__device__ __forceinline__ void red_add_system(float* p, float v) {
  asm volatile("red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}
__device__ __forceinline__ void red_add_system(double* p, double v) {
  asm volatile("red.relaxed.sys.global.add.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}
// Lanes that add the same number to the same word at the same time send one addition, because a word takes one every 2
// ns, from any lane. Other lanes send their own. Earlier accesses of each lane are before that addition, and later ones
// after it, as if each lane had made the addition itself (docs/memory-model.md).
template <class T>
__device__ __forceinline__ void red_add_system_together(T* p, same_t<T> v) {
  using bits = typename cuda_integer<T>::bits;
  const unsigned lanes = __activemask();
  int one_word = 0, one_value = 0;
  __match_all_sync(lanes, reinterpret_cast<unsigned long long>(p), &one_word);
  __match_all_sync(lanes, static_cast<bits>(v), &one_value);
  if (!one_word || !one_value) return red_add_system(p, v);
  int lane = 0;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  __syncwarp(lanes);
  if (lane == __ffs(static_cast<int>(lanes)) - 1)
    red_add_system(p, static_cast<T>(static_cast<bits>(v) * static_cast<bits>(__popc(lanes))));
  __syncwarp(lanes);
}
// The lanes of the warp that are here with the same key, if all are; else the own one.
__device__ __forceinline__ unsigned lanes_alike(uint64_t key) {
  const unsigned lanes = __activemask();
  int all = 0;
  __match_all_sync(lanes, static_cast<unsigned long long>(key), &all);
  return all ? lanes : 1u << lane_rank();
}
__device__ __forceinline__ unsigned bit_count(unsigned v) { return static_cast<unsigned>(__popc(v)); }
template <class T>
__device__ __forceinline__ T cas_gpu(T* p, same_t<T> expected, same_t<T> v) {
  using bits = typename cuda_integer<T>::bits;
  return static_cast<T>(atomicCAS(reinterpret_cast<bits*>(p), static_cast<bits>(expected), static_cast<bits>(v)));
}
template <class T>
__device__ __forceinline__ T cas_system(T* p, same_t<T> expected, same_t<T> v) {
  using bits = typename cuda_integer<T>::bits;
  return static_cast<T>(
      atomicCAS_system(reinterpret_cast<bits*>(p), static_cast<bits>(expected), static_cast<bits>(v)));
}

}  // namespace detail

#ifndef __CUDACC_RTC__
// Host: sets the context that kernels of the calling translation unit see on the current device, in constant memory of
// that unit. The copy is queued on `stream`, which must be one of the current device; kernels of other streams must be
// ordered after it. Returns the result of starting the copy. cudaErrorInvalidValue: the stride of the window is no
// power of two; cudaErrorNotSupported: the node has a NIC, and the program was built without GGAS_NIC;
// cudaErrorStreamCaptureUnsupported: the stream is being captured, and the graph would later copy from freed memory.
static inline cudaError_t set_device_context(const context& c, cudaStream_t stream) {
  cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
  if (cudaError_t e = cudaStreamIsCapturing(stream, &captured); e != cudaSuccess) return e;
  if (captured != cudaStreamCaptureStatusNone) return cudaErrorStreamCaptureUnsupported;
  if (!detail::nic_possible && (c.queues || c.quiet)) return cudaErrorNotSupported;
  constants all;
  if (!constants_of(c, all)) return cudaErrorInvalidValue;
  return cudaMemcpyToSymbolAsync(ggas_node_constants, &all, sizeof all, 0, cudaMemcpyHostToDevice, stream);
}
#endif

}  // namespace ggas
