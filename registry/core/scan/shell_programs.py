"""Programs that shell scripts call: which ones download, decode, run code, read secrets or send data."""

import re
from itertools import pairwise

from registry.lib.patterns import lazy

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "iex", "Invoke-Expression"})
LANGUAGES = frozenset({
    "python", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "pwsh", "powershell", "osascript",
    "Rscript", "tclsh", "java", "tsx", "ts-node",
})  # fmt: skip
CODE_OPTIONS = {"python": "-c", "perl": "-e", "ruby": "-e", "node": "-e", "php": "-r", "osascript": "-e", "lua": "-e"}
DOWNLOADERS = frozenset({
    "curl", "wget", "wget2", "aria2c", "iwr", "irm", "Invoke-WebRequest", "Invoke-RestMethod", "fetch", "http",
    "https", "xh", "axel", "lwp-download", "certutil", "bitsadmin", "ftp",
})  # fmt: skip
# Programs that run the file they are given, and those that install a package and run its hooks.
RUNNERS = frozenset({
    "go", "rustc", "dotnet", "swift", "make", "start", "open", "msiexec", "rundll32", "regsvr32", "installer",
    "ansible-playbook", "nix-shell",
})  # fmt: skip
_EXCLUDING = ("--exclude", "--ignore", "--skip")
INSTALLERS = frozenset({"uv", "uvx", "npx", "bunx", "pipx", "pip", "npm", "pnpm", "yarn", "gem", "deno"})
RAW_SENDERS = frozenset({
    "nc", "ncat", "netcat", "socat", "telnet", "nslookup", "dig", "host", "ping", "sendmail", "mail", "mutt", "swaks",
})  # fmt: skip
COPIES = frozenset({"cp", "mv", "ln", "install", "rsync", "ditto"})
PREFIXES = frozenset({
    "sudo", "doas", "env", "nohup", "time", "exec", "command", "builtin", "nice", "setsid", "timeout", "busybox",
    "stdbuf", "ionice", "caffeinate", "chroot", "unbuffer", "then", "do", "else", "if", "elif", "while", "until", "!",
    "{", "}", "$", ">", "trap", "coproc", "watch", "parallel",
})  # fmt: skip
_TAKES_VALUE = {
    "sudo": ("-u", "-g", "-h", "-p", "-C"), "timeout": ("-s", "-k"), "nice": ("-n", ), "env": ("-u", "-C"),
    "exec": ("-a", ),
}  # fmt: skip
VERIFIERS = lazy(
    r"\b(?:sha(?:1|256|384|512)sum|shasum|md5sum|b3sum)\b.*(?:-c\b|--check|--status)|\bgpgv?\b.*--verify"
    r"|\bcosign\b.*verify|\bminisign\b.*-V|\bsigstore\b.*verify|\bGet-FileHash\b|\bgh attestation verify\b"
    r"|\bopenssl\b.*-verify"
)
_SHORT_OUTPUT = lazy(r"-[a-zA-Z]{0,8}o")
_HEX_TEXT = lazy(r"(?:\\x[0-9a-fA-F]{2}|\\[0-7]{3}){4}")
_FORMATTED = lazy(r"%b.{0,20}\\(?:x|[0-7]{2})|\\{1,2}x?\$")
_ADDRESS = lazy(
    r"(?:https?|ftp)://|^[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}/|\$\{?\w{0,30}(?:URL|HOST|SERVER|ADDR)", re.IGNORECASE
)


_STARTS_SHELL = lazy(
    r"\$\{?(?:SHELL|BASH)\}?$|\$\{\w{1,40}:?[-=]([\w./-]{1,80})\}$|\$\{?0\}?$"
    r"|(?:\$\(|`)\s*(?:command -v|which|type -[pP]|readlink -f)\s+([\w./-]{1,80})\s*(?:\)|`)$"
)
_DECODES_INLINE = lazy(
    r"b64decode|decode_base64|unhexlify|fromhex|decompress|rot.?13|\batob\(|Buffer\.from|unpack|decode64|\bchr\b"
    r"|fromCharCode|FromBase64String"
)
_FETCHES_INLINE = lazy(r"urlopen|requests\.get|httpx\.|LWP::|\bfetch\(|https?\.get\(|Net::HTTP|open-uri")
_EXPANDERS = frozenset({"gunzip", "zcat", "gzcat", "xzcat", "unxz", "bzcat", "bunzip2", "zstdcat", "lzcat", "unzstd"})
_READERS = frozenset(
    {"awk", "gawk", "sed", "grep", "cut", "head", "tail", "cat", "jq", "yq", "tac", "sort", "strings", "od"}
)
_BUNDLED = lazy(r"^(?:\./)?(?:assets|references|resources|data|fonts|images|templates)/|^\$\{?(?:0|BASH_SOURCE)\b")
_SECRET_GLOB = lazy(r"\*\.(?:pem|key|p12|pfx|kdbx|ppk|jks|keystore|ovpn)$|^\.?id_\w|^\.env\*?|\.netrc|credentials")
_VERSIONED = lazy(r"^(python|pip|node|ruby|perl|php|lua)[\d.]{1,6}$")
_SECRET_OUTPUTS = {
    "kubectl": r"get\s+(?:-\S+\s+)*secrets?\b.*(?:-o|--output)", "gcloud": "secrets versions access",
    "aws": "secretsmanager get-secret-value|ssm get-parameter.*with-decryption", "az": "keyvault secret",
    "doppler": "secrets", "heroku": "config", "pbpaste": "", "xclip": "-o", "wl-paste": "", "Get-Clipboard": "",
    "secret-tool": "lookup|search", "pass": "show", "op": "read|item get", "keyring": "get", "lpass": "show",
    "kwallet-query": "", "bw": "get", "vault": "kv get|read", "cmdkey": "/list", "gpg": "--export-secret",
}  # fmt: skip


