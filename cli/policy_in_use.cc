#include "policy_in_use.h"

#include <optional>
#include <string_view>
#include <utility>

#include "aasm/backends/native.h"
#include "aasm/backends/syscall_vocabulary.h"
#include "aasm/crypto/hash.h"

namespace aasm::cli {
namespace {

planner::ResolvedPolicy resolve(planner::PolicyRequest request, const std::string& working_dir) {
  request.current_dir = working_dir;
  request.paths.workdir = working_dir;
  request.paths.home = environment_variable("HOME").value_or("");
  const auto vocabulary = backend_native::make_syscall_vocabulary();
  request.vocabulary = vocabulary.get();
  request.hash = [](schema::ByteView bytes) { return crypto::sha256(bytes); };
  return planner::resolve_policy(request);
}

}  // namespace

planner::ResolvedPolicy policy_in_use(const std::string& option, const Home& home,
                                      const std::string& working_dir) {
  planner::PolicyRequest request;
  if (!option.empty()) {
    request.sources.option = option;
  }
  request.sources.environment = environment_variable("AA_POLICY");
  request.sources.home = home.policy();
  return resolve(std::move(request), working_dir);
}

planner::ResolvedPolicy policy_of_text(const std::string& text, const std::string& path,
                                       const std::string& working_dir) {
  planner::PolicyRequest request;
  request.sources.option = path;
  request.reader = [&](const std::string& /*path*/, std::size_t /*max_bytes*/) {
    return schema::Result<std::optional<std::string>>(text);
  };
  return resolve(std::move(request), working_dir);
}

planner::ResolvedPolicy policy_of_texts(const std::map<std::string, std::string>& texts,
                                        const std::string& path, const std::string& working_dir) {
  planner::PolicyRequest request;
  request.sources.option = path;
  request.reader = [&](const std::string& file, std::size_t max_bytes) {
    const auto text = texts.find(file);
    return text == texts.end() ? planner::read_policy_file(file, max_bytes)
                               : schema::Result<std::optional<std::string>>(text->second);
  };
  return resolve(std::move(request), working_dir);
}

planner::ProtectedPaths protected_paths(const Home& home, const std::string& ledger,
                                        const std::vector<std::string>& programs,
                                        const planner::ResolvedPolicy& policy) {
  const std::string database = ledger.empty() ? home.ledger() : ledger;
  planner::ProtectedPaths protect;
  protect.home = home.root();
  protect.canary_dir = home.canary();
  protect.unreadable = {database,     database + "-wal", database + "-shm", home.keys(),
                        home.trust(), home.trust_keys(), home.heads()};
  protect.unwritable = programs;
  if (!policy.source_path.empty()) {
    protect.unwritable.push_back(policy.source_path);
  }
  for (std::size_t i = 1; i < policy.documents.size(); ++i) {
    protect.unwritable.push_back(policy.documents[i].path);
  }
  protect.groups = backend_native::places_of_limits(policy.record.requirements);
  protect.unwritable.insert(protect.unwritable.end(), protect.groups.begin(), protect.groups.end());
  return protect;
}

planner::WorkspaceHost workspace_host(const std::string& working_dir) {
  planner::WorkspaceHost host;
  const std::string path = environment_variable("PATH").value_or("");
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(part.size() + (part.size() < rest.size() ? 1 : 0));
    if (part.starts_with('/')) {
      host.program_path.push_back(absolute_path(std::string(part)));
    }
  }
  if (const std::optional<std::string> home = environment_variable("HOME");
      home && home->starts_with('/')) {
    host.home = absolute_path(*home);
  }
  host.workdir = working_dir;
  return host;
}

}  // namespace aasm::cli
