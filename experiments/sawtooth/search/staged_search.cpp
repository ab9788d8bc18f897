#include "experiments/sawtooth/search/staged_search.hpp"

#include <algorithm>
#include <iostream>
#include <random>

#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {
namespace {

std::string points_path(const std::string& path) {
  constexpr std::string_view ending = ".csv";
  if (path.empty() || path == "-") return "/dev/null";
  const size_t stem = path.size() - (path.ends_with(ending) ? ending.size() : 0);
  return path.substr(0, stem) + ".points.csv";
}

}  // namespace

Evaluations::Evaluations(const Settings& outputs, const std::string& path)
    : threads_(threads_of(value_or(outputs, "threads", ""))),
      quiet_(is_on(outputs, "quiet")),
      log_(points_path(path), old_rows(outputs)) {}

void Evaluations::start(const std::vector<Shape>& shapes) {
  std::vector<CsvRow> cells;
  for (const Shape& shape : shapes)
    for (const Candidate& candidate : shape.candidates) cells.push_back(candidate.key_cells);
  log_.refuse_changes(cells);
  log_.start();
}

std::vector<CsvRow> Evaluations::of(const std::vector<const Candidate*>& candidates,
                                    const std::string& what) {
  std::vector<const Candidate*> open;
  double work = 0;
  for (const Candidate* candidate : candidates) {
    const std::string key = row_key(candidate->key_cells);
    if (known_.contains(key)) continue;
    known_[key];  // once, where it comes twice
    if (log_.has(candidate->key_cells)) {
      known_[key] = log_.old_row(candidate->key_cells);
      log_.keep(candidate->key_cells);
      continue;
    }
    open.push_back(candidate);
    work += steps_of(*candidate);
  }
  if (!quiet_ && !open.empty()) std::cerr << what << ": " << open.size() << " to predict\n";
  Progress progress(open.size(), work, !quiet_);
  run_in_order(
      open.size(), threads_,
      [&](size_t i) { return predict_point(open[i]->point, open[i]->key_cells).row; },
      [&](size_t i, CsvRow row) {
        log_.append(row);
        known_[row_key(open[i]->key_cells)] = std::move(row);
        progress.advance(steps_of(*open[i]));
      },
      [&] { progress.draw(); });
  std::vector<CsvRow> rows;
  for (const Candidate* candidate : candidates)
    rows.push_back(known_.at(row_key(candidate->key_cells)));
  return rows;
}

void Evaluations::finish() {
  log_.finish();
}

namespace {

// "timed, halves", the model of a point.
std::string model_of(const Point& point) {
  return point.text("timing") + ", " + point.text("l2");
}

class Stages {
 public:
  Stages(const Shape& shape, const Goal& goal, const Budget& budget, const std::string& experiment,
         Catalog& catalog, Evaluations& evaluations)
      : shape_(shape),
        goal_(goal),
        budget_(budget),
        experiment_(experiment),
        catalog_(catalog),
        evaluations_(evaluations),
        random_(goal.seed) {
    result_.shape = &shape;
    for (const Candidate& candidate : shape.candidates)
      result_.verdicts.emplace_back().candidate = &candidate;
  }

  SearchedShape run() {
    leave_out_refused();
    leave_out_same_visits();
    const size_t distinct = open_.size();
    decide_usual();
    leave_out_beaten_by_bounds();
    const size_t affordable = most_decided();
    std::string how = "all decided";
    if (open_.size() > affordable && is_cheaper_to_screen()) {
      screen();
      how = std::to_string(screened_count_) + " screened";
      open_ = chosen(affordable);
    } else if (open_.size() > affordable && budget_.seconds) {
      std::vector<size_t> drawn = open_;
      draw(drawn, affordable);
      leave_out_but(drawn);
      how = std::to_string(drawn.size()) + " drawn";
    }
    decide(open_);
    rank(result_.verdicts, goal_);
    result_.summary = std::to_string(shape_.candidates.size()) + " schedules, " +
                      std::to_string(distinct) + " distinct, " + std::to_string(beaten_count_) +
                      " beaten by a bound, " + how + ", " + std::to_string(decided_count()) +
                      " decided";
    return std::move(result_);
  }

 private:
  Verdict& at(size_t i) { return result_.verdicts[i]; }
  static void prune(Verdict& verdict, std::string by, std::string why) {
    verdict.evaluated_by = std::move(by);
    verdict.why = std::move(why);
    verdict.row = row_without_result(verdict.candidate->key_cells, "pruned", "");
  }

  void leave_out_refused() {
    for (size_t i = 0; i < result_.verdicts.size(); ++i) {
      const std::string& refusal = at(i).candidate->point.refusal;
      if (refusal.empty()) {
        open_.push_back(i);
        continue;
      }
      at(i).why = refusal;
      at(i).row = row_without_result(at(i).candidate->key_cells, status_refused, refusal);
    }
  }

