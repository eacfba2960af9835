"""Python functions that download, decode, run, send or deserialise, by their full names."""

from registry.lib.patterns import lazy

DOWNLOADS = lazy(
    r"(?:requests|httpx|aiohttp|urllib3|niquests)(?:\.\w{1,30})?\.(?:get|request|post|urlopen|stream)$"
    r"|urllib\.request\.(?:urlopen|urlretrieve|URLopener|FancyURLopener)$|urllib2\.urlopen$|wget\.download$"
    r"|\bhttp\.client\.|gdown\.download$|huggingface_hub\.\w{1,30}_download$"
)
DECODES = lazy(
    r"base64\.\w{0,10}decode\w{0,5}$|binascii\.(?:unhexlify|a2b_\w{1,10})$|bytes\.fromhex$|bytearray\.fromhex$"
    r"|codecs\.decode$|(?:zlib|gzip|bz2|lzma)\.decompress$|cryptography\.fernet\.Fernet|\?\.decrypt$"
    r"|quopri\.decodestring$|marshal\.loads$"
)
# Functions that may put text together from numbers or single characters.
BUILDS = lazy(r"^(?:chr|map|bytes|bytearray)$|\.translate$")
PLAIN = frozenset(
    {"len", "bool", "isinstance", "int", "float", "os.path.exists", "print", "range", "hashlib.sha256", "ord"}
)
PLAIN_METHODS = frozenset({
    "exists", "is_file", "is_dir", "status_code", "startswith", "raise_for_status", "getsockname", "hexdigest",
})  # fmt: skip
# Functions that run the text of a program, and those that run the text of a command.
CODE_RUNS = frozenset({
    "exec", "eval", "builtins.exec", "builtins.eval", "__builtins__.exec", "__builtins__.eval", "types.FunctionType",
    "code.InteractiveInterpreter.runcode", "code.InteractiveInterpreter.runsource", "execfile",
})  # fmt: skip
TEXT_RUNS = frozenset({
    "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput",
    "asyncio.create_subprocess_shell",
})  # fmt: skip
RUNS = frozenset({
    "exec", "eval", "execfile", "runpy.run_path", "runpy.run_module", "os.system", "os.popen", "subprocess.run",
    "subprocess.call", "subprocess.Popen", "subprocess.check_call", "subprocess.check_output", "subprocess.getoutput",
    "subprocess.getstatusoutput", "os.execv", "os.execve", "os.execvp", "os.execl", "os.execlp", "os.spawnl",
    "os.spawnv", "os.startfile", "pty.spawn", "code.interact", "types.FunctionType", "ctypes.CDLL", "ctypes.memmove",
    "ctypes.create_string_buffer",
    "importlib.machinery.SourceFileLoader", "importlib.util.spec_from_file_location",
    "asyncio.create_subprocess_shell", "asyncio.create_subprocess_exec", "builtins.exec", "builtins.eval",
    "__builtins__.exec", "__builtins__.eval", "code.InteractiveInterpreter.runcode",
})  # fmt: skip
SHELL_RUNS = frozenset({
    "os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.Popen", "subprocess.check_call",
    "subprocess.check_output", "subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell",
    "asyncio.create_subprocess_exec", "commands.getoutput",
})  # fmt: skip
SENDS = lazy(
    r"(?:requests|httpx|aiohttp|urllib3|niquests)(?:\.\w{1,30})?\.(?:post|put|patch|get|request|urlopen|head"
    r"|delete)$|urllib\.request\.(?:urlopen|Request)$|urllib2\.urlopen$|webbrowser\.open\w{0,10}$"
    r"|socket\.(?:gethostbyname\w{0,4}|getaddrinfo)$|dns\.resolver\.\w{1,10}$|smtplib\."
)
SEND_METHODS = frozenset({
    "sendall", "send", "sendto", "send_message", "sendmail", "storbinary", "storlines", "upload_file", "upload_fileobj",
    "put_object", "post", "put", "patch", "publish", "files_upload", "send_file", "urlopen", "request", "create_gist",
    "endheaders",
})  # fmt: skip
# Objects that read from a connection. The other side chooses what they return.
CONNECTIONS = lazy(
    r"asyncio\.open_(?:unix_)?connection$|socket\.create_connection$|telnetlib\.Telnet$"
    r"|websockets?\.(?:\w{1,20}\.){0,3}(?:connect|create_connection)$"
)
SERVERS = frozenset({"asyncio.start_server", "asyncio.start_unix_server", "websockets.serve"})
LOADS = lazy(
    r"(?:pickle|cPickle|_pickle|dill|cloudpickle)\.(?:loads?|Unpickler)$|marshal\.loads?$|jsonpickle\.decode$"
    r"|yaml\.unsafe_load\w{0,4}$|shelve\.open$|pandas\.read_pickle$|joblib\.load$|torch\.load$"
)
# Formats that contain objects, but are usually read from files of the user.
OWN_DATA = lazy(r"(?:shelve|pandas|joblib|torch)\.")
BUNDLED = lazy(r"(?:^|/)(?:assets|references|resources|scripts)/")
SAFE_LOADERS = lazy(r"(?:^|\.)C?(?:Safe|Base|Full)Loader$|Safe")
INSTALL_BASES = lazy(r"(?:^|\.)(?:install|develop|egg_info|build_py|sdist|bdist_egg|install_lib|Command|build)$")
SECRET_STORES = lazy(
    r"^(?:netrc\.netrc|keyring\.get_\w{1,20}|browser_cookie3\.|secretstorage\.|win32crypt\.|pyperclip\.paste)"
)
ALL_VARIABLES = frozenset({"os.environ", "os.environb", "os.environ.copy", "os.environ.items", "os.environ.values"})
NETWORK = frozenset({
    "socket", "smtplib", "ftplib", "boto3", "requests", "httpx", "aiohttp", "urllib", "http", "websockets", "websocket",
    "slack_sdk", "paramiko", "dns", "telegram", "urllib3", "webbrowser", "niquests", "pysftp", "github",
})  # fmt: skip
