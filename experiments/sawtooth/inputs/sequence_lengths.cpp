#include "experiments/sawtooth/inputs/sequence_lengths.hpp"

#include <algorithm>
#include <limits>

#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/permutation.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view file_prefix = "file:";
constexpr std::string_view uniform_prefix = "uniform:";
constexpr int64_t longest_sequence = int64_t{1} << 40;
constexpr int64_t most_sequences = int64_t{1} << 20;

int64_t length_of(std::string_view text) {
  const int64_t length = parse_count(trimmed(text));
  if (length > longest_sequence) refuse_value(text);
  return length;
}

struct Run {
  int64_t sequences = 1, length = 0;
};

Run run_of(std::string_view text) {
  const size_t times = text.find('x');
  if (times == std::string_view::npos) return {1, length_of(text)};
  const int64_t sequences = parse_count(trimmed(text.substr(0, times)));
  if (sequences < 1) refuse_value(text);
  return {sequences, length_of(text.substr(times + 1))};
}

std::vector<Run> runs_of(std::string_view list) {
  std::vector<Run> runs;
  int64_t sequences = 0;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find('+', begin), list.size());
    const Run run = run_of(list.substr(begin, end - begin));
    begin = end + 1;
    if (run.sequences > most_sequences - sequences) refuse_value(list);
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
  int64_t low = 0, high = 0;
  uint64_t seed = 0;
};

Uniform uniform_of(std::string_view text) {
  const std::string_view bounds = text.substr(uniform_prefix.size());
  const size_t mark = bounds.find("..");
  const size_t colon = bounds.find(':');
  if (mark == std::string_view::npos || colon == std::string_view::npos || colon < mark)
    refuse_value(text);
  const Uniform uniform{length_of(bounds.substr(0, mark)),
                        length_of(bounds.substr(mark + 2, colon - mark - 2)),
                        static_cast<uint64_t>(parse_count(trimmed(bounds.substr(colon + 1))))};
  if (uniform.high < uniform.low) refuse_value(text);
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

namespace {

constexpr std::string_view page_identity = "identity";
constexpr std::string_view page_shuffle_prefix = "shuffle:";
constexpr std::string_view page_file_prefix = "file:";

/// Where entry `page` of sequence `sequence` stands in the count of all pages; that of another
/// sequence where it is part of a prefix.
struct Entry {
  int64_t sequence = 0, page = 0;
};

class Entries {
 public:
  Entries(const Problem& problem, const Sequences& sequences, int64_t page_rows)
      : problem_(problem), sequences_(sequences), page_rows_(page_rows) {}

  int64_t pages(int64_t sequence) const {
    return pages_for(sequences_.of(problem_, sequence).seq_kv, page_rows_);
  }
  /// The sequence that has the page in memory.
  int64_t owner(const Entry& entry) const {
    return sequences_.prefix.owner(entry.sequence, entry.page, page_rows_);
  }
  template <class Function>
  void for_each(Function function) const {
    for (int64_t sequence = 0; sequence < problem_.batch; ++sequence)
      for (int64_t page = 0; page < pages(sequence); ++page) function(Entry{sequence, page});
  }

 private:
  const Problem& problem_;
  const Sequences& sequences_;
  int64_t page_rows_;
};

PageTable counted(const Entries& entries, PageTable table, const PageOrder& order) {
  const auto at = [&](int64_t sequence, int64_t page) -> int32_t& {
    return table.entries[static_cast<size_t>(sequence * table.stride + page)];
  };
  entries.for_each(
      [&](const Entry& entry) { table.count += entries.owner(entry) == entry.sequence ? 1 : 0; });
  if (table.count > std::numeric_limits<int32_t>::max())
    throw UsageError("page-rows: there are " + std::to_string(table.count) +
                     " pages; allowed: up to 2^31 - 1");
  int64_t place = 0;
  entries.for_each([&](const Entry& entry) {
    const int64_t owner = entries.owner(entry);
    at(entry.sequence, entry.page) = owner == entry.sequence
                                         ? static_cast<int32_t>(order.page(place++, table.count))
                                         : at(owner, entry.page);
  });
  return table;
}

PageTable read_table(const std::string& path, const Entries& entries, int64_t batch,
                     PageTable table) {
  int64_t sequence = 0;
  const auto skip_empty = [&] {
    while (sequence < batch && entries.pages(sequence) == 0) ++sequence;
  };
  for_each_line(path, [&](const std::string& text, int line) {
    const std::string place = path + ":" + std::to_string(line);
    const std::vector<int64_t> pages = numbers_in(text, std::numeric_limits<int32_t>::max(), place,
                                                  "no page; allowed: 0 to 2^31 - 2");
    skip_empty();
    if (sequence == batch)
      throw UsageError(place + ": there are more lines than sequences with keys");
    const int64_t needed = entries.pages(sequence);
    if (std::ssize(pages) < needed)
      throw UsageError(place + ": has " + std::to_string(pages.size()) + " pages; sequence " +
                       std::to_string(sequence) + " needs " + std::to_string(needed));
    std::transform(pages.begin(), pages.begin() + needed,
                   table.entries.begin() + sequence * table.stride,
                   [](int64_t page) { return static_cast<int32_t>(page); });
    ++sequence;
  });
  skip_empty();
  if (sequence < batch)
    throw UsageError(path + ": has no line for sequence " + std::to_string(sequence));
  return table;
}

void check_entries(const std::string& path, const Entries& entries, PageTable& table) {
  std::vector<int32_t> seen;
  entries.for_each([&](const Entry& entry) {
    const auto at = [&](int64_t sequence) {
      return table.entries[static_cast<size_t>(sequence * table.stride + entry.page)];
    };
    const int64_t owner = entries.owner(entry);
    if (owner == entry.sequence)
      seen.push_back(at(owner));
    else if (at(owner) != at(entry.sequence))
      throw UsageError(path + ": page " + std::to_string(entry.page) + " of sequence " +
                       std::to_string(entry.sequence) +
                       " is of the prefix; allowed: " + std::to_string(at(owner)) +
                       ", as sequence " + std::to_string(owner) + " has it");
  });
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end())
    throw UsageError(path + ": page " + std::to_string(*twice) +
                     " is there twice; allowed: once, but for the pages of a prefix");
  table.count = seen.empty() ? 0 : int64_t{seen.back()} + 1;
}

}  // namespace

std::string canonical_page_table(std::string_view text) {
  if (text == page_identity) return std::string(text);
  if (text.starts_with(page_file_prefix) && text.size() > page_file_prefix.size())
    return std::string(text);
  if (text.starts_with(page_shuffle_prefix))
    return std::string(page_shuffle_prefix) +
           std::to_string(parse_count(trimmed(text.substr(page_shuffle_prefix.size()))));
  refuse_value(text);
}

PageTable page_table_of(const std::string& text, const Problem& problem, const Sequences& sequences,
                        int64_t page_rows) {
  const Entries entries(problem, sequences, page_rows);
  PageTable table;
  table.stride = pages_for(problem.seq_kv, page_rows);
  table.entries.assign(static_cast<size_t>(problem.batch * table.stride), 0);
  if (text.starts_with(page_file_prefix)) {
    const std::string path = text.substr(page_file_prefix.size());
    table = read_table(path, entries, problem.batch, std::move(table));
    check_entries(path, entries, table);
    return table;
  }
  PageOrder order;
  if (text.starts_with(page_shuffle_prefix))
    order = {true, static_cast<uint64_t>(std::stoull(text.substr(page_shuffle_prefix.size())))};
  return counted(entries, std::move(table), order);
}

}  // namespace sawtooth::experiments
