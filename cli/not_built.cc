#include "not_built.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "aasm/schema/enum_names.h"
#include "aasm/schema/vocabulary.h"

namespace aasm::cli {
namespace {

constexpr std::array<std::string_view, 4> kTools = {"claude", "codex", "copilot", "windsurf"};
struct Missing {
  std::string_view option;  // or the words of a command
  std::string_view instead;
};
constexpr std::array kCommands = {
    Missing{"report",
            "`aasm run exec --report FILE` writes one, `aasm verify --run RUN` derives it"},
    Missing{"timeline", "`aasm runs show RUN` lists the records of a run"},
    Missing{"query", "`aasm runs show RUN --format json` gives the records of a run"},
    Missing{"runs diff", "`aasm runs show RUN --format json` gives the records of each run"},
    Missing{"backends provenance", "`aasm backends probe` says what was measured"},
    Missing{"ledger checkpoint", "each run ends with one; `aasm ledger status` counts them"},
    Missing{"ledger export", "copy ledger.db and ledger.db-wal together"},
    Missing{"ledger prune", "nothing is ever removed"}};
constexpr std::array kOptions = {
    Missing{"--no-proxy", "there is no proxy, so leave the option out: traffic is not inspected"},
    Missing{"--enforcement-mode=disabled", "`--isolation none` runs without a boundary"},
    Missing{"--bundle", "--receipt FILE writes the proof of one run"}};

}  // namespace

std::optional<std::string> not_built_yet(const std::vector<std::string>& args) {
  for (const Missing& one : kCommands) {
    const std::string two = args.size() < 2 ? std::string() : args[0] + " " + args[1];
    if (!args.empty() && (args[0] == one.option || two == one.option)) {
      return "error: `aasm " + std::string(one.option) + "` is not built in this version; " +
             std::string(one.instead) + "\n";
    }
  }
  if (args.size() < 2 || args[0] != "run") {
    return std::nullopt;
  }
  if (std::find(kTools.begin(), kTools.end(), args[1]) != kTools.end()) {
    return "error: `aasm run " + args[1] +
           "` is not built in this version; write: aasm run exec -- " + args[1] + " ARGS...\n";
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    const std::string with_value = i + 1 < args.size() ? word + "=" + args[i + 1] : word;
    for (const Missing& one : kOptions) {
      if (word == one.option || with_value == one.option ||
          word.starts_with(std::string(one.option) + "=")) {
        return "error: " + std::string(one.option) + " is not built in this version; " +
               std::string(one.instead) + "\n";
      }
    }
  }
  return std::nullopt;
}

std::string choices_for(const std::string& parser_message) {
  if (parser_message.find("--isolation = ") == std::string::npos) {
    return {};
  }
  std::string choices;
  for (const auto& entry : schema::EnumNames<schema::IsolationClass>::kTokens) {
    choices += (choices.empty() ? "; it is one of " : ", ") + std::string(entry.second);
  }
  return choices;
}

}  // namespace aasm::cli
