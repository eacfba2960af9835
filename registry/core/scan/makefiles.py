"""Makefiles, justfiles and Dockerfiles, rewritten as shell with the same lines."""

import re

from registry.lib.patterns import lazy

_ASSIGNED = lazy(r"^(?:export\s+|override\s+)*([A-Za-z_][\w-]{0,63})\s*(?::{0,3}|\?|\+|!)=\s*(.*)$")
_RULE = lazy(r"^([^\s#:=][^#:=\n]{0,300}?)\s*::?(?!=)\s*([^;#\n]{0,1000})(?:;(.*))?$")
_INCLUDE = lazy(r"^[-s]?include\s+(.{1,300})$")
_DEFINE = lazy(r"^(?:define\s+([A-Za-z_]\w{0,63})|endef)\b")
_EVAL = lazy(r"\$\(eval\s+([A-Za-z_]\w{0,63})\s*:{0,3}=\s*(.{0,500})\)\s*$")
_SHELL = lazy(r"\$\(shell\s+")
_NAME = lazy(r"\$\(([A-Za-z_]\w{0,63})\)|\{\{\s*([A-Za-z_]\w{0,63})\s*\}\}")
_PREFIX = lazy(r"^[ \t]+[@+-]{0,3}[ \t]*")
_DOCKER_RUN = lazy(r"^(?:RUN|CMD|ENTRYPOINT)\s+(?:--\S{1,100}\s+){0,5}", re.MULTILINE)
_DOCKER_ADD = lazy(r"^ADD\s+(?:--\S{1,100}\s+){0,5}(https?://\S{1,500})\s+(\S{1,300})", re.MULTILINE)


def dockerfile(text: str) -> str:
    return _DOCKER_ADD.sub(r"curl -o \2 \1", _DOCKER_RUN.sub("", text))


def makefile(text: str) -> str:
    """Return the recipes and assignments as shell. A rule is replaced by a blank line."""
    lines = text.split("\n")
    kept, target, source = list[str](), "", ""
    continued = defining = False
    for line in lines:
        if (opening := _DEFINE.match(line)) or defining:
            defining = bool(opening[1]) if opening else defining
            kept.append("" if opening else _variables(line, target, source))
        elif continued or line.startswith(("\t", "  ")):
            body = _recipe(line, target, source) if not continued else _variables(line, target, source)
            kept.append(body)
        elif rule := _RULE.match(line):
            target, source = rule[1].split()[0], (rule[2].split() or [""])[0]
            kept.append(_recipe(f"\t{rule[3]}", target, source) if rule[3] else "")
        else:
            kept.append(_top_level(line))
        continued = line.endswith("\\")
    return "\n".join(kept)


def _recipe(line: str, target: str, source: str) -> str:
    line = _PREFIX.sub("", line)
    if evaluated := _EVAL.match(line):
        return f"{evaluated[1]}={_variables(evaluated[2], target, source)}"
    return _variables(line, target, source)


def _variables(line: str, target: str, source: str) -> str:
    """Rewrite the references of make: variables, `$(shell …)`, and the files of a rule."""
    if "$" not in line and "{{" not in line:
        return line
    line = _SHELL.sub("$(", line)
    line = line.replace("$@", target).replace("$<", source).replace("$^", source)
    line = _NAME.sub(lambda match: f"${{{match[1] or match[2]}}}", line)
    return line.replace("$$", "$")


def _top_level(line: str) -> str:
    if assigned := _ASSIGNED.match(line):
        value = _variables(assigned[2], "", "")
        plain = value if '"' in value or "'" in value or value.endswith("\\") else f'"{value}"'
        return f"{assigned[1]}={plain}"
    if included := _INCLUDE.match(line):
        return f". {_variables(included[1], '', '')}"
    return _variables(line, "", "")
