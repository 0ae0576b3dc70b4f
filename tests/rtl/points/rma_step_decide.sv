// SPDX-License-Identifier: Apache-2.0
// What becomes of a context: phases, actions and events.
module rma_step_decide_points (
    input wire logic clk_i, rst_ni, valid_o, valid_i,
    input wire logic [7:0] kind_o,
    input wire rma_requester_pkg::decided_t decided_o,
    input wire rma_requester_pkg::known_t known_i
);
  import rma_requester_pkg::*;
  // The phases that are missing here are entered as the step ends.
  `POINT(becomes_put, valid_o && decided_o.state.phase == PH_PUT);
  `POINT(becomes_park, valid_o && decided_o.state.phase == PH_PARK);
  `POINT(becomes_drain, valid_o && decided_o.state.phase == PH_DRAIN);
  `POINT(becomes_fetch, valid_o && decided_o.state.phase == PH_FETCH);
  `POINT(becomes_ready, valid_o && decided_o.state.phase == PH_READY);
  `POINT(becomes_answer, valid_o && decided_o.state.phase == PH_ANSWER);
  `POINT(becomes_pause, valid_o && decided_o.state.phase == PH_PAUSE);
  `POINT(was_idle, valid_i && known_i.state.phase == PH_IDLE);
  `POINT(was_put, valid_i && known_i.state.phase == PH_PUT);
  `POINT(was_park, valid_i && known_i.state.phase == PH_PARK);
  `POINT(was_drain, valid_i && known_i.state.phase == PH_DRAIN);
  `POINT(was_last, valid_i && known_i.state.phase == PH_LAST);
  `POINT(was_fetch, valid_i && known_i.state.phase == PH_FETCH);
  `POINT(was_ready, valid_i && known_i.state.phase == PH_READY);
  `POINT(was_answer, valid_i && known_i.state.phase == PH_ANSWER);
  `POINT(was_pause, valid_i && known_i.state.phase == PH_PAUSE);
  `POINT(was_note, valid_i && known_i.state.phase == PH_NOTE);
  `POINT(event_bad, valid_o && decided_o.act.event_code == EV_BAD);
  `POINT(event_protection, valid_o && decided_o.act.event_code == EV_PROTECTION);
  `POINT(event_timeout, valid_o && decided_o.act.event_code == EV_TIMEOUT);
  `POINT(event_unreachable, valid_o && decided_o.act.event_code == EV_UNREACHABLE);
  `POINT(event_retry_limit, valid_o && decided_o.act.event_code == EV_RETRY_LIMIT);
  `POINT(event_unexpected, valid_o && decided_o.act.event_code == EV_UNEXPECTED);
  `POINT(notified_by_desc, valid_o && (decided_o.act.note || decided_o.act.error)
         && decided_o.act.words == NW_DESC);
  `POINT(notified_by_answer, valid_o && (decided_o.act.note || decided_o.act.error)
         && decided_o.act.words == NW_ANSWER);
  `POINT(notified_by_lost, valid_o && (decided_o.act.note || decided_o.act.error)
         && decided_o.act.words == NW_LOST);
  `POINT(notified_by_record, valid_o && (decided_o.act.note || decided_o.act.error)
         && decided_o.act.words == NW_RECORD);
  `POINT(bad_descriptor, valid_i && known_i.todo.bad);
  `POINT(does_nothing, valid_i && known_i.todo.nop);
  `POINT(to_nowhere, valid_i && known_i.todo.nowhere);
  `POINT(to_itself, valid_i && known_i.todo.put && known_i.state.flags.own);
  `POINT(context_is_off, valid_i && !known_i.enabled);
  `POINT(gives_up, valid_o && decided_o.act.give_up);
  `POINT(gives_up_answers_and_the_held_one, valid_o && decided_o.act.give_up && decided_o.act.over);
  `POINT(repeats, valid_o && decided_o.act.retried);
  `POINT(ring_refuses_the_notification, valid_o && decided_o.act.keep);
  `POINT(second_notification_of_a_get, valid_o && decided_o.state.second);
  `POINT(completers_notification, valid_o && decided_o.act.note && decided_o.act.completer);
  `POINT(old_value, valid_o && decided_o.act.note && decided_o.act.answer_w0);
  `POINT(put_queued_behind_others, valid_o && decided_o.act.push_put);
  `POINT(express_queued, valid_o && decided_o.act.push_exp);
  `POINT(answers_full, valid_i && known_i.state.waits_full);
  `POINT(fetches_full, valid_i && known_i.state.fetch_full);
  `POINT(put_overlaps_the_one_before, valid_i && known_i.state.leads);
endmodule
bind rma_step_decide rma_step_decide_points i_points (.*);
