#pragma once

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/planner/backend.h"
#include "aasm/planner/policy_decode.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/planner/select.h"

namespace aasm::planner::testing {

inline DecodeContext decode_context() {
  return {{"/work/dir", "/home/u"}, nullptr};
}

// "3:5 sentence" for each problem, joined by newlines; empty for a document that is sound.
inline std::string problems_of(std::string_view text,
                               const DecodeContext& context = decode_context()) {
  std::string all;
  for (const Problem& problem : decode_policy(text, context).problems) {
    all += (all.empty() ? "" : "\n") + std::to_string(problem.at.line) + ":" +
           std::to_string(problem.at.column) + " " + problem.text;
  }
  return all;
}

inline PolicyDocument decoded(std::string_view text) {
  DecodedPolicy result = decode_policy(text, decode_context());
  EXPECT_TRUE(result.document.has_value()) << problems_of(text);
  return result.document ? std::move(*result.document) : PolicyDocument();
}

// A host of a few paths: links lead where the table says, everything else exists as itself, save
// what is listed as missing.
struct FakeHost {
  std::map<std::string, std::string> links;
  std::set<std::string> missing;

  PathResolver resolver() const {
    return [*this](const std::string& path) -> schema::Result<WalkedPath> {
      WalkedPath walked;
      const auto link = links.find(path);
      walked.resolved = link == links.end() ? path : link->second;
      if (link != links.end()) {
        walked.links.emplace_back(link->first, link->second);
      }
      walked.exists = missing.count(path) == 0;
      walked.os_errno = walked.exists ? 0 : ENOENT;
      if (walked.exists) {
        walked.end = FileId{1, std::hash<std::string>()(walked.resolved)};
      }
      return walked;
    };
  }
};

inline LoweredPolicy lowered(std::string_view text, const FakeHost& host = {}) {
  return lower_policy(decoded(text), host.resolver());
}

// Not cryptographic; different texts give different values here.
inline schema::Sha256 fake_hash(schema::ByteView bytes) {
  schema::Sha256 digest;
  std::uint64_t state = 14695981039346656037U;
  for (std::size_t i = 0; i < bytes.size() + digest.bytes.size(); ++i) {
    state = (state ^ (i < bytes.size() ? bytes[i] : 0U)) * 1099511628211U;
    digest.bytes[i % digest.bytes.size()] ^= static_cast<std::uint8_t>(state >> 32U);
  }
  return digest;
}

// A capability that prevents, as a probe on a good host would report it.
inline schema::DomainCapability preventing(schema::Domain domain) {
  schema::DomainCapability capability;
  capability.domain = domain;
  capability.support = schema::Support::kFull;
  capability.mediation = schema::Mediation::kEnforce;
  capability.timing = schema::Timing::kPre;
  capability.synchrony = schema::Synchrony::kSync;
  capability.failure = schema::FailurePosture::kFailClosed;
  capability.descendants = schema::DescendantCoverage::kProcessTree;
  capability.prerequisites = {
      {"a denial watched here", schema::PrerequisiteStatus::kSatisfied, ""}};
  capability.channel.mechanism = "none";
  return capability;
}

inline schema::DomainCapability unsupported(schema::Domain domain, std::string reason) {
  schema::DomainCapability capability;
  capability.domain = domain;
  capability.support = schema::Support::kUnsupported;
  capability.reason = std::move(reason);
  capability.channel.mechanism = "none";
  return capability;
}

inline schema::CapabilityProbed capabilities(std::vector<schema::DomainCapability> domains) {
  schema::CapabilityProbed probed;
  probed.backend.id = "fake";
  probed.available = true;
  probed.domains = std::move(domains);
  return probed;
}

inline schema::Requirement requirement(schema::Domain domain) {
  schema::Requirement one;
  one.domain = domain;
  one.default_rule = std::string(schema::token(domain)) + ".rule";
  return one;
}

// Answers with what it was given; launching is not part of planning.
class FakeBackend final : public Backend {
 public:
  FakeBackend(std::string id, schema::IsolationClass of, schema::CapabilityProbed answer)
      : id_(std::move(id)), class_(of), answer_(std::move(answer)) {
    answer_.backend.id = id_;
  }

  schema::BackendIdentity identity() const override {
    schema::BackendIdentity identity;
    identity.id = id_;
    identity.version = "1";
    return identity;
  }
  schema::IsolationClass isolation_class() const override { return class_; }
  bool experimental() const override { return experimental_; }
  schema::Result<schema::CapabilityProbed> probe(const ProbeRequest& /*request*/) override {
    ++probes_;
    return answer_;
  }
  schema::CapabilityProbed narrow(const ExecutionSpec& /*spec*/,
                                  schema::CapabilityProbed measured) const override {
    if (cannot_lower_) {
      for (schema::DomainCapability& one : measured.domains) {
        if (one.domain == *cannot_lower_) {
          one = unsupported(one.domain, "this rule cannot be lowered");
        }
      }
    }
    return measured;
  }
  std::vector<std::string> steps(const ExecutionSpec& /*spec*/) const override {
    return {"install " + id_};
  }
  ActionView view(const ExecutionSpec& /*spec*/, const Action& action) const override {
    const auto answer = views_.find(action.operation + " " + action.object);
    return answer == views_.end() ? ActionView() : answer->second;
  }
  schema::Result<std::unique_ptr<PreparedExecution>> prepare(
      const LaunchRequest& /*request*/) override {
    return schema::Error(schema::ErrorCode::kUnsupported, "a fake launches nothing");
  }

  void mark_experimental() { experimental_ = true; }
  void cannot_lower(schema::Domain domain) { cannot_lower_ = domain; }
  // What view() answers of "operation object"; anything else is not mediated.
  void answers(const std::string& action, ActionView view) { views_[action] = std::move(view); }
  int probes() const { return probes_; }

 private:
  bool experimental_ = false;
  std::string id_;
  schema::IsolationClass class_;
  schema::CapabilityProbed answer_;
  std::optional<schema::Domain> cannot_lower_;
  std::map<std::string, ActionView> views_;
  int probes_ = 0;
};

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string testdata(const std::string& name) {
  return std::string(AASM_SOURCE_DIR) + "/tests/testdata/policy/" + name;
}

// A policy of two grants that every test host can carry.
inline constexpr std::string_view kMinimal = R"(filesystem:
  read: { allow: [/usr] }
  write: { allow: ["${WORKDIR}"] }
)";

}  // namespace aasm::planner::testing
