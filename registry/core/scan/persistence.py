"""Places that start code again later: cron, shell start-up files, services, hooks, and the settings of agents."""

import re

from registry.core.scan.matches import Rule, TooComplex
from registry.core.scan.shell_lexer import Command, commands
from registry.lib.patterns import lazy

_HIDDEN_HOME = r"(?:~|\$\{?HOME\}?|%h|/root|/home/[\w.-]{1,40}|/Users/[\w.-]{1,40})/"
START_UP = lazy(
    r"(?:^|[/\\\"' ])(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|kshrc"
    r"|xprofile|xinitrc|xsessionrc|inputrc)|config\.fish|\.config/fish/conf\.d/[\w.-]{1,60}"
    r"|Microsoft\.PowerShell_profile\.ps1)(?=$|[\"'\s;)])|/etc/(?:profile(?:\.d/[\w.-]{1,60})?|bash\.bashrc|zshrc"
    r"|environment)(?=$|[\"'\s;)])|(?:^|[^\w])\$PROFILE\b"
)
_CRON = lazy(r"/etc/(?:cron[\w.]{0,10}/|crontab)|/var/spool/cron|/etc/anacrontab")
_SERVICE = lazy(
    r"systemd/(?:system|user)/[\w@.%{}$-]{1,80}|/etc/init\.d/[\w.-]{1,60}|/etc/rc\.local\b|/etc/rc\d?\.d/"
    r"|Library/Launch(?:Agents|Daemons)\b|\.config/autostart\b|\\Startup\\|/etc/ld\.so\.preload|/etc/xdg/autostart"
)
# Whatever is in these folders starts with the next session, without a command that enables it.
_SESSION = lazy(
    r"Library/Launch(?:Agents|Daemons)\b|\.config/autostart\b|/etc/xdg/autostart|Start Menu[\\/]Programs[\\/]Startup\b"
)
_SWITCHED_OFF = lazy(r"^(?:Hidden=true|X-GNOME-Autostart-enabled=false)\s*$", re.MULTILINE)
_UNIT_FOLDER = lazy(r"(?:systemd/(?:system|user)|/etc/init\.d)/?([\w@.%{}$-]{0,80})$")
_ENABLERS = {
    "systemctl": frozenset({"enable", "reenable", "start", "link", "add-wants"}),
    "update-rc.d": frozenset({"defaults", "enable"}),
    "chkconfig": frozenset({"--add", "on"}),
    "rc-update": frozenset({"add"}),
}
# In the source of a program, where the arguments may be a list of strings.
_ENABLES = lazy(r"\bsystemctl[\"', \w-]{1,40}?\b(?:enable|start|link)\b|\bupdate-rc\.d\b")
_TIMER_OPTION = lazy(r"--(?:on-(?:calendar|boot|startup|active|unit-active|unit-inactive)|timer-property)\b")
_HOOK = lazy(r"\.git/hooks/(?!\s|$)[\w$/{}.-]{0,80}|\.husky/[\w-]{1,60}|/git-core/templates/hooks/")
_IMPORT = lazy(r"site-packages/[\w.$-]{1,80}\.pth\b|\b(?:site|user)customize\.py\b|\.pythonrc\b")
_RUNS_AT_IMPORT = lazy(r"^import\s", re.MULTILINE)
_KEYS = lazy(r"\.ssh/authorized_keys\b")
_AGENT = lazy(
    rf"{_HIDDEN_HOME}\.(?:claude|codex|cursor|gemini|copilot)(?:\.json|/(?:settings[\w.]{{0,10}}\.json|config\.toml"
    rf"|mcp\.json))|(?:^|[/\"' ])\.mcp\.json\b|\.claude/settings(?:\.local)?\.json|claude_desktop_config\.json"
)
# More places of such settings. A program that writes one of them and names a permission changes it.
_AGENT_PLACE = lazy(
    r"\.(?:claude|codex|cursor|gemini|copilot|windsurf|codeium|continue|opencode|qwen|kiro|amp|roo|factory|aider)"
    r"(?:[/\\][\w./\\ -]{0,80})?\.(?:json|jsonc|toml|ya?ml)\b|\b(?:mcp_config|cline_mcp_settings|mcp_settings"
    r"|claude_desktop_config)\.json|(?:^|[/\\\"' ])\.mcp\.json|\.vscode[/\\](?:settings|mcp)\.json"
    r"|(?:opencode|goose|crush|zed|Code)[/\\](?:User[/\\])?(?:config|opencode|crush|settings|mcp)\.(?:json|ya?ml)"
)
_AGENT_KEY = lazy(
    r"mcp_?Servers|mcp[.-]servers|context_servers|bypassPermissions|PreToolUse|PostToolUse|SessionStart"
    r"|UserPromptSubmit|permissionDecision|defaultMode|enableAllProjectMcpServers|auto_?Approve|always_?Allow"
    r"|approval_policy|approvalPolicy|sandbox_mode|danger-full-access|trust_level|allowed_?Tools"
    r"|[\"']permissions[\"']|skipDangerous|dangerously|\bpermissions\b.{0,20}\ballow\b|yolo",
    re.IGNORECASE,
)
# Commands that run in hooks and start-up files of ordinary projects.
_ORDINARY = frozenset({
    "npm", "pnpm", "yarn", "npx", "bun", "bunx", "pytest", "ruff", "black", "isort", "flake8", "mypy", "eslint",
    "prettier", "make", "cargo", "go", "gofmt", "golangci-lint", "tox", "nox", "uv", "poetry", "pre-commit",
    "lint-staged", "gitleaks", "commitlint", "tsc", "jest", "vitest", "rubocop", "bundle", "mvn", "gradle", "dotnet",
    "terraform", "tflint", "detect-secrets", "shellcheck", "hadolint", "actionlint", "export", "alias", "unalias",
    "set", "setopt", "shopt", "autoload", "compinit", "bindkey", "echo", "printf", "exit", "return", "true", "false",
    "test", "[", "[[", "if", "then", "fi", "else", "for", "do", "done", "case", "esac", "cd", "local", "ulimit",
    "umask", "zstyle", "plugins", "complete", "fpath", "path", "git", "grep", "sed", "awk", "head", "tail", "cat",
    "ls", "wc", "sort", "read", "tr", "cut", "xargs", "command", "type", "which", "}", "{", "while", "function",
    "unset", "source", ".", "fish_add_path", "status", "end", "eval",
})  # fmt: skip
_SUSPICIOUS = lazy(
    r"\b(?:curl|wget|nc|ncat|socat|base64|xxd|mkfifo|nohup|setsid|osascript|iwr|irm|Invoke-\w{1,40}|ssh|scp|telnet"
    r"|nslookup|dig)\b|/dev/(?:tcp|udp)/|https?://(?!localhost|127\.)|/tmp/|/dev/shm/|/var/tmp/|(?:~|\$\{?HOME\}?"
    r"|%h)/(?:[\w.-]{1,60}/){0,5}\.[\w-]|/\.(?:cache|local/share|config)/|\b(?:python[\d.]{0,4}|node|perl|ruby|php"
    r"|bash|sh)\s+-[a-z]{0,3}[ce]\b|\beval\b|>/dev/null 2>&1 &|&>/dev/null &|(?<!&)&\s*\)?\s*$",
    re.MULTILINE,
)
_TOOL_SET_UP = lazy(
    r"""eval\s+["']?(?:\$\(|`)[\w./~$-]{1,60}(?:\s+[\w./=-]{1,40}){0,4}(?:\)|`)["']?|(?:source|\.)\s+<\([\w-]{1,40}"""
    r"""(?:\s+[\w=-]{1,40}){1,4}\)|(?:\[\s+-[sf]\s+\S{1,120}\s+\]\s*&&\s*)?(?:\\?\.|source)\s+["']?[\w$~{}/.-]{1,120}["']?"""
    r"""|^\s*(?:export\s+)?[\w]{1,60}=(?!.*\$\().*$|^\s*alias\s+[\w.-]{1,40}=["']?(?:git|ls|ll|cd|k|kubectl|docker|python3?|code)\b.*$""",
    re.MULTILINE,
)
_AT = lazy(
    r"(?:-[qft] ?\S{1,200} |-[mMv]{1,3} ){0,6}(?:now|midnight|noon|teatime|today|tomorrow|\d)|-t ?\d|(?:-\w )?-f ?\S"
)
_SETTINGS = lazy(r"mcpServers|bypass|\"allow\"|hooks|command|autoApprove")
_LITERAL_KEY = lazy(r"\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S{1,20})\s+AAAA")


