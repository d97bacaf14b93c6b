#include "aasm/planner/explain.h"

#include <algorithm>
#include <utility>

#include "aasm/planner/endpoint.h"
#include "aasm/planner/selector.h"
#include "aasm/planner/suggest.h"
#include "aasm/schema/utf8.h"

#include "explaining.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::Error;
using schema::ErrorCode;
using schema::Result;
using schema::Selector;
using schema::SelectorType;

std::string record_of(const ActionView& view, ActionVerdict verdict) {
  if (verdict == ActionVerdict::kByArguments) {
    return "one event for each refused call";
  }
  if (verdict != ActionVerdict::kDenied && !view.recorded) {
    return "none";
  }
  return view.recorded ? "one event of a decision batch for each attempt, equal ones counted "
                         "together"
                       : "none for a single attempt; the set-up and its proof are on record";
}

ActionVerdict verdict_of(PolicyWord word, ActionAnswer answer) {
  if (answer == ActionAnswer::kDenied) {
    return ActionVerdict::kDenied;
  }
  if (word == PolicyWord::kDenied) {
    return ActionVerdict::kNotEnforced;
  }
  if (answer == ActionAnswer::kByArguments) {
    return ActionVerdict::kByArguments;
  }
  return word == PolicyWord::kAllowed ? ActionVerdict::kAllowed : ActionVerdict::kNotStated;
}

// Of an address or a name that egress allows, and to which a lookup is refused, the statement on
// names decides.
void cite_names(const ExplainInput& input, Explanation& out) {
  const schema::Requirement* names = requirement_on(input.requirements, Domain::kNameResolution);
  if (out.action.domain != Domain::kNetworkEgress || out.policy != PolicyWord::kAllowed ||
      out.verdict != ActionVerdict::kDenied || names == nullptr) {
    return;
  }
  const auto rule = std::find_if(names->rules.begin(), names->rules.end(),
                                 [&](const auto& one) { return one.id == out.view.rule; });
  if (rule == names->rules.end() && out.view.rule != names->default_rule) {
    return;
  }
  const DomainPlace* place = place_on(input.places, Domain::kNameResolution);
  out.policy = PolicyWord::kDenied;
  out.rule = out.view.rule;
  out.line = rule != names->rules.end() ? rule->line
             : place != nullptr         ? std::optional<std::int64_t>(place->at.line)
                                        : std::nullopt;
}

Explanation explain_one(const ExplainInput& input, Domain domain, const std::string& operation,
                        const std::string& object, SelectorType type) {
  Action action{domain, operation, object};
  const Selector selector{type, schema::PathBytes(object)};
  const PolicySaying saying = what_policy_says(input, action, selector, selector);
  Explanation out = explain_action(input, std::move(action), saying);
  cite_names(input, out);
  return out;
}

Result<ExplainedObject> explain_call(const ExplainInput& input, const std::string& what,
                                     const std::string& operation) {
  if (!operation.empty() && operation != "call") {
    return cannot_ask(what, "is a system call, which is not something to " + operation);
  }
  ExplainedObject out{what, "syscall", {}, {}, {}, {}};
  out.answers.push_back(explain_one(input, Domain::kSyscall, "call", what, SelectorType::kSyscall));
  return out;
}

// Where a connection to the unspecified address arrives.
std::string destination(std::string object, std::vector<std::string>& notes) {
  for (const auto& [unspecified, loopback] :
       {std::pair<std::string, const char*>{"0.0.0.0:", "127.0.0.1:"}, {"[::]:", "[::1]:"}}) {
    if (object.starts_with(unspecified)) {
      notes.emplace_back("as a destination this is the loopback address of the host");
      return loopback + object.substr(unspecified.size());
    }
  }
  return object;
}

