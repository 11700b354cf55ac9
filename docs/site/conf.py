# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How Sphinx makes the site; build.py runs it, and passes the version."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from mlir import MLIRLexer

project = "dsv4"
copyright = "the dsv4 project"
html_show_sphinx = False
html_copy_source = False
smartquotes = False

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
# Anchors of headings are those of GitHub.
myst_heading_anchors = 6
# Links to the pages of sources.py.
myst_url_schemes = {"http": None, "https": None, "source": {"url": "{{path}}"}}
# mlir-tblgen leaves out levels of headings.
suppress_warnings = ["myst.header"]

html_theme = "furo"
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}


def setup(app):
    app.add_lexer("mlir", MLIRLexer)
