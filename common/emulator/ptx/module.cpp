// SPDX-License-Identifier: MIT
// ptx::Module on top of an index: bodies are parsed on first use and cached.
#include "ptx/module.h"

#include <algorithm>

#include "ptx/parse/index.h"

namespace ptx {
namespace {

class TextModule final : public Module {
public:
    TextModule(std::string text, std::string name) {
        index_.text = std::move(text);
        index_.text.resize(std::min(index_.text.size(), index_.text.find('\0')));
        index_.name = std::move(name);
        index_module(index_);
        parsed_.resize(index_.functions.size());
    }

    unsigned target() const override { return index_.target; }
    unsigned version_major() const override { return index_.version_major; }
    unsigned version_minor() const override { return index_.version_minor; }
    const std::vector<Variable>& variables() const override { return index_.variables; }
    const std::vector<FunctionHeader>& functions() const override { return index_.functions; }

    const Function* function(std::string_view name) override {
        Parsed* parsed = parse(name);
        return parsed ? &parsed->function : nullptr;
    }

    std::vector<Unsupported> unsupported(std::string_view function) override {
        std::vector<Unsupported> out = index_.unsupported;
        if (const Parsed* parsed = parse(function)) {
            out.insert(out.end(), parsed->unsupported.begin(), parsed->unsupported.end());
        }
        return out;
    }

    std::vector<SourceLine> inline_chain(uint32_t location) const override {
        return index_.sources.chain(location);
    }
    SourceLine user_line(uint32_t location) const override {
        return index_.sources.user_line(location);
    }
    bool in_user_file(uint32_t location) const override {
        return index_.sources.in_user_file(location);
    }

private:
    struct Parsed {
        Function function;
        std::vector<Unsupported> unsupported;
    };

    Parsed* parse(std::string_view name) {
        const FunctionHeader* header = index_.find_function(name);
        if (!header) return nullptr;
        const uint32_t at = uint32_t(header - index_.functions.data());
        if (!parsed_[at]) {
            auto fresh = std::make_unique<Parsed>();
            Function& function = fresh->function;
            function.name = header->name;
            function.is_entry = header->is_entry;
            function.is_declaration = header->is_declaration;
            function.parameters = header->parameters;
            function.results = header->results;
            function.max_threads = header->max_threads;
            function.line = header->line;
            function.is_noreturn = index_.bodies[at].is_noreturn;
            if (!header->is_declaration) parse_body(index_, at, function, fresh->unsupported);
            parsed_[at] = std::move(fresh);
        }
        return parsed_[at].get();
    }

    ModuleIndex index_;
    std::vector<std::unique_ptr<Parsed>> parsed_;
};

}  // namespace

std::unique_ptr<Module> Module::open(std::string text, std::string name) {
    return std::make_unique<TextModule>(std::move(text), std::move(name));
}

}  // namespace ptx
