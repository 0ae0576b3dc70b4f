// SPDX-License-Identifier: Apache-2.0
// Kernels of ggas-bench-work.
#pragma once

#include "ggas/work_table.hpp"

namespace ggas::bench {

GGAS_KERNEL(nothing, uint64_t* none);
// A thread that stays for so long.
GGAS_KERNEL(stay, uint64_t ns);
// Adds 1 to every element.
GGAS_KERNEL(increment, uint32_t* x, uint64_t n);

// A block that is busy for so long.
GGAS_KERNEL(busy, uint64_t ns);
// Block b waits for a new number in orders[b], and answers with it in answers[b]; all ones end it.
GGAS_KERNEL(answer_words, const uint64_t* orders, uint64_t* answers);
// Gives the workers of a node `times` orders for `nothing`, each after the end of the one before, and one before these.
// `done`, in the caller's segment, gets tickets after `ticket`. *ns: the time of all but the first.
GGAS_KERNEL(order_in_turn, ggas_workers to, int node, int function, uint64_t* done, uint64_t ticket, uint64_t times,
            uint64_t* ns);
// Passes as many bytes as an order has back and forth by put with signal, as often. `room` is memory of signal_words,
// the other node's at `other_at` of its segment; the signals have the numbers after `last`.
GGAS_KERNEL(pass_signal, uint64_t* room, int other, uint64_t other_at, int leads, uint64_t last, uint64_t times,
            uint64_t* ns);
inline constexpr uint64_t signal_words = 16;
GGAS_WORKERS(bench_work);

}  // namespace ggas::bench
