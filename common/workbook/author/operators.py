# SPDX-License-Identifier: MIT
"""The operators of `make mutate-NN`: small edits of a CUDA source that are probably mistakes.

Each operator is a function from the tokens of a text to its edits. Tokens are read without a
parser, from sources in clang-format's style: an operator of two operands has blanks around it, a
pointer's star and a template's brackets have not. Where an operator misreads a line, its edit
seldom compiles, and then it does not count.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#(?:\\\n|[^\n])*)
    |(?P<string>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>0[xX][0-9a-fA-F']+[uUlL]*|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFuUlL]*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<sign><<<|>>>|<<=|>>=|\.\.\.|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Edit:
    """`text[begin:end]` becomes `new`; `operator` is the name of the operator that says so."""

    operator: str
    begin: int
    end: int
    new: str

    def apply(self, text: str) -> str:
        return text[: self.begin] + self.new + text[self.end :]


@dataclass(frozen=True)
class Token:
    """A token that is neither blank, comment nor preprocessor line."""

    kind: str  # string, number, word or sign
    text: str
    begin: int
    end: int


class Source:
    """A text and its tokens, with the brackets that belong together."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            Token(match.lastgroup or "", match[0], match.start(), match.end())
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "skip"
        ]

    def is_apart(self, at: int) -> bool:
        """Whether there are blanks on both sides of a token."""
        token = self.tokens[at]
        before, after = self.text[: token.begin][-1:], self.text[token.end : token.end + 1]
        return before.isspace() and after.isspace()

    def has(self, at: int, *texts: str) -> bool:
        """Whether there is a token `at` this place that is one of `texts`."""
        return 0 <= at < len(self.tokens) and self.tokens[at].text in texts

    def kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def between(self, first: int, last: int) -> str:
        """The text from one token to another, both included."""
        return self.text[self.tokens[first].begin : self.tokens[last].end]

    @cached_property
    def partner(self) -> dict[int, int]:
        """The closing bracket of each opening one, and the other way round."""
        pairs, open_ = {}, []
        closing = {")": "(", "]": "[", "}": "{", ">>>": "<<<"}
        for at, token in enumerate(self.tokens):
            if token.text in closing.values():
                open_.append(at)
            elif open_ and self.has(open_[-1], closing.get(token.text, "")):
                first = open_.pop()
                pairs[first], pairs[at] = at, first
        return pairs

    @cached_property
    def within(self) -> list[str]:
        """The innermost bracket that each token stands in."""
        found, open_ = [], [""]
        for at, token in enumerate(self.tokens):
            if at in self.partner and self.partner[at] < at:
                open_.pop()
            found.append(open_[-1])
            if at in self.partner and self.partner[at] > at:
                open_.append(token.text)
        return found

    def edit(self, operator: str, first: int, last: int, new: str) -> Edit:
        """`new` in the place of these tokens."""
        return Edit(operator, self.tokens[first].begin, self.tokens[last].end, new)


Operator = Callable[[Source], Iterator[Edit]]

