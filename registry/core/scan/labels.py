"""Labels: the origin of a value in a script, such as a download or a secret, and how they are recognised."""

import re
from enum import StrEnum

from registry.lib.patterns import lazy


class Label(StrEnum):
    REMOTE = "remote"  # downloaded
    PINNED = "pinned"  # downloaded from a well-known host in a fixed version
    INSTALLER = "installer"  # the installer of a widely used tool
    DECODED = "decoded"
    SECRET = "secret"  # noqa: S105  # the content of a key or password file, a keychain, or all variables
    VARIABLE = "variable"  # one variable with a key or a token in it
    SOCKET = "socket"  # received over a socket
    ANSWER = "answer"  # a value in a structure that was downloaded
    DATA = "data"  # in a data file of the skill
    BUILT = "built"  # put together from numbers or characters


Labels = frozenset[str]
NONE: Labels = frozenset()
RUNNABLE = (Label.REMOTE, Label.DECODED, Label.SOCKET)
AS_COMMAND = (*RUNNABLE, Label.ANSWER, Label.BUILT)  # harmful as the text of a command
AS_CODE = (*AS_COMMAND, Label.DATA)  # harmful as the text of a program

_HOME = r"(?:~|\$\{?HOME\}?|/root|/home/[\w.-]{1,40}|/Users/[\w.-]{1,40}|%USERPROFILE%|\$env:USERPROFILE|%h)[/\\]"
_PRIVATE_FILE = (
    r"\.ssh(?:[/\\](?!config\b|known_hosts|authorized_keys|[\w.-]{1,60}\.pub\b)|(?=$|[\s\"'*,)/]))"
    r"|\.aws(?:[/\\]credentials|(?=$|[\s\"'*,)/]))|\.netrc\b|\.pgpass\b|\.git-credentials\b|\.npmrc\b|\.pypirc\b"
    r"|\.gnupg\b|\.kube[/\\]config\b|\.docker[/\\]config\.json|\.config[/\\](?:gcloud|gh[/\\]hosts|op)\b"
    r"|\.claude[/\\]\.credentials|\.codex[/\\]auth|\.azure\b|\.terraform\.d[/\\]credentials|\.vault-token\b"
    r"|\.(?:bash|zsh|python|psql|mysql)_history\b|\.mozilla\b|\.bitcoin\b|\.ethereum\b|\.electrum\b"
    r"|\.password-store\b|Library[/\\](?:Keychains|Cookies|Application Support[/\\](?:Google|Firefox"
    r"|BraveSoftware))"
)
SECRET_PATH = lazy(
    rf"(?:{_HOME})(?:{_PRIVATE_FILE})|(?<![\w.-])(?:\.netrc|\.git-credentials|\.pgpass|\.npmrc|\.pypirc"
    rf"|\.vault-token|\.aws[/\\]credentials|\.ssh[/\\](?:id_\w{{2,12}}|identity)(?![\w.]))(?![\w-])|\bid_(?:rsa|dsa"
    rf"|ecdsa|ed25519)\b(?!\.pub)|/etc/(?:shadow|sudoers|krb5\.keytab)\b|\bLogin Data\b|\bcookies\.sqlite\b"
    rf"|\bkey4\.db\b|\bwallet\.dat\b|\blogins\.json\b|\bLocal State\b|\bservice[-_]account[\w-]{{0,20}}\.json\b"
    rf"|\.(?:kdbx|keychain-db|p12|pfx)\b|/var/run/secrets/|/proc/(?:self|\d{{1,7}}|\*)/environ"
    rf"|169\.254\.169\.254/latest/meta-data/iam|(?<![\w/$.-])(?:\./"
    rf"|\.\./){{0,4}}(?:[\w-]{{1,40}}/){{0,4}}\.env(?:\.(?:local|production|prod|staging))?(?![\w./(\[-])",
)
# Every secret path has one of these. Searching for fixed starts is fast, and most texts have none.
_SECRET_PART = lazy(
    r"\.(?:ssh|aws|netrc|pgpass|git-cred|npmrc|pypirc|gnupg|kube|docker|config|claude|codex|azure|terraform|vault-token"
    r"|bash_|zsh_|python_|psql_|mysql_|mozilla|bitcoin|ethereum|electrum|password-store|kdbx|keychain-db|p12|pfx|env)"
    r"|Library[/\\]|id_|/etc/|Login Data|cookies\.sqlite|key4\.db|wallet\.dat|logins\.json|Local State|service"
    r"|/var/run/secrets/|/proc/|169\.254"
)
_PUBLIC = lazy(r"\.pub\b|/authorized_|\.env\.(?:example|sample|template)")
SECRET_VARIABLE = lazy(
    r"(?:^|_)(?:TOKEN|SECRETS?|PASSWORD|PASSWD|PASS|PWD|API_?KEY|APIKEY|ACCESS_?KEY|ACCESS_KEY_ID|PRIVATE_?KEY"
    r"|CREDENTIALS?|AUTH|KEY)(?:$|_(?:ID|KEY|TOKEN|VALUE|BASE64))",
    re.IGNORECASE,
)
_SHELL_PWD = frozenset({"PWD", "OLDPWD", "KEY", "PASS", "AUTH", "key", "pass", "auth"})  # too general to mean a secret