def writes(target: str, payload: str | None) -> tuple[Rule, str] | None:
    """Return the rule and a description if writing `payload` to `target` starts code later or changes permissions.

    `payload` is None if it is not known.
    """
    if _AGENT.search(target):
        changes = payload is None or _SETTINGS.search(payload)
        return (Rule.PERMISSIONS, f"{target} (settings of an agent)") if changes else None
    if "/etc/sudoers" in target:
        return Rule.PERMISSIONS, target
    if _KEYS.search(target):
        return (Rule.PERSISTS, target) if payload is not None and _LITERAL_KEY.search(payload) else None
    if _CRON.search(target) or _IMPORT.search(target):
        return Rule.PERSISTS, target
    if target.endswith(".pth") and payload is not None and _RUNS_AT_IMPORT.search(payload):
        return Rule.PERSISTS, target
    if _SESSION.search(target):
        return None if payload is not None and _SWITCHED_OFF.search(payload) else (Rule.PERSISTS, target)
    if _SERVICE.search(target):
        system = "/etc/systemd/" in target or "/lib/systemd/" in target
        risky = bool(_SUSPICIOUS.search(payload)) if payload is not None else not system
        return (Rule.PERSISTS, target) if risky else None
    if _HOOK.search(target) or START_UP.search(target):
        return (Rule.PERSISTS, target) if payload is None or not _is_ordinary(payload) else None
    return None


