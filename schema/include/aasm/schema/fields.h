#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aasm/schema/digest.h"
#include "aasm/schema/enum_names.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/result.h"
#include "aasm/schema/utf8.h"
#include "aasm/schema/uuid.h"

namespace aasm::schema {

// One field description per record drives writer and strict reader (and later the JSON Schema).
// A described type T has
//   template <class V, class S> static void describe(V& v, S& self) {
//     v.field("pid", self.pid);         // std::optional<...> members may be absent
//   }
//   Result<void> check() const;         // what no single field can say; may be left out
// and then write_fields(t) and read_fields<T>(json) work. A reader refuses a missing or mistyped
// field and, by docs/spec/ledger-format.md section 2, ignores an unknown member of a body.

template <class T>
Result<T> read_fields(const JsonValue& value);
template <class T>
JsonValue write_fields(const T& value);

namespace detail {

class Writer;
class Reader;

template <class T>
concept Described = requires(Writer& w, const T& t) {
  T::describe(w, t);
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsBytes32 : std::false_type {};
template <class Tag>
struct IsBytes32<Bytes32<Tag>> : std::true_type {};

template <class T>
JsonValue to_json(const T& value);
template <class T>
Result<void> from_json(const JsonValue& json, T& out);

class Writer {
 public:
  template <class T>
  void field(const char* name, const T& value) {
    if constexpr (IsOptional<T>::value) {
      if (value) {
        members_.emplace_back(name, to_json(*value));
      }
    } else {
      members_.emplace_back(name, to_json(value));
    }
  }
  JsonValue::Object take() { return std::move(members_); }

 private:
  JsonValue::Object members_;
};

class Reader {
 public:
  explicit Reader(const JsonValue& object) : object_(object) {}

  template <class T>
  void field(const char* name, T& out) {
    if (error_) {
      return;
    }
    const JsonValue* member = object_.find(name);
    Result<void> done = read_member(member, out);
    if (!done) {
      error_ = std::move(done).error().with_context(name);
    }
  }
  std::optional<Error> take_error() { return std::move(error_); }

 private:
  template <class T>
  static Result<void> read_member(const JsonValue* member, T& out) {
    if constexpr (IsOptional<T>::value) {
      if (member == nullptr) {
        out.reset();
        return {};
      }
      return from_json(*member, out.emplace());
    } else {
      if (member == nullptr) {
        return Error(ErrorCode::kMalformed, "missing");
      }
      return from_json(*member, out);
    }
  }

  const JsonValue& object_;
  std::optional<Error> error_;
};

inline Error wrong_type(const char* wanted, const JsonValue& got) {
  return Error(ErrorCode::kMalformed,
               std::string("expected ") + wanted + ", found " + std::string(got.type_name()));
}

template <class T>
JsonValue to_json(const T& value) {
  if constexpr (Described<T>) {
    return write_fields(value);
  } else if constexpr (NamedEnum<T>) {
    return JsonValue(token(value));
  } else if constexpr (IsBytes32<T>::value) {
    return JsonValue(value.hex());
  } else if constexpr (std::same_as<T, PathBytes>) {
    return value.to_json();
  } else if constexpr (std::same_as<T, RunId>) {
    return JsonValue(value.text());
  } else if constexpr (IsVector<T>::value) {
    JsonValue::Array items;
    items.reserve(value.size());
    for (const auto& item : value) {
      items.push_back(to_json(item));
    }
    return JsonValue(std::move(items));
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return JsonValue(std::to_string(value));  // may pass 2^53: always a string
  } else if constexpr (std::same_as<T, bool>) {
    return JsonValue(value);
  } else if constexpr (std::integral<T>) {
    static_assert(sizeof(T) < 8 || std::is_signed_v<T>, "unsigned 64-bit is written as a string");
    return JsonValue(static_cast<std::int64_t>(value));
  } else {
    static_assert(std::same_as<T, std::string>, "no JSON form for this type");
    return JsonValue(value);
  }
}

template <class T>
Result<void> int_from_json(const JsonValue& json, T& out) {
  const std::int64_t* number = json.as_int();
  if (number == nullptr) {
    return wrong_type("an integer", json);
  }
  if (!std::in_range<T>(*number)) {
    return Error(ErrorCode::kMalformed, "integer out of range");
  }
  out = static_cast<T>(*number);
  return {};
}

// A decimal string without sign or leading zero, as to_json() writes std::uint64_t.
Result<void> decimal_from_json(const JsonValue& json, std::uint64_t& out);

template <class T>
Result<void> string_from_json(const JsonValue& json, T& out) {
  const std::string* text = json.as_string();
  if (text == nullptr) {
    return wrong_type("a string", json);
  }
  if constexpr (NamedEnum<T>) {
    out = AASM_TRY(parse_token<T>(*text));
  } else if constexpr (IsBytes32<T>::value) {
    out = AASM_TRY(T::from_hex_text(*text));
  } else if constexpr (std::same_as<T, RunId>) {
    out = AASM_TRY(RunId::parse(*text));
  } else {
    out = *text;
  }
  return {};
}

template <class T>
Result<void> vector_from_json(const JsonValue& json, std::vector<T>& out) {
  const JsonValue::Array* items = json.as_array();
  if (items == nullptr) {
    return wrong_type("an array", json);
  }
  out.clear();
  out.reserve(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    T item{};
    Result<void> done = from_json((*items)[i], item);
    if (!done) {
      return std::move(done).error().with_context("[" + std::to_string(i) + "]");
    }
    out.push_back(std::move(item));
  }
  return {};
}

template <class T>
Result<void> from_json(const JsonValue& json, T& out) {
  if constexpr (Described<T>) {
    out = AASM_TRY(read_fields<T>(json));
    return {};
  } else if constexpr (std::same_as<T, PathBytes>) {
    out = AASM_TRY(PathBytes::from_json(json));
    return {};
  } else if constexpr (IsVector<T>::value) {
    return vector_from_json(json, out);
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return decimal_from_json(json, out);
  } else if constexpr (std::same_as<T, bool>) {
    const bool* flag = json.as_bool();
    if (flag == nullptr) {
      return wrong_type("a boolean", json);
    }
    out = *flag;
    return {};
  } else if constexpr (std::integral<T>) {
    return int_from_json(json, out);
  } else {
    return string_from_json(json, out);
  }
}

template <class T>
concept Checked = requires(const T& t) {
  { t.check() } -> std::same_as<Result<void>>;
};

}  // namespace detail

template <class T>
JsonValue write_fields(const T& value) {
  detail::Writer writer;
  T::describe(writer, value);
  return JsonValue(writer.take());
}

template <class T>
Result<T> read_fields(const JsonValue& value) {
  if (value.as_object() == nullptr) {
    return detail::wrong_type("an object", value);
  }
  T out{};
  detail::Reader reader(value);
  T::describe(reader, out);
  if (std::optional<Error> error = reader.take_error()) {
    return std::move(*error);
  }
  if constexpr (detail::Checked<T>) {
    AASM_TRY(out.check());
  }
  return out;
}

}  // namespace aasm::schema
