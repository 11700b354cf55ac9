# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Colours for programs."""

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text


class MLIRLexer(RegexLexer):
    """Enough of MLIR for colours."""

    name = "MLIR"
    aliases = ["mlir"]
    tokens = {
        "root": [
            (r"\s+", Text),
            (r"//.*", Comment.Single),
            (r'"[^"\n]*"', String),
            (r"[%^][\w.$-]+(:\d+)?", Name.Variable),
            (r"@[\w.$-]+", Name.Function),
            (r"[!#][a-zA-Z_][\w.$]*", Keyword.Type),
            (r"(tensor|memref|vector|i\d+|ui\d+|f\d+\w*|bf16|index)\b", Keyword.Type),
            (r"[a-z_]\w*\.[\w.]+", Keyword),
            (r"-?\d[\w.]*", Number),
            (r"[a-zA-Z_][\w$]*", Name),
            (r"[\[\](){}<>,:]", Punctuation),
            (r"[^\s\w]", Operator),
        ]
    }
