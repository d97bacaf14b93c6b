#include <stddef.h>  // NOLINT(modernize-deprecated-headers): there is no C++ library here.

// What the compiler may call on its own (gcc(1), -ffreestanding). The loops are kept from being
// turned into calls of themselves by -fno-builtin and -fno-tree-loop-distribute-patterns.
extern "C" {

void* memset(void* target, int value, size_t size) {
  auto* bytes = static_cast<unsigned char*>(target);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>(value);
  }
  return target;
}

void* memcpy(void* target, const void* source, size_t size) {
  auto* to = static_cast<unsigned char*>(target);
  const auto* from = static_cast<const unsigned char*>(source);
  for (size_t i = 0; i < size; ++i) {
    to[i] = from[i];
  }
  return target;
}

size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') {
    ++length;
  }
  return length;
}

}  // extern "C"
