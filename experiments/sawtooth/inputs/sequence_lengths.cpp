#include "experiments/sawtooth/inputs/sequence_lengths.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/support/input_file.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/permutation.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view file_prefix = "file:";
constexpr std::string_view uniform_prefix = "uniform:";
constexpr int64_t longest_sequence = int64_t{1} << 40;
constexpr int64_t most_sequences = int64_t{1} << 20;

[[noreturn]] void refuse_lengths(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "' is not allowed");
}

int64_t length_of(std::string_view text) {
  const int64_t length = parse_count(trimmed(text));
  if (length > longest_sequence) refuse_lengths(text);
  return length;
}

struct Run {
  int64_t sequences = 1;
  int64_t length = 0;
};

Run run_of(std::string_view text) {
  const size_t times = text.find('x');
  if (times == std::string_view::npos) return {1, length_of(text)};
  const int64_t sequences = parse_count(trimmed(text.substr(0, times)));
  if (sequences < 1) refuse_lengths(text);
  return {sequences, length_of(text.substr(times + 1))};
}

std::vector<Run> runs_of(std::string_view list) {
  std::vector<Run> runs;
  int64_t sequences = 0;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find('+', begin), list.size());
    const Run run = run_of(list.substr(begin, end - begin));
    begin = end + 1;
    if (run.sequences > most_sequences - sequences) refuse_lengths(list);
    sequences += run.sequences;
    if (!runs.empty() && runs.back().length == run.length)
      runs.back().sequences += run.sequences;
    else
      runs.push_back(run);
  }
  return runs;
}

std::string text_of(const std::vector<Run>& runs) {
  std::string text;
  for (const Run& run : runs) {
    text += text.empty() ? "" : "+";
    if (run.sequences > 1) text += std::to_string(run.sequences) + "x";
    text += std::to_string(run.length);
  }
  return text;
}

std::string list_in(const std::string& path) {
  std::string list;
  for_each_line(path, [&](const std::string& text, int) {
    list.append(list.empty() ? "" : "+").append(text);
  });
  return list;
}

struct Uniform {
  int64_t low = 0;
  int64_t high = 0;
  uint64_t seed = 0;
};

Uniform uniform_of(std::string_view text) {
  const std::string_view bounds = text.substr(uniform_prefix.size());
  const size_t mark = bounds.find("..");
  const size_t colon = bounds.find(':');
  if (mark == std::string_view::npos || colon == std::string_view::npos || colon < mark)
    refuse_lengths(text);
  const Uniform uniform{length_of(bounds.substr(0, mark)),
                        length_of(bounds.substr(mark + 2, colon - mark - 2)),
                        static_cast<uint64_t>(parse_count(trimmed(bounds.substr(colon + 1))))};
  if (uniform.high < uniform.low) refuse_lengths(text);
  return uniform;
}

}  // namespace

std::string canonical_lengths(std::string_view text) {
  if (text.starts_with(file_prefix))
    return text_of(runs_of(list_in(std::string(text.substr(file_prefix.size())))));
  if (!text.starts_with(uniform_prefix)) return text_of(runs_of(text));
  const Uniform uniform = uniform_of(text);
  return std::string(uniform_prefix) + std::to_string(uniform.low) + ".." +
         std::to_string(uniform.high) + ":" + std::to_string(uniform.seed);
}

std::optional<int64_t> listed_sequences(const std::string& lengths) {
  if (lengths.starts_with(uniform_prefix)) return std::nullopt;
  int64_t sequences = 0;
  for (const Run& run : runs_of(lengths)) sequences += run.sequences;
  return sequences;
}

std::vector<int64_t> lengths_of(const std::string& lengths, int64_t batch) {
  std::vector<int64_t> all;
  if (!lengths.starts_with(uniform_prefix)) {
    for (const Run& run : runs_of(lengths))
      all.insert(all.end(), static_cast<size_t>(run.sequences), run.length);
    return all;
  }
  const Uniform uniform = uniform_of(lengths);
  const auto range = static_cast<uint64_t>(uniform.high - uniform.low + 1);
  for (int64_t i = 0; i < batch; ++i) {
    const uint64_t drawn = mix_seed(uniform.seed, static_cast<uint64_t>(i));
    all.push_back(uniform.low + static_cast<int64_t>(drawn % range));
  }
  return all;
}

}  // namespace sawtooth::experiments
