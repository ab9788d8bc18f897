#include <algorithm>
#include <iostream>
#include <optional>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/search/search_table.hpp"
#include "experiments/sawtooth/search/staged_search.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

std::string place_in(const Settings& outputs, const std::string& key) {
  const auto found = outputs.find(key);
  return found == outputs.end() ? "--" + key : place_of(key, found->second.origin);
}

std::string text_or_default(const Settings& outputs, const std::string& key) {
  return value_or(outputs, key, find_option(key)->default_text);
}

Goal goal_of(const Settings& outputs) {
  Goal goal;
  goal.minimise =
      objective_named(text_or_default(outputs, "minimise"), place_in(outputs, "minimise"));
  goal.constraints =
      constraints_in(value_or(outputs, "subject-to", ""), place_in(outputs, "subject-to"));
  return goal;
}

// What all of it would take by the deciding model, to choose a budget by.
void print_estimate(const std::vector<Shape>& shapes) {
  double steps = 0;
  size_t schedules = 0;
  for (const Shape& shape : shapes)
    for (const Candidate& candidate : shape.candidates) {
      if (!candidate.point.refusal.empty()) continue;
      steps += steps_of(candidate);
      ++schedules;
    }
  std::cerr << "note: " << shapes.size() << (shapes.size() == 1 ? " shape, " : " shapes, ")
            << schedules << " schedules; to decide all would take about "
            << fixed(steps / steps_a_second, 0) << " s of one core\n";
}

bool has_runnable(const Shape& shape) {
  return std::ranges::any_of(
      shape.candidates, [](const Candidate& candidate) { return candidate.point.refusal.empty(); });
}

class Search {
 public:
  Search(const Settings& outputs, std::string experiment, const std::vector<Shape>& shapes,
         Catalog& catalog)
      : experiment_(std::move(experiment)),
        shapes_(shapes),
        catalog_(catalog),
        goal_(goal_of(outputs)),
        budget_(budget_of(text_or_default(outputs, "budget"), place_in(outputs, "budget"))),
        top_(static_cast<size_t>(std::stoull(text_or_default(outputs, "top")))),
        quiet_(is_on(outputs, "quiet")),
        path_(value_or(outputs, "csv", "")),
        evaluations_(outputs, path_) {
    goal_.seed = shapes.front().candidates.front().point.keys.seed;
    if (budget_.seconds) *budget_.seconds /= double(shapes.size());
    if (!path_.empty()) table_ = &opened(path_, table_file_);
    if (const std::string file = value_or(outputs, "best", ""); !file.empty())
      best_file_.emplace(file);
  }

  int run() {
    if (!quiet_) print_estimate(shapes_);
    evaluations_.start(shapes_);
    if (table_ != nullptr) *table_ << search_header();
    for (const Shape& shape : shapes_) search(shape);
    evaluations_.finish();
    if (table_file_) table_file_->commit();
    if (best_file_) {
      best_file_->write(configuration_of(best_));
      best_file_->commit();
    }
    return best_.size() == shapes_.size() ? exit_fine : exit_check_failed;
  }

 private:
  void search(const Shape& shape) {
    const SearchedShape found =
        search_shape(shape, goal_, budget_, experiment_, catalog_, evaluations_);
    const SpaceBounds bounds = bounds_of(shape);
    std::ostream& people = path_ == "-" ? std::cerr : std::cout;
    if (!quiet_) people << search_summary(found, bounds, top_) << "\n";
    if (table_ != nullptr) *table_ << search_rows(found, bounds);
    if (found.best() != nullptr) best_.push_back(found.best()->candidate);
  }

  std::string experiment_;
  const std::vector<Shape>& shapes_;
  Catalog& catalog_;
  Goal goal_;
  Budget budget_;
  size_t top_;
  bool quiet_;
  std::string path_;
  Evaluations evaluations_;
  std::vector<const Candidate*> best_;
  std::optional<OutputFile> table_file_, best_file_;  // opened before the work
  std::ostream* table_ = nullptr;
};

}  // namespace

int run_search(const Command& command, const Arguments& arguments) {
  const SweepArguments given = parse_sweep_arguments(command, arguments);
  Catalog catalog;
  const std::vector<Shape> shapes =
      search_space(given.configuration, given.command_line, given.experiment, catalog);
  for (const Shape& shape : shapes) {
    if (shape.candidates.front().point.request.problem.pass == Pass::backward)
      throw UsageError("pass: search has no bounds for backward; allowed: forward");
    if (shape.candidates.front().point.keys.has_lengths())
      throw UsageError(
          "lengths, q-lengths: search has no bounds for sequences of different "
          "lengths; allowed: seq-q, seq-kv");
    if (!shape.candidates.front().point.keys.mask.listed.empty())
      throw UsageError(
          "mask: search has no bounds for lists of tiles; allowed: none, causal, window:W");
    for (const Candidate& candidate : shape.candidates) {
      if (candidate.point.keys.pack_gqa)
        throw UsageError("pack-gqa: search shortens problems of single heads; allowed: off");
      if (candidate.point.keys.is_served())
        throw UsageError(
            "prefix, page-rows, cascade, kv-split: search has no bounds for shared prefixes, pages "
            "and equal shares; leave them out, kv-split: a number");
    }
  }
  if (std::ranges::none_of(shapes, has_runnable))
    throw Refusal(shapes.front().candidates.front().point.refusal);
  return Search(given.outputs, given.experiment, shapes, catalog).run();
}

}  // namespace sawtooth::experiments
