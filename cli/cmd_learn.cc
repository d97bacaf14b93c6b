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
#include "learned_runs.h"
#include "output_file.h"
#include "policy_change.h"
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

std::string comment_of(const Addition& addition) {
  return "learned: " + asking_text(addition.by);
}

struct Changed {
  std::vector<ChangedDocument> documents;
  ResolvedPolicy policy;
};

Result<Changed> change(const ResolvedPolicy& before, const Lesson& lesson, const Place& place) {
  Changed changed{documents_of(before), {}};
  distribute(lesson.additions, changed.documents);
  AASM_TRY(plan_change(changed.documents, &comment_of));
  std::map<std::string, std::string> texts;
  for (const ChangedDocument& one : changed.documents) {
    texts[one.path] = planner::apply_insertions(one.text, one.insertions);
  }
  changed.policy = policy_of_texts(texts, place.path, place.workdir);
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

// Takes out of the lesson what a deny of the policy takes away again. True: there was such.
bool leave_denied(const Changed& changed, Lesson& lesson) {
  const auto denied =
      std::stable_partition(lesson.additions.begin(), lesson.additions.end(),
                            [&](const Addition& one) { return has_effect(changed.policy, one); });
  const bool any = denied != lesson.additions.end();
  std::for_each(denied, lesson.additions.end(), [&lesson](Addition& one) {
    lesson.left_out.push_back({planner::list_name(one.list) + " " + one.what,
                               "the policy denies it in another place", std::move(one.by)});
  });
  lesson.additions.erase(denied, lesson.additions.end());
  return any;
}

// Takes out of the lesson what `policy check` warns of. True: something was taken out.
bool leave_warned(const Changed& changed, const Place& place, Lesson& lesson) {
  std::map<std::size_t, std::string> warned;
  for (const planner::PolicyFinding& one :
       findings_of(changed.policy, place.home, place.ledger, place.workdir)) {
    for (std::size_t i = 0; i < lesson.additions.size(); ++i) {
      const std::vector<std::string> ids = new_ids(changed.documents, lesson.additions[i]);
      if (std::find(ids.begin(), ids.end(), one.rule) != ids.end()) {
        warned.emplace(i, one.code + ": " + one.where.text);
      }
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

// What is to be changed, as the runs had it.
Result<ResolvedPolicy> policy_to_change(const PolicyLearnCommand& command, const LearnedRuns& runs,
                                        const Place& place) {
  if (command.file.empty() && !runs.several.empty()) {
    return Error(ErrorCode::kInvalidArgument, runs.several + "; name the one to change: --policy");
  }
  if (place.path.empty()) {
    return Error(ErrorCode::kNotFound, "the run had no policy; name one to change: --policy");
  }
  ResolvedPolicy policy = policy_of_texts({}, place.path, place.workdir);
  if (policy.record.state == schema::PolicyState::kLoadFailed) {
    return Error(ErrorCode::kMalformed, policy.record.error);
  }
  if (command.file.empty()) {
    for (const planner::LoadedDocument& one : policy.documents) {
      const auto had = runs.documents.find(one.path);
      if (had == runs.documents.end() || had->second != one.digest) {
        return Error(ErrorCode::kConflict, one.path +
                                               " has changed since the run; name what to change: "
                                               "--policy FILE");
      }
    }
  }
  if (policy.record.state != schema::PolicyState::kEnforced) {
    return Error(ErrorCode::kUnsupported,
                 place.path + " is no policy that states something: see 'aasm policy check'");
  }
  return policy;
}

Result<std::string> learned(const PolicyLearnCommand& command) {
  const VerifiedTree verified = AASM_TRY(require_verified(command.common));
  ledger::LedgerReader reader = AASM_TRY(open_reader(command.common));
  const LearnedRuns runs = AASM_TRY(read_runs(reader, verified, command.runs));
  const Home home = AASM_TRY(Home::locate());
  Place place{home, absolute_or_empty(command.common.ledger),
              runs.working_dir.empty() ? absolute_path(".") : runs.working_dir,
              command.file.empty() ? runs.policy_path : absolute_path(command.file)};
  const ResolvedPolicy policy = AASM_TRY(policy_to_change(command, runs, place));
  Lesson lesson =
      planner::learn(runs.asked, {policy, runs.working_dir, workspace_host(place.workdir).home,
                                  protected_paths(home, place.ledger, {}, policy)});
  leave_missing(lesson);
  Changed changed = AASM_TRY(change(policy, lesson, place));
  while (leave_denied(changed, lesson) || leave_warned(changed, place, lesson)) {
    changed = AASM_TRY(change(policy, lesson, place));
  }
  AASM_TRY(check_change(policy, changed.policy));
  const std::string diff = diff_of(changed.documents);
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
