// Which reader and which writer.
#include "sim/trace/binary_reader.hpp"
#include "sim/trace/binary_writer.hpp"
#include "sim/trace/csv_reader.hpp"
#include "sim/trace/foreign_reader.hpp"
#include "sim/trace/text_writers.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {
namespace {

/// A reader with the stream that it reads.
class ReaderOfStream : public TraceReader {
 public:
  ReaderOfStream(std::unique_ptr<std::istream> stream, std::unique_ptr<TraceReader> reader)
      : stream_(std::move(stream)), reader_(std::move(reader)) {}
  bool next(TraceVisit& visit) override { return reader_->next(visit); }
  const TraceAtoms& atoms() const override { return reader_->atoms(); }
  bool begins_differ() const override { return reader_->begins_differ(); }
  const std::string& description() const override { return reader_->description(); }

 private:
  std::unique_ptr<std::istream> stream_;
  std::unique_ptr<TraceReader> reader_;
};

/// The first line that is not empty; leaves the stream as it was.
std::string first_line(std::istream& in) {
  constexpr size_t most = 4096;
  std::string line;
  in.clear();  // an empty file is at its end
  const auto place = in.tellg();
  for (int c = in.get(); c != std::istream::traits_type::eof() && line.size() < most;
       c = in.get()) {
    if (c != '\n')
      line += static_cast<char>(c);
    else if (!line.empty() && line != "\r")
      break;
    else
      line.clear();
  }
  in.clear();
  in.seekg(place);
  return line;
}

std::unique_ptr<TraceReader> open_plain(std::istream& in, const std::string& name,
                                        const TraceLimits& limits, uint32_t workers) {
  // No column of a CSV begins with the magic's capital.
  if (in.peek() == trace_magic.front())
    return std::make_unique<BinaryTraceReader>(in, name, limits);
  if (auto format = foreign_format(first_line(in)))
    return std::make_unique<ForeignTraceReader>(in, name, std::move(format), limits, workers);
  return std::make_unique<CsvTraceReader>(in, name, limits);
}

}  // namespace

std::unique_ptr<TraceReader> open_trace(std::istream& in, const std::string& name,
                                        const TraceLimits& limits, uint32_t workers) {
  auto decoded = decompressed(in, name);
  if (decoded == nullptr) return open_plain(in, name, limits, workers);
  auto reader = open_plain(*decoded, name, limits, workers);
  return std::make_unique<ReaderOfStream>(std::move(decoded), std::move(reader));
}

std::unique_ptr<TraceWriter> trace_writer(TraceFormat format, std::ostream& out,
                                          const std::string& description) {
  switch (format) {
    case TraceFormat::csv:
      return std::make_unique<CsvTraceWriter>(out);
    case TraceFormat::din:
      return std::make_unique<DinTraceWriter>(out);
    case TraceFormat::binary:
      break;
  }
  return std::make_unique<BinaryTraceWriter>(out, description);
}

}  // namespace sawtooth::sim
