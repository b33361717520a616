// SPDX-License-Identifier: MIT
// Given in lesson 35: arguments and parameters of kernels, and checks for calls of NVRTC and of the
// driver API.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

class JitError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// NVRTC refuses a source: what() is the log, with all lines.
class CompileError : public JitError {
public:
    using JitError::JitError;
};

inline void nvrtc_check(nvrtcResult result, const char* call) {
    if (result != NVRTC_SUCCESS)
        throw JitError(std::string(call) + ": " + nvrtcGetErrorString(result));
}
inline void driver_check(CUresult result, const char* call) {
    const char* name = nullptr;
    if (result != CUDA_SUCCESS && cuGetErrorName(result, &name) != CUDA_SUCCESS) name = "unknown";
    if (result != CUDA_SUCCESS) throw JitError(std::string(call) + ": " + name);
}
// Put NVRTC_CHECK around each call that returns an nvrtcResult, DRIVER_CHECK around each that
// returns a CUresult.
#define NVRTC_CHECK(call) nvrtc_check((call), #call)
#define DRIVER_CHECK(call) driver_check((call), #call)

// A type as kernels spell it: "float", "double", "signed char", "short", "int", "long long", or
// "unsigned char", "unsigned short", "unsigned int", "unsigned long long".
template <class T>
std::string type_name() {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool>);
    if constexpr (std::is_floating_point_v<T>) {
        return sizeof(T) == 4 ? "float" : "double";
    } else {
        const char* names[] = {"char", "short", "", "int", "", "", "", "long long"};
        const std::string name = names[sizeof(T) - 1];
        if (std::is_unsigned_v<T>) return "unsigned " + name;
        return sizeof(T) == 1 ? "signed char" : name;
    }
}

// An argument of a kernel: an array in device memory, or one value for all elements.
class Argument {
public:
    template <class T>
    Argument(T* d_array) : type_(type_name<std::remove_const_t<T>>()), is_array_(true) {
        std::memcpy(bytes_, &d_array, sizeof d_array);
    }
    template <class T>
    Argument(T value) : type_(type_name<T>()), is_array_(false) {
        std::memcpy(bytes_, &value, sizeof value);
    }
    // The type of the value, or of an element of the array.
    const std::string& type() const { return type_; }
    bool is_array() const { return is_array_; }
    // The address of the value, or of the array's pointer. Only the bytes of the value's own type
    // belong to it.
    const void* address() const { return bytes_; }
    // The same value in another type, converted as an assignment in C++ converts it. Not for an
    // array.
    Argument as(const std::string& type) const;

private:
    template <class From>
    Argument converted(const std::string& type) const;
    std::string type_;
    bool is_array_;
    alignas(8) unsigned char bytes_[8] = {
        0xCD, 0xCD, 0xCD, 0xCD, 0xCD, 0xCD, 0xCD, 0xCD};  // bytes that do not belong to the value
};

// A kernel's parameter, with its real type.
struct Parameter {
    std::string type;
    std::string name;  // does not begin with an underscore
    bool is_array;     // else one value for all elements
};

// A kernel that computes out[i] = expression for each i. The expression contains the names of `in`.
// Each stands for element i of an array, or for the value.
struct Elementwise {
    std::string name;  // of the kernel
    std::vector<Parameter> in;
    Parameter out;  // an array
    std::string expression;
};

// --- how it is done ------------------------------------------------------------------------------

template <class From>
Argument Argument::converted(const std::string& type) const {
    From value;
    std::memcpy(&value, bytes_, sizeof value);
    if (type == "float") return float(value);
    if (type == "double") return double(value);
    if (type == "signed char") return static_cast<signed char>(value);
    if (type == "unsigned char") return static_cast<unsigned char>(value);
    if (type == "short") return short(value);
    if (type == "unsigned short") return static_cast<unsigned short>(value);
    if (type == "int") return int(value);
    if (type == "unsigned int") return unsigned(value);
    if (type == "long long") return static_cast<long long>(value);
    if (type == "unsigned long long") return static_cast<unsigned long long>(value);
    throw std::invalid_argument("no such type: " + type);
}

inline Argument Argument::as(const std::string& type) const {
    if (type_ == "float") return converted<float>(type);
    if (type_ == "double") return converted<double>(type);
    if (type_ == "signed char") return converted<signed char>(type);
    if (type_ == "unsigned char") return converted<unsigned char>(type);
    if (type_ == "short") return converted<short>(type);
    if (type_ == "unsigned short") return converted<unsigned short>(type);
    if (type_ == "int") return converted<int>(type);
    if (type_ == "unsigned int") return converted<unsigned int>(type);
    if (type_ == "long long") return converted<long long>(type);
    return converted<unsigned long long>(type);
}

// "T a, unsigned int k" -> {{"T", "a"}, {"unsigned int", "k"}}
inline std::vector<Parameter> parsed(const std::string& text) {
    std::vector<Parameter> found;
    std::istringstream list(text);
    for (std::string one; std::getline(list, one, ',');) {
        std::istringstream words(one);
        std::string type, name;
        for (std::string word; words >> word; name = word)
            if (!name.empty()) type += (type.empty() ? "" : " ") + name;
        if (type.empty()) throw std::invalid_argument("no type and name: " + one);
        found.push_back({type, name, false});
    }
    return found;
}

// `declared` with the types and kinds of these arguments, and T replaced.
inline Elementwise bound(const Elementwise& declared, const Argument& out,
                         const std::vector<Argument>& in) {
    Elementwise what = declared;
    if (in.size() != what.in.size() || !out.is_array())
        throw std::invalid_argument("want " + std::to_string(what.in.size()) +
                                    " inputs and an array for the output");
    const std::string t = out.type();
    const auto bind = [&](Parameter& parameter, const Argument& argument) {
        parameter.is_array = argument.is_array();
        if (parameter.type == "T") parameter.type = t;
        if (parameter.is_array && parameter.type != argument.type())
            throw std::invalid_argument(parameter.name + " is declared as " + parameter.type +
                                        ", and the array's elements are " + argument.type());
    };
    bind(what.out, out);
    for (size_t i = 0; i < in.size(); ++i) bind(what.in[i], in[i]);
    return what;
}
