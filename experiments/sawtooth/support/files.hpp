// Files that are written and read.
//
// An output appears whole or not at all: written under a temporary name, then renamed. What is no
// regular file (a device, a pipe, standard output) is written to as it is. This class alone makes
// files that stay: it refuses to replace what the program reads, or writes as another output.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace sawtooth::experiments {

/// Where the bytes of an output go.
struct OutputPath {
  std::string path;  // links followed, so that a rename replaces the file and not a link to it
  bool replaceable = false;               // a regular file, or nothing yet
  std::optional<struct stat> there = {};  // whose mode and owner stay
};

/// Throws UsageError for a folder, "-", links without an end, and a file with further hard links,
/// which a rename would part. Not replaceable are also files that a link of /proc stands for, as
/// /dev/stdout does: others have them open.
OutputPath output_path(const std::string& path);

/// The whole path, whatever of it is there.
std::string without_links(const std::string& path);

/// The program reads `path` from now on: no output may take its place. Throws UsageError where one
/// is about to.
void note_input(const std::string& path);

/// Opens what an earlier run left under an output's name; nothing where there is none. Throws
/// UsageError for what is no regular file, as a link.
std::ifstream left_behind(const std::string& path);

/// Gives closed ones of standard input, output and error a place: else the first output would take
/// their number, and notes would go into it.
void open_standard_streams();

class RemovedOnSignal {
 public:
  /// As long as this lives, SIGINT, SIGTERM and SIGHUP remove `path`.
  explicit RemovedOnSignal(const std::string& path);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;

 private:
  size_t slot_;
};

/// Removes what is registered, for an end without destructors.
void remove_temporary_files();

/// Lets these signals remove what is registered and end the program with 130. A command that ends
/// cleanly by itself may replace the handlers.
void remove_files_on_signals();

class OutputFile {
 public:
  /// Makes PATH.sawtooth-tmp beside a file that can be replaced, new and locked, so that a second
  /// process is refused; one that a killed process left is replaced, a link there is refused. Opens
  /// other files. Throws UsageError where that is not possible, and for an input or another output.
  explicit OutputFile(const std::string& path);
  /// A file beside `of` that belongs to it: its name with `ending`, its mode.
  OutputFile(const OutputFile& of, std::string_view ending);
  /// Removes the temporary file unless commit() was called, as do signals that end the program.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// With links followed.
  const std::string& path() const { return target_.path; }
  bool replaceable() const { return target_.replaceable; }
  void write(const std::string& text) { stream_ << text; }
  std::ostream& stream() { return stream_; }
  /// Renames to PATH; throws std::runtime_error when writing failed (a full disk). What
  /// `stays_open` can be appended to where it now is.
  void commit(bool stays_open = false);
  /// What commit() put there goes, unless another process has put its own there since.
  void remove();

 private:
  void open(const std::string& name);

  explicit OutputFile(OutputPath target);

  OutputPath target_;
  bool is_claimed_ = false;
  std::string temporary_;
  int lock_ = -1;  // of the temporary file
  std::optional<RemovedOnSignal> temporary_removed_;
  std::ofstream stream_;
};

class OutputFolder {
 public:
  /// Makes the folder and opens files in it before the work; throws UsageError where it cannot be
  /// made or written into, and as they do.
  OutputFolder(const std::string& path, const std::vector<std::string>& names);
  /// All of the text of one of the names; files that get none stay as they were.
  void write(const std::string& name, const std::string& text);

 private:
  std::map<std::string, OutputFile> files_;
};

/// Where to write: standard output for "-", else `file`, which it opens.
std::ostream& opened(const std::string& path, std::optional<OutputFile>& file);

// Files that are read. What is read whole has a limit, and no output takes its place.

/// Bytes of the largest text of each kind that is read whole: some times the largest of use.
enum class TextLimit : uint64_t {
  table = uint64_t{1} << 30,     // the largest tables of results have some hundred megabytes
  list = uint64_t{1} << 28,      // lengths, pages and orders: some bytes each of up to 2^24
  settings = uint64_t{1} << 24,  // configurations and profiles have some kilobytes
};

/// Throws UsageError for a folder, for what cannot be read, and for an output of this program.
std::ifstream open_input(const std::string& path);

/// The whole file without a byte order mark; throws UsageError when it cannot be read or is larger.
std::string read_text_file(const std::string& path, TextLimit limit = TextLimit::table);

/// Calls `take` for each line of a list with its number, without what stands behind a # and without
/// outer blanks; lines that are empty then are left out.
void for_each_line(const std::string& path,
                   const std::function<void(const std::string& text, int line)>& take);

/// Whole numbers below `bound` with blanks between them; throws UsageError, "'WORD' is
/// `no_number`".
std::vector<int64_t> numbers_in(const std::string& text, int64_t bound, const std::string& place,
                                const std::string& no_number);

}  // namespace sawtooth::experiments
