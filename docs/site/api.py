# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference of the Python package, from its sources: nothing is imported."""

import ast
import os
import re
import textwrap

SECTION = re.compile(r"^(Args|Returns|Raises):$")
TITLES = {"Args": "Arguments", "Returns": "Returns", "Raises": "Raises"}


def parse(path):
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read())


def doc_of(node):
    return ast.get_docstring(node) or ""


def write_terms(lines):
    """`name: text` of a section of a docstring, as a list of definitions."""
    found = []
    for line in lines:
        # What goes on is indented.
        if found and line.startswith(" "):
            found[-1] += " " + line.strip()
        elif found and not found[-1].partition(": ")[2] and not found[-1].endswith(":"):
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
    parts = []
    for each in found:
        names, _, text = each.partition(": ")
        terms = ", ".join(f"`{name.strip()}`" for name in names.split(","))
        parts.append(f"{terms}\n: {text}\n")
    return "\n".join(parts)


def write_doc(text):
    """A docstring as Markdown."""
    parts, lines = [], text.splitlines()
    at = 0
    while at < len(lines):
        section = SECTION.match(lines[at])
        if section:
            end = at + 1
            while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
                end += 1
            body = textwrap.dedent("\n".join(lines[at + 1 : end])).strip()
            is_list = section[1] != "Returns"
            parts.append(f"**{TITLES[section[1]]}**\n")
            parts.append(write_terms(body.splitlines()) if is_list else body + "\n")
            at = end
        elif lines[at].startswith(">>> "):
            end = at
            while end < len(lines) and lines[end]:
                end += 1
            code = [re.sub(r"^(>>>|\.\.\.) ?", "", line) for line in lines[at:end]]
            parts.append("```python\n" + "\n".join(code) + "\n```\n")
            at = end
        else:
            parts.append(lines[at])
            at += 1
    return "\n".join(parts)


def signature(node, is_method=False):
    """As it is written, without the types: the text says them."""
    args = node.args
    for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if each is not None:
            each.annotation = None
    if is_method:
        args.args = args.args[1:]
    return f"({ast.unparse(args)})"


def directive(kind, name, body, level=0):
    """A directive of Sphinx's Python domain, with colons enough for those in it."""
    fence = ":" * (5 - level)
    return f"{fence}{{py:{kind}}} {name}\n\n{body}\n{fence}\n"


def is_property(node):
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


def write_class(node):
    parts = [write_doc(doc_of(node))]
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            body = write_doc(doc_of(each))
            if is_property(each):
                parts.append(directive("property", each.name, body, 1))
            else:
                name = each.name + signature(each, is_method=True)
                parts.append(directive("method", name, body, 1))
        elif isinstance(each, ast.AnnAssign) and not each.target.id.startswith("_"):
            parts.append(directive("attribute", each.target.id, "", 1))
    return "\n".join(parts)


def write_object(name, node):
    if isinstance(node, ast.ClassDef):
        bases = {getattr(each, "id", "") for each in node.bases}
        kind = "exception" if bases & {"Error", "Exception"} else "class"
        init = [each for each in node.body if getattr(each, "name", "") in ("__new__", "__init__")]
        head = name + (signature(init[0], is_method=True) if init else "")
        return directive(kind, head, write_class(node))
    if isinstance(node, ast.FunctionDef):
        return directive("function", name + signature(node), write_doc(doc_of(node)))
    return directive("data", name, "")


def names_of(tree):
    """The nodes that a module names."""
    names = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.setdefault(node.name, node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = node
    return names


def write_pages(package):
    """{name: Markdown} of the modules that the package takes its names from, in their order."""
    pages = {}
    for node in parse(os.path.join(package, "__init__.py")).body:
        if not isinstance(node, ast.ImportFrom) or not node.level or not node.module:
            continue
        path = os.path.join(package, node.module)
        tree = parse(path + (".py" if os.path.exists(path + ".py") else ".pyi"))
        nodes = names_of(tree)
        title, _, more = doc_of(tree).partition("\n")
        objects = [write_object(each.name, nodes[each.name]) for each in node.names]
        text = f"# {title.rstrip('.')}\n{write_doc(more)}\n\n"
        current = "```{py:currentmodule} dsv4\n```\n\n"
        pages[node.module.lstrip("_")] = text + current + "\n".join(objects)
    torch = parse(os.path.join(package, "torch.py"))
    title, _, more = doc_of(torch).partition("\n")
    pages["torch"] = f"# {title.rstrip('.')}\n{write_doc(more)}\n"
    return pages
