#include "aasm/planner/learn.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "aasm/planner/paths.h"
#include "aasm/schema/utf8.h"

#include "learn_network.h"
#include "learn_paths.h"

namespace aasm::planner {
namespace {

using schema::DecisionCause;
using schema::Domain;
using schema::Event;
using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;

using Paths = std::map<std::string, Asking>;

// Text that a policy can say: no character that a reader of the policy or a terminal acts on.
bool can_be_written(const std::string& text) {
  std::string shown = text;
  std::erase(shown, '\\');  // which quoted() doubles
  return schema::is_valid_utf8(text) && text.find("${") == std::string::npos &&
         schema::escape_for_display(shown) == shown;
}

std::string quoted(const std::string& text) {
  std::string yaml = "\"";
  for (const char one : text) {
    yaml += one == '"' || one == '\\' ? std::string("\\") + one : std::string(1, one);
  }
  return yaml + "\"";
}

class Learner {
 public:
  explicit Learner(const LearnContext& context) : context_(context), network_(context.policy) {}

  void take(const AskedEvent& asked) {
    const Event& event = asked.event;
    const Asking by{event.count, {asked.run}, {event.operation}};
    const std::string refused = why_never(event);
    if (!refused.empty()) {
      leave(about(event), refused, by);
      return;
    }
    switch (event.domain) {
      case Domain::kFilesystemRead:
        take_path(event.operation == "execute" && states_execution() ? executes_ : reads_, event,
                  event.object.path, by);
        return;
      case Domain::kFilesystemWrite:
        take_written(event, by);
        return;
      case Domain::kSyscall:
        event.object.name.starts_with("syscall_")
            ? leave(about(event), "it has no name that a policy could say", by)
            : add({"syscalls", "allow"}, event.object.name, by);
        return;
      case Domain::kNetworkEgress:
      case Domain::kNameResolution:
        network_.take(event, by);
        return;
      case Domain::kIpc:
        event.operation == "connect" && event.object.name.starts_with("/")
            ? add({"ipc", "unix_sockets", "allow"}, event.object.name, by)
            : leave(about(event), "no list of the policy opens it", by);
        return;
      case Domain::kProcessCreation:
        leave(about(event), "how many processes are enough cannot be told: raise processes.max",
              by);
        return;
      case Domain::kCredential:
      case Domain::kResource:
        return;
    }
  }

  Lesson finish() {
    add_paths({"filesystem", "read", "allow"}, reads_, false);
    add_paths({"filesystem", "write", "allow"}, writes_, true);
    add_paths({"filesystem", "execute", "allow"}, executes_, false);
    network_.finish(lesson_);
    for (auto& [key, by] : named_) {
      lesson_.additions.push_back({key.first, quoted(key.second), key.second, std::move(by)});
    }
    for (auto& [key, by] : left_) {
      lesson_.left_out.push_back({key.first, key.second, std::move(by)});
    }
    std::stable_sort(lesson_.additions.begin(), lesson_.additions.end(),
                     [](const Addition& a, const Addition& b) {
                       return std::tie(a.list, a.what) < std::tie(b.list, b.what);
                     });
    std::stable_sort(lesson_.left_out.begin(), lesson_.left_out.end(),
                     [](const LeftOut& a, const LeftOut& b) {
                       return std::tie(a.what, a.reason) < std::tie(b.what, b.reason);
                     });
    return std::move(lesson_);
  }

 private:
  const Requirement* stated(Domain domain) const {
    return requirement_on(context_.policy.record.requirements, domain);
  }

  bool states_execution() const {
    const Requirement* read = stated(Domain::kFilesystemRead);
    return read != nullptr &&
           std::any_of(read->rules.begin(), read->rules.end(),
                       [](const PolicyRule& rule) { return rule.operation == "execute"; });
  }

  // Empty: a list could allow it.
  std::string why_never(const Event& event) const {
    if (event.cause == DecisionCause::kHostPermission) {
      return "the host refuses it, whatever a policy says";
    }
    if (event.object.type == schema::ObjectType::kUnlisted) {
      return "which objects these were is not recorded: there were more than a run keeps apart";
    }
    const Requirement* requirement = stated(event.domain);
    if (requirement == nullptr) {
      return "the policy does not state " + std::string(schema::token(event.domain));
    }
    const bool denies = std::any_of(
        requirement->rules.begin(), requirement->rules.end(), [&event](const PolicyRule& rule) {
          return rule.id == event.rule && rule.effect == RuleEffect::kDeny;
        });
    return denies ? "rule " + event.rule + " of the policy denies it" : "";
  }

  static std::string about(const Event& event) {
    const schema::EventObject& object = event.object;
    const std::string name = object.path      ? object.path->display()
                             : object.address ? *object.address + ":" + std::to_string(*object.port)
                             : object.type == schema::ObjectType::kUnlisted
                                 ? "of many objects"
                                 : schema::escape_for_display(object.name);
    return std::string(schema::token(event.domain)) + " " + event.operation + " " + name;
  }

