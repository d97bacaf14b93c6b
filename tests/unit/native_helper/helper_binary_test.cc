#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// What the released helper is as a file.
namespace aasm::test {
namespace {

std::string read_helper() {
  std::ifstream file(AASM_HELPER, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value = {};
  if (offset + sizeof(T) <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

std::vector<Elf64_Phdr> program_headers(const std::string& bytes) {
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  std::vector<Elf64_Phdr> list;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    list.push_back(at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr)));
  }
  return list;
}

TEST(HelperBinaryTest, IsSmallerThan32KiB) {
  const std::string bytes = read_helper();
  ASSERT_GT(bytes.size(), 4096U);
  EXPECT_LT(bytes.size(), 32U * 1024);
}

TEST(HelperBinaryTest, IsStaticWithoutInterpreterOrDynamicSection) {
  const std::string bytes = read_helper();
  EXPECT_EQ(at<Elf64_Ehdr>(bytes, 0).e_type, ET_EXEC);
  const auto headers = program_headers(bytes);
  ASSERT_FALSE(headers.empty());
  for (const auto& header : headers) {
    EXPECT_NE(header.p_type, static_cast<Elf64_Word>(PT_INTERP));
    EXPECT_NE(header.p_type, static_cast<Elf64_Word>(PT_DYNAMIC));
    EXPECT_NE(header.p_type, static_cast<Elf64_Word>(PT_TLS));
  }
}

TEST(HelperBinaryTest, HasNoUndefinedSymbol) {
  const std::string bytes = read_helper();
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    ASSERT_NE(section.sh_type, static_cast<Elf64_Word>(SHT_DYNSYM));
    if (section.sh_type != SHT_SYMTAB) {
      continue;
    }
    for (std::size_t k = 1; k < section.sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = at<Elf64_Sym>(bytes, section.sh_offset + k * sizeof(Elf64_Sym));
      EXPECT_NE(symbol.st_shndx, SHN_UNDEF);
    }
  }
}

TEST(HelperBinaryTest, NothingIsWritableAndExecutable) {
  for (const auto& header : program_headers(read_helper())) {
    EXPECT_NE(header.p_flags & (PF_W | PF_X), static_cast<Elf64_Word>(PF_W | PF_X));
  }
}

}  // namespace
}  // namespace aasm::test
