"""Rules for scripts without a parser here: JavaScript, PowerShell, Perl, Ruby, PHP and others.

They follow values through assignments, line by line.
"""

import re
from collections.abc import Iterator
from itertools import islice

from registry.core.scan.any_case import AnyCase
from registry.core.scan.labels import (
    Label,
    Labels,
    download_label,
    leaves,
    secret_path,
    secret_variable,
    variable_label,
)
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.persistence import writes
from registry.lib.patterns import lazy

MOST_CHARS = 200_000
_MOST_LINES = 5_000
_LINE_CHARS = 4_000
_ASSIGNED = lazy(
    r"(?:\b(?:const|let|var|my|our|local|final|auto)\s+|(?:^"
    r"|[;{(,]\s*))[$@%]?([A-Za-z_$][\w$]{0,60})\s*(?::\s*[\w<>\[\]]{1,40}\s*)?(?:\+|\.|:)?=(?![=>~])\s*(.{1,2000})"
    r"|\b(?:const|let|var)\s+\{\s*([\w$,: ]{1,200})\}\s*=\s*(.{1,2000})"
)
_CALLBACK = lazy(
    r"\.(?:then|on|each|forEach"
    r"|map)\s*\(\s*(?:[\"']\w{1,20}[\"']\s*,\s*)?(?:async\s*)?(?:function\s*)?\(?\s*([A-Za-z_$][\w$]{0,40})"
)
_FETCH = lazy(
    r"\bfetch\s*\(|\baxios\b|\bgot\s*\(|\brequest\s*\(|\bhttps?\.(?:get|request)\s*\(|XMLHttpRequest"
    r"|\.Download(?:String|Data|File)\(|\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|Start-BitsTransfer)\b"
    r"|Net::HTTP\.|\bURI\.(?:open|parse)\b|\bopen-uri\b|LWP::|\bget\s*\(\s*[\"']https?://"
    r"|file_get_contents\s*\(\s*[\"']https?://|curl_exec\b|\bcurl\s+-|\bwget\s+-|HttpClient|urllib",
    re.IGNORECASE,
)
_DECODE = AnyCase(
    r"\batob\s*\(|Buffer\.from\s*\([^)\n]{0,300}[\"'](?:base64|hex)[\"']|FromBase64String|base64_decode"
    r"|Base64\.(?:strict_|urlsafe_)?decode64|decode_base64|String\.fromCharCode|\bpack\s*\(?\s*[\"']H\*"
    r"|unpack\s*\(?\s*[\"']u|gzinflate|gzuncompress|str_rot13|hex2bin|\bunescape\s*\(|inflateSync|gunzipSync"
    r"|decodeURIComponent\s*\(\s*escape|\[char\[?\]?\]|-bxor|convert_uudecode|\bcertutil(?:\.exe)?\s+-decode",
)
_ALL_VARIABLES = AnyCase(
    r"\bprocess\.env\b(?!\s*[.\[])|\bENV\.to_h\b|\bENV\.(?:inspect|to_a|each)\b|%ENV\b|\bgetenv\s*\(\s*\)"
    r"|\$_ENV\b(?!\[)|\b(?:gci|dir|ls|Get-ChildItem)\s+env:",
)
_ONE_VARIABLE = lazy(
    r"\bprocess\.env(?:\.|\[[\"'])(\w{1,60})|\bENV\[[\"'](\w{1,60})|\$env:(\w{1,60})|getenv\s*\(\s*[\"'](\w{1,60})"
)
_RUN = lazy(
    r"(?<![\w.])eval\s*\(|\(\s*0\s*,\s*eval\s*\)\s*\(|\bnew\s+Function\s*\(|(?<![\w.])Function\s*\("
    r"|\bvm\.(?:run\w{1,20}|compileFunction|Script)\b|\b(?:exec|execSync|execFile|execFileSync|spawn|spawnSync"
    r"|system|shell_exec|passthru|popen|proc_open)\s*\(|child_process|^\s*start\s|(?i:\biex\b)|Invoke-Expression"
    r"|\bStart-Process\b|\[scriptblock\]::Create|\b(?:instance_eval|class_eval|module_eval|binding\.eval)\b|(?:^"
    r"|[;=({]\s*|\s)eval\s+[\"'$@]|\bassert\s*\(\s*\$|create_function\s*\(|_compile\s*\(|\bload\s*\("
    r"|Reflection\.Assembly\]::Load|&\s*[\"']?\$\w|\brequire\s*\(|\bimport\s*\(|\.constructor\s*\("
    r"|setTimeout\s*\(\s*[\"'`]",
)
_SEND = lazy(
    r"\bfetch\s*\(|\bhttps?\.get\s*\(|\baxios\b|\bgot\.(?:post|put)|\brequest\b|\.(?:write|send|sendBeacon|end|post"
    r"|put|UploadString|UploadData|UploadFile)\s*\(|Invoke-WebRequest|Invoke-RestMethod|\biwr\b|\birm\b|Net::HTTP"
    r"|\bdns\.(?:resolve|lookup)\w{0,10}\s*\(|Resolve-DnsName|mail\s*\(|curl_setopt|\bcurl\b|new\s+Image|\.src\s*="
    r"|Send-MailMessage"
)
_SAVED = lazy(
    r"certutil(?:\.exe)?\s[^\n]{0,300}\s([^\s]{2,200})\s*$|(?:-OutFile|-Destination|--output"
    r"|\s-o)\s+[\"']?([^\s\"';]{1,200})|DownloadFile\([^,\n]{1,300},\s*[\"']?([^\"')\n]{1,200})|(?:write"
    r"|append)File(?:Sync)?\(\s*[\"'`]?([^,\"'`\n]{1,200})|createWriteStream\(\s*[\"'`]?([^,\"'`)\n]{1,200})"
)
_ENCODED_COMMAND = lazy(
    r"\b(?:powershell|pwsh)(?:\.exe)?\s[^|\n]{0,120}?-e(?:nc|ncodedcommand)?\s+[\"']?[A-Za-z0-9+/=]{40}", re.IGNORECASE
)
_SHELL_TEXT = lazy(
    r"\b(?:exec|execSync|spawn|spawnSync|system|shell_exec|passthru|popen|proc_open"
    r"|Command)\s*\(?\s*([\"'`])([^\n]{8,1000}?)\1"
)
_MOST_COMMANDS = 500
_JOINED = lazy(r"[\"'`]\s*[,+]\s*[\"'`]/?")  # the parts of path.join("a", "b")
_SHELL_WORD = r"[\"'`](?:/(?:usr/)?bin/)?(?:ba|z|da|k)?sh\b|cmd(?:\.exe)?[\"'`]|powershell|/bin/(?:ba|z)?sh"
_REMOTE_SHELL = (
    (
        lazy(r"\bnet\.(?:Socket|connect|createConnection)|[\"'](?:node:)?(?:net|tls)[\"']|Deno\.connect|Bun\.connect"),
        lazy(
            rf"(?:spawn|exec|execFile|Command|fork)\s*\(\s*(?:{_SHELL_WORD})|pipe\([^)\n]{{0,40}}stdin"
            rf"|exec(?:Sync)?\s*\(\s*(?:String\()?(?:cmd|command|line|data|d|msg|input|buf)\b"
        ),
    ),
    (
        lazy(r"TCPClient|Sockets\.Socket"),
        lazy(r"iex\b|Invoke-Expression|cmd\.exe|Start-Process|StreamWriter"),
    ),
    (
        lazy(r"\b(?:socket|IO::Socket|TCPSocket|fsockopen|stream_socket_client)\b", re.IGNORECASE),
        lazy(
            rf"(?:exec|system|popen|spawn|proc_open|shell_exec)\s*\(?\s*(?:{_SHELL_WORD})|/bin/(?:ba)?sh -i"
            rf"|(?:popen|system|exec|spawn|Open3\.\w{{1,12}})\s*\(?\s*(?:cmd|command|line|data|msg|input|buf)\b"
            rf"|STDIN,\s*[\"']>&"
        ),
    ),
    (lazy(r"/inet/tcp/"), lazy(r"getline|system|\|&")),
)
_LASTING = lazy(
    r"\\CurrentVersion\\Run|Register-ScheduledTask|New-ScheduledTask|schtasks\s*(?:\.exe)?\s*/create"
    r"|\\Start Menu\\Programs\\Startup|New-Service\b|sc\.exe\s+create|Set-ItemProperty[^\n]{0,120}\\Run\b"
    r"|[\"'`]crontab\s+-[\"'`]?|crontab\s*-\s*[\"'`]",
    re.IGNORECASE,
)
_WRITE = lazy(
    r"(?:write|append)File(?:Sync)?\s*\(|File\.(?:write|open)|file_put_contents|Add-Content|Set-Content|Out-File"
    r"|\bopen\s*\([^)\n]{0,200}[\"'](?:>|[wa]b?[\"'])|copyFile(?:Sync)?\s*\(|>>\s"
)
DESERIALISES = lazy(
    r"\bunserialize\s*\(\s*(?:\$_(?:GET|POST|COOKIE|REQUEST)|base64_decode|file_get_contents|\$)|\bMarshal\.load\b"
    r"|\bYAML\.(?:unsafe_)?load\b(?!_file)(?!.{0,80}(?:safe|permitted_classes))|node-serialize"
    r"|serialize\.unserialize|ObjectInputStream|BinaryFormatter|\bStorable::(?:thaw|retrieve)\b|funcster"
    r"|js-yaml[^\n]{0,60}DEFAULT_FULL_SCHEMA|LosFormatter|NetDataContractSerializer"
)
_BUILT = lazy(
    r"(?:global(?:This)?|window|process|this|module|require|self)\s*\[\s*(?:[\"'`][\w]{1,12}[\"'`]\s*\+"
    r"|[\"'`][^\"'`\n]{1,40}[\"'`]\.(?:split|replace|reverse)|String\.fromCharCode|atob\s*\()"
    r"|require\s*\(\s*(?:[\"'`]\w{1,12}[\"'`]\s*\+\s*[\"'`]|\[[^\]\n]{1,80}\]\.join|[\"'`]\w{1,40}[\"'`]\.split"
    r"|Buffer\.from|atob|String\.fromCharCode)|&\s*\(\s*[\"'](?:\{\d\}){2,}"
    r"|\(\s*[\"']\w{1,6}[\"']\s*\+\s*[\"']\w{1,6}[\"']\s*\+?\s*[\"']?\w{0,6}[\"']?\s*\)\s*\("
    r"|\bsend\s*\(\s*[\"':]\w{1,6}[\"']\s*\+"
    r"|\$\{?\w{1,20}\}?\s*=\s*[\"']\w{1,12}[\"']\s*\.\s*[\"']\w{1,12}[\"'];.{0,200}\$\w{1,20}\s*\("
)