  void leave_out_same_visits() {
    std::map<std::string, size_t> first;
    if (shape_.usual_index) first.emplace(visits_key(*shape_.usual()), *shape_.usual_index);
    std::erase_if(open_, [&](size_t i) {
      const size_t other = first.emplace(visits_key(*at(i).candidate), i).first->second;
      if (other == i) return false;
      const Point& same = at(other).candidate->point;
      prune(at(i), "visits",
            "the visits of launch " + same.text("launch") + ", scan " + same.text("scan") +
                ", q-order " + same.text("q-order") + ", section " + same.text("section"));
      return true;
    });
  }

  void decide_usual() {
    if (shape_.usual_index) {
      decide({*shape_.usual_index});
    } else if (shape_.usual_outside) {
      Verdict usual;
      usual.candidate = &*shape_.usual_outside;
      usual.row = evaluations_.of({usual.candidate}, label("the usual schedule")).front();
      usual.evaluated_by = model_of(usual.candidate->point);
      usual.decided = usual.row[result_column("status")] == "ok";
      usual.why = "the usual schedule, outside of the space";
      result_.usual = std::move(usual);
    }
  }

  // What even the closed form of its balance makes slower than a schedule that is decided cannot
  // win.
  void leave_out_beaten_by_bounds() {
    if (!shape_.usual_index || !at(*shape_.usual_index).decided) return;
    const auto known = value_in(at(*shape_.usual_index).row, time_objective);
    double limit = goal_.minimise.name == time_objective.name ? 1 : infinite;
    for (const Constraint& constraint : goal_.constraints)
      if (constraint.of_best && constraint.objective.name == time_objective.name)
        limit = std::min(limit, constraint.limit);
    if (!known || limit == infinite) return;
    std::erase_if(open_, [&](size_t i) {
      if (at(i).decided) return false;
      const auto least = least_time_us(*at(i).candidate);
      if (!least || *least <= limit * *known) return false;
      prune(at(i), "bound",
            "takes at least " + fixed(*least, 2) + " us, the usual schedule " + fixed(*known, 2));
      ++beaten_count_;
      return true;
    });
  }

  double seconds_of(size_t i) { return steps_of(*at(i).candidate) / steps_a_second; }

  size_t most_decided() {
    if (budget_.evaluations) return static_cast<size_t>(*budget_.evaluations);
    double all = 0;
    for (const size_t i : open_) all += seconds_of(i);
    if (all <= *budget_.seconds) return open_.size();
    const double each = all / double(std::max<size_t>(1, open_.size()));
    return static_cast<size_t>(std::max(1.0, *budget_.seconds / 2 / each));
  }

  std::string label(const std::string& what) const {
    return shape_.name.empty() ? what : shape_.name + ": " + what;
  }

  // A problem that is small already is decided as it is.
  bool is_cheaper_to_screen() { return shortening(*at(open_.front()).candidate) > 1; }

  // Half of a budget in seconds is for this; more candidates than it pays for are drawn by seed.
  void screen() {
    const int64_t divisor = shortening(*at(open_.front()).candidate);
    std::vector<Candidate> screened;
    std::vector<size_t> drawn = open_;
    if (budget_.seconds) {
      const double each = seconds_of(open_.front()) / double(divisor * divisor);
      const auto most = static_cast<size_t>(std::max(1.0, *budget_.seconds / 2 / each));
      if (most < drawn.size()) draw(drawn, most);
    }
    screened.reserve(drawn.size());
    std::vector<const Candidate*> candidates;
    for (const size_t i : drawn) {
      screened.push_back(shortened(*at(i).candidate, divisor, experiment_, catalog_));
      candidates.push_back(&screened.back());
    }
    const auto rows = evaluations_.of(candidates, label("screening"));
    for (size_t k = 0; k < drawn.size(); ++k) {
      Verdict& verdict = at(drawn[k]);
      verdict.screened = value_in(rows[k], goal_.minimise);
      const auto text = [&](const char* key) { return screened[k].point.text(key); };
      if (!verdict.decided)
        verdict.evaluated_by =
            model_of(screened[k].point) + " on seq " + text("seq-q") + "x" + text("seq-kv");
      screened_rows_[drawn[k]] = rows[k];
    }
    screened_count_ = drawn.size();
    leave_out_but(drawn);
  }

  void leave_out_but(const std::vector<size_t>& drawn) {
    for (const size_t i : open_)
      if (!at(i).decided && std::ranges::find(drawn, i) == drawn.end())
        prune(at(i), "draw", "was not drawn, the budget is smaller than the space");
    open_ = drawn;
  }

