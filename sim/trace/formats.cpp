// Which reader and which writer.
#include "sim/trace/binary_reader.hpp"
#include "sim/trace/binary_writer.hpp"
#include "sim/trace/csv_reader.hpp"
#include "sim/trace/text_writers.hpp"

namespace sawtooth::sim {

std::unique_ptr<TraceReader> open_trace(std::istream& in, const std::string& name,
                                        const TraceLimits& limits) {
  // No column of a CSV begins with the magic's capital.
  if (in.peek() == trace_magic.front()) {
    return std::make_unique<BinaryTraceReader>(in, name, limits);
  }
  return std::make_unique<CsvTraceReader>(in, name, limits);
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
