// SPDX-License-Identifier: Apache-2.0
`STREAM(stream_mux, out);
