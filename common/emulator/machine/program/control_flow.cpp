// SPDX-License-Identifier: MIT
// Post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm" (2001), on the reversed control-flow graph with one virtual exit.
#include "machine/program/control_flow.h"

#include <algorithm>

namespace machine {

using ptx::Opcode;

std::vector<uint32_t> jump_targets(const ptx::Function& function, const ptx::Instruction& in) {
    std::vector<uint32_t> out;
    if (in.opcode == Opcode::k_bra) {
        if (!in.operands.empty()) out.push_back(in.operands[0].index);
    } else if (in.opcode == Opcode::k_brx) {
        for (const auto& table : function.branch_targets)
            if (in.operands.size() > 1 && table.name == in.operands[1].name)
                out.insert(out.end(), table.targets.begin(), table.targets.end());
    }
    return out;
}

namespace {

bool is_branch(const ptx::Instruction& in) {
    return in.opcode == Opcode::k_bra || in.opcode == Opcode::k_brx;
}

struct Graph {
    std::vector<uint32_t> first;  // block -> its first instruction
    std::vector<uint32_t> block_of;
    std::vector<std::vector<uint32_t>> next;  // node `blocks` is the virtual exit
    uint32_t exit = 0;
};

Graph build(const ptx::Function& function) {
    const uint32_t count = uint32_t(function.body.size());
    std::vector<bool> leader(count + 1, false);
    leader[0] = true;
    for (uint32_t i = 0; i < count; ++i) {
        const auto& in = function.body[i];
        for (uint32_t t : jump_targets(function, in))
            if (t < count) leader[t] = true;
        if (is_branch(in) || ends_flow(in) || in.opcode == Opcode::k_ret ||
            in.opcode == Opcode::k_exit)
            leader[i + 1] = true;
    }
    Graph graph;
    graph.block_of.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
        if (leader[i]) graph.first.push_back(i);
        graph.block_of[i] = uint32_t(graph.first.size() - 1);
    }
    graph.exit = uint32_t(graph.first.size());
    graph.next.resize(graph.exit + 1);
    for (uint32_t b = 0; b < graph.exit; ++b) {
        const uint32_t last = (b + 1 < graph.exit ? graph.first[b + 1] : count) - 1;
        const auto& in = function.body[last];
        auto& next = graph.next[b];
        for (uint32_t t : jump_targets(function, in))
            next.push_back(t < count ? graph.block_of[t] : graph.exit);
        const bool leaves = in.opcode == Opcode::k_ret || in.opcode == Opcode::k_exit ||
                            (ends_flow(in) && !is_branch(in));
        if (leaves) next.push_back(graph.exit);
        if (!ends_flow(in)) next.push_back(last + 1 < count ? b + 1 : graph.exit);
        std::sort(next.begin(), next.end());
        next.erase(std::unique(next.begin(), next.end()), next.end());
    }
    return graph;
}

}  // namespace

bool ends_flow(const ptx::Instruction& in) {
    if (in.guarded) return false;
    return in.opcode == Opcode::k_bra || in.opcode == Opcode::k_brx || in.opcode == Opcode::k_ret ||
           in.opcode == Opcode::k_exit || in.opcode == Opcode::k_trap;
}

namespace {

// The immediate post-dominator of every node; kNoInstruction if the exit is unreachable.
std::vector<uint32_t> post_dominators(const Graph& graph) {
    const uint32_t nodes = graph.exit + 1;
    std::vector<std::vector<uint32_t>> before(nodes);
    for (uint32_t b = 0; b < nodes; ++b)
        for (uint32_t n : graph.next[b]) before[n].push_back(b);

    // Post-order of the reversed graph from the exit. Blocks that cannot reach the exit (endless
    // loops) are not visited: their branches have no reconvergence point.
    std::vector<uint32_t> order, number(nodes, kNoInstruction);
    std::vector<std::pair<uint32_t, size_t>> stack{{graph.exit, 0}};
    std::vector<bool> seen(nodes, false);
    seen[graph.exit] = true;
    while (!stack.empty()) {
        auto& [node, child] = stack.back();
        if (child < before[node].size()) {
            const uint32_t next = before[node][child++];
            if (!seen[next]) {
                seen[next] = true;
                stack.push_back({next, 0});
            }
        } else {
            number[node] = uint32_t(order.size());
            order.push_back(node);
            stack.pop_back();
        }
    }
    std::vector<uint32_t> ipdom(nodes, kNoInstruction);
    ipdom[graph.exit] = graph.exit;
    const auto meet = [&](uint32_t a, uint32_t b) {
        while (a != b) {
            while (number[a] < number[b]) a = ipdom[a];
            while (number[b] < number[a]) b = ipdom[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = order.size(); k-- > 0;) {
            const uint32_t node = order[k];
            if (node == graph.exit) continue;
            uint32_t best = kNoInstruction;
            for (uint32_t n : graph.next[node])
                if (ipdom[n] != kNoInstruction) best = best == kNoInstruction ? n : meet(best, n);
            if (best != ipdom[node]) {
                ipdom[node] = best;
                changed = true;
            }
        }
    }
    return ipdom;
}

// Blocks that only return, and the exit itself.
std::vector<bool> ways_out(const ptx::Function& function, const Graph& graph) {
    std::vector<bool> out(graph.exit + 1, true);
    for (uint32_t b = 0; b < graph.exit; ++b) {
        const auto& in = function.body[graph.first[b]];
        out[b] = !in.guarded && (in.opcode == Opcode::k_ret || in.opcode == Opcode::k_exit);
    }
    return out;
}

// The same kernel without the edges by which lanes leave it early: lanes that have returned are not
// waited for, so the others reconverge where they would if no lane returned. (A .func's `ret`
// continues in the caller and does not end a lane.)
Graph without_early_exits(Graph graph, const std::vector<bool>& leaves) {
    for (auto& next : graph.next) {
        const auto stays = [&](uint32_t n) { return !leaves[n]; };
        if (std::any_of(next.begin(), next.end(), stays))
            std::erase_if(next, [&](uint32_t n) { return leaves[n]; });
    }
    return graph;
}

}  // namespace

std::vector<uint32_t> reconvergence_points(const ptx::Function& function) {
    std::vector<uint32_t> out(function.body.size(), kNoInstruction);
    if (function.body.empty()) return out;
    const Graph graph = build(function);
    std::vector<uint32_t> meets_at = post_dominators(graph);
    if (function.is_entry) {
        const std::vector<bool> leaves = ways_out(function, graph);
        const Graph reduced = without_early_exits(graph, leaves);
        const std::vector<uint32_t> early = post_dominators(reduced);
        const auto only_exits = [&](uint32_t b) {
            return meets_at[b] != kNoInstruction && leaves[meets_at[b]];
        };
        const auto meets_early = [&](uint32_t b) {
            return only_exits(b) && reduced.next[b].size() > 1 && early[b] != kNoInstruction &&
                   !leaves[early[b]];
        };
        bool any = false;
        for (uint32_t b = 0; b < graph.exit; ++b) any |= meets_early(b);
        // Where others reconverge early, lanes on their way out must not wait for them at the end.
        for (uint32_t b = 0; any && b < graph.exit; ++b)
            if (only_exits(b)) meets_at[b] = meets_early(b) ? early[b] : kNoInstruction;
    }
    for (uint32_t i = 0; i < function.body.size(); ++i) {
        if (!is_branch(function.body[i])) continue;
        const uint32_t where = meets_at[graph.block_of[i]];
        if (where != kNoInstruction && where != graph.exit) out[i] = graph.first[where];
    }
    return out;
}

}  // namespace machine