Result<ExplainedObject> explain_host(const ExplainInput& input, const std::string& what,
                                     const std::string& operation) {
  Result<Selector> selector = make_selector(SelectorType::kHostPattern, what);
  if (!selector || what.find('*') != std::string::npos) {
    return cannot_ask(what,
                      "is neither a path (which has a slash in it), nor a system call known "
                      "here, nor one HOST or HOST:PORT");
  }
  std::string object = selector->value.bytes();
  const std::size_t colon = object.rfind(':');
  const bool port = colon != std::string::npos && object.find(']', colon) == std::string::npos;
  object += port ? "" : ":443";
  const std::string name = object.substr(0, object.rfind(':'));
  std::vector<std::string> notes;
  object = destination(std::move(object), notes);
  ExplainedObject out{what, "host", object, {}, {}, {}};
  out.notes = std::move(notes);
  if (operation.empty() || operation == "connect") {
    out.answers.push_back(
        explain_one(input, Domain::kNetworkEgress, "connect", object, SelectorType::kHostPattern));
  }
  // An address is not looked up.
  if (name != "localhost" && name.find_first_not_of("0123456789.") != std::string::npos &&
      name.front() != '[' && (operation.empty() || operation == "resolve")) {
    out.answers.push_back(
        explain_one(input, Domain::kNameResolution, "resolve", name, SelectorType::kHostPattern));
  }
  if (out.answers.empty()) {
    return cannot_ask(what, "is a host; the operations on one are connect and resolve");
  }
  if (input.host.look && input.host.look(input.working_dir + "/" + what) == 0) {
    out.notes.push_back("taken for a host; for the file of this name write ./" + what);
  } else if (what.find_first_of(".:") == std::string::npos && what != "localhost") {
    const std::vector<std::string> known = input.vocabulary.suggestions();
    out.notes.push_back("taken for a host; no system call known here has this name" +
                        suggestion_text(what, known));
  }
  return out;
}

// "HOST:PORT/udp": a path that looks so is written with "./" in front.
bool names_datagram(const std::string& what) {
  return what.ends_with("/udp") && what.find('/') == what.size() - 4 &&
         what.find(':') != std::string::npos;
}

Result<ExplainedObject> explain_datagram(const ExplainInput& input, const std::string& what,
                                         const std::string& operation) {
  if (!operation.empty() && operation != "connect") {
    return cannot_ask(what, "is a datagram; the operation on one is connect");
  }
  std::vector<std::string> notes;
  const std::string object = destination(what, notes);
  const Result<Endpoint> endpoint = parse_range_endpoint(object);
  const bool single =
      endpoint &&
      (endpoint->kind == HostKind::kName ||
       (endpoint->kind == HostKind::kRange && endpoint->range.bits == endpoint->range.width()));
  if (!single) {
    return cannot_ask(what, "is no one HOST:PORT/udp; a path that looks so begins with ./");
  }
  ExplainedObject out{what, "datagram", range_endpoint_text(*endpoint), {}, {}, std::move(notes)};
  out.answers.push_back(explain_one(input, Domain::kNetworkEgress, "connect", out.resolved,
                                    SelectorType::kAddressRange));
  return out;
}

}  // namespace

Error cannot_ask(const std::string& what, const std::string& why) {
  return Error(ErrorCode::kInvalidArgument, "`" + schema::escape_for_display(what) + "` " + why);
}

const char* verdict_token(ActionVerdict verdict) {
  switch (verdict) {
    case ActionVerdict::kAllowed:
      return "allowed";
    case ActionVerdict::kDenied:
      return "denied";
    case ActionVerdict::kByArguments:
      return "by_arguments";
    case ActionVerdict::kNotStated:
      return "not_stated";
    case ActionVerdict::kNotEnforced:
      return "not_enforced";
  }
  return "";
}

Explanation explain_action(const ExplainInput& input, Action action, const PolicySaying& saying) {
  Explanation out;
  out.action = std::move(action);
  out.policy = saying.word;
  out.rule = saying.rule;
  out.line = saying.line;
  out.documents = saying.documents;
  if (input.backend != nullptr) {
    out.view = input.backend->view(input.spec, out.action);
  }
  out.verdict = verdict_of(out.policy, out.view.answer);
  out.record = record_of(out.view, out.verdict);
  return out;
}

Result<ExplainedObject> explain(const ExplainInput& input, const std::string& what,
                                const std::string& operation) {
  if (is_limit_name(what)) {
    return explain_limit(input, what, operation);
  }
  if (names_datagram(what)) {
    return explain_datagram(input, what, operation);
  }
  if (what.find('/') != std::string::npos || what == "." || what == "..") {
    return explain_path(input, what, operation);
  }
  return input.vocabulary.known_name(what) ? explain_call(input, what, operation)
                                           : explain_host(input, what, operation);
}

}  // namespace aasm::planner