  void draw(std::vector<size_t>& from, size_t most) {
    // std::shuffle is free to differ between libraries; this is not.
    for (size_t i = from.size(); i > 1; --i) std::swap(from[i - 1], from[random_() % i]);
    from.resize(most);
    std::ranges::sort(from);
  }

  double screened_value(size_t i, const Objective& objective) {
    const auto found = screened_rows_.find(i);
    if (found == screened_rows_.end()) return infinite;
    return value_in(found->second, objective).value_or(infinite);
  }

  std::vector<size_t> sorted_by(const std::vector<size_t>& from, const Objective& objective) {
    std::vector<size_t> sorted = from;
    std::ranges::stable_sort(sorted, {}, [&](size_t i) { return screened_value(i, objective); });
    return sorted;
  }

  std::string tile_of(size_t i) {
    const Point& point = at(i).candidate->point;
    return point.text("kernel") + " " + point.text("tile-q") + "x" + point.text("tile-kv") + " " +
           point.text("ctas-per-sm");
  }

  /// The best `most` of the screened ones: by the objective among those that the constraints seem
  /// to allow, and for each constraint that names the best the first few by its column.
  std::vector<size_t> chosen(size_t most) {
    constexpr double slack = 1.02;  // screening does not tell less apart
    std::vector<size_t> allowed = sorted_by(open_, goal_.minimise), kept;
    const auto keep = [&](const std::vector<size_t>& from, size_t count) {
      for (const size_t i : from) {
        if (count == 0 || kept.size() >= most) return;
        if (std::ranges::find(kept, i) != kept.end()) continue;
        kept.push_back(i);
        --count;
      }
    };
    // A shorter problem has other waves, by which tiles differ: each has some of its own decided.
    std::map<std::string, std::vector<size_t>> of_tiles;
    for (const size_t i : allowed) of_tiles[tile_of(i)].push_back(i);
    if (of_tiles.size() > 1)
      for (const auto& [tile, own] : of_tiles)
        keep(own, std::max<size_t>(1, most / (2 * of_tiles.size())));
    for (const Constraint& constraint : goal_.constraints) {
      const std::vector<size_t> by_column = sorted_by(open_, constraint.objective);
      const double best = screened_value(by_column.front(), constraint.objective);
      if (!constraint.of_best || best == infinite) continue;
      keep(by_column, std::max<size_t>(1, most / 4));
      std::erase_if(allowed, [&](size_t i) {
        return screened_value(i, constraint.objective) > slack * constraint.limit * best;
      });
    }
    keep(allowed, most);
    keep(sorted_by(open_, goal_.minimise), most);
    const double best = screened_value(sorted_by(open_, goal_.minimise).front(), goal_.minimise);
    for (const size_t i : open_) {
      if (at(i).decided || std::ranges::find(kept, i) != kept.end()) continue;
      const double value = screened_value(i, goal_.minimise);
      prune(at(i), at(i).evaluated_by,
            value == infinite
                ? "has no screened " + goal_.minimise.name
                : "screened " + goal_.minimise.name + " " + percent_above(value, best));
    }
    return kept;
  }

  void decide(const std::vector<size_t>& which) {
    std::vector<const Candidate*> candidates;
    for (const size_t i : which) candidates.push_back(at(i).candidate);
    const auto rows = evaluations_.of(candidates, label("deciding"));
    for (size_t k = 0; k < which.size(); ++k) {
      Verdict& verdict = at(which[k]);
      verdict.row = rows[k];
      verdict.evaluated_by = model_of(verdict.candidate->point);
      verdict.decided = value_in(rows[k], goal_.minimise).has_value();
      if (!verdict.decided) verdict.why = rows[k][result_column("message")];
    }
  }

  int64_t decided_count() const {
    return std::ranges::count_if(result_.verdicts, [](const Verdict& v) { return v.decided; });
  }

  const Shape& shape_;
  const Goal& goal_;
  const Budget& budget_;
  const std::string& experiment_;
  Catalog& catalog_;
  Evaluations& evaluations_;
  std::mt19937_64 random_;
  SearchedShape result_;
  std::vector<size_t> open_;  // verdicts that can still win
  std::map<size_t, CsvRow> screened_rows_;
  size_t screened_count_ = 0;
  int64_t beaten_count_ = 0;
};

}  // namespace

SearchedShape search_shape(const Shape& shape, const Goal& goal, const Budget& budget,
                           const std::string& experiment, Catalog& catalog,
                           Evaluations& evaluations) {
  return Stages(shape, goal, budget, experiment, catalog, evaluations).run();
}

}  // namespace sawtooth::experiments
