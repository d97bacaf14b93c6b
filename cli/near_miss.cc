#include "near_miss.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "aasm/planner/suggest.h"
#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

using Words = std::vector<std::string>;

// Second words that are typed as the first.
struct Inner {
  std::string_view word;
  std::string_view command;
};
constexpr std::array kInner = {Inner{"check", "policy check"},   Inner{"explain", "policy explain"},
                               Inner{"list", "runs list"},       Inner{"show", "runs show"},
                               Inner{"status", "ledger status"}, Inner{"probe", "backends probe"},
                               Inner{"rotate", "key rotate"},    Inner{"replace", "key replace"},
                               Inner{"revoke", "key revoke"}};

constexpr const char* kForm = "; write: aasm run exec [options] -- PROG [ARGS...]";

bool is_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && word != "--";
}

// As it can be typed again. Long lines and words that a shell would take apart are left out.
std::string typed(const Words& words) {
  constexpr std::size_t kMostWords = 8;
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";
  std::string text;
  for (const std::string& word : words) {
    if (words.size() > kMostWords || word.empty() ||
        word.find_first_not_of(kPlain) != std::string::npos) {
      return "PROG ARGS...";
    }
    text += (text.empty() ? "" : " ") + word;
  }
  return text.empty() ? "PROG ARGS..." : text;
}

std::string meant(const std::string& command) {
  return "; did you mean `aasm " + command + "`?";
}

// `rest`: options of ours, "--" and a program, as far as they are there.
std::string run_of(const Words& rest) {
  const auto cut = std::find(rest.begin(), rest.end(), "--");
  if (cut != rest.end()) {
    const Words options(rest.begin(), cut);
    const Words program(std::next(cut), rest.end());
    return meant("run exec " + (options.empty() ? "" : typed(options) + " ") + "-- " +
                 typed(program));
  }
  return !rest.empty() && is_option(rest.front()) ? kForm : meant("run exec -- " + typed(rest));
}

std::optional<std::string> run_without_its_words(const Words& args) {
  const Words rest(args.empty() ? args.end() : std::next(args.begin()), args.end());
  if (args.empty() || (args[0] != "exec" && args[0] != "run")) {
    return std::nullopt;
  }
  if (args[0] == "exec" || rest.empty()) {
    return run_of(rest);
  }
  if (rest[0] == "exec") {
    const bool program = rest.size() > 1 && !is_option(rest[1]);
    return program ? std::optional(run_of(Words(std::next(rest.begin()), rest.end())))
                   : std::nullopt;
  }
  const std::array<std::string, 1> exec = {"exec"};
  return planner::nearest(rest[0], exec) ? run_of(Words(std::next(rest.begin()), rest.end()))
                                         : run_of(rest);
}

std::string nearest_word(const Words& args, const KnownWords& known) {
  for (const std::string& word : args) {
    const Words& all = is_option(word) ? known.options : known.commands;
    const std::string name = word.substr(0, word.find('='));
    if (std::find(all.begin(), all.end(), name) != all.end()) {
      continue;
    }
    if (const std::optional<std::string> found = planner::nearest(name, all)) {
      return "; did you mean `" + *found + "`?";
    }
  }
  return {};
}

std::string known_commands(const KnownWords& known) {
  std::string text;
  for (const std::string& one : known.commands) {
    text += (text.empty() ? "; it goes on with one of " : ", ") + one;
  }
  return text;
}

}  // namespace

std::string near_miss(const Words& args, const KnownWords& known) {
  if (std::optional<std::string> run = run_without_its_words(args)) {
    return *std::move(run);
  }
  const auto inner = std::find_if(kInner.begin(), kInner.end(), [&](const Inner& one) {
    return !args.empty() && args[0] == one.word;
  });
  if (inner != kInner.end()) {
    const Words rest(std::next(args.begin()), args.end());
    return meant(std::string(inner->command) + (rest.empty() ? "" : " " + typed(rest)));
  }
  std::string near = nearest_word(args, known);
  if (near.empty() && !args.empty() && args[0] == "run") {
    return kForm;
  }
  return near.empty() ? known_commands(known) : near;
}

}  // namespace aasm::cli
