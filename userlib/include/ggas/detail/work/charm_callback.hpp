// SPDX-License-Identifier: Apache-2.0
// Included by ggas/wr.h and hapi.h.
#pragma once

#include <functional>

#include "ggas/result.hpp"

// The result of a request, as a message; an error is passed in it. The pointer must remain valid until the callback was
// called.
struct CkCallback {
  std::function<void(const ggas::result<>&)> send;
  // With the message that hapiAddCallback() was given; not set: `send` is called.
  std::function<void(const ggas::result<>&, void* message)> send_message = {};
};