_RELATIONS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",),
}  # fmt: skip
_ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "*=": "/=",
    "/=": "*=", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&", "&=": "|=", "|=": "&=",
    "^=": "&=", "++": "--", "--": "++",
}  # fmt: skip
_BUILTINS = {
    "threadIdx": "blockIdx", "blockIdx": "threadIdx", "blockDim": "gridDim", "gridDim": "blockDim",
    "__syncthreads": "__syncwarp", "__any_sync": "__all_sync", "__all_sync": "__any_sync",
    "__shfl_down_sync": "__shfl_up_sync", "__shfl_up_sync": "__shfl_down_sync",
    "__ffs": "__clz", "__clz": "__ffs", "min": "max", "max": "min", "fmin": "fmax", "fmax": "fmin",
    "fminf": "fmaxf", "fmaxf": "fminf", "atomicMin": "atomicMax", "atomicMax": "atomicMin",
    "sin": "cos", "cos": "sin", "sinf": "cosf", "cosf": "sinf", "floor": "ceil", "ceil": "floor",
    "cudaMemcpyHostToDevice": "cudaMemcpyDeviceToHost",
    "cudaMemcpyDeviceToHost": "cudaMemcpyHostToDevice",
}  # fmt: skip
_GEOMETRY = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_AXES = {"x": "y", "y": "x", "z": "x"}
# Of two words first: `unsigned` alone is another type.
_WIDTHS = (
    (("unsigned", "long", "long"), "unsigned"), (("long", "long"), "int"),
    (("unsigned", "char"), "unsigned short"), (("unsigned", "int"), "unsigned short"),
    (("unsigned",), "unsigned short"), (("int",), "short"), (("size_t",), "unsigned"),
    (("int64_t",), "int32_t"), (("uint64_t",), "uint32_t"), (("int32_t",), "int16_t"),
    (("uint32_t",), "uint16_t"), (("double",), "float"), (("float",), "double"),
)  # fmt: skip
# Functions whose result does not depend on the order of their arguments.
_SYMMETRIC = {"min", "max", "fmin", "fmax", "fminf", "fmaxf", "hypot", "hypotf"}
_NO_CALLS = {"if", "for", "while", "switch", "sizeof", "alignof", "decltype", "catch"}
_CONTROL = {"return", "break", "continue", "throw", "delete", "goto"}
_NO_STATEMENT = {
    "if", "for", "while", "do", "else", "switch", "case", "default", "try", "const", "constexpr",
    "auto", "static", "extern", "struct", "class", "template", "using", "namespace", "public",
    "private", "static_assert", "typedef", "enum", "__shared__", "volatile",
}  # fmt: skip
# Where an operand of && or ?: ends, at its own depth of brackets.
_BEFORE = ("&&", "||", "(", "[", "{", ",", ";", "?", ":", "return", "=", "&=", "|=", "}", "<<<")
_AFTER = ("&&", "||", ")", "]", "}", ",", ";", "?", ":", ">>>")


def relational(source: Source) -> Iterator[Edit]:
    """Another relation: with or without equality, and the opposite."""
    for at, token in enumerate(source.tokens):
        if source.is_apart(at):
            for new in _RELATIONS.get(token.text, ()):
                yield source.edit("relational", at, at, new)


def arithmetic(source: Source) -> Iterator[Edit]:
    """Another operator of two operands, ++ for --, a sign that is left out."""
    for at, token in enumerate(source.tokens):
        if token.text in ("++", "--") or source.is_apart(at):
            if new := _ARITHMETIC.get(token.text):
                yield source.edit("arithmetic", at, at, new)
        elif token.text == "-" and not source.text[token.end].isspace():
            yield source.edit("arithmetic", at, at, "")


def operands(source: Source) -> Iterator[Edit]:
    """`a + b` and the like without `+ b`. Of `a + b * c` the whole term is left out."""
    for at, token in enumerate(source.tokens):
        if token.text in ("+", "-", "*", "/", "%") and source.is_apart(at):
            last = _operand_end(source, at + 1)
            while token.text in ("+", "-") and last and source.has(last + 1, "*", "/", "%"):
                last = _operand_end(source, last + 2)
            if last is not None:
                first = source.tokens[at - 1].end
                yield Edit("operand", first, source.tokens[last].end, "")


def constants(source: Source) -> Iterator[Edit]:
    """A number one greater, and one less."""
    for at, token in enumerate(source.tokens):
        if token.kind == "number":
            for step in (1, -1):
                new = _stepped(token.text, step)
                if new and not (new.startswith("-") and source.text[: token.begin].endswith("-")):
                    yield source.edit("constant", at, at, new)


def statements(source: Source) -> Iterator[Edit]:
    """A statement that is left out, if it declares nothing."""
    for first, last in _statements(source):
        yield source.edit("statement", first, last, ";")


