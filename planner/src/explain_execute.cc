
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "aasm/schema/utf8.h"

#include "explaining.h"

// A file is executed by way of its "#!" interpreter and of the loader that an ELF file names; the
// kernel asks for the same rights on each of them.
namespace aasm::planner {
namespace {

using schema::Result;

// Interpreters that name interpreters: more are refused (fs/exec.c, ELOOP).
constexpr std::size_t kMaxInterpreters = 4;

Result<Explanation> explain_needed(const ExplainInput& input, const NeededFile& needed,
                                   WalkedPath* walked) {
  *walked = AASM_TRY(input.host.resolve(
      needed.path.front() == '/' ? needed.path : input.working_dir + "/" + needed.path));
  const schema::Selector object{schema::SelectorType::kPathPrefix,
                                schema::PathBytes(walked->resolved)};
  Action action{schema::Domain::kFilesystemRead, "execute", walked->resolved};
  const PolicySaying saying = what_policy_says(input, action, object, object);
  Explanation one = explain_action(input, std::move(action), saying);
  one.needed_as = needed.kind == NeededFile::Kind::kLoader ? "loader" : "interpreter";
  one.host_errno = !walked->exists        ? walked->os_errno
                   : walked->is_directory ? EACCES
                                          : input.host.permits(walked->resolved, X_OK);
  return one;
}

std::string shown(const std::string& path) {
  return "`" + schema::escape_for_display(path) + "`";
}

// What is not to be had of a needed file is not to be had of the file that needs it.
void take_over(Explanation& file, const Explanation& needed) {
  const bool open = file.verdict != ActionVerdict::kDenied;
  const bool worse =
      needed.verdict == ActionVerdict::kDenied || (needed.verdict == ActionVerdict::kNotEnforced &&
                                                   file.verdict != ActionVerdict::kNotEnforced);
  if (open && worse) {
    file.verdict = needed.verdict;
    file.view.os_errno = needed.view.os_errno;
    file.view.note = "it needs the " + needed.needed_as + " " + shown(needed.action.object) +
                     ", which " +
                     (needed.verdict == ActionVerdict::kDenied ? "is denied" : "policy denies");
    file.record = needed.record;
  }
  if (file.host_errno == 0) {
    file.host_errno = needed.host_errno;
  }
}

}  // namespace

Result<void> follow_execution(const ExplainInput& input, const std::string& program,
                              Explanation& answer, std::vector<std::string>& notes) {
  std::string current = program;
  for (std::size_t interpreters = 0; input.host.needs;) {
    const Result<NeededFile> needed = input.host.needs(current);
    if (!needed) {
      notes.push_back(shown(current) +
                      " cannot be read, so what else executing it takes is not known");
      return {};
    }
    const bool is_script = needed->kind == NeededFile::Kind::kInterpreter;
    interpreters += is_script ? 1 : 0;
    const bool refused =
        needed->kind == NeededFile::Kind::kRefused || interpreters > kMaxInterpreters;
    if (refused && answer.host_errno == 0) {
      answer.host_errno = interpreters > kMaxInterpreters ? ELOOP : ENOEXEC;
    }
    if (refused || needed->kind == NeededFile::Kind::kNone) {
      return {};
    }
    WalkedPath walked;
    Explanation one = AASM_TRY(explain_needed(input, *needed, &walked));
    take_over(answer, one);
    answer.needs.push_back(std::move(one));
    if (!is_script || !walked.exists || walked.is_directory) {
      return {};
    }
    current = walked.resolved;
  }
  return {};
}

}  // namespace aasm::planner
