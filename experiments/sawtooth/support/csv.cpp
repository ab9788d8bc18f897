#include "experiments/sawtooth/support/csv.hpp"

#include <algorithm>

#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// Some programs begin a file with it; it is no part of the first cell.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Takes records from a text, one call each.
class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  bool at_end() const { return at_ == text_.size(); }
  int line() const { return line_; }

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
  size_t at_ = 0;
  size_t line_begin_ = 0;
  int line_ = 1;
};

void require_header(const Reader& reader, const CsvRow& header) {
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i].empty()) reader.fail(1, 1, "column " + std::to_string(i + 1) + " has no name");
    if (std::count(header.begin(), header.end(), header[i]) > 1) {
      reader.fail(1, 1, "column '" + header[i] + "' is there twice");
    }
  }
}

}  // namespace

std::string csv_line(const CsvRow& cells) {
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

std::optional<size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<size_t>(found - header.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& path) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Reader reader(text, path);
  if (reader.at_end()) reader.fail("the file is empty; a header is needed");
  CsvTable table{path, reader.record(), {}, {}};
  require_header(reader, table.header);
  while (!reader.at_end()) {
    const int line = reader.line();
    CsvRow row = reader.record();
    if (row.size() == 1 && row.front().empty()) continue;  // an empty line
    if (row.size() != table.header.size()) {
      reader.fail(line, 1,
                  std::to_string(row.size()) + " cells; the header has " +
                      std::to_string(table.header.size()));
    }
    table.rows.push_back(std::move(row));
    table.line_of_row.push_back(line);
  }
  return table;
}

CsvTable read_csv(const std::string& path) {
  return parse_csv(read_text_file(path), path);
}

}  // namespace sawtooth::experiments
