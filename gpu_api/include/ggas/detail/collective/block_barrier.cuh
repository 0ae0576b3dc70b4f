// SPDX-License-Identifier: Apache-2.0
// Barriers of single blocks: an exchange of lines without data on the channel of that number. Every thread that reports
// releases earlier stores, and every thread that receives acquires them. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/exchange.cuh"
#include "ggas/detail/sync/barrier_grid.cuh"

namespace ggas::detail {

GGAS_DEVICE unsigned barrier_indices() { return static_cast<unsigned>(own_layout().channels); }

template <meeting M>
GGAS_DEVICE ggas_arrival arrive(unsigned index, const ggas_team& team) {
  ggas_arrival a{};
  a.refused = !ggas_team_good(team) || index >= barrier_indices();
  if (a.refused) return a;
  a.at = find_channel(team, index);
  a.refused = !take_place(a.at.word, sizeof *a.at.word);
  if (a.refused) {
    a.left = refuse_meeting<M>(team);
    return a;
  }
  __syncthreads();  // what every thread did before comes before the fences of those that report
  ggas_status mine = a.at.failed ? ggas_broken : ggas_ok;
  if (M == meeting::barrier && nic_page()) mine = block_status(thread_rank() == 0 ? settle_stores() : mine);
  a.left = mine;
  if (mine != ggas_ok) return a;
  if (M == meeting::barrier && static_cast<int>(thread_rank()) + 1 < team.size) release_stores();
  tell_all(a.at, 0);
  look_for_failure(a.at);
  return a;
}

template <meeting M>
GGAS_DEVICE ggas_status await(ggas_arrival& a, uint64_t timeout_ns) {
  if (a.refused) return ggas_bad_argument;
  poll_deadline end(timeout_ns);
  ggas_status mine = a.left;
  if (mine == ggas_ok) {
    mine = hear_all(
        a.at,
        [&](int member, uint64_t) {
          if (M == meeting::barrier) acquire_line(a.at.inbox(member));
        },
        end);
  }
  a.refused = true;  // an arrival is waited for once
  const ggas_status s = close_channel(a.at, mine);
  give_place(a.at.word);
  return s;
}

template <meeting M>
GGAS_DEVICE ggas_status meet_at_index(uint64_t timeout_ns, const ggas_team& team, unsigned index) {
  ggas_arrival a = arrive<M>(index, team);
  return await<M>(a, timeout_ns);
}

}  // namespace ggas::detail
