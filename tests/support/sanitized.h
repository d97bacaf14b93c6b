#pragma once

namespace aasm::test {

// Built with a sanitizer, by either compiler. They change times, keep memory that was freed, and
// replace mlock(2) by a function that does nothing and succeeds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kIsSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace aasm::test
