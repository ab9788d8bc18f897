#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/ladder/ladder.hpp"
#include "kernels/reference/attention_reference.hpp"

namespace sawtooth::kernels::ladder {
namespace {

constexpr int64_t element_size = 2;
constexpr unsigned char nan_byte = 0xff;  // bf16, fp16 and float of ones are NaN

uint16_t encode(float value, ElementType type) {
  if (type == ElementType::fp16) return __half_as_ushort(__float2half_rn(value));
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

float decode(uint16_t bits, ElementType type) {
  if (type == ElementType::fp16) return __half2float(__ushort_as_half(bits));
  return __bfloat162float(__ushort_as_bfloat16(bits));
}

/// Fills `values` and the device with the same rounded deviates.
DeviceBuffer random_tensor(std::vector<float>& values, ElementType type, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<uint16_t> bits(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    bits[i] = encode(normal(random), type);
    values[i] = decode(bits[i], type);
  }
  return to_device(bits);
}

/// Numbers [0, count) of the tiles to look at: all, or `wanted` different ones.
std::vector<int64_t> drawn_tiles(int64_t count, int64_t wanted, uint64_t seed) {
  std::vector<int64_t> tiles(static_cast<size_t>(count));
  std::iota(tiles.begin(), tiles.end(), 0);
  std::mt19937_64 random(seed);
  std::shuffle(tiles.begin(), tiles.end(), random);
  tiles.resize(static_cast<size_t>(std::min(count, wanted)));
  return tiles;
}

std::vector<float> part_of_tensor(const std::vector<float>& tensor, int64_t first_row,
                                  int64_t rows) {
  const auto begin = tensor.begin() + first_row * head_dim;
  return {begin, begin + rows * head_dim};
}

}  // namespace

CheckedRun::CheckedRun(const Problem& problem, uint64_t seed) : problem_(problem) {
  const std::string reason = refusal(1, problem);
  if (!reason.empty()) throw std::invalid_argument(reason);
  const int64_t rows = problem.batch * problem.heads * problem.seq_q;
  std::mt19937_64 random(seed);
  for (auto* tensor : {&q_, &k_, &v_}) tensor->resize(static_cast<size_t>(rows * head_dim));
  device_q_ = random_tensor(q_, problem.dtype, random);
  device_k_ = random_tensor(k_, problem.dtype, random);
  device_v_ = random_tensor(v_, problem.dtype, random);
  device_o_ = DeviceBuffer(rows * head_dim * element_size);
  device_lse_ = DeviceBuffer(rows * int64_t{sizeof(float)});
  const double scale = 1 / std::sqrt(double{head_dim});
  arguments_ = {.q = device_q_.as(),
                .k = device_k_.as(),
                .v = device_v_.as(),
                .o = device_o_.as(),
                .lse = device_lse_.as<float>(),
                .seq = problem.seq_q,
                .scale_log2 = static_cast<float>(scale * std::numbers::log2e)};
}

void CheckedRun::launch(int level, cudaStream_t stream) const {
  ladder::launch(level, problem_, arguments_, stream);
}

CheckedRun::Error CheckedRun::check(int level, int64_t tiles, uint64_t seed) const {
  for (const DeviceBuffer* result : {&device_o_, &device_lse_})
    SAWTOOTH_CUDA_CHECK(cudaMemset(result->as(), nan_byte, static_cast<size_t>(result->bytes())));
  launch(level);
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());

  // Rows of Q are independent of each other, so one Q tile against its head's K and V is a problem.
  Problem tile_problem = problem_;
  tile_problem.batch = tile_problem.heads = tile_problem.kv_heads = 1;
  tile_problem.seq_q = tile_rows;
  const bool has_lse = levels()[static_cast<size_t>(level - 1)].loop == Loop::kv_outer;
  const int64_t tiles_a_head = problem_.seq_q / tile_rows;
  const int64_t all_tiles = problem_.batch * problem_.heads * tiles_a_head;
  double squares = 0, reference_squares = 0, lse_error = 0;
  for (const int64_t tile : drawn_tiles(all_tiles, tiles, seed)) {
    const int64_t head_row = tile / tiles_a_head * problem_.seq_q;
    const ReferenceResult reference = attention_reference(
        tile_problem, 1 / std::sqrt(double{head_dim}),
        part_of_tensor(q_, tile * tile_rows, tile_rows),
        part_of_tensor(k_, head_row, problem_.seq_q), part_of_tensor(v_, head_row, problem_.seq_q));
    const auto o =
        to_host<uint16_t>(device_o_.as<uint16_t>() + tile * tile_elements, tile_elements);
    for (size_t i = 0; i < o.size(); ++i) {
      const double difference = decode(o[i], problem_.dtype) - reference.o[i];
      squares += difference * difference;
      reference_squares += reference.o[i] * reference.o[i];
    }
    if (!has_lse) continue;
    const auto lse = to_host<float>(device_lse_.as<float>() + tile * tile_rows, tile_rows);
    for (size_t i = 0; i < lse.size(); ++i) {
      const double difference = std::abs(lse[i] * std::numbers::ln2 - reference.lse[i]);
      // Written so that a NaN is kept.
      if (!(difference <= lse_error)) lse_error = difference;
    }
  }
  return {std::sqrt(squares / reference_squares), lse_error};
}

double allowed_error(int level, const Problem& problem) {
  const double one_rounding = problem.dtype == ElementType::fp16 ? 1e-3 : 5e-3;
  if (levels()[static_cast<size_t>(level - 1)].loop == Loop::kv_inner) return one_rounding;
  const double tiles = static_cast<double>(problem.seq_kv / tile_rows);
  return one_rounding * std::sqrt(1 + tiles / 3);
}

}  // namespace sawtooth::kernels::ladder
