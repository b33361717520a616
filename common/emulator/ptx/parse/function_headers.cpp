// SPDX-License-Identifier: MIT
#include "ptx/parse/function_headers.h"

#include <algorithm>
#include <array>

namespace ptx {

bool starts_statement(const Token& token) {
    static constexpr std::string_view kStarts[] = {".visible",
                                                   ".extern",
                                                   ".weak",
                                                   ".common",
                                                   ".entry",
                                                   ".func",
                                                   ".global",
                                                   ".const",
                                                   ".shared",
                                                   ".tex",
                                                   ".file",
                                                   ".section",
                                                   ".alias"};
    return token.kind == Token::Kind::kDotted &&
           std::find(std::begin(kStarts), std::end(kStarts), token.text) != std::end(kStarts);
}

void parse_tuning(Lexer& lexer, const Token& token, FunctionHeader& header) {
    static constexpr std::string_view kKnown[] = {".noreturn",
                                                  ".maxnreg",
                                                  ".maxntid",
                                                  ".reqntid",
                                                  ".minnctapersm",
                                                  ".maxnctapersm",
                                                  ".abi_preserve",
                                                  ".abi_preserve_control",
                                                  ".reqnctapercluster",
                                                  ".explicitcluster",
                                                  ".maxclusterrank",
                                                  ".blocksareclusters"};
    if (std::find(std::begin(kKnown), std::end(kKnown), token.text) == std::end(kKnown))
        lexer.fail(token, "a directive of a function such as .maxntid or .noreturn");
    uint64_t product = 1;
    std::array<uint32_t, 3> sizes{1, 1, 1};
    size_t given = 0;
    while (lexer.peek().kind == Token::Kind::kInteger) {
        const Token number = lexer.take();
        const uint64_t value = number.bits;
        if (given == 3) lexer.fail(number, "at most three numbers");
        if (value == 0 || value > INT32_MAX) lexer.fail(number, "a number from 1 to 2^31 - 1");
        sizes[given++] = uint32_t(value);
        product = product > UINT32_MAX / value ? UINT32_MAX : product * value;
        if (!lexer.accept(',')) break;
    }
    const bool exact = token.text == ".reqntid";
    const bool tunes = token.text == ".maxnreg" || token.text.ends_with("ctapersm");
    if (tunes && !header.is_entry)
        lexer.fail(token, "a directive of functions: this one is for kernels");
    if (!exact && token.text != ".maxntid") {
        if (token.text == ".reqnctapercluster" && product > 1)
            lexer.fail(token, "a kernel without clusters: the emulated device has none");
        return;
    }
    if (!header.is_entry) lexer.fail(token, "no limit of threads: that is for kernels");
    if (given == 0) lexer.fail(lexer.peek(), "the number of threads");
    if (header.max_threads != 0) lexer.fail(token, "one of .maxntid and .reqntid, and once only");
    header.max_threads = uint32_t(product);
    if (exact) header.required_block = sizes;
}

void check_kernel_parameters(const Lexer& lexer, const Token& name, const FunctionHeader& header,
                             const BodyPlace& place) {
    constexpr uint32_t kMostBytes = 32764;
    for (size_t i = 0; i < header.parameters.size(); ++i) {
        const Parameter& parameter = header.parameters[i];
        if (place.register_parameters[i])
            lexer.fail(
                name.line, parameter.name, "expected .param: a kernel's parameters are memory");
        if (parameter.bytes == 0)
            lexer.fail(name.line, parameter.name, "expected a size for this parameter");
        if (parameter.offset + parameter.bytes > kMostBytes)
            lexer.fail(name.line,
                       parameter.name,
                       "expected at most " + std::to_string(kMostBytes) + " bytes of parameters");
        for (size_t k = 0; k < i; ++k)
            if (header.parameters[k].name == parameter.name)
                lexer.fail(name.line, parameter.name, "expected each parameter's name once");
    }
}

void make_room(const Lexer& lexer, const Token& name, FunctionHeader& header) {
    for (Parameter& parameter : header.parameters) {
        if (!parameter.is_unsized) continue;
        if (&parameter != &header.parameters.back())
            lexer.fail(name.line,
                       parameter.name,
                       "expected a size: only the last parameter may have none");
        parameter.bytes = kUnsizedBytes;
    }
}

}  // namespace ptx
