#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/crypto/prepare.h"
#include "aasm/planner/policy_edit.h"
#include "aasm/planner/starter.h"
#include "aasm/schema/utf8.h"

#include "commands.h"
#include "exit_status.h"
#include "files.h"
#include "learned_runs.h"
#include "output_file.h"
#include "policy_findings.h"
#include "policy_in_use.h"
#include "print.h"

// `aasm policy learn`: what recorded runs asked for, as a change of their policy for a person to
// read (docs/decisions/0023).
namespace aasm::cli {
namespace {

using planner::Addition;
using planner::Asking;
using planner::LeftOut;
using planner::Lesson;
using planner::ResolvedPolicy;
using schema::Error;
using schema::ErrorCode;
using schema::JsonValue;
using schema::Result;

struct Place {
  Home home;
  std::string ledger;
  std::string workdir;
  std::string path;  // of the policy
};

std::string joined(const std::set<std::string>& words, std::size_t most) {
  std::string text;
  std::size_t shown = 0;
  for (const std::string& word : words) {
    if (shown++ == most) {
      return text + " and " + std::to_string(words.size() - most) + " more";
    }
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string asking_text(const Asking& by) {
  constexpr std::size_t kRunsShown = 3;
  return std::to_string(by.events) + (by.events == 1 ? " event (" : " events (") +
         joined(by.operations, by.operations.size()) + ") of run " + joined(by.runs, kRunsShown);
}

std::vector<planner::ListEntries> entries_of(const std::vector<Addition>& additions) {
  std::vector<planner::ListEntries> lists;
  for (const Addition& one : additions) {
    if (lists.empty() || lists.back().list != one.list) {
      lists.push_back({one.list, {}});
    }
    lists.back().entries.push_back({"learned: " + asking_text(one.by), one.value});
  }
  return lists;
}

// How many entries a list has, by the ids of its rules.
std::size_t entries_in(const ResolvedPolicy& policy, const std::string& list) {
  std::size_t count = 0;
  for (const schema::Requirement& requirement : policy.record.requirements) {
    for (const schema::PolicyRule& rule : requirement.rules) {
      if (rule.id.starts_with(list + "[")) {
        count = std::max<std::size_t>(count, std::stoul(rule.id.substr(list.size() + 1)) + 1);
      }
    }
  }
  return count;
}

// The id that the rule of an addition has in the changed policy.
std::vector<std::string> new_ids(const ResolvedPolicy& policy, const std::vector<Addition>& all) {
  std::map<std::string, std::size_t> next;
  std::vector<std::string> ids;
  for (const Addition& one : all) {
    const std::string list = planner::list_name(one.list);
    const auto at = next.emplace(list, entries_in(policy, list)).first;
    ids.push_back(list + "[" + std::to_string(at->second++) + "]");
  }
  return ids;
}

struct Changed {
  std::vector<planner::Insertion> insertions;
  ResolvedPolicy policy;
};

Result<Changed> change(const std::string& text, const Lesson& lesson, const Place& place) {
  Changed changed{AASM_TRY(planner::plan_insertions(text, entries_of(lesson.additions))), {}};
  changed.policy = policy_of_text(planner::apply_insertions(text, changed.insertions), place.path,
                                  place.workdir);
  if (changed.policy.record.state != schema::PolicyState::kEnforced) {
    return Error(ErrorCode::kUnsupported, "the changed policy does not load:\n" +
                                              planner::render_problems(changed.policy.problems));
  }
  return changed;
}

// The text is put in by its letters, so what came of it is looked at: nothing that was there is
// gone, and what is new allows single things.
Result<void> check_change(const ResolvedPolicy& before, const ResolvedPolicy& after) {
  for (const schema::Requirement& was : before.record.requirements) {
    const schema::Requirement* now = after.record.requirement_for(was.domain);
    for (const schema::PolicyRule& rule : was.rules) {
      if (now == nullptr ||
          std::none_of(now->rules.begin(), now->rules.end(), [&](const auto& one) {
            return one.effect == rule.effect && one.operation == rule.operation &&
                   one.selector == rule.selector;
          })) {
        return Error(ErrorCode::kUnsupported, "the change would take away rule " + rule.id);
      }
    }
  }
  for (const schema::Requirement& now : after.record.requirements) {
    const schema::Requirement* was = before.record.requirement_for(now.domain);
    const auto whole = [](const schema::Requirement& one) {
      return std::count_if(one.rules.begin(), one.rules.end(), [](const auto& rule) {
        return rule.selector.type == schema::SelectorType::kWhole;
      });
    };
    if (was == nullptr || whole(now) != whole(*was)) {
      return Error(ErrorCode::kUnsupported,
                   "the change would open " + std::string(schema::token(now.domain)));
    }
  }
  return {};
}

// A policy does not load whose paths to write are not there.
void leave_missing(Lesson& lesson) {
  std::vector<Addition> kept;
  for (Addition& one : lesson.additions) {
    if (one.list[1] == "write" && !planner::path_exists(one.what)) {
      lesson.left_out.push_back({planner::list_name(one.list) + " " + one.what,
                                 "it is not there, and a path to write has to be before the start",
                                 std::move(one.by)});
    } else {
      kept.push_back(std::move(one));
    }
  }
  lesson.additions = std::move(kept);
}

// Takes out of the lesson what `policy check` warns of. True: something was taken out.
bool leave_warned(const ResolvedPolicy& before, const Changed& changed, const Place& place,
                  Lesson& lesson) {
  const std::vector<std::string> ids = new_ids(before, lesson.additions);
  std::map<std::size_t, std::string> warned;
  for (const planner::PolicyFinding& one :
       findings_of(changed.policy, place.home, place.ledger, place.workdir)) {
    const auto id = std::find(ids.begin(), ids.end(), one.rule);
    if (id != ids.end()) {
      warned.emplace(static_cast<std::size_t>(id - ids.begin()), one.code + ": " + one.where.text);
    }
  }
  std::for_each(warned.rbegin(), warned.rend(), [&lesson](const auto& one) {
    const auto at = lesson.additions.begin() + static_cast<std::ptrdiff_t>(one.first);
    lesson.left_out.push_back({planner::list_name(at->list) + " " + at->what, one.second, at->by});
    lesson.additions.erase(at);
  });
  return !warned.empty();
}

std::string left_out_lines(const Lesson& lesson) {
  std::string text;
  for (const LeftOut& one : lesson.left_out) {
    text += "# not proposed: " + schema::escape_for_display(one.what) + ": " +
            schema::escape_for_display(one.reason) + "; " + asking_text(one.by) + "\n";
  }
  return text;
}

JsonValue lesson_json(const Lesson& lesson, const std::string& diff) {
  JsonValue::Array additions;
  for (const Addition& one : lesson.additions) {
    additions.push_back(JsonValue::Object{{"list", planner::list_name(one.list)},
                                          {"entry", one.what},
                                          {"events", one.by.events},
                                          {"runs", joined(one.by.runs, one.by.runs.size())}});
  }
  JsonValue::Array left;
  for (const LeftOut& one : lesson.left_out) {
    left.push_back(
        JsonValue::Object{{"what", one.what}, {"reason", one.reason}, {"events", one.by.events}});
  }
  return JsonValue::Object{{"schema", "aasm.policy.learn/1"},
                           {"additions", std::move(additions)},
                           {"not_proposed", std::move(left)},
                           {"diff", diff}};
}

Result<std::string> document_of(const PolicyLearnCommand& command, const LearnedRuns& runs,
                                const Place& place) {
  if (command.file.empty() && !runs.several.empty()) {
    return Error(ErrorCode::kInvalidArgument, runs.several + "; name the one to change: --policy");
  }
  if (place.path.empty()) {
    return Error(ErrorCode::kNotFound, "the run had no policy; name one to change: --policy");
  }
  std::string text = AASM_TRY(read_small_file(place.path, planner::kPolicyMaxBytes));
  if (command.file.empty() && crypto::sha256(schema::as_bytes(text)) != runs.document) {
    return Error(ErrorCode::kConflict, place.path +
                                           " has changed since the run; name what to change: "
                                           "--policy FILE");
  }
  return text;
}

Result<std::string> learned(const PolicyLearnCommand& command) {
  AASM_TRY(require_verified(command.common));
  ledger::LedgerReader reader = AASM_TRY(open_reader(command.common));
  const LearnedRuns runs = AASM_TRY(read_runs(reader, command.runs));
  const Home home = AASM_TRY(Home::locate());
  Place place{home, absolute_or_empty(command.common.ledger),
              runs.working_dir.empty() ? absolute_path(".") : runs.working_dir,
              command.file.empty() ? runs.policy_path : absolute_path(command.file)};
  const std::string text = AASM_TRY(document_of(command, runs, place));
  const ResolvedPolicy policy = policy_of_text(text, place.path, place.workdir);
  if (policy.record.state != schema::PolicyState::kEnforced || policy.record.extends) {
    return Error(
        ErrorCode::kUnsupported,
        place.path + " is not one document that states something: see 'aasm policy check'");
  }
  Lesson lesson =
      planner::learn(runs.asked, {policy, runs.working_dir, workspace_host(place.workdir).home,
                                  protected_paths(home, place.ledger, {}, policy)});
  leave_missing(lesson);
  Changed changed = AASM_TRY(change(text, lesson, place));
  while (leave_warned(policy, changed, place, lesson)) {
    changed = AASM_TRY(change(text, lesson, place));
  }
  AASM_TRY(check_change(policy, changed.policy));
  const std::string diff = planner::unified_diff(text, changed.insertions, place.path);
  if (command.common.format == Format::kJson) {
    return json_line(lesson_json(lesson, diff));
  }
  return left_out_lines(lesson) + (diff.empty() ? "# nothing to add\n" : diff);
}

Result<void> run(const PolicyLearnCommand& command) {
  const std::string text = AASM_TRY(learned(command));
  if (command.output.empty()) {
    return write_out(text);
  }
  return AASM_TRY(OutputFile::open(absolute_path(command.output))).write(text);
}

}  // namespace

int run_policy_learn(const PolicyLearnCommand& command) {
  crypto::prepare();
  const Result<void> done = run(command);
  if (!done) {
    print_err(error_line(done.error()));
    return kExitFailed;
  }
  return kExitOk;
}

}  // namespace aasm::cli
