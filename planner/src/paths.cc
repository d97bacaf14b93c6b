#include "aasm/planner/paths.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::string_view kWorkdir = "${WORKDIR}";
constexpr std::string_view kHome = "${HOME}";
constexpr std::size_t kMaxPath = 4095;  // PATH_MAX counts the NUL
constexpr std::size_t kMaxName = 255;   // NAME_MAX

// Enough of a path to find it by.
std::string_view cut(std::string_view text) {
  constexpr std::size_t kShown = 80;
  return text.substr(0, kShown);
}

Error bad_path(std::string_view text, const std::string& why) {
  const char* end = cut(text).size() < text.size() ? "...` " : "` ";
  return Error(ErrorCode::kMalformed, "`" + schema::escape_for_display(cut(text)) + end + why);
}

Result<std::vector<std::string_view>> components(std::string_view text, std::string_view shown) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('/'));
    text.remove_prefix(part.size() == text.size() ? part.size() : part.size() + 1);
    if (part == "..") {
      return bad_path(shown, "goes up with `..`; write the path it means");
    }
    if (part.size() > kMaxName) {
      return bad_path(shown, "has a name of " + std::to_string(part.size()) +
                                 " bytes, and a name has at most 255");
    }
    if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  return parts;
}

Result<std::string> normalise(std::string_view path, std::string_view shown) {
  if (path.find('\0') != std::string_view::npos) {
    return bad_path(shown, "holds a NUL byte");
  }
  const std::vector<std::string_view> parts = AASM_TRY(components(path, shown));
  std::string normal;
  for (const std::string_view part : parts) {
    normal.append("/").append(part);
  }
  if (normal.size() > kMaxPath) {
    return bad_path(shown, "stands for " + std::to_string(normal.size()) +
                               " bytes, and a path has at most 4095");
  }
  return normal.empty() ? std::string("/") : normal;
}

// The value of the variable `text` starts with and what follows it.
Result<std::string> expand(std::string_view text, const PathContext& context) {
  if (text.substr(0, kWorkdir.size()) == kWorkdir) {
    return context.workdir + std::string(text.substr(kWorkdir.size()));
  }
  if (text.substr(0, kHome.size()) == kHome) {
    if (!context.home) {
      return bad_path(text, "needs a home directory and none is known here; write the path out");
    }
    return *context.home + std::string(text.substr(kHome.size()));
  }
  return std::string(text);
}

Result<void> check_variable(std::string_view text) {
  std::string_view rest = text;
  for (const std::string_view known : {kWorkdir, kHome}) {
    if (text.substr(0, known.size()) == known) {
      rest.remove_prefix(known.size());
      if (!rest.empty() && rest.front() != '/') {
        return bad_path(text, "follows a variable directly; a `/` belongs between");
      }
      break;
    }
  }
  if (rest.find("${") != std::string_view::npos) {
    return bad_path(text,
                    "uses a variable where none is read; `${WORKDIR}` and `${HOME}` are known, at "
                    "the start of a path");
  }
  return {};
}

}  // namespace

Result<std::string> policy_path(std::string_view text, const PathContext& context) {
  if (text.empty()) {
    return Error(ErrorCode::kMalformed, "an empty path");
  }
  AASM_TRY(check_variable(text));
  const std::string expanded = AASM_TRY(expand(text, context));
  if (expanded.empty() || expanded.front() != '/') {
    if (text.front() == '~' || text.substr(0, 5) == "$HOME") {
      return bad_path(text, "is not absolute; write `${HOME}` for the home directory");
    }
    return bad_path(text, "is not absolute; start it with `/`, `${WORKDIR}` or `${HOME}`");
  }
  return normalise(expanded, text);
}

Result<std::string> normalised_path(std::string_view text) {
  if (text.empty() || text.front() != '/') {
    return bad_path(text, "is not absolute");
  }
  return normalise(text, text);
}

bool path_covers(std::string_view upper, std::string_view path) {
  if (path.substr(0, upper.size()) != upper) {
    return false;
  }
  return path.size() == upper.size() || upper == "/" || path[upper.size()] == '/';
}

std::string directory_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

}  // namespace aasm::planner
