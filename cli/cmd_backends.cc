#include "aasm/crypto/prepare.h"
#include "aasm/planner/select.h"
#include "aasm/process/digest_cache.h"
#include "aasm/schema/utf8.h"

#include "backends.h"
#include "commands.h"
#include "exit_status.h"
#include "launch.h"
#include "print.h"

namespace aasm::cli {
namespace {

using schema::JsonValue;
using schema::Result;

std::string attempt_text(const schema::Attempt& attempt) {
  std::string text(token(attempt.outcome));
  return attempt.os_errno == 0 ? text : text + "(" + std::to_string(attempt.os_errno) + ")";
}

std::string domain_text(const schema::DomainCapability& domain) {
  std::string out = "  " + std::string(token(domain.domain));
  out.resize(22, ' ');
  out += std::string(token(domain.support));
  if (domain.support == schema::Support::kUnsupported) {
    return out + ": " + schema::escape_for_display(domain.reason) + "\n";
  }
  out += ", " + std::string(token(domain.mediation)) + ", " + std::string(token(domain.timing)) +
         ", " + std::string(token(domain.descendants)) +
         ", decisions: " + schema::escape_for_display(domain.channel.mechanism) + "\n";
  for (const schema::ProbeAttempt& attempt : domain.attempts) {
    out += "    " + schema::escape_for_display(attempt.action) + ": without the boundary " +
           attempt_text(attempt.control) + ", inside " + attempt_text(attempt.inside) + "\n";
  }
  for (const schema::Prerequisite& one : domain.prerequisites) {
    out += "    needs " + schema::escape_for_display(one.text) + ": " +
           std::string(token(one.status)) + " " + schema::escape_for_display(one.detail) + "\n";
  }
  for (const std::string& limitation : domain.limitations) {
    out += "    limit: " + schema::escape_for_display(limitation) + "\n";
  }
  return out;
}

int list(const BackendsCommand& command) {
  const auto backends = make_backends();
  std::vector<planner::Backend*> borrowed;
  borrowed.reserve(backends.size());
  for (const auto& backend : backends) {
    borrowed.push_back(backend.get());
  }
  JsonValue::Array items;
  std::string text;
  for (const std::string& id : planner::known_backends(borrowed)) {
    bool built = false;
    for (const planner::Backend* backend : borrowed) {
      built = built || backend->identity().id == id;
    }
    items.push_back(JsonValue::Object{{"id", id}, {"built", built}});
    text += id + (built ? "\n" : "  (not built in this version)\n");
  }
  command.common.format == Format::kJson
      ? print_json(JsonValue::Object{{"schema", "aasm.backends/1"}, {"backends", std::move(items)}})
      : print_out(text);
  return kExitOk;
}

Result<void> probe(const BackendsCommand& command) {
  crypto::prepare();
  const std::string helper = AASM_TRY(find_helper());
  process::DigestCache digests = process::DigestCache::load("");
  const schema::HostConditions conditions = AASM_TRY(host_conditions(helper, digests));
  JsonValue::Array items;
  std::string text;
  for (const auto& backend : make_backends()) {
    const schema::CapabilityProbed probed = AASM_TRY(probe_backend(*backend, conditions, helper));
    items.push_back(schema::write_fields(probed));
    text += probed.backend.id + " " + probed.backend.version + ": " +
            (probed.available
                 ? "available"
                 : "unavailable: " + schema::escape_for_display(probed.unavailable_reason)) +
            "\n";
    for (const schema::DomainCapability& domain : probed.domains) {
      text += domain_text(domain);
    }
  }
  command.common.format == Format::kJson
      ? print_json(JsonValue::Object{{"schema", "aasm.probes/1"}, {"probes", std::move(items)}})
      : print_out(text);
  return {};
}

}  // namespace

int run_backends(const BackendsCommand& command) {
  if (!command.probe) {
    return list(command);
  }
  if (Result<void> done = probe(command); !done) {
    print_err(error_line(done.error()));
    return kExitFailed;
  }
  return kExitOk;
}

}  // namespace aasm::cli
