#include "experiments/sawtooth/inputs/profile_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr auto sources =
    std::to_array<std::string_view>({"datasheet", "measured", "published", "assumed"});
constexpr auto word_keys =
    std::to_array<std::string_view>({"description", "base", "uuid-hash", "kernel-costs", "family"});
constexpr int most_bases = 4;  // a chain of files that is longer is a circle

// "value; source; note", where the note may have semicolons of its own.
Parameter parameter_of(const IniEntry& entry, const std::string& path) {
  const size_t first = entry.value.find(';'), second = entry.value.find(';', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    fail_at(path, entry.line, entry.key + ": needs 'value; source; note'");
  const std::string_view text = entry.value;
  Parameter parameter{entry.key, std::string(trimmed(text.substr(0, first))),
                      std::string(trimmed(text.substr(first + 1, second - first - 1))),
                      std::string(trimmed(text.substr(second + 1))), entry.line};
  if (std::ranges::find(sources, parameter.source) == sources.end())
    fail_at(path, entry.line,
            entry.key + ": source '" + parameter.source +
                "' is not allowed; allowed: datasheet, measured, published, assumed");
  if (parameter.note.empty()) fail_at(path, entry.line, entry.key + ": has no note");
  return parameter;
}

// Takes `before` and a whole number above 0 from the front of `text`.
bool take(std::string_view& text, std::string_view before, int64_t& number) {
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 1) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return true;
}

// Puts each of `parameters` in the place of the one of its key, or behind the others.
void put(const std::vector<Parameter>& parameters, std::vector<Parameter>& into) {
  for (const Parameter& parameter : parameters) {
    const auto known = std::ranges::find(into, parameter.key, &Parameter::key);
    if (known == into.end())
      into.push_back(parameter);
    else
      *known = parameter;
  }
}

// How good a model is on a GPU, and how its times differ from another one's, is not inherited.
bool is_inherited(const ProfileSection& section) {
  return !section.name.starts_with("judged") && section.name != "pace";
}

// What `file` says in the place of what its base says; notes tell which values are the base's.
ProfileFile merged(ProfileFile base, const std::string& base_name, ProfileFile file) {
  std::erase_if(base.sections, [](const ProfileSection& s) { return !is_inherited(s); });
  for (ProfileSection& section : base.sections)
    for (Parameter& parameter : section.parameters)
      parameter.note = base_name + ": " + parameter.note;
  for (const ProfileSection& section : file.sections) {
    auto known = std::ranges::find(base.sections, section.name, &ProfileSection::name);
    if (known == base.sections.end())
      known = base.sections.insert(known, {section.name, {}, section.line});
    known->line = section.line;
    put(section.parameters, known->parameters);
  }
  put(file.words, base.words);
  return {std::move(file.path), std::move(base.words), std::move(base.sections)};
}

ProfileFile own_lines(const std::string& path, std::string_view kind) {
  ProfileFile file{path, {}, {}};
  for (const IniSection& section : read_ini(path).sections) {
    if (section.name.empty() && section.entries.empty()) continue;
    const bool first = file.sections.empty();
    if (first != (section.name == kind))
      fail_at(path, section.name.empty() ? section.entries.front().line : section.line,
              "the first section, and it alone, is [" + std::string(kind) + "]");
    if (std::ranges::find(file.sections, section.name, &ProfileSection::name) !=
        file.sections.end())
      fail_at(path, section.line, "[" + section.name + "]: given twice");
    ProfileSection& known =
        file.sections.emplace_back(ProfileSection{section.name, {}, section.line});
    for (const IniEntry& entry : section.entries) {
      const bool word = first && std::ranges::find(word_keys, entry.key) != word_keys.end();
      std::vector<Parameter>& list = word ? file.words : known.parameters;
      if (std::ranges::find(list, entry.key, &Parameter::key) != list.end())
        fail_at(path, entry.line, entry.key + ": given twice");
      list.push_back(word ? Parameter{entry.key, entry.value, "", "", entry.line}
                          : parameter_of(entry, path));
    }
  }
  if (file.sections.empty())
    throw UsageError(path + ": has no section [" + std::string(kind) + "]");
  return file;
}

