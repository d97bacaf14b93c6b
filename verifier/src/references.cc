#include "references.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "aasm/crypto/hash.h"

namespace aasm::verifier {
namespace {

using ledger_format::Checkpoint;
using ledger_format::NoteVerdict;

constexpr const char* kHeads = "heads";
constexpr const char* kState = "state";
constexpr const char* kExpectHead = "expect-head";

}  // namespace

References::References(const VerifyRequest& request, FindingLog& findings, Coverage& coverage)
    : request_(request), findings_(findings), coverage_(coverage) {}

// The head file of another ledger of this host says nothing about a file from elsewhere, nor about
// this host's present ledger when an earlier one is still pinned.
void References::add_heads(const KeyPositions& keys) {
  const std::string own = crypto::sha256(schema::as_bytes(keys.origin())).hex();
  const bool own_head_known =
      std::any_of(request_.head_notes.begin(), request_.head_notes.end(),
                  [&own](const HeadNote& head) { return head.name == own; });
  for (const HeadNote& head : request_.head_notes) {
    if (own_head_known ? head.name == own : request_.own_ledger) {
      add(keys, kHeads, head.note);
    }
  }
}

void References::begin(const KeyPositions& keys, Target target) {
  target_ = target;
  if (target != Target::kReceipt) {
    add_heads(keys);
  }
  if (request_.expect_head) {
    add(keys, kExpectHead, *request_.expect_head);
  }
  if (request_.state) {
    add(keys, kState, *request_.state);
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const auto& left, const auto& right) {
    return left.checkpoint.size < right.checkpoint.size;
  });
}

// A key that comes in later did not sign what stands before it: such a note stays unsigned.
void References::know(const KeyPositions& keys) {
  if (keys.num_log_keys() == num_log_keys_) {
    return;
  }
  num_log_keys_ = keys.num_log_keys();
  const auto signed_now = [&keys](const Reference& reference) {
    const auto parsed = ledger_format::parse_signed_checkpoint(reference.note);
    return parsed &&
           keys.judge_note(parsed->note, reference.checkpoint.origin) == NoteVerdict::kVerified;
  };
  const auto found = std::stable_partition(unsigned_.begin(), unsigned_.end(),
                                           [&](const Reference& one) { return !signed_now(one); });
  waiting_.insert(waiting_.end(), std::make_move_iterator(found),
                  std::make_move_iterator(unsigned_.end()));
  unsigned_.erase(found, unsigned_.end());
  std::stable_sort(waiting_.begin() + static_cast<std::ptrdiff_t>(next_), waiting_.end(),
                   [](const auto& left, const auto& right) {
                     return left.checkpoint.size < right.checkpoint.size;
                   });
}

void References::report_unsigned() {
  for (const Reference& reference : unsigned_) {
    findings_.add(FindingCode::kReferenceNotSigned, -1,
                  {.actual = reference.note, .detail = reference.source});
  }
}

bool References::accept_origin(const KeyPositions& keys, const Reference& reference) {
  if (reference.checkpoint.origin == keys.origin()) {
    return true;
  }
  if (target_ == Target::kNoRecords) {
    return true;  // any note of its log shows what it has lost
  }
  findings_.add(FindingCode::kReferenceOtherOrigin, -1,
                {.expected = reference.checkpoint.origin,
                 .actual = keys.origin(),
                 .detail = reference.source});
  return false;
}

void References::add(const KeyPositions& keys, const std::string& source, const std::string& note) {
  const schema::Result<ledger_format::SignedCheckpoint> parsed =
      ledger_format::parse_signed_checkpoint(note);
  if (!parsed) {
    findings_.add(
        FindingCode::kReferenceUnreadable, -1,
        {.expected = "a signed checkpoint", .actual = parsed.error().message(), .detail = source});
    return;
  }
  Reference reference{source, note, parsed->checkpoint};
  if (!accept_origin(keys, reference)) {
    return;
  }
  switch (keys.judge_note(parsed->note, reference.checkpoint.origin)) {
    case NoteVerdict::kVerified:
      waiting_.push_back(std::move(reference));
      return;
    case NoteVerdict::kNoSignature:
      unsigned_.push_back(std::move(reference));
      return;
    case NoteVerdict::kBadSignature:
      findings_.add(FindingCode::kReferenceBadSignature, -1, {.actual = note, .detail = source});
      return;
  }
}

void References::agree(const Reference& reference, const schema::TreeHash& root) {
  const bool agreed = reference.checkpoint.root == root;
  coverage_.compared.push_back({reference.source, reference.checkpoint.size, agreed});
  if (!agreed) {
    findings_.add(FindingCode::kForked, -1,
                  {.expected = reference.note,
                   .actual = ledger_format::format_checkpoint(
                       {reference.checkpoint.origin, reference.checkpoint.size, root}),
                   .detail = reference.source});
  }
}

void References::advance(const ledger_format::CompactRange& tree) {
  while (next_ < waiting_.size() && waiting_[next_].checkpoint.size <= tree.size()) {
    if (waiting_[next_].checkpoint.size == tree.size()) {
      agree(waiting_[next_], tree.root());
    }
    ++next_;
  }
}

void References::finish(std::uint64_t records) {
  report_unsigned();
  for (; next_ < waiting_.size(); ++next_) {
    const Reference& reference = waiting_[next_];
    if (reference.checkpoint.size == 0) {
      agree(reference, ledger_format::empty_root());
      continue;
    }
    coverage_.compared.push_back({reference.source, reference.checkpoint.size, false});
    findings_.add(FindingCode::kRolledBack, -1,
                  {.expected = "at least " + std::to_string(reference.checkpoint.size) +
                               " records, as signed in: " + reference.note,
                   .actual = std::to_string(records) + " records",
                   .detail = reference.source});
  }
}

void References::compare_single(const Checkpoint& checkpoint) {
  report_unsigned();
  for (; next_ < waiting_.size(); ++next_) {
    const Reference& reference = waiting_[next_];
    if (reference.checkpoint.size == checkpoint.size) {
      agree(reference, checkpoint.root);
    } else {
      findings_.add(FindingCode::kReferenceNotComparable, -1,
                    {.expected = "size " + std::to_string(reference.checkpoint.size),
                     .actual = "size " + std::to_string(checkpoint.size),
                     .detail = reference.source});
    }
  }
}

}  // namespace aasm::verifier
