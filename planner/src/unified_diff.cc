#include <algorithm>
#include <cstdint>

#include "aasm/planner/policy_edit.h"

// Lines of a document against the same with text put in. Nothing is taken out, so each line of the
// old one is there, changed or not, and in the same order.
namespace aasm::planner {
namespace {

constexpr std::size_t kContext = 3;

struct Line {
  char mark = ' ';  // ' ' '-' '+'
  std::string text;
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

void append(std::vector<Line>& lines, char mark, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    lines.push_back({mark, text});
  }
}

// One line of the old text (empty: what is put in behind the last) with what is put into it.
void compare(const std::string& old, const std::string& now, std::vector<Line>& lines) {
  if (now == old) {
    append(lines, ' ', lines_of(old));
  } else if (now.ends_with(old) && (now.size() == old.size() || old.empty() ||
                                    now[now.size() - old.size() - 1] == '\n')) {
    append(lines, '+', lines_of(std::string_view(now).substr(0, now.size() - old.size())));
    append(lines, ' ', lines_of(old));
  } else {
    append(lines, '-', lines_of(old));
    append(lines, '+', lines_of(now));
  }
}

std::vector<Line> all_lines(std::string_view document, const std::vector<Insertion>& insertions) {
  std::vector<Line> lines;
  std::vector<std::string> old = lines_of(document);
  const bool open = !document.empty() && document.back() != '\n';
  if (!open) {
    old.emplace_back();  // the end of the document is a place too
  }
  std::size_t start = 0;
  auto next = insertions.begin();
  for (std::size_t i = 0; i < old.size(); ++i) {
    const std::size_t end = start + old[i].size();
    std::vector<Insertion> here;
    const bool last = i + 1 == old.size();
    for (; next != insertions.end() && (next->offset < end || last); ++next) {
      here.push_back({next->offset - start, next->text});
    }
    compare(old[i], apply_insertions(old[i], here), lines);
    start = end;
  }
  return lines;
}

std::string range_text(char mark, std::size_t first, std::size_t size) {
  return std::string(1, mark) + std::to_string(size == 0 ? first : first + 1) +
         (size == 1 ? "" : "," + std::to_string(size));
}

std::string hunk(const std::vector<Line>& lines, std::size_t begin, std::size_t end,
                 std::size_t old_first, std::size_t new_first) {
  std::string body;
  std::size_t olds = 0;
  std::size_t news = 0;
  for (std::size_t i = begin; i < end; ++i) {
    olds += lines[i].mark != '+' ? 1U : 0U;
    news += lines[i].mark != '-' ? 1U : 0U;
    body += lines[i].mark + lines[i].text;
    body += lines[i].text.ends_with('\n') ? "" : "\n\\ No newline at end of file\n";
  }
  return "@@ " + range_text('-', old_first, olds) + " " + range_text('+', new_first, news) +
         " @@\n" + body;
}

}  // namespace

std::string unified_diff(std::string_view document, const std::vector<Insertion>& insertions,
                         const std::string& name) {
  const std::vector<Line> lines = all_lines(document, insertions);
  std::string text;
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  std::size_t done = 0;  // lines before this one are counted
  const auto count_to = [&](std::size_t to) {
    for (; done < to; ++done) {
      old_line += lines[done].mark != '+' ? 1U : 0U;
      new_line += lines[done].mark != '-' ? 1U : 0U;
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mark == ' ') {
      continue;
    }
    std::size_t last = i;
    for (std::size_t j = i; j < lines.size() && j <= last + 2 * kContext; ++j) {
      last = lines[j].mark == ' ' ? last : j;
    }
    const std::size_t begin = std::max(done, i < kContext ? 0 : i - kContext);
    const std::size_t end = std::min(lines.size(), last + 1 + kContext);
    count_to(begin);
    text += hunk(lines, begin, end, old_line, new_line);
    count_to(end);
    i = end - 1;
  }
  return text.empty() ? text : "--- " + name + "\n+++ " + name + "\n" + text;
}

}  // namespace aasm::planner
