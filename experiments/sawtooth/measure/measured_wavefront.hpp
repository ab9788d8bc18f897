// The wavefront of a real launch: what the order trace of the kernels recorded, as a table, and
// sampled in equal steps of time so that it is drawn like the simulator's.
// Plain C++: tests/experiments checks it without a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/results/wavefront_tables.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// One K/V tile of one item, as a CTA recorded it.
struct RecordedStep {
  int64_t worker = 0;        // CTA number
  int64_t items_before = 0;  // of this CTA
  int64_t item = 0;
  int64_t step = 0;  // of the item, from 0
  int64_t batch = 0, head = 0, q_tile = 0, kv_tile = 0;
  int64_t sm = 0;
  int64_t start_ns = 0;  // since the first step of the launch
};

/// One item, as the CTA recorded it that took it.
struct MeasuredItem {
  int64_t worker = 0;        // CTA number
  int64_t items_before = 0;  // of this CTA
  int64_t item = 0, steps = 0;
  int64_t start_ns = 0;  // since the first item of the launch
};

std::string item_trace_header();
/// A row an item: run_id, repetition, and the fields of MeasuredItem.
std::string item_trace_rows(const CsvRow& key_cells, int64_t repetition,
                            const std::vector<MeasuredItem>& recorded);

std::string order_trace_header();
/// A row a step: run_id, scan, and the fields of RecordedStep.
std::string order_trace_rows(const CsvRow& key_cells, const std::vector<RecordedStep>& recorded);

/// Median time between two steps of one item, ns: the unit of time of the sampled wavefront. Where
/// no item has two steps, that between items of a CTA, else of an SM; 1 where these have one each.
int64_t median_step_ns(const std::vector<RecordedStep>& recorded);

/// Median steps in which an item of the first `waves` waves is in flight.
int64_t steps_of_waves(const std::vector<RecordedStep>& recorded, int64_t workers, int64_t waves);

/// Which tile each worker stood at after 0, 1, 2 ... `steps` - 1 median steps; nothing before its
/// first step, nor from a median step after its last one's start on. With `slots` (launch = grid,
/// where every CTA has one item) the CTAs that followed each other in one place of an SM are one
/// worker, numbered in the order of their first starts. Throws UsageError where gaps between stamps
/// would take far more samples than there are stamps.
std::vector<WavefrontStep> sampled_wavefront(std::vector<RecordedStep> recorded, int64_t steps,
                                             bool slots);

}  // namespace sawtooth::experiments