std::string content_of(const ProfileFile& file) {
  ContentHash content;
  for (const ProfileSection& section : file.sections) {
    if (section.name == "judged") continue;  // which says nothing of the GPU itself
    content.add_line("[" + section.name + "]");
    for (const Parameter& parameter : section.parameters)
      content.add_line(parameter.key).add_line(parameter.value);
  }
  return content.text(content_digits);
}

ProfileFile with_bases(const std::string& path, std::string_view kind, int bases_left) {
  ProfileFile file = own_lines(path, kind);
  if (const std::string base = file.word("base"); !base.empty()) {
    if (bases_left == 0) throw UsageError(path + ": base = " + base + ": bases form a circle");
    const auto base_path = std::filesystem::path(path).parent_path() / (base + ".ini");
    file = merged(with_bases(base_path.string(), kind, bases_left - 1), base, std::move(file));
  }
  file.content = content_of(file);
  return file;
}

}  // namespace

std::string ProfileFile::word(std::string_view key) const {
  const auto found = std::ranges::find(words, key, &Parameter::key);
  return found == words.end() ? std::string() : found->value;
}

ProfileFile read_profile_file(const std::string& path, std::string_view kind) {
  return with_bases(path, kind, most_bases);
}

std::string profile_text(const ProfileFile& file, const std::string& comment) {
  std::string text = "# " + one_line(comment) + "\n# key = value; source; note\n";
  for (const ProfileSection& section : file.sections) {
    text += "\n[" + section.name + "]\n";
    if (&section == &file.sections.front())
      for (const Parameter& word : file.words) text += ini_line(word.key, word.value);
    for (const Parameter& p : section.parameters)
      text += ini_line(p.key, p.value + "; " + p.source + "; " + p.note);
  }
  return text;
}

bool KernelScope::holds(int64_t other_head_dim, const Tiling& other, bool of_family) const {
  if (!tiling) return other_head_dim > head_dim;
  return of_family && other_head_dim == head_dim && other.q_rows == tiling->q_rows &&
         other.kv_rows == tiling->kv_rows;
}

std::optional<KernelScope> parse_kernel_scope(std::string_view section) {
  KernelScope scope;
  if (section == every_kernel) return scope;
  std::string_view rest = section;
  if (take(rest, "d>", scope.head_dim) && rest.empty()) return scope;
  rest = section;
  Tiling& tiling = scope.tiling.emplace();
  const bool shape = take(rest, "d", scope.head_dim) && take(rest, "-", tiling.q_rows) &&
                     take(rest, "x", tiling.kv_rows) && rest.empty();
  return shape ? std::optional(scope) : std::nullopt;
}

std::string kernel_section(int64_t head_dim, const Tiling& tiling) {
  std::ostringstream name;
  name << 'd' << head_dim << '-' << tiling.q_rows << 'x' << tiling.kv_rows;
  return name.str();
}

// Values of keys.

namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "'");
}

template <class Number>
Number checked(Number value, const ProfileBounds& bounds, std::string_view text) {
  if (!(double(value) >= bounds.low && double(value) <= bounds.high)) refuse(text);
  return value;
}

template <class Number>
Number number_or_refuse(std::string_view text) {
  const auto number = number_of<Number>(text);
  if (!number) refuse(text);
  return *number;
}

void parse(std::string_view text, const ProfileBounds& bounds, int64_t& value) {
  if (bounds.unit == ProfileUnit::count && text.size() > 1 && text.front() == '0') refuse(text);
  value = checked(bounds.unit == ProfileUnit::bytes ? parse_bytes(text) : parse_count(text), bounds,
                  text);
  if (bounds.unit == ProfileUnit::line && !std::has_single_bit(static_cast<uint64_t>(value)))
    refuse(text);
}

void parse(std::string_view text, const ProfileBounds& bounds, double& value) {
  value = checked(number_or_refuse<double>(text), bounds, text);
}

