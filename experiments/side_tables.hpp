// The long tables beside results.csv: counters by tensor, the miss curve and reuse distances.
// Every row begins with run_id, which leads to the point's row in results.csv.
#pragma once

#include <string>

#include "experiments/csv.hpp"
#include "sim/simulate.hpp"

namespace sawtooth::experiments {

std::string by_tensor_header();
/// A row a tensor: run_id, experiment, scan, tensor, and the ten counters of results.csv.
std::string by_tensor_rows(const CsvRow& key_cells, const sim::Prediction& prediction);

std::string miss_curve_header();
/// A row for each capacity at which fewer sectors miss than just below it, from 0 bytes on; it
/// holds up to the next row's capacity. Prefetches count as reads.
std::string miss_curve_rows(const CsvRow& key_cells, const sim::Prediction& prediction);

std::string histogram_header();
/// A row a tensor, access and distance; an empty distance is a first touch.
std::string histogram_rows(const CsvRow& key_cells, const sim::Prediction& prediction);

}  // namespace sawtooth::experiments
