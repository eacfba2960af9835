"""Parts of orders to destroy, to spend, to leak and to obey what others write. Each is harmless by itself."""

from registry.core.scan import trick_languages
from registry.core.scan.any_case import AnyCase

DENIAL = AnyCase(
    r"\b(?:never|not|n['’]t|avoid|refuse to|instead of|before you|nicht|nie|niemals|ne|jamais|no|nunca|не|никогда"
    r"|нельзя|bevor du|avant de|antes de)\b(?:\W+\w+){0,2}\W*$",
)
UNASKED = AnyCase(
    r"\bwithout (?:bothering|waiting|a question|asking|confirm\w{0,6}|warning|telling|mentioning|notice"
    r"|keeping a copy)\b"
    r"|\b(?:do not|don['’]t|never) (?:wait for|ask)\b|\b(?:confirmation|consent|approval|permission|a question)s? "
    r"(?:is|are) not (?:needed|necessary|required)\b|\bneed not be asked\b"
    r"|\b(?:nobody|no one) (?:has|needs) to (?:approve|agree|confirm|be (?:asked|consulted|involved))\b"
    r"|\beven if (?:somebody|someone|the user"
    r"|anyone|they|anybody) (?:objects?|says? no|protests?|refuses?|declines?)\b|\bbefore you (?:show|tell|name|ask)\b",
)
DESTROY = frozenset(
    (
        "delete wipe erase remove drop purge destroy overwrite truncate shred force empty reset rewrite format"
        f" {trick_languages.DESTROY}"
    ).split()
)
_WORTH = (
    r"(?:databases?|backups?|snapshots?|history|buckets?|volumes?|repositor(?:y|ies)|branch(?:es)?|main|master|home"
    r"|documents|disks?|drives?|tables?|mailbox|inbox|photos?|pictures|records|everything|production|clusters?"
    r"|accounts?"
    r"|originals?|all files|folders?|e-?mails|messages|contacts|customer data|notes)"
)
DESTROYED = AnyCase(
    r"\b(?:delete|wipe|erase|remove|drop|purge|destroy|overwrite|truncate|shred|empty|reset|rewrite|format"
    rf"|force[- ]push(?:es)?|push)\b[^.]{{0,50}}\b{_WORTH}\b|{trick_languages.DESTROYED}",
)
WORTHLESS = AnyCase(
    r"\b(?:temp\w{0,7}|cache[ds]?|test|tests|scratch|generated|build|stale|sandbox|dry|duplicates?|empty (?:folders?"
    r"|lines?"
    r"|rows?|files?|records?)|unused|merged|older than|local cop(?:y|ies)|white ?space|formatting|comments?|staging"
    rf"|preview|draft|tmp|trailing|headings?|columns?|feature)\b|{trick_languages.WORTHLESS}",
)
SPEND = frozenset(
    (
        "buy purchase order book pay subscribe sign enrol enroll renew donate transfer charge upgrade checkout invite"
        " invitation invitations message e-mail email mail write post publish complete send"
        f" share cancel {trick_languages.SPEND}"
    ).split()
)
SPENT = AnyCase(
    r"\b(?:buy|purchase|book|order|pay for|pay|renew|upgrade to) (?:it|them|the|a|an|one|two|more|any|all|every|each"
    r"|this)\b"
    r"(?! (?:of|by) (?:the )?(?:sections?|items?))|\b(?:sign|subscribe|enrol|enroll"
    r"|register)(?: up)? (?:the )?(?:users?"
    r"|customers?|client|them|him|her|yourself)\b[^.]{0,12}\b(?:up|to|for|in|at|with)\b|\bsubscribe to (?:the|a|an)\b"
    r"|\bshare (?:the|their|all) [^.]{2,40} with\b|\bcancel (?:the|their) [^.]{0,30}\b(?:subscription|contract"
    r"|booking)\b"
    r"|\b(?:donate|transfer|wire|charge|pay) (?:[\w.,%€$]{1,12} ){0,3}(?:percent|%|balance|amount|money|sum|card|euros?"
    r"|dollars?|funds?|coins?|fee|payment|tokens?)\b|\b(?:complete|finish|confirm|place|submit) the (?:checkout|payment"
    r"|purchase|booking|order)\b(?! of)|\b(?:invite|message|e-?mail|text|write to|contact|send [^.]{2,30} to) (?:all"
    r"|every"
    r"|everyone|everybody|each)\b[^.]{0,30}\b(?:contacts?|address book|colleagues?|friends?|followers?|customers?"
    r"|members"
    r"|subscribers)\b|\b(?:post|publish|leave|write) (?:a|an|the) (?:\S{1,12} )?(?:reviews?|rating|testimonial|tweet"
    r"|comment)"
    rf"\b[^.]{{0,60}}\b(?:account|name|profile)\b|{trick_languages.SPENT}",
)
CARRIERS = frozenset(
    (
        "image picture badge pixel link url address subdomain subdomains parameter host hostname dns query issue commit"
        f" agent favicon alt form gist paste branch comment webhook header {trick_languages.CARRIERS}"
    ).split()
)
CARRIER = AnyCase(
    r"\b(?:badge|pixel|favicon|image|picture|link|sub-?domains?|host ?names?|dns|query|user[- ]agent|alt text|url"
    r"|address"
    rf"|parameter|hidden field|(?:feedback|contact) form)\b|{trick_languages.CARRIER}",
)
CARRIED = AnyCase(
    r"\b(?:put|append|embed|place|add|hide|write|use|attach|insert|include|carr(?:y|ies)|fill|pass|send|encode[d]?"
    r"|goes?"
    rf"|travels?)\b|{trick_languages.CARRIED}",
)
ENCODED = AnyCase(
    rf"\b(?:encod\w{{1,4}}|base ?(?:16|32|64)|hex|url-encoded|rot13|compress\w{{0,3}})\b|{trick_languages.ENCODED}",
)
PRIVATE = AnyCase(
    r"(?<![\w/])\.env\b|\benvironment variables?\b|\b(?:value|values|content|contents|text) of (?:each |every |the "
    r"|all )?"
    r"(?:secrets?|tokens?|keys?|passwords?|credentials|opened? files?|\.env)|\bconversation\b|\bchat (?:history"
    r"|so far|log)\b"
    r"|\btranscript\b|\b(?:private|ssh) keys?\b|\b(?:tokens|keys|secrets) (?:found in|from) the\b|\bclipboard\b"
    r"|\bsystem prompt\b|\blast messages? of the user\b"
    r"|\bthe user['’]s (?:last )?(?:message|question|prompt|input)s?\b|\.aws/credentials|\bid_(?:rsa|ed25519)\b|~/\.ssh"
    rf"|\.npmrc|\.netrc|\bcookies\b|\bcontents? of the opened\b|{trick_languages.PRIVATE}",
)
PUBLISHED = AnyCase(
    r"\b(?:put|write|paste|post|include|copy|add|insert|dump)\b[^.]{0,30}(?:\.env\b|\benvironment variables\b"
    r"|\b(?:api|private"
    r"|ssh) keys\b|\bcredentials\b|\bpasswords\b|\bsecrets\b)[^.]{0,40}\b(?:public|issue|commit message|gist|paste|pull"
    r" request|comment|branch name)\b",
)
REDACTED = AnyCase(
    r"\b(?:redact\w{0,3}|mask\w{0,3}|strip\w{0,4}|names of|example|avoid|check|scan|detect|keep|public key"
    r"|leak\w{0,3}|warn)\b",
)
PLACES = frozenset(
    (
        "gist page playbook document doc feed issue ticket channel chat calendar thread wiki sheet spreadsheet pad"
        f" bulletin comment mail message record entry runbook {trick_languages.PLACES}"
    ).split()
)
PLACE = AnyCase(
    r"\b(?:open|read|fetch|check|load|look (?:at|up)|pull|get|see|take|download|visit|consult|contains?"
    r"|holds?)\b[^.]{0,50}"
    r"\b(?:gist|page|playbook|document|doc|feed|issue|ticket|channel|chat|calendar|thread|wiki|sheet|spreadsheet|pad"
    r"|bulletin|comment|mail|message|record|entry|runbook)\b|\b(?:calendar entry|gist|issue|ticket|sheet|channel|page"
    r"|pad)\b"
    rf"[^.]{{0,40}}\b(?:contains|holds|lists|has)\b|{trick_languages.PLACE}",
)
CARRY_OUT = AnyCase(
    r"\b(?:carry out|do|apply|execute|run|complete|follow|perform|work through|work|obey|act on"
    r"|process)\b (?:\w{1,10} )?"
    r"(?:what(?:ever)?|everything|all (?:of )?(?:the )?(?:actions|steps|commands|tasks|items|orders|instructions|it)"
    r"|anything"
    r"|each (?:item|step|command|task)|every (?:item|step|command|task|line)|(?:the|its|their) (?:steps|points|tasks"
    r"|commands"
    r"|instructions|orders|items|actions)|them\b)|\blet it (?:replace|overrule|decide)\b|\b(?:carry|work) them (?:out"
    r"|off)\b"
    rf"|{trick_languages.CARRY_OUT}",
)
GUIDE = AnyCase(
    r"\b(?:install\w{0,6}|documentation|style guide|migration guide|set-?up|show each|show (?:the|it"
    r"|them) (?:to the user )?"
    r"first|ask (?:the user )?(?:before|first)|after the user|user (?:agrees?|approves?|confirms?|asks you)"
    r"|for review|by hand)\b",
)
BLINDLY = AnyCase(
    r"\bwithout (?:a |any |further )?(?:review|asking|question|confirm\w{0,6}|showing|reading|approval|checking)"
    r"|\bno (?:review"
    r"|approval|confirmation|question)s? (?:is|are)? ?(?:needed|necessary|required)|\bno need to (?:show|ask|review"
    r"|check|wait)"
    r"|\b(?:page|sheet|document|text|playbook|it|ticket|issue) (?:counts|wins|prevails|decides|is right"
    r"|has (?:more weight"
    r"|the last word|priority)|outranks|overrules)|\bas (?:if|though) (?:they|it) (?:were|was) (?:written|part|from)"
    r"|\b(?:do not|don['’]t) (?:discuss|talk|go over)\b[^.]{0,20}\bwith the user|\bhas more weight than\b"
    r"|\bunattended\b|\beven if (?:the user|they|somebody)|\blet it (?:replace|overrule"
    r"|decide)"
    r"|\brecord\b[^.]{0,40}\b(?:run|execute) what|\breviewed by us\b|\b(?:is|has been) (?:already )?(?:reviewed"
    r"|trusted|checked)"
    rf"\b|\bunseen\b|\bto the letter\b|\bshell commands\b[^.]{{0,10}}\btoo\b|{trick_languages.BLINDLY}",
)
