// SPDX-License-Identifier: MIT
// Small PTX modules for the tests, and the message of an expected ParseError.
#pragma once

#include <memory>
#include <string>

#include "catch/catch.h"
#include "ptx/module.h"

inline const std::string kHeader =
    ".version 9.0\n.target sm_75\n.address_size 64\n";  // lines 1 to 3

inline std::unique_ptr<ptx::Module> open_text(const std::string& text) {
    return ptx::Module::open(kHeader + text, "test.ptx");
}

// A kernel `k` with parameters `p` (u64) and `n` (u32); `body` starts on PTX line 5.
inline std::unique_ptr<ptx::Module> open_kernel(const std::string& body,
                                                const std::string& before = "") {
    return open_text(before + ".visible .entry k(.param .u64 p, .param .u32 n) {\n" + body +
                     "\n}\n");
}

// what() of the ParseError that parsing all of `text` gives; empty if there is none.
inline std::string error_of(const std::string& text) {
    try {
        const auto module = ptx::Module::open(text, "test.ptx");
        for (const auto& header : module->functions()) module->function(header.name);
    } catch (const ptx::ParseError& error) {
        return error.what();
    }
    return {};
}

inline std::string body_error(const std::string& body) {
    return error_of(kHeader + ".visible .entry k(.param .u64 p, .param .u32 n) {\n" + body +
                    "\n}\n");
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}
