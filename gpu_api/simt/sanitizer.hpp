// SPDX-License-Identifier: Apache-2.0
// Reports AddressSanitizer and ThreadSanitizer which stack runs. Every function is empty in a build without them.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define GGAS_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define GGAS_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GGAS_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define GGAS_TSAN 1
#endif
#endif

#ifdef GGAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef GGAS_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace ggas::simt::sanitizer {

#if defined(GGAS_ASAN) || defined(GGAS_TSAN)
inline constexpr bool active = true;
inline constexpr size_t stack_factor = 4;  // frames grow with red zones
#else
inline constexpr bool active = false;
inline constexpr size_t stack_factor = 1;
#endif

inline void unpoison([[maybe_unused]] void* p, [[maybe_unused]] size_t bytes) {
#ifdef GGAS_ASAN
  __asan_unpoison_memory_region(p, bytes);
#endif
}

// Around a switch: call `leave` before it with the new stack, and `arrive` after it on the new stack. `last` ends the
// old fiber.
inline void leave([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom, [[maybe_unused]] size_t bytes,
                  [[maybe_unused]] bool last = false) {
#ifdef GGAS_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : fake, bottom, bytes);
#endif
}
inline void arrive([[maybe_unused]] void* fake, [[maybe_unused]] const void** old_bottom = nullptr,
                   [[maybe_unused]] size_t* old_bytes = nullptr) {
#ifdef GGAS_ASAN
  __sanitizer_finish_switch_fiber(fake, old_bottom, old_bytes);
#endif
}

inline void* tsan_create() {
#ifdef GGAS_TSAN
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}
inline void tsan_destroy([[maybe_unused]] void* f) {
#ifdef GGAS_TSAN
  if (f) __tsan_destroy_fiber(f);
#endif
}
inline void* tsan_current() {
#ifdef GGAS_TSAN
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}
inline void tsan_switch([[maybe_unused]] void* f) {
#ifdef GGAS_TSAN
  __tsan_switch_to_fiber(f, 0);
#endif
}

}  // namespace ggas::simt::sanitizer
