#include "sim/stack_distance.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined operands inside its own AVX-512 intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#endif

namespace sawtooth::sim {

bool vector_path_available(VectorPath path) {
  if (path != VectorPath::avx512) return true;
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
#else
  return false;
#endif
}

StackDistance::StackDistance(std::span<const AtomSize> sizes, VectorPath path)
    : path_(path == VectorPath::automatic && vector_path_available(VectorPath::avx512)
                ? VectorPath::avx512
                : path) {
  if (!vector_path_available(path)) {
    throw std::invalid_argument("stack distance: this CPU or build has no such vector path");
  }
  uint64_t unit = 0;
  uint64_t total = 0;
  for (const AtomSize& size : sizes) {
    if (size.lines == 0) throw std::invalid_argument("stack distance: an atom has no lines");
    unit = std::gcd(unit, uint64_t(size.lines));
    total += size.lines;
  }
  if (unit != 0) unit_lines_ = int64_t(unit);
  if (total / uint64_t(unit_lines_) > UINT32_MAX) {
    throw std::invalid_argument("stack distance: all atoms together have " + std::to_string(total) +
                                " lines, more than 2^32 units of " + std::to_string(unit_lines_) +
                                "; use larger tiles");
  }
  uint32_t digits = 0;
  weights_.reserve(sizes.size());
  for (const AtomSize& size : sizes) {
    weights_.push_back(uint32_t(size.lines / unit_lines_));
    digits |= weights_.back();
  }
  for (uint32_t digit = 0; digit < 32; ++digit) {
    if (digits >> digit & 1) planes_.push_back(digit);
  }
  slot_.assign(sizes.size(), never);
  allocate(initial_slots);
}

void StackDistance::allocate(uint64_t slots) {
  atom_of_.assign(slots, 0);
  uint64_t entries = slots / block_slots;
  bits_.assign(entries * planes_.size(), CacheLine{});
  level_count_ = 0;
  do {
    const uint64_t groups = (entries + fan_out - 1) / fan_out;
    levels_[level_count_++].assign(groups, Sums{});
    entries = groups;
  } while (entries > 1);
}

namespace {

/// Set bits of words[first] & mask and of all later words of a block, counted in bytes that are
/// summed at the end (Knuth, TAOCP 4A, 7.1.3): a byte of 8 words holds at most 64.
inline uint32_t popcount(const uint64_t* words, uint32_t first, uint64_t mask) {
  constexpr uint64_t pairs = 0x5555555555555555, fours = 0x3333333333333333;
  constexpr uint64_t bytes = 0x0f0f0f0f0f0f0f0f;
  uint64_t sum = 0;
  for (uint32_t word = first; word < 8; ++word, mask = ~uint64_t(0)) {
    uint64_t bits = words[word] & mask;
    bits -= bits >> 1 & pairs;
    bits = (bits & fours) + (bits >> 2 & fours);
    sum += (bits + (bits >> 4)) & bytes;
  }
  // A multiplication sums bytes up to 255 only; up to 512 bits need two steps.
  sum = (sum & 0x00ff00ff00ff00ff) + (sum >> 8 & 0x00ff00ff00ff00ff);
  return uint32_t(sum * 0x0001000100010001 >> 48);
}

}  // namespace

inline void StackDistance::append(AtomId atom, uint32_t weight) {
  CacheLine* lines = bits_of(now_ / block_slots);
  for (const uint32_t plane : planes_) {
    (lines++)->words[now_ % block_slots / 64] |= uint64_t(weight >> plane & 1) << (now_ % 64);
  }
  record(atom, weight);
}

/// What is left of a visit when the bits are set.
inline void StackDistance::record(AtomId atom, uint32_t weight) {
  slot_[atom] = now_;
  atom_of_[now_] = atom;
  open_weight_ += weight;
  if (++now_ % block_slots == 0) close_block();
}

void StackDistance::close_block() {
  uint32_t entry = now_ / block_slots - 1;
  for (int level = 0; level < level_count_; ++level, entry /= fan_out) {
    levels_[level][entry / fan_out].of[entry % fan_out] += open_weight_;
  }
  after_cursor_ += open_weight_;
  open_weight_ = 0;
}

void StackDistance::move_cursor(uint32_t block) {
  if (cursor_taken_ != 0) {
    uint32_t entry = cursor_;
    for (int level = 0; level < level_count_; ++level, entry /= fan_out) {
      levels_[level][entry / fan_out].of[entry % fan_out] -= cursor_taken_;
    }
  }
  cursor_ = block;
  cursor_taken_ = 0;
  after_cursor_ = 0;
  for (int level = 0; level < level_count_; ++level, block /= fan_out) {
    const Sums& sums = levels_[level][block / fan_out];
    for (uint32_t later = block % fan_out + 1; later < fan_out; ++later) {
      after_cursor_ += sums.of[later];
    }
  }
}

/// The rest of a visit, given the weight of the newer atoms in the atom's own block.
inline int64_t StackDistance::newer_than(uint32_t block, uint32_t newer, uint32_t weight) {
  if (block == now_ / block_slots) {
    open_weight_ -= weight;
  } else {
    if (block != cursor_) move_cursor(block);
    cursor_taken_ += weight;
    newer += after_cursor_ + open_weight_;
  }
  return newer * unit_lines_;
}

int64_t StackDistance::visit_scalar(AtomId atom) {
  if (now_ == atom_of_.size()) make_room();
  const uint32_t slot = slot_[atom];
  const uint32_t weight = weights_[atom];
  int64_t distance = cold;
  if (slot == never) {
    ++live_;
  } else if (slot + 1 == now_) {
    return 0;
  } else {
    CacheLine* lines = bits_of(slot / block_slots);
    const uint32_t word = slot % block_slots / 64;
    const uint64_t bit = uint64_t(1) << (slot % 64);
    uint32_t newer = 0;
    for (const uint32_t plane : planes_) {
      uint64_t* words = (lines++)->words;
      words[word] &= ~bit;
      newer += popcount(words, word, -bit) << plane;
    }
    distance = newer_than(slot / block_slots, newer, weight);
  }
  append(atom, weight);
  return distance;
}

#if defined(__x86_64__)

#define SAWTOOTH_AVX512 __attribute__((target("avx512f,avx512bw")))

namespace {

/// Set bits of each 64-bit word: the two digits of four bits of every byte, looked up (Mula, Kurz,
/// Lemire, "Faster Population Counts Using AVX2 Instructions", The Computer Journal 61(1), 2018).
SAWTOOTH_AVX512 inline __m512i popcount(__m512i bits) {
  const __m512i table =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i digit = _mm512_set1_epi8(15);
  const __m512i low = _mm512_shuffle_epi8(table, _mm512_and_si512(bits, digit));
  const __m512i high =
      _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(bits, 4), digit));
  return _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512());
}

}  // namespace

