#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "aasm/schema/json_value.h"
#include "aasm/schema/result.h"

namespace aasm::schema {

// Bytes that came from a file name, an argument or another foreign source: any bytes, lossless.
// In JSON: a string when valid UTF-8, else {"b64":"..."}; the reader refuses the second spelling
// of bytes that have the first.
class PathBytes {
 public:
  PathBytes() = default;
  explicit PathBytes(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  std::string display() const;  // escape_for_display()

  JsonValue to_json() const;
  static Result<PathBytes> from_json(const JsonValue& value);

  auto operator<=>(const PathBytes&) const = default;

 private:
  std::string bytes_;
};

}  // namespace aasm::schema
