#include "references.h"

#include <algorithm>
#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/ledger_format/receipt.h"

namespace aasm::verifier {
namespace {

using ledger_format::Checkpoint;

constexpr const char* kHeads = "heads";
constexpr const char* kState = "state";
constexpr const char* kExpectHead = "expect-head";

// A receipt stands for the checkpoint it holds. What is none is judged as a note.
std::string note_of(const std::string& note_or_receipt) {
  const schema::Result<ledger_format::Receipt> receipt =
      ledger_format::parse_receipt(note_or_receipt);
  return receipt ? receipt->checkpoint : note_or_receipt;
}

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
    add(keys, kExpectHead, note_of(*request_.expect_head));
  }
  if (request_.state) {
    add(keys, kState, *request_.state);
  }
  num_log_keys_ = keys.num_log_keys();
  std::stable_sort(references_.begin(), references_.end(), [](const auto& left, const auto& right) {
    return left.checkpoint.size < right.checkpoint.size;
  });
}

void References::know(const KeyPositions& keys) {
  if (keys.num_log_keys() == num_log_keys_) {
    return;
  }
  num_log_keys_ = keys.num_log_keys();
  for (Reference& reference : references_) {
    judge(keys, reference);
  }
}

// Says what is new: a bad signature, or that a root which was passed already is to be compared.
void References::judge(const KeyPositions& keys, Reference& reference) {
  const NoteOpinion before = reference.opinion;
  const NoteOpinion now = keys.judge_note(reference.note, reference.checkpoint.origin);
  reference.opinion.good = before.good || now.good;
  reference.opinion.bad = before.bad || now.bad;
  if (reference.opinion.bad && !before.bad) {
    findings_.add(FindingCode::kReferenceBadSignature, -1,
                  {.actual = reference.text, .detail = reference.source});
  }
  if (reference.opinion.good && !before.good && reference.root) {
    compare(reference);
  }
}

// A note that nobody signed says nothing of what the file must hold. Due at the end.
void References::report_unsigned(const Reference& reference) {
  if (!reference.opinion.bad) {
    findings_.add(FindingCode::kReferenceNotSigned, -1,
                  {.actual = reference.text, .detail = reference.source});
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
  Reference reference;
  reference.source = source;
  reference.text = note;
  reference.checkpoint = parsed->checkpoint;
  if (!accept_origin(keys, reference)) {
    return;
  }
  reference.note = parsed->note;
  judge(keys, reference);
  references_.push_back(std::move(reference));
}

void References::compare(const Reference& reference) {
  const bool agreed = reference.checkpoint.root == *reference.root;
  coverage_.compared.push_back({reference.source, reference.checkpoint.size, agreed});
  if (!agreed) {
    findings_.add(FindingCode::kForked, -1,
                  {.expected = reference.text,
                   .actual = ledger_format::format_checkpoint(
                       {reference.checkpoint.origin, reference.checkpoint.size, *reference.root}),
                   .detail = reference.source});
  }
}

void References::advance(const ledger_format::CompactRange& tree) {
  for (; next_ < references_.size() && references_[next_].checkpoint.size <= tree.size(); ++next_) {
    Reference& reference = references_[next_];
    reference.root = reference.checkpoint.size == 0 ? ledger_format::empty_root() : tree.root();
    if (reference.opinion.good) {
      compare(reference);
    }
  }
}

void References::finish(std::uint64_t records) {
  advance(ledger_format::CompactRange());  // notes of size 0, where there are no records
  for (const Reference& reference : references_) {
    if (!reference.opinion.good) {
      report_unsigned(reference);
      continue;
    }
    if (reference.root) {
      continue;
    }
    coverage_.compared.push_back({reference.source, reference.checkpoint.size, false});
    findings_.add(FindingCode::kRolledBack, -1,
                  {.expected = "at least " + std::to_string(reference.checkpoint.size) +
                               " records, as signed in: " + reference.text,
                   .actual = std::to_string(records) + " records",
                   .detail = reference.source});
  }
}

void References::compare_single(const Checkpoint& checkpoint) {
  for (Reference& reference : references_) {
    if (!reference.opinion.good) {
      report_unsigned(reference);
      continue;
    }
    if (reference.checkpoint.size == checkpoint.size) {
      reference.root = checkpoint.root;
      compare(reference);
    } else {
      findings_.add(FindingCode::kReferenceNotComparable, -1,
                    {.expected = "size " + std::to_string(reference.checkpoint.size),
                     .actual = "size " + std::to_string(checkpoint.size),
                     .detail = reference.source});
    }
  }
}

}  // namespace aasm::verifier
