#include "shapes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "aasm/planner/environment.h"
#include "aasm/planner/suggest.h"
#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxHost = 253;  // RFC 1035 section 2.3.4, in text form

Error bad(std::string_view text, const std::string& why) {
  return Error(ErrorCode::kMalformed,
               "`" + schema::escape_for_display(text.substr(0, 80)) + "` " + why);
}

bool lower_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

bool label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return lower_letter(c) || digit(c) || c == '-' || c == '_'; });
}

bool dotted_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxHost) {
    return false;
  }
  while (true) {
    const std::size_t dot = text.find('.');
    if (!label(text.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(dot + 1);
  }
}

bool bracketed_address(std::string_view text) {
  return text.size() > 4 && text.front() == '[' && text.back() == ']' &&
         text.find(':') != std::string_view::npos &&
         std::all_of(text.begin() + 1, text.end() - 1, [](char c) {
           return digit(c) || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
         });
}

bool host_shape(std::string_view host) {
  if (host == "*" || bracketed_address(host)) {
    return true;
  }
  return dotted_name(host.substr(0, 2) == "*." ? host.substr(2) : host);
}

bool port_shape(std::string_view text) {
  std::uint32_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, port);
  return fault == std::errc() && stop == end && port >= 1 && port <= 65535 &&
         std::to_string(port) == text;
}

// The colon before the port, not one inside [...].
std::size_t port_colon(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  const bool inside =
      bracket != std::string_view::npos && colon != std::string_view::npos && colon < bracket;
  return inside ? std::string_view::npos : colon;
}

constexpr const char* kHostHelp =
    "is no host pattern; write a name, *.suffix or *, and :port after it if it is not 443";

std::vector<std::string> capability_words() {
  return {"file_read",       "file_write",    "file_delete", "network_outbound",
          "network_inbound", "terminal_exec", "agent_spawn"};
}

}  // namespace

Result<std::string> host_pattern(const std::string& text) {
  const std::string value = lower(text);
  const std::size_t colon = port_colon(value);
  const std::string_view host = std::string_view(value).substr(0, colon);
  if (!host_shape(host) || value.find('/') != std::string::npos) {
    return bad(text, kHostHelp);
  }
  if (colon == std::string::npos) {
    return value + ":443";
  }
  if (!port_shape(std::string_view(value).substr(colon + 1))) {
    return bad(text, "has no port from 1 to 65535 after its colon");
  }
  return value;
}

Result<std::string> host_name_pattern(const std::string& text) {
  std::string value = lower(text);
  if (value != "*" && !dotted_name(value.substr(0, 2) == "*." ? value.substr(2) : value)) {
    return bad(text, "is no name to look up; write a name, *.suffix or *, without a port");
  }
  return value;
}

Result<std::string> host_or_range(const std::string& text) {
  std::string value = lower(text);
  const bool letters = std::all_of(value.begin(), value.end(), [](char c) {
    return lower_letter(c) || digit(c) ||
           std::string_view(".:-_/*[]").find(c) != std::string_view::npos;
  });
  if (value.empty() || value.size() > kMaxHost || !letters) {
    return bad(text, "is no host, address or range");
  }
  return value;
}

Result<std::string> address_and_port(const std::string& text) {
  const std::string value = lower(text);
  const std::size_t colon = port_colon(value);
  if (colon == std::string::npos || !port_shape(std::string_view(value).substr(colon + 1)) ||
      !host_shape(std::string_view(value).substr(0, colon))) {
    return bad(text, "is no address with a port; write it like 127.0.0.1:8080");
  }
  return value;
}

Result<std::string> environment_name(const std::string& text) {
  const auto letter = [](char c) { return lower_letter(c) || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool shaped =
      !text.empty() && letter(text.front()) &&
      std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
  if (!shaped) {
    return bad(text, text.find('*') == std::string::npos
                         ? "is no name of an environment variable"
                         : "is no name of an environment variable; patterns are not read, name "
                           "each variable");
  }
  if (sensitive_kind(text) == SensitiveKind::kSupervisorCredential) {
    return bad(text, "is a credential of the supervisor and is never passed on; remove it");
  }
  return text;
}

Result<std::string> syscall_name(const std::string& text, const SyscallVocabulary* vocabulary) {
  const bool group = !text.empty() && text.front() == '@';
  const std::string_view name = std::string_view(text).substr(group ? 1 : 0);
  const bool shaped = !name.empty() && (lower_letter(name.front()) || name.front() == '_') &&
                      std::all_of(name.begin(), name.end(), [&](char c) {
                        return lower_letter(c) || digit(c) || c == '_' || (group && c == '-');
                      });
  if (!shaped) {
    return bad(text, "is neither the name of a system call nor a group like @default");
  }
  if (vocabulary == nullptr ||
      (group ? vocabulary->known_group(text) : vocabulary->known_name(text))) {
    return text;
  }
  const std::vector<std::string> known = vocabulary->suggestions();
  const std::string hint = suggestion_text(text, known);
  return bad(
      text,
      (group ? "is no group of system calls known here" : "is no system call known here") + hint);
}

Result<std::string> capability_name(const std::string& text) {
  const std::vector<std::string> words = capability_words();
  if (std::find(words.begin(), words.end(), text) != words.end()) {
    return text;
  }
  for (const std::string_view prefix : {"mcp_tool:", "model:"}) {
    if (text.substr(0, prefix.size()) == prefix) {
      return text.size() > prefix.size() ? Result<std::string>(text)
                                         : bad(text, "names nothing after its colon");
    }
  }
  return bad(text, "is no capability" + suggestion_text(text, words));
}

}  // namespace aasm::planner
