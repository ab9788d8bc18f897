#include "experiments/sawtooth/simulate/crew.hpp"

#include <exception>
#include <new>
#include <stdexcept>

#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/support/text.hpp"

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

using Finished = JobThreads::Finished;
using Clock = std::chrono::steady_clock;

// Rank 0 looks for messages so often: a look takes some 5 us, and workers have points for 50 ms.
constexpr std::chrono::microseconds rank_zero_pause{1000};

constexpr const char *point_result = "result", *usage_error = "usage";

CsvRow row_of(const std::string& message) {
  return parse_csv_record(message, "a message between ranks", 1);
}

}  // namespace

CsvRow PointResult::cells() const {
  CsvRow all{method, has_result ? "result" : "", std::to_string(row.size())};
  all.insert(all.end(), row.begin(), row.end());
  all.insert(all.end(), side_rows.begin(), side_rows.end());
  return all;
}

PointResult PointResult::of_cells(const CsvRow& cells) {
  const auto begin = cells.begin() + 3, end = begin + std::stol(cells.at(2));
  return {{begin, end}, !cells[1].empty(), {end, cells.end()}, cells[0]};
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

Crew::Crew(RankZero* ranks, size_t workers, const SideTables& sides)
    : ranks_(ranks), threads_(ranks == nullptr ? workers : 1, [&](Job& job) {
        return simulate_point(job, sides, *job.begun);
      }) {}

void Crew::give(size_t worker, Job job) {
  if (ranks_ != nullptr && worker > 0)
    ranks_->give(static_cast<int>(worker), job);
  else
    threads_.give(worker, std::move(job));
}

std::vector<Finished> Crew::collect(std::chrono::microseconds longest) {
  if (ranks_ == nullptr) return threads_.collect(longest);
  const auto end = Clock::now() + longest;
  for (;;) {
    std::vector<Finished> finished = threads_.collect(rank_zero_pause);
    ranks_->collect(finished);
    if (!finished.empty() || Clock::now() >= end) return finished;
  }
}

// Messages are rows of CSV. To a rank: index and place of a point, or nothing at the end. To rank
// 0: place, seconds, what there is, and the cells of a result, or the message of an error.
void RankZero::give(int rank, const SimulatedPoint& point) {
  ranks_.send(rank, csv_line({std::to_string(point.index), std::to_string(point.place)}));
  ++under_way_;
}

void RankZero::collect(std::vector<Finished>& finished) {
  while (const auto message = ranks_.receive()) {
    --under_way_;
    const auto& [rank, text] = *message;
    const CsvRow cells = row_of(text);
    Finished& one = finished.emplace_back(Finished{
        static_cast<size_t>(rank), std::stoull(cells.at(0)), std::stod(cells.at(1)), {}, {}});
    const std::string& what = cells.at(2);
    if (what == point_result)
      one.result = PointResult::of_cells({cells.begin() + 3, cells.end()});
    else if (what == usage_error)
      one.error = std::make_exception_ptr(UsageError(cells.at(3)));
    else
      one.error = std::make_exception_ptr(
          std::runtime_error("rank " + std::to_string(rank) + ": " + cells.at(3)));
  }
}

RankZero::~RankZero() {
  if (under_way_ > 0) return;
  for (int rank = 1; rank < ranks_.size(); ++rank) ranks_.send(rank, "");
  ranks_.finish();
}

void serve_rank_zero(const Ranks& ranks, const std::function<PointResult(size_t index)>& simulate) {
  for (;;) {
    const auto [from, message] = ranks.wait();
    if (message.empty()) break;
    const CsvRow cells = row_of(message);
    const auto begin = Clock::now();
    CsvRow answer{cells.at(1), "0"};
    try {
      const CsvRow result = simulate(std::stoull(cells.at(0))).cells();
      answer.at(1) = shortest(std::chrono::duration<double>(Clock::now() - begin).count());
      answer.emplace_back(point_result);
      answer.insert(answer.end(), result.begin(), result.end());
    } catch (const UsageError& error) {
      answer.insert(answer.end(), {std::string(usage_error), error.what()});
    } catch (const std::exception& error) {
      answer.insert(answer.end(), {"error", error.what()});
    }
    ranks.send(0, csv_line(answer));
  }
  ranks.finish();
}

}  // namespace sawtooth::experiments
