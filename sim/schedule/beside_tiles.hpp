// What SMs read and write beside whole tiles: words of the scan `attach`, and rows past the end.
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// Adds the sector that every step writes to the l2_write_sectors of `other` and of all tensors,
/// or with request.atomic_words those that SMs receive to their sm_read_sectors; nothing under
/// other scans, or with loop = kv-outer, which has no such words.
void add_attach_words(const Request& request, Prediction& prediction);

// Rows of a tile that lie past its tensor's end. TMA fills them with zeros and asks L2 for none,
// but counts the whole box as received by the SM: 279,552 sectors more, exactly, where 364 items of
// 128 x 176 at D = 128 read 265 K/V tiles of 46,592 keys
// (experiments/data/h200/validation/development.csv).

/// Adds them to sm_read_sectors of Q, K and V and of all tensors, where request.whole_tiles says
/// so; nothing for sequences of lengths of their own or packed groups, whose tiles end elsewhere.
void add_rows_past_the_end(const Request& request, Prediction& prediction);

}  // namespace sawtooth::sim
