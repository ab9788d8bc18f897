#include "experiments/sawtooth/support/csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <unordered_set>

#include "experiments/sawtooth/support/files.hpp"

namespace sawtooth::experiments {
namespace {

// Takes records from a text, one call each.
class Reader {
 public:
  Reader(std::string_view text, const std::string& path, int line = 1)
      : text_(text), path_(path), line_(line) {}

  CsvRow record() {
    CsvRow cells;
    for (;;) {
      cells.push_back(at('"') ? quoted() : plain());
      if (at(',')) {
        ++at_;
        continue;
      }
      end_line();
      return cells;
    }
  }

  [[noreturn]] void fail(int line, size_t column, const std::string& what) const {
    throw UsageError(path_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                     what);
  }
  [[noreturn]] void fail(const std::string& what) const {
    fail(line_, at_ - line_begin_ + 1, what);
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  bool at(char c) const { return !at_end() && text_[at_] == c; }
  bool at_line_end() const { return at('\n') || (at('\r') && text_.substr(at_, 2) == "\r\n"); }

  void end_line() {
    if (at_end()) return;
    if (!at_line_end()) fail("a closing quote must be followed by ',' or the end of the line");
    at_ += at('\r') ? 2 : 1;
    ++line_;
    line_begin_ = at_;
  }

  std::string plain() {
    const size_t begin = at_;
    while (!at_end() && !at(',') && !at_line_end()) {
      if (at('"')) fail("a quote inside a field that does not begin with one");
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    const int first_line = line_;
    const size_t first_column = at_ - line_begin_ + 1;
    std::string cell;
    for (++at_;; ++at_) {
      if (at_end()) fail(first_line, first_column, "a quote that is never closed");
      if (at('"')) {
        ++at_;
        if (!at('"')) return cell;
      } else if (at('\n')) {
        ++line_;
        line_begin_ = at_ + 1;
      }
      cell += text_[at_];
    }
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0, line_begin_ = 0;
  int line_;
};

void require_header(const Reader& reader, const CsvRow& header) {
  std::unordered_set<std::string_view> names;
  for (const std::string& name : header) {
    if (name.empty())
      reader.fail(1, 1, "column " + std::to_string(names.size() + 1) + " has no name");
    if (!names.insert(name).second) reader.fail(1, 1, "column '" + name + "' is there twice");
  }
}

void require_length(const Reader& reader, int line, const CsvRow& row, const CsvRow& header) {
  if (row.size() == header.size()) return;
  reader.fail(
      line, 1,
      std::to_string(row.size()) + " cells; the header has " + std::to_string(header.size()));
}

// Cells of a record without quotes, into those of the row before.
void split_plain(std::string_view record, CsvRow& cells) {
  size_t cell = 0;
  for (size_t begin = 0;; ++cell) {
    const size_t comma = std::min(record.find(',', begin), record.size());
    if (cell == cells.size()) cells.emplace_back();
    cells[cell].assign(record.substr(begin, comma - begin));
    if (comma == record.size()) break;
    begin = comma + 1;
  }
  cells.resize(cell + 1);
}

}  // namespace

std::string csv_line(const CsvRow& cells) {
  if (cells == CsvRow{""}) return "\"\"\n";  // an empty line is no row
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    const bool plain = cell.find_first_of(",\"\r\n") == std::string::npos;
    if (plain && !cell.starts_with(byte_order_mark)) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  return line + '\n';
}

std::optional<size_t> column_of(const CsvRow& header, std::string_view name) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<size_t>(found - header.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& path) {
  CsvFile file(std::make_unique<std::istringstream>(std::string(text)), path);
  CsvTable table{path, file.header(), {}, {}};
  while (file.next()) {
    table.rows.push_back(file.cells());
    table.line_of_row.push_back(file.line());
  }
  return table;
}

CsvTable read_csv(const std::string& path) {
  return parse_csv(read_text_file(path), path);
}

CsvRow parse_csv_record(std::string_view record, const std::string& path, int line) {
  return Reader(record, path, line).record();
}

std::string CsvRecords::text(const CsvPlace& at) const {
  std::string record(at.length, '\0');
  std::ifstream& file = files_[at.file];
  file.seekg(static_cast<std::streamoff>(at.offset));
  file.read(record.data(), static_cast<std::streamsize>(record.size()));
  if (!file) throw std::runtime_error(path(at) + ": was changed while it was read");
  return record;
}

CsvFile::CsvFile(const std::string& path, bool may_end_early)
    : CsvFile(std::make_unique<std::ifstream>(open_input(path)), path, may_end_early) {}

CsvFile::CsvFile(std::unique_ptr<std::istream> text, const std::string& path, bool may_end_early)
    : path_(path), file_(std::move(text)), may_end_early_(may_end_early) {
  file_->exceptions(std::ios::badbit);  // what fails, for want of memory too, is no end of the file
  read_header();
}

void CsvFile::read_header() {
  const bool is_there = read_record();
  if (record_.starts_with(byte_order_mark)) record_.remove_prefix(byte_order_mark.size());
  if (!is_there || (record_.empty() && file_->eof())) {
    if (may_end_early_) return;
    throw UsageError(path_ + ":1:1: the file is empty; a header is needed");
  }
  header_ = parse_csv_record(record_, path_, line_);
  require_header(Reader(record_, path_), header_);
}

bool CsvFile::next() {
  while (read_record()) {
    if (record_.empty()) continue;  // an empty line
    if (record_.find('"') == std::string_view::npos)
      split_plain(record_, cells_);
    else
      cells_ = parse_csv_record(record_, path_, line_);
    require_length(Reader(record_, path_, line_), line_, cells_, header_);
    return true;
  }
  return false;
}

// Reads lines up to one that ends outside of quotes.
bool CsvFile::read_record() {
  offset_ += text_.size();
  line_ = next_line_;
  text_.clear();
  size_t quotes = 0;
  do {
    std::string line;
    const bool has_line = static_cast<bool>(std::getline(*file_, line));
    if (may_end_early_ && file_->eof()) return false;
    if (!has_line && text_.empty()) return false;
    if (!has_line) break;
    quotes += static_cast<size_t>(std::ranges::count(line, '"'));
    text_.append(line).append(file_->eof() ? "" : "\n");
    ++next_line_;
  } while (quotes % 2 == 1);
  record_ = text_;
  if (record_.ends_with('\n')) record_.remove_suffix(1);
  if (record_.ends_with('\r')) record_.remove_suffix(1);
  return true;
}

// Tables whose rows are structs.

namespace {

template <class... Kinds>
struct OneOf : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>
OneOf(Kinds...) -> OneOf<Kinds...>;

double finite_number(const std::string& text) {
  const auto value = number_of<double>(text);
  if (!value) throw std::invalid_argument("'" + text + "' is no number");
  return *value;
}

int64_t whole_number(const std::string& text) {
  if (const auto whole = number_of<int64_t>(text); whole && *whole >= 0) return *whole;
  constexpr double exact_below = 9007199254740992.0;  // 2^53
  const double value = finite_number(text);
  if (value < 0 || value >= exact_below)
    throw std::invalid_argument("'" + text + "' is no whole number from 0 on");
  return std::llround(value);
}

}  // namespace

std::string cell_text(const TypedCell& cell, int digits) {
  return std::visit(
      OneOf{[](const std::string* text) { return *text; },
            [](const int64_t* count) { return std::to_string(*count); },
            [&](const double* number) {
              std::array<char, 40> text{};
              if (std::isnan(*number)) return std::string();
              const auto end = std::to_chars(text.data(), text.data() + text.size(), *number,
                                             std::chars_format::general, digits);
              return std::string(text.data(), end.ptr);
            },
            [](const std::optional<int64_t>* count) {
              return *count ? std::to_string(**count) : std::string();
            },
            [](const std::vector<int64_t>* counts) {
              std::vector<std::string> texts;
              for (const int64_t count : *counts) texts.push_back(std::to_string(count));
              return join_list(texts, ";");
            },
            [](const NamedCell& name) { return std::string(name.names[*name.value]); }},
      cell);
}

void read_cell(const TypedCell& cell, const std::string& text) {
  std::visit(OneOf{[&](std::string* value) { *value = text; },
                   [&](int64_t* count) { *count = whole_number(text); },
                   [&](double* number) {
                     *number = text.empty() ? std::numeric_limits<double>::quiet_NaN()
                                            : finite_number(text);
                   },
                   [&](std::optional<int64_t>* count) {
                     *count = text.empty() ? std::nullopt : std::optional(whole_number(text));
                   },
                   [&](std::vector<int64_t>* counts) {
                     counts->clear();
                     for (size_t begin = 0; begin < text.size();) {
                       const size_t end = std::min(text.find(';', begin), text.size());
                       counts->push_back(whole_number(text.substr(begin, end - begin)));
                       begin = end + 1;
                     }
                   },
                   [&](const NamedCell& name) {
                     const auto found = std::ranges::find(name.names, text);
                     if (found == name.names.end())
                       throw std::invalid_argument(
                           "'" + text + "' is not allowed; allowed: " + join_list(name.names));
                     *name.value = static_cast<unsigned char>(found - name.names.begin());
                   }},
             cell);
}

}  // namespace sawtooth::experiments