def named(text: str) -> str:
    """Return the shell that a word such as `${SHELL:-sh}` or `$(command -v bash)` starts, or the word itself."""
    match = _STARTS_SHELL.match(text) if text[:1] in "$`" else None
    return (match[1] or match[2] or "sh") if match else text


def expands(name: str, arguments: list[str]) -> bool:
    """Check if the program prints what it takes out of a compressed file."""
    if name in ("gzip", "xz", "bzip2", "zstd", "lz4", "brotli", "pigz", "lzma"):
        return any(re.match(r"-[a-z0-9]{0,4}d|--(?:decompress|uncompress)", each) for each in arguments)
    if name in ("unzip", "7z", "tar", "bsdtar"):
        return any(each in ("-p", "-so", "-O", "--to-stdout") or re.match(r"-?x\w{0,3}O", each) for each in arguments)
    return name in _EXPANDERS


def reads_bundled(name: str, arguments: list[str]) -> bool:
    """Check if the program prints a part of a file of the skill."""
    return name in _READERS and any(_BUNDLED.match(each) for each in arguments)


def inline_output(name: str, arguments: list[str]) -> tuple[bool, bool]:
    """Return if code in the arguments decodes text, and if it downloads something."""
    if name not in LANGUAGES:
        return False, False
    text = " ".join(arguments)[:5_000]
    return bool(_DECODES_INLINE.search(text)), bool(_FETCHES_INLINE.search(text))


def receives(name: str, arguments: list[str]) -> bool:
    """Check if the program prints what another computer sends over a connection."""
    if name in ("nc", "ncat", "netcat", "telnet", "socat", "websocat", "wscat"):
        return not any(re.match(r"-\w{0,4}z", each) for each in arguments)
    return name == "openssl" and arguments[:1] == ["s_client"]


def asks(name: str, arguments: list[str]) -> bool:
    """Check if the program prints an answer of another computer, such as a record of a domain."""
    first = arguments[0] if arguments else ""
    if name in ("aws", "gsutil", "rclone", "mc", "gcloud"):
        return "-" in arguments[2:] or first == "cat"
    return name in ("dig", "nslookup", "host", "drill", "mosquitto_sub", "redis-cli", "lynx", "w3m", "ssh") or (
        name == "gh" and first in ("api", "gist")
    )


def finds_secrets(name: str, arguments: list[str]) -> bool:
    return name in ("find", "fd", "locate", "ls") and any(_SECRET_GLOB.search(each) for each in arguments)