def conditions(source: Source) -> Iterator[Edit]:
    """A condition that always holds, a part of one that is left out, a ! that is."""
    for at, token in enumerate(source.tokens):
        if token.text == "if":
            opened = at + (2 if source.has(at + 1, "constexpr") else 1)
            if (closed := source.partner.get(opened)) is not None:
                first = opened + 1
                while (end := _end(source, first, (";",))) is not None and end < closed:
                    first = end + 1
                yield source.edit("condition", first, closed - 1, "true")
        elif token.text == "?":
            if (first := _begin(source, at - 1)) is not None:
                for new in ("true", "false"):
                    yield source.edit("condition", first, at - 1, new)
        elif token.text in ("&&", "||") and source.is_apart(at):
            first, end = _begin(source, at - 1), _end(source, at + 1, _AFTER)
            if first is not None and end is not None:
                tokens = source.tokens
                yield Edit("condition", tokens[first].begin, tokens[at + 1].begin, "")
                yield Edit("condition", tokens[at - 1].end, tokens[end - 1].end, "")
        elif token.text == "!":
            yield source.edit("condition", at, at, "")


def arguments(source: Source) -> Iterator[Edit]:
    """Two neighbours among the arguments of a call or a launch that are swapped."""
    for at, closed in sorted(source.partner.items()):
        if closed < at or not _is_call(source, at, closed):
            continue
        parts, first = [], at + 1
        while first < closed:
            end = _end(source, first, (",", source.tokens[closed].text)) or closed
            parts.append((first, end - 1))
            first = end + 1
        for (a, b), (c, d) in itertools.pairwise(parts):
            left, right = source.between(a, b), source.between(c, d)
            if left != right:
                comma = source.text[source.tokens[b].end : source.tokens[c].begin]
                yield source.edit("arguments", a, d, f"{right}{comma}{left}")


def builtins(source: Source) -> Iterator[Edit]:
    """A built-in variable or function for another, one axis for another."""
    for at, token in enumerate(source.tokens):
        if token.kind != "word" or source.has(at - 1, ".", "->"):
            continue
        if new := _BUILTINS.get(token.text):
            yield source.edit("builtin", at, at, new)
        if token.text in _GEOMETRY and source.has(at + 1, ".") and source.has(at + 2, *_AXES):
            yield source.edit("builtin", at + 2, at + 2, _AXES[source.tokens[at + 2].text])


def widths(source: Source) -> Iterator[Edit]:
    """A type of another width. What a pointer or a reference points to stays: it must fit."""
    at = 0
    while at < len(source.tokens):
        for words, new in _WIDTHS:
            last = at + len(words) - 1
            if all(source.has(at + k, word) for k, word in enumerate(words)):
                if not source.has(last + 1, "*", "&", "&&", "long", "int", "char"):
                    yield source.edit("width", at, last, new)
                at = last
                break
        at += 1


OPERATORS: tuple[Operator, ...] = (
    relational, arithmetic, operands, constants, statements, conditions, arguments, builtins,
    widths,
)  # fmt: skip


