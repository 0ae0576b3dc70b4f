  // SPDX-License-Identifier: Apache-2.0
  // Any node and context: a lookup tells whether it was marked and not forgotten since, however many nodes are met for the first time.
  (* anyconst *) logic [13:0] f_key;
  logic f_marked;            // marked and not forgotten
  logic f_looked, f_before;  // it was looked up last; marked then
  logic f_held;              // a mark that was not made must go on

  // What rma_target promises.
  always_comb begin
    if (f_held) assume (mark_i);
    if (re_i) assume (!mark_i && !forget_i);
    if (forget_i) assume (failed_o && !mark_i);
  end

  // The RAM, by its own proof.
  logic f_word, f_read;
  always_comb if (f_looked) assume (bit_failed == f_read);

  wire f_here = key_q == f_key;
  always_ff @(posedge clk_i) begin
    f_held <= !f_init && mark_i && !marked_o;
    if (write && at == f_key) f_word <= marked_o;
    if (f_here && marked_o) f_marked <= 1'b1;
    if (f_here && forget_i) f_marked <= 1'b0;
    if (re_i) begin
      f_looked <= {node_i, vpid_i} == f_key;
      f_before <= f_marked;
      f_read   <= f_word;
    end
    if (f_init) {f_looked, f_marked} <= '0;
  end

  always_comb begin
    if (!f_init) begin
      if (f_looked) assert (failed_o == f_before);
      // why
      if (f_looked) assert (f_here && (f_before ? known_then_q && f_read : !known_then_q || !f_read));
      if (known_q[f_key[13:8]]) assert (f_word == f_marked);
      else assert (!f_marked);
      if (walk_q != '0) assert (f_held && !known);
      if (walk_q > f_key[7:0] && key_q[13:8] == f_key[13:8]) assert (!f_word);
      if (known_then_q) assert (known);
    end
  end