def base(word: str) -> str:
    """Return the name of a program without its folder, version and `.exe`."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe")
    if name[-1:].isdecimal() or name.endswith("."):
        name = _VERSIONED.sub(r"\1", name)
    return "node" if name == "nodejs" else name


def skip_prefix(name: str, words: list[str]) -> int:
    """Return how many words belong to a program that runs another one, such as `sudo -u root`."""
    used = 1
    valued = _TAKES_VALUE.get(name, ())
    while used < len(words):
        word = words[used]
        if word.startswith("-"):
            used += 2 if word in valued else 1
        elif (name in ("env", "sudo") and re.match(r"\w+=", word)) or (
            name == "timeout" and re.match(r"[\d.]+[smhd]?$", word)
        ):
            used += 1
        else:
            break
    return used


def is_decoder(name: str, arguments: list[str]) -> bool:
    text = " ".join(arguments)
    if name in ("base64", "base32", "basenc", "gbase64"):
        return bool(re.search(r"(?:^|\s)(?:-[a-z]{0,4}[dD][a-z]{0,4}|--decode)(?:\s|$)", text))
    if name == "openssl":
        return bool(re.search(r"(?:^|\s)-d(?:\s|$)", text))
    if name == "xxd":
        return bool(re.search(r"(?:^|\s)-\w{0,4}r", text))
    if name in ("printf", "echo"):
        return bool(_HEX_TEXT.search(text)) or (name == "printf" and bool(_FORMATTED.search(text)))
    if name == "tr":
        return bool(re.search(r"N-ZA-M|n-za-m|['\"]?!-~", text))
    if name == "certutil":
        return "-decode" in text
    return name in ("uudecode", "rev") or (name == "gpg" and re.search(r"(?:^|\s)(?:-d|--decrypt)\b", text) is not None)


def decoded_files(name: str, arguments: list[str]) -> list[str]:
    """Return the files that a decoder writes."""
    named = [value for option, value in pairwise(arguments) if option in ("-out", "-o", "--output", "-Out")]
    plain = [each for each in arguments if not each.startswith("-")]
    return named or (plain[-1:] if name in ("certutil", "xxd") and len(plain) > 1 else [])


def download_targets(name: str, arguments: list[str]) -> tuple[str, list[str], bool]:
    """Return the address, the files that a downloader writes, and whether it writes to its output."""
    address = next((each for each in arguments if _ADDRESS.search(each)), "")
    last = address.split("?")[0].rstrip("/").rsplit("/", 1)[-1]
    files: list[str] = []
    to_output = name not in ("wget", "wget2", "aria2c", "axel", "certutil", "bitsadmin")
    for option, value in zip(arguments, [*arguments[1:], ""], strict=False):
        if name == "curl" and re.match(r"-[a-zA-Z]{0,8}O$|--remote-name", option):
            files.append(last)
        elif option in ("--output", "-OutFile", "--output-document", "--out") or (
            _SHORT_OUTPUT.fullmatch(option) and name not in ("wget", "wget2")
        ):
            files.append(value)
        elif name in ("wget", "wget2") and (match := re.match(r"-[a-zA-Z]{0,8}O(.*)$", option)):
            files.append(match[1] or value)
        elif match := re.match(r"--output(?:-document)?=(.+)", option):
            files.append(match[1])
        elif name in ("wget", "wget2", "aria2c") and option in ("-P", "--directory-prefix", "-d"):
            files.append(f"{value.rstrip('/')}/{last}")
    if "-" in files or "/dev/stdout" in files:
        return address, [], True
    if not to_output and not files:
        files = [arguments[-1] if name in ("certutil", "bitsadmin") and arguments else last]
    return address, [file for file in files if file], to_output and not files


def sends(name: str, arguments: list[str]) -> bool:
    """Check if the program sends what it is given to another computer."""
    if name in ("curl", "http", "https", "xh", "wget", "wget2", "iwr", "irm", "Invoke-WebRequest", "Invoke-RestMethod"):
        return True
    if name in RAW_SENDERS:
        return True
    if name in ("scp", "rsync", "sftp", "rclone"):
        return any(re.match(r"[\w.@-]{1,100}:(?!//)|\w+://", each) for each in arguments)
    text = " ".join(arguments[:3])
    if name == "openssl":
        return "s_client" in text
    return (
        (name == "aws" and text.startswith("s3"))
        or (name in ("gsutil", "az", "gcloud") and re.search(r"\b(?:cp|upload|storage)\b", text) is not None)
        or (
            name == "gh"
            and re.search(r"\b(?:gist create|issue create|pr comment|issue comment|api)\b", text) is not None
        )
        or name == "ssh"
    )


def secret_output(name: str, arguments: list[str]) -> bool:
    """Check if the program prints secrets: a keychain, a password manager, or all variables."""
    text = " ".join(arguments)
    if name in ("env", "printenv", "set", "export"):
        return not [each for each in arguments if not each.startswith("-")]
    if name == "security":
        return bool(re.match(r"(?:find-\w{1,20}-password|dump-keychain|export)", text))
    if name in ("declare", "compgen", "history", "fc"):
        return name == "history" or text in ("-p", "-x", "-e", "-l")
    return name in _SECRET_OUTPUTS and bool(re.search(_SECRET_OUTPUTS[name], text))


def excluded(texts: list[str]) -> list[bool]:
    """Return for each argument whether it names what a program leaves out, such as `tar --exclude .env`."""
    return [
        each.startswith(_EXCLUDING) or (before.startswith(_EXCLUDING) and "=" not in before)
        for each, before in zip(texts, ["", *texts], strict=False)
    ]
