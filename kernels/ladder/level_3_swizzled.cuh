// Level 3: the same loop over a swizzled tile. The 16-byte chunks of a row are permuted by XOR
// with the row number modulo eight, so that one chunk column of eight rows falls on all 32 banks.
//
// K: a fragment word is read in eight rows (eight chunks, four words each: 32 banks).
// V: a pair is read in rows 0, 2, 4, 6, eight neighbours of one chunk (four chunks, four words
// each: 16 banks, two lanes a word). Both without conflict; copies of 16 bytes fill whole rows of
// chunks and never had one.
#pragma once

#include "kernels/ladder/level_2_pipelined.cuh"

namespace sawtooth::kernels::ladder {

struct SwizzledTile {
  SAWTOOTH_HD static constexpr int offset(int row, int column) {
    constexpr int rows_of_a_period = 8;  // eight chunks of 16 bytes are the 32 banks
    return row * head_dim + (column ^ (row % rows_of_a_period * chunk));
  }
};

template <class Element>
struct Swizzled : PipelinedLoop<Element, WordFragments<SwizzledTile>> {};

}  // namespace sawtooth::kernels::ladder
