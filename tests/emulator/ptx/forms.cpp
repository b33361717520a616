// SPDX-License-Identifier: MIT
// ptx_forms FILE: expands every line of forms.txt (see its head), loads each form as a kernel of
// its own, and prints `section<TAB>form<TAB>expected<TAB>found<TAB>reason<TAB>message`, where the
// third and fourth are `runs` or `refused`.
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace {

// Every way to choose among the alternatives in angle brackets.
std::vector<std::string> expand(const std::string& text) {
    const size_t open = text.find('<');
    if (open == std::string::npos) return {text};
    const size_t close = text.find('>', open);
    const std::string before = text.substr(0, open), after = text.substr(close + 1);
    std::vector<std::string> out;
    for (size_t at = open + 1; at <= close;) {
        const size_t bar = std::min(text.find('|', at), close);
        for (const std::string& rest : expand(after))
            out.push_back(before + text.substr(at, bar - at) + rest);
        at = bar + 1;
    }
    return out;
}

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

int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : "");
    if (!file) {
        std::cerr << "usage: ptx_forms FILE\n";
        return 2;
    }
    std::string section, line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        if (line.starts_with("== ")) {
            section = line.substr(3);
            continue;
        }
        const bool refused = line[0] == '!';
        std::string reason;
        if (refused) {
            reason = line.substr(line.rfind(' ') + 1);
            line = line.substr(1, line.rfind(' ') - 1);
        }
        for (const std::string& form : expand(line)) {
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
            std::cout << section << '\t' << form << '\t' << (refused ? "refused" : "runs") << '\t'
                      << (message.empty() ? "runs" : "refused") << '\t' << reason << '\t' << message
                      << '\n';
        }
    }
}
