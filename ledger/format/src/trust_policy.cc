#include <algorithm>
#include <optional>
#include <utility>

#include "aasm/ledger_format/trust.h"

#include "text.h"
#include "trust_lines.h"

namespace aasm::ledger_format {
namespace {

constexpr std::string_view kNone = "none";

// Reads one policy file line by line.
class PolicyReader {
 public:
  schema::Result<void> read(const detail::TrustLine& line);
  schema::Result<TrustPolicy> finish() &&;

 private:
  schema::Result<void> read_log(const detail::TrustLine& line);
  schema::Result<void> read_witness(const detail::TrustLine& line);
  schema::Result<void> read_group(const detail::TrustLine& line);
  schema::Result<void> read_quorum(const detail::TrustLine& line);

  bool is_defined(std::string_view name) const;
  schema::Result<void> check_new_name(const detail::TrustLine& line, std::string_view name) const;

  TrustPolicy policy_;
  bool has_quorum_ = false;
};

template <class Entries>
bool has_key(const Entries& entries, const VerifierKey& key) {
  // Duplicate means the same public key, whatever its name (tlog-policy, "Public key
  // representation").
  return std::any_of(entries.begin(), entries.end(), [&key](const auto& entry) {
    return entry.key.public_key() == key.public_key();
  });
}

std::string optional_word(const detail::TrustLine& line, std::size_t position) {
  return line.words.size() > position ? std::string(line.words[position]) : std::string();
}

std::optional<std::size_t> group_threshold(std::string_view word, std::size_t num_members) {
  if (word == "all") {
    return num_members;
  }
  if (word == "any") {
    return 1;
  }
  const std::optional<std::uint64_t> number = detail::parse_decimal(word);
  if (!number || *number == 0 || *number > num_members) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(*number);
}

bool PolicyReader::is_defined(std::string_view name) const {
  const auto has_name = [name](const auto& entry) { return entry.name == name; };
  return std::any_of(policy_.witnesses.begin(), policy_.witnesses.end(), has_name) ||
         std::any_of(policy_.groups.begin(), policy_.groups.end(), has_name);
}

schema::Result<void> PolicyReader::check_new_name(const detail::TrustLine& line,
                                                  std::string_view name) const {
  if (name == kNone) {
    return detail::at_line(line.number, "the name none is taken");
  }
  if (is_defined(name)) {
    return detail::at_line(line.number, "a name that is defined already");
  }
  if (policy_.witnesses.size() == kTrustMaxEntries || policy_.groups.size() == kTrustMaxEntries) {
    return detail::at_line(line.number, "too many witnesses or groups");
  }
  return {};
}

schema::Result<void> PolicyReader::read_log(const detail::TrustLine& line) {
  if (line.words.size() < 2 || line.words.size() > 3) {
    return detail::at_line(line.number, "expected: log <vkey> [<url>]");
  }
  VerifierKey key =
      AASM_TRY(detail::parse_line_key(line.number, line.words[1], NoteKeyType::kEd25519));
  if (has_key(policy_.logs, key)) {
    return detail::at_line(line.number, "a second log with one public key");
  }
  if (policy_.logs.size() == kTrustMaxEntries) {
    return detail::at_line(line.number, "too many logs");
  }
  policy_.logs.push_back({std::move(key), optional_word(line, 2)});
  return {};
}

schema::Result<void> PolicyReader::read_witness(const detail::TrustLine& line) {
  if (line.words.size() < 3 || line.words.size() > 4) {
    return detail::at_line(line.number, "expected: witness <name> <vkey> [<url>]");
  }
  AASM_TRY(check_new_name(line, line.words[1]));
  VerifierKey key =
      AASM_TRY(detail::parse_line_key(line.number, line.words[2], NoteKeyType::kCosignature));
  if (has_key(policy_.witnesses, key)) {
    return detail::at_line(line.number, "a second witness with one public key");
  }
  policy_.witnesses.push_back({std::string(line.words[1]), std::move(key), optional_word(line, 3)});
  return {};
}

schema::Result<void> PolicyReader::read_group(const detail::TrustLine& line) {
  if (line.words.size() < 4) {
    return detail::at_line(line.number, "expected: group <name> all|any|<k> <name>...");
  }
  AASM_TRY(check_new_name(line, line.words[1]));
  WitnessGroup group;
  group.name = line.words[1];
  for (std::size_t i = 3; i < line.words.size(); ++i) {
    const std::string_view member = line.words[i];
    if (!is_defined(member)) {
      return detail::at_line(line.number, "a member that no earlier line defines");
    }
    // One membership in the whole file, so that a witness counts towards the quorum in one way.
    for (const WitnessGroup& earlier : policy_.groups) {
      if (std::find(earlier.members.begin(), earlier.members.end(), member) !=
          earlier.members.end()) {
        return detail::at_line(line.number, "a member that is in a group already");
      }
    }
    if (std::find(group.members.begin(), group.members.end(), member) != group.members.end()) {
      return detail::at_line(line.number, "a member that is named twice");
    }
    group.members.emplace_back(member);
  }
  const std::optional<std::size_t> threshold = group_threshold(line.words[2], group.members.size());
  if (!threshold) {
    return detail::at_line(line.number, "expected all, any or a number from 1 to the members'");
  }
  group.threshold = *threshold;
  policy_.groups.push_back(std::move(group));
  return {};
}

schema::Result<void> PolicyReader::read_quorum(const detail::TrustLine& line) {
  if (line.words.size() != 2) {
    return detail::at_line(line.number, "expected: quorum <name>|none");
  }
  if (has_quorum_) {
    return detail::at_line(line.number, "a second quorum");
  }
  if (line.words[1] != kNone && !is_defined(line.words[1])) {
    return detail::at_line(line.number, "a quorum that no earlier line defines");
  }
  policy_.quorum = line.words[1];
  has_quorum_ = true;
  return {};
}

schema::Result<void> PolicyReader::read(const detail::TrustLine& line) {
  const std::string_view word = line.words.front();
  if (word == "log") {
    return read_log(line);
  }
  if (word == "witness") {
    return read_witness(line);
  }
  if (word == "group") {
    return read_group(line);
  }
  if (word == "quorum") {
    return read_quorum(line);
  }
  return detail::at_line(line.number, "expected log, witness, group or quorum");
}

schema::Result<TrustPolicy> PolicyReader::finish() && {
  if (!has_quorum_) {
    return detail::malformed("a policy without a quorum line (write: quorum none)");
  }
  return std::move(policy_);
}

}  // namespace

schema::Result<TrustPolicy> parse_trust_policy(std::string_view text) {
  PolicyReader reader;
  for (const detail::TrustLine& line : AASM_TRY(detail::split_trust_lines(text))) {
    AASM_TRY(reader.read(line));
  }
  return std::move(reader).finish();
}

std::string format_trust_policy(const TrustPolicy& policy) {
  const auto url_word = [](const std::string& url) { return url.empty() ? url : " " + url; };
  std::string out;
  for (const TrustedLog& log : policy.logs) {
    out += "log " + log.key.text() + url_word(log.url) + "\n";
  }
  for (const Witness& witness : policy.witnesses) {
    out += "witness " + witness.name + " " + witness.key.text() + url_word(witness.url) + "\n";
  }
  for (const WitnessGroup& group : policy.groups) {
    out += "group " + group.name + " " + std::to_string(group.threshold);
    for (const std::string& member : group.members) {
      out += " " + member;
    }
    out += "\n";
  }
  out += "quorum " + policy.quorum + "\n";
  return out;
}

}  // namespace aasm::ledger_format