def edits(text: str, lines: Sequence[range]) -> list[Edit]:
    """All edits by all operators within these ranges of lines, counted from 1, in the order of the
    text. Of edits that make the same text there is one.
    """
    source = Source(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: dict[str, Edit] = {}
    for operator in OPERATORS:
        for edit in operator(source):
            first = bisect.bisect_right(starts, edit.begin)
            last = bisect.bisect_right(starts, edit.end)
            if any(first in part and last in part for part in lines):
                found.setdefault(edit.apply(text), edit)
    found.pop(text, None)
    return sorted(found.values(), key=lambda edit: (edit.begin, edit.end))


def _stepped(number: str, step: int) -> str:
    """A literal and `step`, or '' where that is no literal of its type. Of 1e9 it is the exponent
    that changes.
    """
    number = number.replace("'", "")
    if match := re.fullmatch(r"(0[xX])([\da-fA-F]+)([uUlL]*)", number):
        value = int(match[2], 16) + step
        fits = 0 <= value < 16 ** len(match[2])
        return f"{match[1]}{value:0{len(match[2])}X}{match[3]}" if fits else ""
    if match := re.fullmatch(r"([\d.]+[eE])([-+]?\d+)([fF]?)", number):
        return f"{match[1]}{int(match[2]) + step}{match[3]}"
    match = re.fullmatch(r"([\d.]+)([fFuUlL]*)", number)
    if not match:
        return ""
    value = (float if "." in match[1] else int)(match[1]) + step
    if value >= 0:
        return f"{value!r}{match[2]}"
    return f"{value!r}{match[2].strip('uU')}"


def _operand_end(source: Source, at: int) -> int | None:
    """The last token of the operand that begins here: a name, a number or brackets, with what is
    called, indexed or selected of it.
    """
    while source.has(at, "-", "!", "~", "*", "&"):
        at += 1
    if source.kind(at) not in ("word", "number") and not source.has(at, "("):
        return None
    at = source.partner.get(at, at)
    while True:
        if source.has(at + 1, "(", "[") and at + 1 in source.partner:
            at = source.partner[at + 1]
        elif source.has(at + 1, ".", "->", "::"):
            at += 2
        else:
            return at if at < len(source.tokens) else None


def _begin(source: Source, at: int) -> int | None:
    """The first token of the operand of && or ?: that ends at this one."""
    first = None
    while at >= 0:
        if source.has(at, ")", "]", "}") and at in source.partner:
            at = source.partner[at]
        elif source.has(at, *_BEFORE):
            return first
        first = at
        at -= 1
    return first


def _end(source: Source, at: int, ends: tuple[str, ...]) -> int | None:
    """The first token from here on that is one of `ends`, outside of brackets that begin here."""
    while at < len(source.tokens):
        if source.has(at, *ends):
            return at
        at = source.partner.get(at, at) if source.has(at, "(", "[", "{", "<<<") else at
        at += 1
    return None


def _is_call(source: Source, opened: int, closed: int) -> bool:
    """Whether the bracket opens the arguments of a call, a launch or a constructor."""
    if source.has(opened, "<<<"):
        return True
    before = source.tokens[opened - 1] if opened else None
    if not source.has(opened, "(") or before is None or source.has(closed + 1, "{", "const", "->"):
        return False
    if before.text == ">>>":
        return True
    touches = before.end == source.tokens[opened].begin
    if before.kind == "word":
        return touches and before.text not in _NO_CALLS | _SYMMETRIC
    return touches and before.text == ">"  # of a template's argument


def _statements(source: Source) -> Iterator[tuple[int, int]]:
    """First and last token of each statement that ends with a semicolon and declares nothing."""
    starts: set[int] = set()
    for at, token in enumerate(source.tokens):
        if token.text in ("{", "}", ";", "else", "do"):
            starts.add(at + 1)
        elif token.text in ("if", "for", "while"):
            opened = at + (2 if source.has(at + 1, "constexpr") else 1)
            if opened in source.partner:
                starts.add(source.partner[opened] + 1)
    for first in sorted(starts):
        # In the brackets of a for are no statements, but in a lambda among arguments there are.
        if first < len(source.tokens) and source.within[first] in ("", "{"):
            last = _statement_end(source, first)
            if last is not None and last > first and not _declares(source, first):
                yield first, last


def _statement_end(source: Source, at: int) -> int | None:
    """The semicolon of the statement that begins here; None before the body of a function."""
    while (end := _end(source, at, (";", "}", "{"))) is not None and source.has(end, "{"):
        if source.has(end - 1, ")", "const", "noexcept", "override", "try"):
            return None
        at = source.partner.get(end, end) + 1
    return end if end is not None and source.has(end, ";") else None


def _declares(source: Source, at: int) -> bool:
    """Whether a declaration or a statement with statements in it begins here."""
    if source.has(at, *_NO_STATEMENT):
        return True
    if source.has(at, *_CONTROL):
        return False
    if source.kind(at) != "word":
        return source.has(at, "{", "}", ")", "[")
    while source.has(at + 1, "::"):
        at += 2
    if source.has(at + 1, "<") and not source.is_apart(at + 1):
        # A template's argument: what follows it is a name, or the brackets of a call.
        depth = 0
        for end in range(at + 1, len(source.tokens)):
            depth += source.has(end, "<") - source.has(end, ">") - 2 * source.has(end, ">>")
            if depth <= 0:
                at = end
                break
    if source.has(at + 1, "*", "&", "&&") and not source.is_apart(at + 1):
        return True
    return source.kind(at + 1) == "word"
