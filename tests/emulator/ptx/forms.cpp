// SPDX-License-Identifier: MIT
// ptx_forms: expands every form of ptx/instructions.def, loads each as a kernel of its own, and
// prints `section<TAB>titles<TAB>form<TAB>expected<TAB>found<TAB>reason<TAB>message`, where
// expected and found are `runs` or `refused`.
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "forms.h"
#include "machine/machine.h"

namespace {

// Single letters of the operands become registers, each a new one.
std::string with_registers(const std::string& form) {
    const size_t space = form.find(' ');
    if (space == std::string::npos) return form;
    std::string out = form.substr(0, space);
    std::map<char, int> next;
    const auto is_word = [](char c) { return std::isalnum(c) || c == '_' || c == '%'; };
    for (size_t i = space; i < form.size(); ++i) {
        const char c = form[i];
        const bool alone = !is_word(form[i - 1]) && form[i - 1] != '.' &&
                           (i + 1 == form.size() || !is_word(form[i + 1]));
        if (alone && std::string("phrqxfd").find(c) != std::string::npos)
            out += std::string("%") + c + std::to_string(++next[c]);
        else
            out += c == '&' ? '|' : c;
    }
    return out;
}

std::string module_text(const std::string& form) {
    return R"(.version 9.0
.target sm_100
.address_size 64
.global .align 16 .b8 gl[256];
.func helper() { ret; }
.visible .entry k()
{
.reg .pred %p<64>;
.reg .b16 %h<64>;
.reg .b32 %r<64>;
.reg .b64 %q<64>;
.reg .b128 %x<64>;
.reg .f32 %f<64>;
.reg .f64 %d<64>;
.shared .align 16 .b8 sm[256];
T: .branchtargets L, L;
)" + with_registers(form) +
           ";\nL:\nret;\n}\n";
}

}  // namespace

int main() {
    using forms::Row;
    Row section{};
    for (const Row& row : forms::kRows) {
        if (row.kind == Row::kSection) section = row;
        if (row.kind != Row::kRuns && row.kind != Row::kRefused) continue;
        for (const std::string& form : forms::expand(std::string(row.text))) {
            std::string message;
            machine::Memory memory;
            machine::Observers observers;
            const auto device = machine::Machine::create(memory, observers);
            try {
                const auto module = device->load(module_text(form), "form", 0);
                module->kernel("k")->local_bytes();  // decodes
            } catch (const std::exception& error) {
                message = error.what();
                for (char& c : message)
                    if (c == '\n' || c == '\t') c = ' ';
            }
            std::cout << section.text << '\t' << section.second << '\t' << form << '\t'
                      << (row.kind == Row::kRefused ? "refused" : "runs") << '\t'
                      << (message.empty() ? "runs" : "refused") << '\t' << row.second << '\t'
                      << message << '\n';
        }
    }
}