  void leave(const std::string& what, const std::string& reason, const Asking& by) {
    merge(left_[{what, reason}], by);
  }

  void add(std::vector<std::string> list, const std::string& value, const Asking& by) {
    if (can_be_written(value)) {
      merge(named_[{std::move(list), value}], by);
    } else {
      leave(schema::escape_for_display(value), "a policy cannot safely say this name", by);
    }
  }

  void take_path(Paths& paths, const Event& event, const std::optional<schema::PathBytes>& path,
                 const Asking& by) {
    if (!path || !path->bytes().starts_with("/")) {
      leave(about(event), "it has no path", by);
    } else if (!can_be_written(path->bytes())) {
      leave(about(event), "a policy cannot safely say this name", by);
    } else {
      merge(paths[without_process_number(path->bytes())], by);
    }
  }

  // To make, remove or rename something is to write the directory that holds it.
  void take_written(const Event& event, const Asking& by) {
    if (event.operation == "write") {
      take_path(writes_, event, event.object.path, by);
      return;
    }
    for (const auto& path : {event.object.path, event.object.new_path}) {
      if (path && (event.operation != "link" || path == event.object.new_path)) {
        take_path(writes_, event, schema::PathBytes(directory_of(path->bytes())), by);
      }
    }
  }

  std::string as_written(const std::string& path) const {
    const std::string& here = context_.working_dir;
    return !here.empty() && here != "/" && path_covers(here, path)
               ? "${WORKDIR}" + path.substr(here.size())
               : path;
  }

  // What must not be granted without a person's own hand.
  std::string why_dangerous(const std::string& path, bool write) const {
    const ProtectedPaths& ours = context_.protect;
    std::vector<std::string> places = ours.unreadable;
    places.push_back(ours.home);
    if (write) {
      places.insert(places.end(), ours.unwritable.begin(), ours.unwritable.end());
    }
    for (const std::string& place : places) {
      if (!place.empty() && (path_covers(path, place) || path_covers(place, path))) {
        return "aasm's own files are there";
      }
    }
    if (context_.home && path_covers(path, *context_.home)) {
      return "it holds the home of the user";
    }
    static const std::set<std::string> readable = {"/bin",   "/dev", "/lib",  "/lib32",
                                                   "/lib64", "/opt", "/proc", "/sbin",
                                                   "/sys",   "/tmp", "/usr"};
    const bool harmless = write ? path == "/tmp" : readable.contains(path);
    if (is_wide(path, std::nullopt) && !harmless) {
      return "it is too wide";
    }
    const bool of_kernel = path_covers("/proc", path) || path_covers("/sys", path);
    return write && of_kernel ? "it changes the host or other processes" : "";
  }

  bool is_granted(const std::string& path, const std::vector<std::string>& list) const {
    const Requirement* requirement =
        stated(list[1] == "write" ? Domain::kFilesystemWrite : Domain::kFilesystemRead);
    return requirement != nullptr &&
           std::any_of(requirement->rules.begin(), requirement->rules.end(),
                       [&](const PolicyRule& rule) {
                         return rule.effect == RuleEffect::kAllow && rule.operation == list[1] &&
                                rule.selector.type == schema::SelectorType::kPathPrefix &&
                                path_covers(rule.selector.value.bytes(), path);
                       });
  }

  // Dangerous ones first: they would stand for all that lies in them.
  Paths without_dangerous(const Paths& asked, const std::string& what, bool write) {
    Paths kept;
    for (const auto& [path, by] : asked) {
      const std::string danger = why_dangerous(path, write);
      if (danger.empty()) {
        kept.emplace(path, by);
      } else {
        leave(what + path, danger, by);
      }
    }
    return kept;
  }

  void add_paths(const std::vector<std::string>& list, const Paths& asked, bool write) {
    const std::string what = "filesystem " + list[1] + " ";
    const auto may_stand = [&](const std::string& directory) {
      return !is_wide(directory, context_.home) && why_dangerous(directory, write).empty();
    };
    for (const auto& [path, by] : generalise(without_dangerous(asked, what, write), may_stand)) {
      if (is_granted(path, list)) {
        leave(what + path,
              "the policy grants it already; moving something there is refused where that would "
              "open more of it",
              by);
      } else {
        lesson_.additions.push_back({list, quoted(as_written(path)), path, by});
      }
    }
  }

  const LearnContext& context_;
  NetworkLearner network_;
  Paths reads_;
  Paths writes_;
  Paths executes_;
  std::map<std::pair<std::vector<std::string>, std::string>, Asking> named_;
  std::map<std::pair<std::string, std::string>, Asking> left_;
  Lesson lesson_;
};

}  // namespace

Lesson learn(const std::vector<AskedEvent>& asked, const LearnContext& context) {
  Learner learner(context);
  for (const AskedEvent& one : asked) {
    learner.take(one);
  }
  return learner.finish();
}

}  // namespace aasm::planner