/// visit_scalar in vectors of a block. They are stored whole, even to change one bit, because a
/// vector load just after a narrower store to it would wait for the store to reach the cache.
SAWTOOTH_AVX512 int64_t StackDistance::visit_avx512(AtomId atom) {
  if (now_ == atom_of_.size()) make_room();
  const uint32_t slot = slot_[atom];
  const uint32_t weight = weights_[atom];
  int64_t distance = cold;
  if (slot == never) {
    ++live_;
  } else if (slot + 1 == now_) {
    return 0;
  } else {
    const auto word = __mmask8(1u << (slot % block_slots / 64));
    const uint64_t bit = uint64_t(1) << (slot % 64);
    __m512i later = _mm512_maskz_set1_epi64(__mmask8(-2 * int(word)), -1);
    later = _mm512_mask_set1_epi64(later, word, int64_t(-2 * bit));
    const __m512i own = _mm512_maskz_set1_epi64(word, int64_t(bit));
    __m512i newer = _mm512_setzero_si512();
    CacheLine* lines = bits_of(slot / block_slots);
    for (const uint32_t plane : planes_) {
      const __m512i bits = _mm512_load_si512(lines);
      const __m512i counts = popcount(_mm512_and_si512(bits, later));
      newer = _mm512_add_epi64(newer, _mm512_sll_epi64(counts, _mm_cvtsi32_si128(int(plane))));
      _mm512_store_si512(lines++, _mm512_andnot_si512(own, bits));
    }
    distance = newer_than(slot / block_slots, uint32_t(_mm512_reduce_add_epi64(newer)), weight);
  }
  const auto word = __mmask8(1u << (now_ % block_slots / 64));
  const __m512i own = _mm512_maskz_set1_epi64(word, int64_t(uint64_t(1) << (now_ % 64)));
  CacheLine* lines = bits_of(now_ / block_slots);
  for (const uint32_t plane : planes_) {
    const __m512i digit = weight >> plane & 1 ? own : _mm512_setzero_si512();
    _mm512_store_si512(lines, _mm512_or_si512(_mm512_load_si512(lines), digit));
    ++lines;
  }
  record(atom, weight);
  return distance;
}

#else

int64_t StackDistance::visit_avx512(AtomId atom) {
  return visit_scalar(atom);
}

#endif

/// Closes the gaps that later visits have left; the row grows with the number of atoms.
void StackDistance::make_room() {
  std::vector<AtomId> order = recency_order();
  uint64_t slots = atom_of_.size();
  while (order.size() * slots_per_atom > slots) slots *= 2;
  if (slots > never) throw std::runtime_error("stack distance: more than 2^30 atoms are live");
  allocate(slots);
  now_ = 0;
  open_weight_ = 0;
  cursor_ = never;
  cursor_taken_ = 0;
  for (size_t age = order.size(); age-- > 0;) append(order[age], weights_[order[age]]);
}

std::vector<AtomId> StackDistance::recency_order() const {
  std::vector<AtomId> order;
  order.reserve(live_);
  for (uint32_t slot = now_; slot-- > 0;) {
    if (slot_[atom_of_[slot]] == slot) order.push_back(atom_of_[slot]);
  }
  return order;
}

}  // namespace sawtooth::sim