def find(text: str, *, first_line: int = 1, runs: bool = True) -> Iterator[Match]:
    """Yield the matches of a script. Raise TooComplex at the end if it is longer than the part that was read.

    Without `runs`, code that is downloaded or decoded and then run is left to the data flow.
    """
    everything = text[:MOST_CHARS].split("\n")
    lines = [line[:_LINE_CHARS] for line in everything[:_MOST_LINES]]
    code = ["" if re.match(r"\s*(?://|#(?!!)|\*|/\*)", line) else line for line in lines]
    tainted = _taint(code)
    for number, line in enumerate(code, first_line):
        if line:
            yield from _in_line(line, number, tainted, runs)
    joined = "\n".join(code)
    for connects, starts in _REMOTE_SHELL:
        if (place := connects.search(joined)) and starts.search(joined):
            yield Match(
                joined.count("\n", 0, place.start()) + first_line, Rule.REMOTE_SHELL, _line_at(joined, place.start())
            )
    if len(text) > MOST_CHARS or len(everything) > _MOST_LINES or max(map(len, everything)) > _LINE_CHARS:
        raise TooComplex


def commands(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of commands that a script passes to a shell."""
    for match in islice(_SHELL_TEXT.finditer(text[:MOST_CHARS]), _MOST_COMMANDS):
        yield text.count("\n", 0, match.start()) + 1, match[2]


def _line_at(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)].strip()[:160]


def _taint(code: list[str]) -> dict[str, Labels]:
    tainted: dict[str, Labels] = {}
    for _ in range(3):
        before = len(tainted)
        latest: Labels = frozenset()
        for line in code:
            for match in _ASSIGNED.finditer(line) if "=" in line else ():
                value = match[2] or match[4] or ""
                labels = _labels(value, tainted)
                if labels:
                    for name in re.findall(r"[\w$]+", match[1] or match[3] or ""):
                        tainted[name] = labels | tainted.get(name, frozenset())
            labels = _labels(line, tainted)
            for saved in _SAVED.finditer(line) if labels & {Label.REMOTE, Label.DECODED} else ():
                name = next(group for group in saved.groups() if group)
                tainted[name.replace("\\", "/").rsplit("/", 1)[-1]] = labels
            latest = labels if labels else latest if line.strip() else frozenset()
            for name in _CALLBACK.findall(line):
                if (Label.REMOTE in latest and len(name) > 1) or (Label.REMOTE in labels):
                    tainted[name] = tainted.get(name, frozenset()) | {Label.REMOTE}
        if len(tainted) == before:
            break
    return tainted


def _labels(text: str, tainted: dict[str, Labels]) -> Labels:
    labels: set[str] = set()
    if _FETCH.search(text) and download_label(text) == Label.REMOTE:
        labels.add(Label.REMOTE)
    if _DECODE.search(text):
        labels.add(Label.DECODED)
    joined = _JOINED.sub("/", text)
    if _ALL_VARIABLES.search(text) or secret_path(text) or (joined != text and secret_path(joined)):
        labels.add(Label.SECRET)
    for match in _ONE_VARIABLE.finditer(text):
        name = next(group for group in match.groups() if group)
        if secret_variable(name):
            labels.add(variable_label(name))
    if tainted:
        for name in re.findall(r"[A-Za-z_$][\w$]*|[\w-]{1,60}\.\w{1,5}", text):
            labels |= tainted.get(name.lstrip("$"), frozenset())
        for name in re.findall(r"[\w-]{1,60}\.\w{1,5}", text):
            labels |= tainted.get(name, frozenset())
    return frozenset(labels)


def _in_line(line: str, number: int, tainted: dict[str, Labels], runs: bool) -> Iterator[Match]:
    excerpt = line.strip()[:160]
    if _ENCODED_COMMAND.search(line):
        yield Match(number, Rule.UNREAD, excerpt)
    if runs and (sink := _RUN.search(line)) and sink[0].strip(" (") not in ("require", "import"):
        labels = _labels(line[sink.start() :], tainted)
        if Label.DECODED in labels or (Label.REMOTE in labels and not _SEND.match(line[sink.start() :])):
            yield Match(number, Rule.UNREAD, excerpt)
    if _SEND.search(line) and leaves(_labels(line, tainted), line):
        yield Match(number, Rule.SECRET_SENT, excerpt)
    if _LASTING.search(line):
        yield Match(number, Rule.PERSISTS, excerpt)
    elif _WRITE.search(line) and (found := writes(line, None)):
        yield Match(number, found[0], excerpt)
    if DESERIALISES.search(line):
        yield Match(number, Rule.DESERIALISES, excerpt)
    if _BUILT.search(line):
        yield Match(number, Rule.NAMES, excerpt)
