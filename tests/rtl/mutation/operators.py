# SPDX-License-Identifier: Apache-2.0
"""Mutants of SystemVerilog: small changes of one expression, found in the text (docs/mutation.md lists them).

What is changed: the right-hand sides of `assign`, of initialised `wire`s and of assignments in `always` blocks, and the
conditions of `if` in these. What is not: parameters, functions, assertions, heads of loops, resets, indices in brackets, counts
of replications."""

import bisect
import dataclasses
import re

SWAPS = {"&&": "||", "||": "&&", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-",
         "-": "+", "1'b0": "1'b1", "1'b1": "1'b0"}
TOKEN = re.compile(r"&&&|&&|\|\||===|!==|==|!=|<<<|>>>|<<|>>|<=|>=|[-+]:|[<>+\-!?]|\b1'b[01]\b")
COMMENT = r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\""
SKIPPED = re.compile(COMMENT + r"|\bfor\s*\([^;]*;[^;]*;[^)]*\)|`ifndef SYNTHESIS.*?`endif|"
                     r"\bif\s*\(!rst_ni\)\s*(?:begin\b.*?\bend\b|[^;]*;)|"
                     r"\bfunction\b.*?\bendfunction\b|\b(?:local)?param(?:eter)?\b[^;)]*[;)]", re.S)
CONTINUOUS = re.compile(r"\b(?:assign\s|wire\b)[^;=]*?[^;=<>!](=)(?!=)\s*([^;]*);")
BLOCK = re.compile(r"\balways_(?:ff|comb)\b")
ASSIGNED = re.compile(r"(?:\bbegin(?:\s*:\s*\w+)?|\belse|\bend|[;):])\s*"
                      r"(?:[A-Za-z_][\w.]*(?:\[[^;=]*?\])*|\{[^{}=;]*\})\s*(?:<=|=)\s*([^;]*)(?=;)")
CONDITION = re.compile(r"\bif\s*\(")


@dataclasses.dataclass(frozen=True)
class Mutant:
    start: int  # of the expression in its file
    end: int
    was: str
    now: str

    def key(self):
        return tuple(" ".join(s.split()) for s in (self.was, self.now))


def blanked(text, what=SKIPPED):
    """The text with what is left alone as blanks of the same length."""
    return what.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def closing(text, at):
    """Index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError("brackets do not match")


def blocks(text):
    """Spans of always blocks: to the `end` of their `begin`, or to a blank line."""
    for m in BLOCK.finditer(text):
        depth = 0
        for word in re.finditer(r"\b(begin|case|end|endcase)\b|;", text[m.end():]):
            depth += {"begin": 1, "case": 1, "end": -1, "endcase": -1}.get(word.group(), 0)
            if depth == 0 and word.group() in ("end", ";"):
                rest = text[m.end() + word.end():]
                if not re.match(r"\s*else\b", rest):
                    yield m.start(), m.end() + word.end()
                    break


def expressions(text):
    """Spans of the expressions that may be changed."""
    spans = set()
    for m in CONTINUOUS.finditer(text):
        if "'{" not in m.group(2):
            spans |= set(pieces(text, m.start(2), m.end(2)))
    for start, end in blocks(text):
        body = text[start:end]
        for m in ASSIGNED.finditer(body):
            if "'{" not in m.group(1):
                spans.add((start + m.start(1), start + m.end(1)))
        for m in CONDITION.finditer(body):
            spans.add((start + m.end(), start + closing(body, m.end() - 1)))
    return sorted(spans)


def pieces(text, start, end):
    """`a = x, b = y` in one declaration: x and y."""
    depth, begin = 0, start
    for i in range(start, end + 1):
        c = text[i] if i < end else ","
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            yield begin, i
            begin = re.compile(r"[^=,;]*=\s*").match(text, i + 1)
            if not begin:
                return
            begin = begin.end()


def operand(text, at, step):
    """Where the operand of a logical operator ends that begins at `at`, to the right (1) or left (-1)."""
    open_, close = ("([{", ")]}") if step > 0 else (")]}", "([{")
    depth = 0
    while 0 <= at < len(text):
        c = text[at]
        pair = text[min(at, at + step):max(at, at + step) + 1]
        if depth == 0 and pair == "::":
            at += 2 * step
            continue
        if depth == 0 and (c in close or c in "?:,;" or pair in ("&&", "||")):
            break
        depth += (c in open_) - (c in close)
        at += step
    return at


def changes(expression):
    """(start, end, text) of each change of an expression."""
    inside = [m.span() for m in re.finditer(r"\[[^\[\]]*\]|\{\s*\([^(){}]*\)\s*(?=\{)", expression)]  # indices, counts of copies
    for m in TOKEN.finditer(expression):
        token, at = m.group(), m.start()
        if any(a < at < b for a, b in inside):
            continue
        if token in SWAPS:
            if token in "+-" and not re.search(r"[\w)\]}]\s*$", expression[:at]):
                continue  # a sign
            yield at, m.end(), SWAPS[token]
        if token in ("&&", "||"):  # without one of the terms
            left = operand(expression, at - 1, -1) + 1
            yield left, m.end(), ""
            yield at, operand(expression, m.end(), 1), ""
        if token == "!":
            yield at, m.end(), ""
        if token == "?":  # always the second one
            yield operand(expression, at - 1, -1) + 1, at, " 1'b0 "


def mutants(text):
    """All mutants of a file."""
    clear = blanked(text)
    found = {}
    for start, end in expressions(clear):
        expression = clear[start:end]
        for a, b, new in changes(expression):
            now = expression[:a] + new + expression[b:]
            if now.strip():
                found.setdefault((start, end, now), Mutant(start, end, text[start:end], now))
        if text[:start].rstrip().endswith("("):  # a condition: never
            found.setdefault((start, end, "1'b0"), Mutant(start, end, text[start:end], "1'b0"))
    return list(found.values())


def named(text, before, after):
    """The mutant that replaces a text, which must be in one expression, or None."""
    at = text.find(before)
    spans = expressions(blanked(text))
    i = bisect.bisect(spans, (at, len(text))) - 1
    if at < 0 or i < 0 or at + len(before) > spans[i][1]:
        return None
    start, end = spans[i]
    return Mutant(start, end, text[start:end], text[start:at] + after + text[at + len(before):end])


def with_mutants(text, chosen):
    """The module with all of these in it, {number: mutant}: GGAS_MUTANT in the environment picks one."""
    by_span = {}
    for number, m in chosen.items():
        by_span.setdefault((m.start, m.end), []).append((number, m))
    for (start, end), several in sorted(by_span.items(), reverse=True):
        picks = "".join(f"mutant == {number} ? ({m.now}) : " for number, m in several)
        text = f"{text[:start]}({picks}({strip_comments(text[start:end])})){text[end:]}"
    clear = blanked(text, re.compile(COMMENT, re.S))
    at = re.search(r"\bmodule\b", clear).end()
    while clear[at] != ";":
        at = closing(clear, at) + 1 if clear[at] in "([{" else at + 1
    pick = r'''$c32("[]{const char* s = std::getenv(\"GGAS_MUTANT\"); return s ? std::atoi(s) : 0;}()")'''
    return f"{text[:at + 1]}\n  int mutant;\n  initial mutant = int'({pick});\n{text[at + 1:]}"


def strip_comments(text):
    return re.sub(r"//[^\n]*", "", text)
