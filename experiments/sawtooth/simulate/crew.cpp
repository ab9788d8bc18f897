#include "experiments/sawtooth/simulate/crew.hpp"

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "experiments/sawtooth/ranks/ranks.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

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

// Messages to a rank: index and place of a point, or nothing at the end. Messages to rank 0: place,
// seconds, whether there is a result, and it, or else whether the user is to blame, and the error.
void RankZero::give(int rank, const SimulatedPoint& point) {
  ByteWriter message;
  message.add(point.index).add(point.place);
  ranks_.send(rank, message.bytes());
  ++under_way_;
}

void RankZero::collect(std::vector<Finished>& finished) {
  while (const auto message = ranks_.receive()) {
    --under_way_;
    const auto& [rank, bytes] = *message;
    ByteReader reader(bytes);
    const auto place = reader.number<size_t>();
    const auto seconds = reader.number<double>();
    Finished& one =
        finished.emplace_back(Finished{static_cast<size_t>(rank), place, seconds, {}, {}});
    if (reader.number<bool>()) {
      one.result = PointResult::of_bytes(reader.text());
      continue;
    }
    const bool is_usage = reader.number<bool>();
    const std::string what = reader.text();
    one.error = is_usage ? std::make_exception_ptr(UsageError(what))
                         : std::make_exception_ptr(
                               std::runtime_error("rank " + std::to_string(rank) + ": " + what));
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
    ByteReader reader(message);
    const auto index = reader.number<size_t>(), place = reader.number<size_t>();
    const auto begin = Clock::now();
    ByteWriter answer;
    const auto fail = [&](bool is_usage, const char* what) {
      answer.add(place).add(0.0).add(false).add(is_usage).add(std::string(what));
    };
    try {
      const std::string result = simulate(index).bytes();
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      answer.add(place).add(seconds).add(true).add(result);
    } catch (const UsageError& error) {
      fail(true, error.what());
    } catch (const std::exception& error) {
      fail(false, error.what());
    }
    ranks.send(0, answer.bytes());
  }
  ranks.finish();
}

}  // namespace sawtooth::experiments