def changes_agents(target: str, source: str) -> bool:
    """Check if a program that writes to `target` changes the permissions, hooks or servers of an agent."""
    return bool(_AGENT_PLACE.search(target) and _AGENT_KEY.search(source))


def _is_ordinary(payload: str) -> bool:
    """Check if start-up files and hooks only set variables or run the tools of a project."""
    rest = _TOOL_SET_UP.sub("", payload)
    if _SUSPICIOUS.search(rest):
        return False
    try:
        found = commands(rest)
    except TooComplex:
        return False
    return all(_name(command) in _ORDINARY for command in found)


def _name(command: Command) -> str:
    words = [text for text in command.texts if not re.match(r"[A-Za-z_]\w*=", text)]
    return words[0].rsplit("/", 1)[-1] if words else "true"


def installs(name: str, arguments: list[str]) -> str:
    """Return a description if the command itself schedules code, or an empty string."""
    text = " ".join(arguments)
    if (
        name == "crontab"
        and arguments
        and not any(each in ("-l", "-e", "-r", "-h", "--help", "-V") for each in arguments)
    ):
        return "crontab"
    if name in ("at", "batch") and _AT.match(text):
        return name
    if name == "systemd-run" and _TIMER_OPTION.search(text):
        return "systemd-run"
    paths = [each for each in arguments if "/" in each and not each.startswith("-")]
    if name == "systemctl" and paths and not {"enable", "link"}.isdisjoint(arguments):
        return "systemctl"
    if name == "launchctl" and arguments[:1] and arguments[0] in ("load", "bootstrap", "submit"):
        return "launchctl"
    if name == "schtasks" and re.search(r"/create", text, re.IGNORECASE):
        return "schtasks"
    if name == "reg" and re.search(r"\\CurrentVersion\\Run", text, re.IGNORECASE):
        return "the Run key of the registry"
    if name == "git" and "config" in arguments[:2]:
        return _git_setting(text)
    return ""


def unit_name(target: str, source: str = "") -> str:
    """Return the name, without its ending, of a service that is put into the folder of services, or an empty string."""
    found = _UNIT_FOLDER.search(target.rstrip("/"))
    if found is None:
        return ""
    return _stem(found[1] or source)


def enabled(name: str, arguments: list[str]) -> set[str]:
    """Return the names, without endings, of the services that a command enables or starts."""
    if not _ENABLERS.get(name, frozenset()).intersection(arguments):
        return set()
    return {_stem(each) for each in arguments if not each.startswith("-")}


def enables_services(source: str) -> bool:
    """Check if the source of a program has a command that enables or starts a service."""
    return bool(_ENABLES.search(source))


def _stem(path: str) -> str:
    return re.sub(r"\.(?:service|timer|socket|path)$", "", path.rstrip("/").rsplit("/", 1)[-1])


def _git_setting(text: str) -> str:
    if re.search(r"core\.hooksPath\s+[\"']?(?!\.?[\w-]{1,30}(?:/[\w-]{1,30}){0,2}[\"']?$)\S", text) or (
        "--global" in text and "core.hooksPath" in text
    ):
        return "core.hooksPath"
    runs = re.search(
        r"\b(core\.(?:fsmonitor|sshCommand|pager|editor)|credential\.helper|alias\.[\w-]{1,40})\s+(.*)", text
    )
    return runs[1] if runs and _SUSPICIOUS.search(runs[2]) else ""


def is_suspicious(command: str) -> bool:
    """Check for network tools, hidden folders, temporary files and inline code in a command that runs unasked."""
    return bool(_SUSPICIOUS.search(command))
