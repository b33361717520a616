// SPDX-License-Identifier: MIT
// Numbers that know which counters they come from. A failed check of one tells the grader the
// counters by name, what it got and what it wants. There is no conversion to a plain number, so a
// check of a counter cannot lose the name.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "catch/catch.h"
#include "details.h"

namespace wb {
inline namespace of_test {

// A number and its origin: JSON of a counter's name, "launches", or of what was computed from
// counters, ["*", 2, "blocks"].
template <class T>
class Counted {
public:
    Counted(T number, std::string origin) : number_(number), origin_(std::move(origin)) {}
    Counted& operator+=(T more) {
        number_ += more;
        return *this;
    }
    // For the harness: the number without its name.
    T plain_number() const { return number_; }
    const std::string& origin() const { return origin_; }

private:
    T number_;
    std::string origin_;
};
static_assert(!std::is_convertible_v<Counted<uint64_t>, uint64_t>);
static_assert(!std::is_constructible_v<double, Counted<uint64_t>>);

namespace details {

template <class>
struct IsCounted : std::false_type {};
template <class T>
struct IsCounted<Counted<T>> : std::true_type {};
template <class T>
constexpr bool kIsNumber = IsCounted<T>::value || std::is_arithmetic_v<T>;
template <class A, class B>
using WithCounted =
    std::enable_if_t<kIsNumber<A> && kIsNumber<B> && (IsCounted<A>::value || IsCounted<B>::value)>;

template <class T>
T number_of(const Counted<T>& counted) {
    return counted.plain_number();
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
T number_of(T number) {
    return number;
}

// As Python reads it; a double keeps its point.
template <class T>
std::string json_of(T number) {
    if constexpr (std::is_integral_v<T>) {
        return std::to_string(number);
    } else {
        if (std::isnan(number)) return "NaN";
        if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", double(number));
        const std::string digits = text;
        return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
    }
}

template <class T>
std::string origin_of(const T& value) {
    if constexpr (IsCounted<T>::value)
        return value.origin();
    else
        return json_of(value);
}

template <class A, class B>
std::string origin_of(const char* operation, const A& a, const B& b) {
    return std::string("[\"") + operation + "\", " + origin_of(a) + ", " + origin_of(b) + "]";
}

// A share of nothing is 0.
template <class A, class B>
auto quotient(A a, B b) {
    return b == 0 ? decltype(a / b)(0) : a / b;
}

}  // namespace details

// Whether two numbers compare as they should. Only as a whole it is a condition: a check of several
// would not say which one failed.
class Comparison {
public:
    Comparison(bool holds, std::string told) : holds_(holds), told_(std::move(told)) {}
    explicit operator bool() const {
        details::compared().told = told_;
        return holds_;
    }

private:
    bool holds_;
    std::string told_;  // empty where it holds
};
static_assert(!std::is_convertible_v<Comparison, bool>);
void operator&&(const Comparison&, const Comparison&) = delete;
void operator||(const Comparison&, const Comparison&) = delete;

// The integers of a test may have a sign where the counters have none, as in a comparison of plain
// numbers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#define WB_ARITHMETIC(symbol, result)                                                              \
    template <class A, class B, class = details::WithCounted<A, B>>                                \
    auto operator symbol(const A& one, const B& other) {                                           \
        const auto a = details::number_of(one);                                                    \
        const auto b = details::number_of(other);                                                  \
        return Counted<decltype(result)>(result, details::origin_of(#symbol, one, other));         \
    }
WB_ARITHMETIC(+, a + b)
WB_ARITHMETIC(-, a - b)
WB_ARITHMETIC(*, a* b)
WB_ARITHMETIC(/, details::quotient(a, b))
#undef WB_ARITHMETIC

#define WB_COMPARISON(symbol)                                                                      \
    template <class A, class B, class = details::WithCounted<A, B>>                                \
    Comparison operator symbol(const A& one, const B& other) {                                     \
        const auto a = details::number_of(one);                                                    \
        const auto b = details::number_of(other);                                                  \
        if (a symbol b) return {true, ""};                                                         \
        return {false,                                                                             \
                "{\"left\": " + details::origin_of(one) + ", \"relation\": \"" #symbol "\"" +      \
                    ", \"right\": " + details::origin_of(other) + ", \"got\": " +                  \
                    details::json_of(a) + ", \"want\": " + details::json_of(b) + "}"};             \
    }
WB_COMPARISON(==)
WB_COMPARISON(!=)
WB_COMPARISON(<)
WB_COMPARISON(<=)
WB_COMPARISON(>)
WB_COMPARISON(>=)
#undef WB_COMPARISON
#pragma GCC diagnostic pop

template <class T>
std::ostream& operator<<(std::ostream& out, const Counted<T>& counted) {
    return out << counted.plain_number();
}

// What a test itself has counted, or derived from counters, under a name that
// common/workbook/facts/counters.py knows.
template <class T>
auto measured(const char* name, const T& value) {
    if constexpr (details::IsCounted<T>::value)
        return T(value.plain_number(), "[" + details::quoted(name) + ", " + value.origin() + "]");
    else
        return Counted<T>(value, details::quoted(name));
}

// The emulator's counters.
struct Counters {
#define COUNTER(name) Counted<uint64_t> name = measured(#name, uint64_t(0));
#include "common/emulator/checks/record/counter_fields.def"

    explicit Counters(const EmulatorCounters& counted) {
#define COUNTER(name) name += counted.name;
#include "common/emulator/checks/record/counter_fields.def"
    }

    // Lanes that are active in a warp instruction, on average: 32 when all work all the time.
    Counted<double> active_lanes() const {
        return measured("active_lanes", 1.0 * thread_instructions / warp_instructions);
    }
    // Threads of a block, where all blocks are alike.
    uint64_t block_size() const {
        return details::quotient(threads.plain_number(), blocks.plain_number());
    }
};

namespace details {

// {"count": {"host_launches": 1, ...}}: what is counted here and not by the emulator. `more`:
// further members of that object in JSON, or empty.
inline void note_counted(std::initializer_list<Counted<uint64_t>> numbers,
                         const std::string& more = "") {
    if (!wanted()) return;
    std::string list;
    for (const auto& counted : numbers)
        list +=
            (list.empty() ? "" : ", ") + counted.origin() + ": " + json_of(counted.plain_number());
    append("{\"count\": {" + list + "}" + (more.empty() ? "" : ", " + more) + "}");
}

}  // namespace details
}  // namespace of_test
}  // namespace wb

// Shown as the plain number.
template <class T>
struct Catch::StringMaker<wb::Counted<T>> {
    static std::string convert(const wb::Counted<T>& counted) {
        wb::details::compared().shown = true;
        return ::Catch::Detail::stringify(counted.plain_number());
    }
};