void parse(std::string_view text, const ProfileBounds&, bool& value) {
  if (text != "on" && text != "off") refuse(text);
  value = text == "on";
}

void parse(std::string_view text, const ProfileBounds& bounds, int& value) {
  value = checked(number_or_refuse<int>(text), bounds, text);
}

// A GPC, or a GPC and the first and the last of its TPCs.
void parse(std::string_view text, const ProfileBounds& bounds, sim::TpcRun& run) {
  const size_t colon = text.find(':'), dash = text.find('-');
  parse(text.substr(0, colon), bounds, run.gpc);
  if (colon == std::string_view::npos) return;
  if (dash == std::string_view::npos || dash < colon) refuse(text);
  int last_tpc = 0;
  parse(text.substr(colon + 1, dash - colon - 1), bounds, run.first_tpc);
  parse(text.substr(dash + 1), bounds, last_tpc);
  run.tpcs = last_tpc - run.first_tpc + 1;
  if (run.tpcs < 1) refuse(text);
}

void parse(std::string_view text, const ProfileBounds& bounds, sim::LinkRate& rate) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(text);
  rate.bytes = parse_bytes(text.substr(0, colon));
  if (rate.bytes < 1) refuse(text);
  parse(text.substr(colon + 1), bounds, rate.gb_per_s);
}

template <class Value>
void parse(std::string_view text, const ProfileBounds& bounds, std::optional<Value>& value) {
  parse(text, bounds, value.emplace());
}

template <class Value>
void parse(std::string_view text, const ProfileBounds& bounds, std::vector<Value>& values) {
  values.clear();
  for (const std::string& part : split_list(text)) {
    try {
      parse(part, bounds, values.emplace_back());
    } catch (const std::logic_error&) {
      throw std::invalid_argument("number " + std::to_string(values.size()));
    }
  }
}

void parse(std::string_view text, const ProfileBounds& bounds,
           std::vector<std::vector<int>>& lists) {
  lists.clear();
  while (true) {
    const size_t end = text.find('/');
    parse(text.substr(0, end), bounds, lists.emplace_back());
    std::vector<int> turns = lists.back();
    std::sort(turns.begin(), turns.end());
    for (size_t turn = 0; turn < turns.size(); ++turn)
      if (turns[turn] != static_cast<int>(turn)) refuse(text);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string allowed(const ProfileBounds& bounds, bool is_list) {
  const std::string range = " from " + shortest(bounds.low) + " to " + shortest(bounds.high);
  const std::string end = range + (is_list ? ", separated by commas" : "");
  switch (bounds.unit) {
    case ProfileUnit::count:
      return (is_list ? "whole numbers" : "a whole number") + end;
    case ProfileUnit::bytes:
      return "bytes" + range + ", such as 24MiB";
    case ProfileUnit::real:
      return (is_list ? "numbers" : "a number") + end;
    case ProfileUnit::flag:
      return "on, off";
    case ProfileUnit::line:
      return "32, 64, 128";
    case ProfileUnit::runs:
      return "GPCs and, after a colon, TPCs of them, such as 0:4-7, separated by commas";
    case ProfileUnit::rates:
      return "numbers" + range +
             " behind the bytes of a message and a colon, such as 8MiB:164, in rising order, "
             "separated by commas";
    case ProfileUnit::turns:
      return "for each size of a GPC the turns of its TPCs, each from 0 on once, separated by "
             "commas, sizes by /";
  }
  return {};
}

}  // namespace

void read_profile_value(std::string_view text, const ProfileBounds& bounds, ProfilePlace place) {
  try {
    std::visit([&](auto* value) { parse(text, bounds, *value); }, place);
  } catch (const std::logic_error& error) {
    const std::string_view what = error.what();
    const std::string part(what.starts_with("number ") ? what : "'" + std::string(text) + "'");
    const bool list = std::visit(
        [](auto* value) {
          return requires {
            value->clear();
          };
        },
        place);
    throw std::invalid_argument(part + " is not allowed; allowed: " + allowed(bounds, list));
  }
}

}  // namespace sawtooth::experiments
