#include <cstdint>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

WorkCoordinates parse_line(const std::string& text, const std::string& path, int line) {
  constexpr int64_t any = INT64_MAX;
  const std::vector<int64_t> numbers = numbers_in(text, any, path + ":" + std::to_string(line),
                                                  "no index; a line is: batch head q_tile [part]");
  if (numbers.size() != 3 && numbers.size() != 4)
    fail_at(path, line,
            std::to_string(numbers.size()) + " numbers; a line is: batch head q_tile [part]");
  return {numbers[0], numbers[1], numbers[2], numbers.size() == 4 ? numbers[3] : 0};
}

std::string item_text(const WorkCoordinates& item, int64_t kv_split) {
  std::string text = std::to_string(item.batch) + " " + std::to_string(item.head) + " " +
                     std::to_string(item.own_tile);
  return kv_split > 1 ? text + " " + std::to_string(item.part) : text;
}

}  // namespace

void check_order(const std::vector<WorkCoordinates>& list, const Problem& problem,
                 const Tiling& tiling, const Schedule& schedule,
                 const std::function<std::string(size_t)>& place) {
  const Pass pass = problem.pass;
  const int64_t heads = problem.item_heads(pass);
  const int64_t ranks = schedule.loop == Loop::kv_outer ? 1 : item_tiles(problem, tiling, pass);
  const int64_t items = whole_item_count(problem, tiling, schedule);
  std::vector<bool> seen(static_cast<size_t>(items), false);
  for (size_t i = 0; i < list.size(); ++i) {
    const WorkCoordinates& item = list[i];
    const auto require_below = [&](const char* what, int64_t value, int64_t bound) {
      if (value >= 0 && value < bound) return;
      throw Refusal(place(i) + ": " + what + " " + std::to_string(value) +
                    " does not exist; allowed: 0 to " + std::to_string(bound - 1));
    };
    require_below("batch", item.batch, problem.batch);
    require_below("head", item.head, heads);
    require_below(pass == Pass::forward ? "q_tile" : "kv_tile", item.own_tile, ranks);
    require_below("part", item.part, schedule.kv_split);
    const int64_t head = (item.batch * heads + item.head) * schedule.kv_split + item.part;
    const auto index = static_cast<size_t>(head * ranks + item.own_tile);
    if (seen[index])
      throw UsageError(place(i) + ": '" + item_text(item, schedule.kv_split) + "' is there twice");
    seen[index] = true;
  }
  if (static_cast<int64_t>(list.size()) != items)
    throw Refusal(place(list.size()) + ": the order ends after " + std::to_string(list.size()) +
                  " of " + std::to_string(items) + " items; each item must be there once");
}

std::vector<WorkCoordinates> read_order_file(const std::string& path, const Problem& problem,
                                             const Tiling& tiling, const Schedule& schedule) {
  std::vector<WorkCoordinates> list;
  std::vector<int> line_of_item;
  for_each_line(path, [&](const std::string& text, int line) {
    list.push_back(parse_line(text, path, line));
    line_of_item.push_back(line);
  });
  line_of_item.push_back(line_of_item.empty() ? 1 : line_of_item.back());
  check_order(list, problem, tiling, schedule,
              [&](size_t i) { return path + ":" + std::to_string(line_of_item[i]); });
  return list;
}

}  // namespace sawtooth::experiments
