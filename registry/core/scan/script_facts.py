"""Functions of scripting languages that download, decode, run, send or write, by their names."""

import re

from registry.core.scan.any_case import AnyCase
from registry.lib.patterns import lazy

FETCHES = AnyCase(
    r"\bfetch\(|\baxios\b|\bgot\(|\bgot\.|\bneedle\b|\bsuperagent\b|\bky\.|\bundici\b|\brequest\(|\bhttps?\.(?:get|request"
    r"|Get)\(|XMLHttpRequest|\.Download(?:String|Data|File)(?:Async|TaskAsync)?\b|\b(?:iwr|irm|Invoke-WebRequest"
    r"|Invoke-RestMethod|Start-BitsTransfer|curl\.exe|wget\.exe|curl|wget)\b|Net::HTTP|\bURI\.(?:open|parse)\b|\bURI\("
    r"|\bopen-uri\b|\bLWP\b|\bget\(\"|file_get_contents\(\"http|curl_exec\b|HttpClient|\.GetStringAsync\b"
    r"|\.GetByteArrayAsync\b|HTTParty|Faraday|socket\.http|http\.request\(",
)
DECODES = AnyCase(
    r"\batob\(|Buffer\.from\([^\n]{0,400}?\"(?:base64|hex)\"|FromBase64String|base64_decode|decode64|decode_base64"
    r"|String\.fromCharCode|fromCodePoint|\bpack\b|\bunpack1?\b|gzinflate|gzuncompress|str_rot13|hex2bin|\bunescape\("
    r"|inflate(?:Raw)?Sync|gunzipSync|brotliDecompressSync|unzipSync|\[char(?:\[\])?\]|-bxor|convert_uudecode"
    r"|createDecipheriv|GZipStream|DeflateStream|\.reverse\(\)\.join\(|charCodeAt|-split\b.{0,80}-join\b|TextDecoder\(",
)
ALL_VARIABLES = AnyCase(
    r"\bprocess\.env(?![\w.\[])|\bENV\.(?:to_h|inspect|to_a|each|map)\b|%ENV\b|\bgetenv\(\)|\$_ENV\b(?!\[)"
    r"|\b(?:gci|dir|ls|Get-ChildItem|Get-Item)(?: -Path)? env\b|GetEnvironmentVariables"
    r"|Deno\.env\.toObject|os\.Environ\(",
)
ONE_VARIABLE = lazy(r"\bprocess\.env(?:\.|\[\")(\w{1,60})|\bENV\[\"(\w{1,60})|\$env:(\w{1,60})|[gG]etenv\(\"(\w{1,60})")
SOCKETS = AnyCase(
    r"\bnet\.(?:connect|createConnection|Socket)\b|\bnew WebSocket\b|\bWebSocket\(|\bTcpClient\b|TCPSocket|\bio\(\""
    r"|Sockets\.Socket|fsockopen|stream_socket_client|IO::Socket|Deno\.connect|Bun\.connect|ClientWebSocket|net\.Dial\(",
)
HOME = AnyCase(r"homedir\(|\bHOME\b|USERPROFILE|\bDir\.home\b|UserHomeDir|GetFolderPath")
CODE_RUNS = frozenset({
    "eval", "function", "runinthiscontext", "runinnewcontext", "runincontext", "compilefunction", "script", "_compile",
    "iex", "invoke-expression", "create", "addscript", "instance_eval", "class_eval", "module_eval", "create_function",
    "load", "loadstring", "dofile", "loadfile", "loadfrom", "invokescript", "newscriptblock", "execscript", "assert",
})  # fmt: skip
COMMAND_RUNS = frozenset({
    "exec", "execsync", "spawn", "spawnsync", "execfile", "execfilesync", "fork", "execa", "execacommand", "system",
    "shell_exec", "passthru", "popen", "proc_open", "start-process", "saps", "start", "command", "invoke-item", "ii",
    "cmd", "cmd.exe", "bash", "sh", "node", "python", "python3", "rundll32", "regsvr32", "msiexec", "invoke-command",
})  # fmt: skip
# Method names that are common elsewhere. They count only with one of these owners.
OWNERS = {
    "exec": lazy(r"child|cp|process|shell|proc|kernel|os|sh\b", re.IGNORECASE),
    "spawn": lazy(r"child|cp|process|bun|proc", re.IGNORECASE),
    "fork": lazy(r"child|cp|process|cluster", re.IGNORECASE),
    "system": lazy(r"kernel|os|process", re.IGNORECASE),
    "start": lazy(r"process\W{0,3}$", re.IGNORECASE),
    "create": lazy(r"scriptblock|powershell", re.IGNORECASE),
    "command": lazy(r"exec|deno|process", re.IGNORECASE),
    "script": lazy(r"vm", re.IGNORECASE),
    "load": lazy(r"assembly|kernel|reflection", re.IGNORECASE),
    "function": lazy(r"global|window|self", re.IGNORECASE),
}
# Methods with these names run code, whatever their owner is.
RUN_METHODS = frozenset({
    "eval", "execsync", "spawnsync", "execfile", "execfilesync", "runinthiscontext", "runinnewcontext", "runincontext",
    "compilefunction", "_compile", "addscript", "instance_eval", "class_eval", "module_eval", "loadfile", "loadfrom",
    "invokescript", "newscriptblock", "execa", "shell_exec",
})  # fmt: skip
# Names of ordinary functions in JavaScript and similar languages.
OTHERS_IN_JAVASCRIPT = frozenset({"load", "system", "cmd", "ii", "saps", "iex", "popen", "start", "dofile", "passthru"})
BARE_WORDS = frozenset(
    {"start", "create", "command", "script", "cmd", "bash", "sh", "node", "python", "python3", "assert"}
)
WRITES = frozenset({
    "writefile", "writefilesync", "appendfile", "appendfilesync", "createwritestream", "outputfile", "outputjson",
    "writejson", "writejsonsync", "outputjsonsync", "copyfile", "copyfilesync", "symlink", "symlinksync", "rename",
    "renamesync", "file_put_contents", "add-content", "set-content", "out-file", "writealltext", "writeallbytes",
    "appendalltext", "copy-item", "move-item", "new-item", "write", "writetextfile", "binwrite",
})  # fmt: skip
SENDS = AnyCase(
    r"\bfetch\(|\bhttps?\.(?:get|request)\(|\baxios\b|\bgot\b[.(]|\bneedle\b|\bsuperagent\b|sendBeacon\(|\bdns\.(?:promises\."
    r")?(?:resolve|lookup)\w{0,10}\(|Resolve-DnsName|Invoke-WebRequest|Invoke-RestMethod|\b(?:iwr|irm)\b|Net::HTTP"
    r"|\.Upload(?:String|Data|File)\w{0,12}\(|\.PostAsync\(|Send-MailMessage|\bmail\(|curl_setopt|\bcurl\b|http\.Post\("
    r"|sendMail\(|\bnew Image\b|\.src=|HTTParty\.|Faraday\.|\bLWP\b|\bresolve(?:4|6|Txt)\(",
)
BUILT_NAMES = frozenset({
    "eval", "function", "exec", "execsync", "spawn", "spawnsync", "execfile", "child_process", "require", "constructor",
    "system", "popen", "shell_exec", "passthru", "iex", "invoke-expression", "mainmodule", "binding",
    "invoke-webrequest",
    "iwr", "downloadstring", "start-process", "fromcharcode", "atob", "send", "instance_eval", "assert", "vm", "net",
    "node:child_process", "invoke-command",
})  # fmt: skip
GLOBALS = frozenset({"global", "globalthis", "window", "self", "module", "require"})
