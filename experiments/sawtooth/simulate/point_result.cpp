#include "experiments/sawtooth/simulate/point_result.hpp"

#include <new>
#include <utility>

#include "experiments/sawtooth/ranks/bytes.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/simulate/predicted_point.hpp"

namespace sawtooth::experiments {
namespace {

// "sets l2_ways 16 l2_hash xor ...": the L2 model with its parameters.
std::string l2_text(const CsvRow& key_cells) {
  std::string text = key_cells[result_column("l2")];
  for (size_t i = 0; i < key_column_count; ++i) {
    if (result_columns[i].kind != ColumnKind::parameter || key_cells[i].empty()) continue;
    text.append(" ").append(result_columns[i].name).append(" ").append(key_cells[i]);
  }
  return text;
}

}  // namespace

std::string PointResult::bytes() const {
  ByteWriter writer;
  writer.add(row).add(has_result).add(side_rows).add(method);
  return writer.bytes();
}

PointResult PointResult::of_bytes(const std::string& bytes) {
  ByteReader reader(bytes);
  PointResult result;
  result.row = reader.texts();
  result.has_result = reader.number<bool>();
  result.side_rows = reader.texts();
  result.method = reader.text();
  return result;
}

PointResult simulate_point(const SimulatedPoint& point, const SideTables& sides,
                           std::atomic<int64_t>& items_begun) {
  PredictedPoint predicted =
      predict_point(point.point, point.key_cells, &items_begun, point.rings.get());
  PointResult result{std::move(predicted.row), false, {}, ""};
  if (!predicted.prediction) return result;
  try {
    result.side_rows = sides.rows(point.key_cells, *predicted.prediction);
  } catch (const std::bad_alloc&) {
    result.row = row_without_result(point.key_cells, status_failed, "the memory is too small");
    return result;
  }
  result.has_result = true;
  if (!predicted.prediction->method.empty())
    result.method = l2_text(point.key_cells) + ": " + predicted.prediction->method;
  return result;
}

}  // namespace sawtooth::experiments
