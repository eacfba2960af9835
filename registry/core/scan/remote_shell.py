"""Shells that another computer controls: pipes between a shell and a connection."""

import re
from collections.abc import Iterator

from registry.core.scan.matches import Match, Rule

_SH = r"(?:/(?:usr/)?bin/)?(?:ba|z|da|k|a)?sh"
_NC = r"(?:nc|ncat|netcat|nc\.\w{1,20}|busybox nc)"
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_SH}\s+-[a-z]{{0,4}}i\b[^\n|]{{0,80}}/dev/(?:tcp|udp)/",
        r"/dev/(?:tcp|udp)/[^\s\"';)]{3,120}[\"']?\s{0,4}(?:0?[<>]&\d|<&|0>&1|\d>&\d\s{0,3}0)",
        rf"(?:exec\s+)?\d{{1,3}}<>\s?/dev/(?:tcp"
        rf"|udp)/[^\n]{{0,120}}[;&\n][^\n]{{0,200}}(?:{_SH}\b[^\n]{{0,40}}[<>]&"
        rf"|while\s+read\b[^\n]{{0,120}}(?:\$\w{{1,12}}|eval|{_SH})\b[^\n]{{0,40}}[>|])",
        rf"\b{_NC}\b[^\n|;]{{0,120}}\s(?:-[a-z]{{0,6}}[ec]\s{{0,3}}[\"']?(?:{_SH}|cmd|powershell)|--(?:sh-)?exec\b)",
        rf"(?:^|[\s;|&(]){_SH}\b(?:\s+-i)?[^\n|;]{{0,40}}\|&?\s{{0,6}}(?:{_NC}|telnet"
        rf"|openssl\s+s_client)\s+(?!-l?z)[^\n]{{3,}}",
        rf"\b(?:{_NC}|telnet)\s+[\w.$\{{\}}-]{{3,120}}\s+[\w$\{{\}}]{{1,20}}\s{{0,4}}\|\s{{0,4}}{_SH}\b",
        rf"\b(?:{_NC}|telnet|openssl\s{{1,4}}s_client)\s(?!-\w{{0,3}}z)[^\n"
        rf"|;]{{3,200}}\|&?\s{{0,4}}(?:sudo\s{{1,4}})?{_SH}\b(?![\w.-])",
        rf"\bsocat\b[^\n]{{0,200}}\b(?:exec|system):[\"']?[^\n]{{0,20}}{_SH}\b[^\n]{{0,200}}",
        r"\bssh\s[^\n]{0,120}-[fNTn]{0,4}R\s?\*?:?\d{2,5}:(?:localhost|127\.0\.0\.1):22\b",
        rf"\bztcp\s[^\n]{{3,200}}[;&\n][^\n]{{0,100}}\b{_SH}\b[^\n]{{0,40}}[<>]&",
        rf"\bmkfifo\s+\S{{1,120}}[^\n]{{0,200}}[;&\n][^\n]{{0,200}}\b{_SH}\b[^\n]{{0,120}}(?:{_NC}"
        rf"|openssl\s+s_client|telnet)\b",
    )
]
_SHELL_TO_SOCAT = re.compile(r"\btcp4?(?:-connect|-listen|6)?:", re.IGNORECASE)


def find(text: str, *, first_line: int = 1) -> Iterator[Match]:
    """Yield connections that are piped into a shell. A test if a port is open is not one."""
    if not re.search(r"/dev/(?:tcp|udp)|\bn(?:et)?cat|\bnc\b|socat|telnet|s_client|\bztcp|\bssh\s", text):
        return
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if "socat" in match[0] and not _SHELL_TO_SOCAT.search(match[0]):
                continue
            yield Match(text.count("\n", 0, match.start()) + first_line, Rule.REMOTE_SHELL, match[0].strip()[:160])