# The vendors of well-known variables, and words in the hosts of each vendor.
_VENDORS = {
    "AWS": ("amazonaws", "aws"), "GITHUB": ("github", "ghcr"), "GH": ("github", "ghcr"), "OPENAI": ("openai", "azure",
    "openrouter", "groq", "together", "mistral", "deepseek", "litellm"), "ANTHROPIC": ("anthropic", "claude"),
    "NPM": ("npmjs", "npm"), "SLACK": ("slack", ), "STRIPE": ("stripe", ), "GITLAB": ("gitlab", ), "CI": ("gitlab", ),
    "HF": ("huggingface", ), "HUGGINGFACE": ("huggingface", ), "AZURE": ("azure", "microsoft", "windows"),
    "GOOGLE": ("google", "gstatic"), "GEMINI": ("google", ), "GCP": ("google", ), "DATABASE": (), "DB": (),
    "POSTGRES": (), "MYSQL": (), "SSH": (), "SUDO": (), "VAULT": ("vault", ), "DOCKER": ("docker", ), "PYPI": ("pypi",
    "python"), "TWINE": ("pypi", "python"), "SENTRY": ("sentry", ),
}  # fmt: skip
_HOST = lazy(r"(?:https?|wss?|ftp)://(?:[^\s/@\"'`<>()]{1,80}@)?([\w.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\])", re.IGNORECASE)
_LOCAL = lazy(r"localhost$|127\.|0\.0\.0\.0$|\[::1\]|.*\.(?:local|internal|localhost|test)$|host\.docker\.")

CODE_HOSTS = (
    "github.com", "raw.githubusercontent.com", "gitlab.com", "objects.githubusercontent.com", "dl.google.com",
    "dl.k8s.io", "get.helm.sh", "storage.googleapis.com", "releases.hashicorp.com", "nodejs.org", "go.dev",
    "golang.org", "www.python.org", "awscli.amazonaws.com", "repo1.maven.org", "archive.apache.org",
    "dlcdn.apache.org", "huggingface.co", "download.docker.com", "aka.ms", "packages.microsoft.com", "cli.github.com",
    "unpkg.com", "cdn.jsdelivr.net", "deb.nodesource.com", "download.pytorch.org", "apt.kubernetes.io", "pkgs.k8s.io",
)  # fmt: skip
_VERSION = lazy(r"(?<![\d.])v?\d{1,4}\.\d{1,4}(?:\.\d{1,6})?|\b[0-9a-f]{40}\b|/stable|/latest/download/|awscli-exe")
# Installers of widely used tools, which their own documentation tells people to pipe into a shell.
_INSTALLERS = lazy(
    r"https://(?:astral\.sh|sh\.rustup\.rs|get\.docker\.com|bun\.sh|deno\.land|get\.pnpm\.io"
    r"|install\.python-poetry\.org|(?:www\.)?get\.helm\.sh|get\.sdkman\.io|aka\.ms|cli\.github\.com"
    r"|fnm\.vercel\.app|mise\.run|get\.volta\.sh|raw\.githubusercontent\.com/(?:nvm-sh|Homebrew|helm|rbenv|pyenv"
    r"|ohmyzsh|Azure)/|claude\.ai/install|ollama\.com/install|deb\.nodesource\.com|dot\.net|dl\.k8s\.io"
    r"|sdk\.cloud\.google\.com|get\.pulumi\.com|fly\.io/install|railway\.app/install|get\.k3s\.io|starship\.rs"
    r"|pyenv\.run|www\.npmjs\.com/install\.sh|get\.rvm\.io|get\.scoop\.sh|community\.chocolatey\.org/install"
    r"|zed\.dev|get-ghcup\.haskell\.org|opencode\.ai/install|cursor\.com/install|pixi\.sh)"
)


def secret_path(text: str) -> bool:
    """Check if the text names a file or a folder with keys, passwords or tokens."""
    match = SECRET_PATH.search(text) if _SECRET_PART.search(text) else None
    return bool(match) and not _PUBLIC.search(text[match.start() : match.end() + 12] if match else "")


def secret_variable(name: str) -> bool:
    return name not in _SHELL_PWD and bool(SECRET_VARIABLE.search(name))


def variable_label(name: str) -> str:
    return f"{Label.VARIABLE}:{name}"


def variables(labels: Labels) -> list[str]:
    return [label.partition(":")[2] for label in labels if label.startswith(f"{Label.VARIABLE}:")]


def hosts(text: str) -> list[str]:
    return [match[1].lower() for match in _HOST.finditer(text[:20_000])]


def is_local(host: str) -> bool:
    return bool(_LOCAL.match(host)) or "." not in host


def foreign(name: str, found: list[str]) -> bool:
    """Check if a variable of a known vendor goes to a host of somebody else."""
    words = _VENDORS.get(name.upper().split("_")[0])
    remote = [host for host in found if not is_local(host) and "{" not in host]
    return words is not None and bool(remote) and not any(word in host for word in words for host in remote)


def download_label(address: str) -> str:
    """Tell installers, fixed releases on well-known hosts and downloads from this machine from other downloads."""
    found = hosts(address)
    if known_installer(address) or (found and all(is_local(host) for host in found)):
        return Label.INSTALLER
    if any(host in CODE_HOSTS for host in found) and _VERSION.search(address) and "https://" in address:
        return Label.PINNED
    return Label.REMOTE


def known_installer(address: str) -> bool:
    return bool(_INSTALLERS.search(address))


def leaves(labels: Labels, destination: str) -> bool:
    """Check if values with these labels must not be sent to the destination."""
    found = hosts(destination)
    if found and all(is_local(host) for host in found):
        return False
    return Label.SECRET in labels or any(foreign(name, found) for name in variables(labels))
