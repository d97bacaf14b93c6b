#include "policy_load.h"

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "aasm/planner/paths.h"
#include "aasm/schema/enum_names.h"
#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

using schema::PolicyScope;

constexpr std::size_t kMaxDocuments = std::size(schema::EnumNames<PolicyScope>::kTokens);

std::string shown(const std::string& text) {
  return "`" + schema::escape_for_display(text) + "`";
}

class DocumentLoader {
 public:
  explicit DocumentLoader(const PolicyRequest& request) : request_(request) {}

  LoadedDocuments run(const std::string& path, std::string bytes, const schema::Sha256& digest) {
    seen_.insert(identity_of(path));
    add(path, std::move(bytes), digest);
    std::size_t at = 0;
    while (at < out_.documents.size()) {  // the list grows while it is walked
      const std::optional<TextList> named = out_.documents[at].document.metadata.extends;
      for (const TextEntry& entry : named ? named->entries : std::vector<TextEntry>()) {
        follow(out_.documents[at].path, entry);
      }
      ++at;
    }
    if (out_.documents.size() > 1) {
      check_scopes();
    }
    return std::move(out_);
  }

 private:
  // A document is itself under any of its names.
  std::string identity_of(const std::string& path) const {
    if (!request_.resolver) {
      return path;
    }
    const schema::Result<WalkedPath> walked = request_.resolver(path);
    return walked ? walked->resolved : path;
  }

  void add(const std::string& path, std::string bytes, const schema::Sha256& digest) {
    DecodedPolicy decoded = decode_policy(bytes, {request_.paths, request_.vocabulary});
    if (!decoded.document) {
      std::vector<SourceProblem> found = problems_in(path, std::move(decoded.problems));
      std::move(found.begin(), found.end(), std::back_inserter(out_.problems));
      return;
    }
    out_.documents.push_back({path, std::move(bytes), digest, std::move(*decoded.document)});
  }

  void follow(const std::string& from, const TextEntry& entry) {
    const std::string path = joined(entry.text, directory_of(from));
    const auto fault = [&](const std::string& why) {
      out_.problems.push_back(
          {from, entry.at,
           "metadata.extends[" + std::to_string(entry.index) + "]: " + shown(path) + " " + why});
    };
    if (!seen_.insert(identity_of(path)).second) {
      return fault(
          "is a part of this policy already; each document is named once, and none leads "
          "back to itself");
    }
    if (seen_.size() > kMaxDocuments) {
      return fault("would be one document too many; there is one for each of the five scopes");
    }
    schema::Result<std::optional<std::string>> bytes = request_.reader(path, kPolicyMaxBytes);
    if (!bytes) {
      return fault(bytes.error().message());
    }
    if (!*bytes) {
      return fault("is not there, and every document of a policy has to load");
    }
    const schema::Sha256 digest = request_.hash(schema::as_bytes(**bytes));
    add(path, std::move(**bytes), digest);
  }

  void check_scopes() {
    std::map<PolicyScope, const LoadedDocument*> taken;
    for (const LoadedDocument& one : out_.documents) {
      const MetadataNode& metadata = one.document.metadata;
      if (!metadata.scope) {
        out_.problems.push_back({one.path, metadata.at,
                                 "metadata.scope is not stated; each document of a policy that is "
                                 "several states its own: global, org, team, agent or tool"});
        continue;
      }
      const auto [other, first] = taken.emplace(*metadata.scope, &one);
      if (!first) {
        out_.problems.push_back({one.path, metadata.at,
                                 "metadata.scope is " + std::string(token(*metadata.scope)) +
                                     ", as that of " + shown(other->second->path) +
                                     "; there is one document for each scope"});
      }
    }
  }

  const PolicyRequest& request_;
  std::set<std::string> seen_;
  LoadedDocuments out_;
};

}  // namespace

std::string joined(const std::string& path, const std::string& directory) {
  if (path.starts_with('/')) {
    return path;
  }
  return directory + (directory.ends_with('/') ? "" : "/") + path;
}

LoadedDocuments load_documents(const PolicyRequest& request, const std::string& path,
                               std::string bytes, const schema::Sha256& digest) {
  return DocumentLoader(request).run(path, std::move(bytes), digest);
}

}  // namespace aasm::planner
