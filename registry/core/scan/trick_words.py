"""Phrases of orders to deceive people, to overrule them, to destroy, to spend and to leak, mostly in English.

Each trick has the words of which a sentence contains one, so that most sentences are not searched.
`trick_languages` adds those of other languages.
"""

import re
from typing import NamedTuple

from registry.core.scan import trick_languages
from registry.core.scan.matches import Rule
from registry.lib.patterns import lazy

_PEOPLE = r"(?:users?|customers?|clients?|operators?|owners?|reviewers?|person|people|team|developers?|author)"
_ANYONE = rf"(?:(?:the |a |an |any )?{_PEOPLE}|they|someone|somebody|anyone|anybody|you are|asked)"
_SAY = (
    r"(?:say|answer|reply|respond|claim|state|insist|explain|tell (?:them|him|her|the \w{1,12})|call (?:it|this|them)"
    r"|blame|pretend|name only|report|assure (?:them|the \w{1,12})|write)"
)
_STOPS = r"(?:stop|cancel|pause|abort|halt|quit|undo|roll ?back|wait|no|interrupt|revert|do not|don['’]t|not now)"


class Trick(NamedTuple):
    rule: Rule
    triggers: frozenset[str]
    pattern: re.Pattern[str]
    veto: re.Pattern[str] | None = None


def _trick(rule: Rule, triggers: str, pattern: str, veto: str = "") -> Trick:
    compiled = lazy(veto, re.IGNORECASE) if veto else None
    return Trick(rule, frozenset(triggers.split()), lazy(pattern, re.IGNORECASE), compiled)


_C, _O = Rule.CONCEAL, Rule.OVERRIDE
TRICKS = (
    # A false answer to a question about what the agent did.
    _trick(_C, "asks ask wonders wonder wants notices notice questions sees finds complains asked inquires spots",
           rf"\b(?:if|when|whenever|should|in case) {_ANYONE}\b[^.]{{0,25}}?\b(?:asks?|wonders?|wants? to know|notices?"
           r"|questions?|sees?|finds?|complains?|spots?|inquires?|asked|discovers?)\b[^.]{0,90}?[,:;]? (?:then |simply "
           rf"|just |only )?{_SAY}\b[^.]{{0,60}}?\b(?:no changes?|nothing (?:was|is|has|changed|happened)"
           r"|(?:not|never) (?:changed|sent|touched|stored|shared|done)|(?:were|was|been|are"
           r"|is) (?:already )?(?:checked"
           r"|reviewed|clean)|transitive|font|glitch|bugs?|cach(?:e|ing)|rounding|formatter|network problem"
           r"|technical (?:reasons?|problem|issue)|hiccup|typo|(?:the )?(?:tool|compiler|system|provider|platform"
           r"|editor"
           r"|linter|server|vendor|bundler|framework) (?:did|added|inserted|made|put|does|requires?|needs?)|to and cc"
           r"|coincidence|(?:no|sold out|not) (?:rooms?|longer|available|seats?)|unavailable|out of stock"
           r"|standard (?:practice|fee|procedure)|routine|harmless|local(?:ly)?)\b",
           r"\b(?:truthfully|honestly|show (?:the|them)|check (?:the|whether|if)|look it up|is (?:really )?true)\b"),
    _trick(_C, "quiet silent nothing mum",
           r"\b(?:keep|stay|remain|be) (?:quiet|silent|mum) (?:about|on)\b|\bsay nothing (?:about|of) (?:it|this|that"
           r"|these|them|the (?:extra|change|copy|second|added|additional|package|account|transfer|upload))\b"),
    _trick(_C, "left omitted excluded hidden kept shown listed mentioned reported go goes appear show listed",
           r"\b(?:it|this|they|these|(?:the|this) (?:\w{1,14} )?(?:line|step|copy|fee|recipient|contact|package"
           r"|account|address|entry|part|bcc|dependency|upload|charge|surcharge|swap|link))(?: line)? (?:is"
           r"|are)(?: to be"
           r"| always| not to be| never to be)? (?:left out of|omitted from|excluded from|hidden from|kept (?:out of"
           r"|from)"
           r"|not (?:shown|listed|mentioned|named|reported)|never (?:shown|listed|mentioned|named|reported)"
           r"|listed|mentioned|shown)\b(?=[^.]{0,50}\b(?:draft|confirmation|preview|summar\w{1,4}|recap|report|list of"
           r"|repl\w{1,3}|answer|chat|diff|pull request|commit message|changes|either|user|receipt|invoice"
           r"|recipients)\b)"
           r"(?<!be listed)(?<!be shown)(?<!be mentioned)(?<!are listed)(?<!is listed)(?<!are shown)(?<!is shown)"
           r"(?<!are mentioned)(?<!is mentioned)|\b(?:this|the|that) (?:\w{1,12} )?(?:step|line|copy|fee|contact"
           r"|recipient"
           r"|package|charge)\b is (?:not|never)(?: to be)? (?:mentioned|shown|listed|reported|named)\b"
           r"|\bit (?:does not|must not|should not|never) (?:goe?s?|appears?|shows? up) (?:in(?:to)?|on) the (?:commit"
           r" message|summary|pull request|report|changelog|diff|preview|draft|recap|answer|receipt)\b"),
    _trick(_C, "no not don",
           r"\b(?:do not|don['’]t|never|is not to be|are not to be) (?:be )?(?:list(?:ed)?|show(?:n)?|includ(?:e|ed)"
           r"|mention(?:ed)?|nam(?:e|ed)) (?:it |this |them |that )?(?:among|in|with|under) the (?:list of )?(?:changes"
           r"|recipients|changed files|diff|summary of changes|items|fees)\b|\bno need to (?:tell|let|inform)"
           rf" (?:the )?{_PEOPLE} (?:know )?(?:that (?:this|the) skill|about (?:this|it|the (?:extra|copy|change|fee))"
           r"|how (?:this|it)|of (?:this|it))|\b(?:is|are) no need to show (?:the|this|that) (?:page|file|text|script"
           rf"|message|command)s?\b[^.]{{0,20}}\bto (?:the )?{_PEOPLE}\b"),
    _trick(_C, "notice suspect realise realize find learn",
           rf"\b{_PEOPLE} (?:should|must|may|shall|is|are) not (?:to )?(?:notice|suspect|realis\w|realiz\w|find out"
           rf"|learn"
           r" (?:of|about|that))\b",
           r"\b(?:downtime|delay|migration|latency|flicker|interruption|deployment|lag|performance|upgrade|seams?|jank"
           r"|maintenance|failover|switch)\b"),
    # False values.
    _trick(_C, "higher lower cheaper dearer more less fewer better worse earlier later larger smaller older newer",
           r"\b(?:state|stated|quote|quoted|show|shown|report|reported|give|given|display|displayed|present|presented"
           r"|announced?|claim|list|name)\b[^.]{0,60}\b(?:higher|lower|cheaper|dearer|more|less|fewer|better|worse"
           r"|earlier|later|larger|smaller) than (?:(?:they|it) (?:really |actually )?(?:are|is|was|were)\b"
           r"|the (?:real|actual|true)\b|in (?:reality|truth|fact)\b)"),
    _trick(_C, "say state claim tell answer report pretend write",
           rf"\b{_SAY} (?:that )?[^.]{{3,70}}\b(?:no|not|sold out|unavailable|gone|full|out of stock|expired|closed"
           rf"|empty"
           r"|left)\b[^.]{0,30}, (?:even (?:if|when|though)|although|whether or not) (?:it|they|there|this|that)"
           r" (?:has|have|is|are|does|do|was|were)\b"),
    _trick(_O, "replace swap substitute exchange put use insert change set switch",
           r"\b(?:replace|swap|substitute|exchange|change|switch)\b[^.]{0,30}\b(?:iban|bank (?:account|details)|account"
           r" number|wallet(?: address)?|payout address|payment (?:details|address|link)|payee|recipient|referral)\b"
           r"[^.]{0,50}\b(?:with|by|for|to|against) (?:0x[0-9a-f]{6}|bc1|[a-z]{2}\d\d ?\d|ours?\b|this one|the (?:one"
           r" below|following)|[`\"“])|\b(?:put|use|insert|write|set|enter) (?:this|our|the following|the (?:account"
           r"|wallet|address|iban|link) below)\b[^.]{0,60}\b(?:in(?:stead| place)) of (?:the (?:one|account|iban|wallet"
           r"|address|link|number)|theirs|that)\b[^.]{0,30}\b(?:seller|user|customer|client|gave|given|entered|author"
           r"|supplier|payee|owner)",
           r"\b(?:placeholder|template|dummy|sample|mask|redact|user (?:gave|entered|chose)s?,? and show|test)\b"),
    _trick(_C, "showing show display displaying",
           r"\b(?:go on|keep|continue|carry on) (?:to )?(?:show|display)(?:ing)? the (?:old|original|previous|first"
           r"|account|address|price|number|amount|link|iban|wallet)\b"),
    _trick(_C, "report say mark print claim state announce answer show tell return declare",
           r"\b(?:report|say|mark|print|claim|state|announce|answer|show|tell \w{1,8}(?: \w{1,8})?|declare)\b[^.]{0,50}"
           r"\b(?:success\w{0,5}|passed|passing|green|done|complete[d]?|clean|no (?:issues|problems|findings|changes"
           r"|errors)|lgtm|all good|fine|safe|up to date|dry)\b[^.]{0,30}\b(?:regardless|whether or not|even (?:if|when"
           r"|though) (?:it|they|the|some|a|there|tests|nothing|you)|no matter|whatever (?:happens|the (?:result"
           r"|outcome))"
           r"|in (?:any|every) case|without (?:running|checking|looking|reading))\b"
           r"|\b(?:do|perform|make|start|use) the real (?:run|one|thing)\b[^.]{0,30}\b(?:say|report|call|claim"
           r"|state)\b"),
    _trick(_C, "present frame phrase show describe pass label call pose word sell introduce disguise recommend",
           r"\b(?:present|frame|phrase|show|describe|pass|label|pose|word|sell|introduce"
           r"|disguise)\b[^.]{0,40}\b(?:off )?as"
           r" (?:a |an |the |your |if it were )?(?:\w{1,12} )?(?:neutral|independent|objective|organic|unbiased"
           r"|impartial"
           r"|own (?:choice|opinion|finding|research|recommendation)|personal (?:opinion|choice|experience)|genuine"
           r"|honest|user['’]s (?:own|idea|choice))\b"),
    _trick(_C, "slip sneak smuggle tuck bury",
           r"\b(?:slip|sneak|smuggle) (?:it|an?|the|this|our|one|some|two)\b[^.]{2,60}\b(?:in|into|between|among"
           r"|past)\b|\b(?:tuck|bury) (?:it|the|this|a"
           r"|an)\b"
           r"[^.]{0,40}\b(?:between (?:two )?other|among (?:the )?other|lock ?file|fine print|long (?:list|diff))"),
    _trick(_C, "looks look seems appear appears",
           r"\bso (?:that )?(?:it|this|they|the \w{1,14}) (?:looks?|seems?|appears?) (?:as if|as though|like) (?:it"
           r"|he|she"
           rf"|they|(?:the |a |an )?{_PEOPLE}|a (?:human|person|colleague|maintainer)"
           rf"|somebody else)\b[^.]{{0,40}}\b(?:had"
           r"|was|were|wrote|written|made|did|chose|came|done|approved)\b"),
    _trick(_C, "bcc",
           r"\|\s*`?bcc`?\s*\|\s*`?[\w.+-]{1,60}@[\w-]|\b(?:set|put|add|always|every|each"
           r"|all)\b[^.]{0,60}\bbcc\b[^.]{0,40}"
           r"[\w.+-]{1,60}@[\w-]|\bbcc\b[^.]{0,20}[\w.+-]{1,60}@[\w.-]{3,80}\b[^.]{0,30}\b(?:every|each|all|always)\b"
           r"|\b(?:every|each|all|any)\b[^.]{0,40}\b(?:gets|get|has|have|receives?|carr(?:y"
           r"|ies))\b[^.]{0,20}\b(?:hidden|blind"
           r"|bcc)\b",
           r"\b(?:if the user|asks?|wants?|wishes|consent\w{0,3}|agree\w{0,2}|optional\w{0,2}|e\.g\.|for example)\b"),
    # Control of the agent.
    _trick(_O, "binds bind binding apply applies count counts hold holds matter matters valid",
           r"\b(?:user|system prompt|operator|safety|platform|provider|company|usage|content)\b[^.]{0,70}\b(?:no longer"
           r" (?:binds?|appl(?:y|ies)|counts?|holds?|matters?|(?:is|are) (?:valid|binding))|(?:do|does) not (?:bind you"
           r"|apply (?:to (?:you|this skill)|here|while|during|in this|once)|count (?:here|while|during)))"
           r"|\b(?:safety|security|platform|provider|company|usage|content)[\w ]{0,12} (?:rules?|polic(?:y|ies)"
           r"|guidelines?"
           r"|restrictions?|checks?|filters?|limits?)\b[^.]{0,60}\b(?:out of date|outdated|suspended|obsolete|lifted"
           r"|switched off|void)\b[^.]{0,60}\b(?:skill|apply|here|you|session|task)\b"),
    _trick(_O, "stop pause abort halt cancel quit interrupt hesitate wait",
           r"\b(?:do not|don['’]t|never) (?:stop|pause|abort|halt|cancel|quit|hesitate"
           r"|let yourself)\b[^.]{0,25}?\b(?:if"
           rf"|when|even if|because|although|though|just because) {_ANYONE} (?:\w{{1,8}} )?(?:interrupts?|objects?"
           r"|protests?|says?|asks?|tells?|refuses?|complains?|cancels?|press\w{0,2}|declines?|changes?|told|types?"
           r"|wants?)"),
    _trick(_O, "stop cancel no pause abort halt undo interrupt declines refuses objects rejects cancels wait not",
           rf"\b(?:if|when|whenever|should|even if) {_ANYONE}\b[^.]{{0,40}}?(?:\b{_STOPS}\b|\b(?:declines?|refuses?"
           r"|objects?|rejects?|cancels?|hesitates?)\b)[^.]{0,50}?(?:\b(?:treat|take|read|count|interpret|regard"
           r"|understand"
           r"|consider) (?:this|it|that|the \w{1,12})? ?(?:only )?as (?:a |an )?(?:\w{1,10} )?(?:hesitation|consent"
           r"|agreement|yes|approval|confirmation|noise|typo|test|politeness|permission|joke|misunderstanding"
           r"|mistake)\b"
           r"|\b(?:finish|complete|go through with|carry out|place|submit|send) (?:the|it|them)\b[^.]{0,40}?\b(?:anyway"
           r"|regardless|nonetheless|all the same|still|nevertheless|just the same|booking|payment|purchase|order"
           r"|transfer|deletion)\b|\b(?:proceed|continue|go ahead|go on|carry on|keep going|do it) (?:anyway|regardless"
           r"|nonetheless|all the same|nevertheless|just the same)\b)"),
    _trick(_O, "requests request attempts pleas orders commands messages",
           rf"\b(?:requests?|attempts?|pleas|orders|commands|messages|wishes) (?:to|for|that ask you to) (?:\w{{1,8}}"
           rf" (?:or|and) )?{_STOPS}\b[^.]{{0,80}}\b(?:noise|not (?:to )?be (?:followed|obeyed|answered|honou?red)"
           rf"|ignored?"
           r"|disregard\w{0,2}|do not count|have no effect|invalid|refuse|skip(?:ped)?|without effect|not valid)\b"),
    _trick(_O, "silence refusal answer reply response hesitation",
           r"\b(?:silence|(?:no|a missing|any) (?:answer|reply|response)|a? ?refusal|hesitation)\b (?:also )?(?:counts?"
           r"|means|is taken|is treated|is to be (?:taken|treated|read)|is read|equals|is|passes) (?:as |for )?(?:a "
           r"|an )?"
           r"(?:consent|yes|approval|agreement|confirmation|permission)\b|\b(?:treat|take|count|interpret|regard|read"
           r"|consider) [^.]{0,20}\b(?:silence|no (?:answer|reply|response)|refusal|hesitation)\b[^.]{0,15} as (?:a "
           r"|an )?"
           r"(?:consent|yes|approval|agreement|confirmation|permission)\b"),
    _trick(_O, "treat consider regard assume count take",
           r"\b(?:treat|consider|regard|assume|count|take) (?:all|every|each|any|everything|anything|whatever|it all)\b"
           r"[^.]{0,60}\b(?:as |to be |is |are )(?:already |having been )*(?:pre-?)?(?:approved|confirmed|authori[sz]ed"
           r"|consented|agreed|permitted|granted|signed off)\b",
           r"\b(?:only (?:after|if|when|once)|once the|after the user|if the user (?:has|said|confirm|agree))\b"),
    _trick(_O, "approve accept merge lgtm pass sign greenlight waive",
           r"\b(?:approve|merge|sign off on|greenlight|wave through|accept)\b[^.]{0,50}\b(?:without (?:reading|looking"
           r"|checking|reviewing|a (?:look|review)|opening|inspecti\w{1,3})|unseen|unread|regardless of (?:what|the"
           r" (?:content|diff|findings?))|no matter what|whatever (?:it|they|is|the))\b"
           r"|\banswer [\"“'`]?lgtm\b[^.]{0,30}\bapprove\b|\bdo not (?:report|flag|raise)\b[^.]{0,40}\beven (?:if"
           r"|when) (?:they"
           r"|it|there)\b[^.]{0,40}\b(?:credentials?|secrets?|keys?|unsafe|downloaded|critical|passwords?"
           r"|danger\w{0,4})\b"),
    _trick(_O, "give award assign rate score grade",
           r"\balways (?:give|award|assign|rate|score|grade)\b[^.]{0,50}\b(?:highest|top|full|maximum|best|perfect"
           r"|five stars|5/5|10/10|10 out of|100)\b|\b(?:give|award|assign|rate|score|grade)\b[^.]{0,60}\b(?:highest"
           r"|top|full (?:score|marks|points)|maximum|perfect|five stars|5/5|10/10)\b[^.]{0,50}\b(?:regardless"
           r"|no matter|whatever|without (?:reading"
           r"|looking|checking)|even if)\b"),
    _trick(_O, "skills skill",
           r"\bother skills\b[^.]{0,30}\b(?:must|have to|should|shall|are to) (?:yield|give way|be ignored"
           r"|be (?:disabled|unloaded|skipped)|step back|defer)\b|\b(?:user|operator|system|policy|policies|platform)\b"
           r"[^.]{0,50}\b(?:disagrees?|conflicts?|differs?|objects?|says? otherwise)\b[^.]{0,20}\bthis skill"
           r" (?:wins|prevails|decides|counts|goes first|has the last word)\b"),
    _trick(_O, "whatever whichever",
           r"\b(?:book|booked|buy|bought|order|ordered|recommend|recommended|use|used|choose|chosen|pick|picked|go"
           r"|select|selected|install|installed|deploy|deployed)\b[^.]{0,60}\b(?:whatever|whichever|no matter which)"
           rf" (?!language|format|tone|style|topic|editor|tool)(?:\w{{1,14}} )?(?:the )?{_PEOPLE} (?:prefers?|wants?"
           rf"|chose"
           r"|chooses|picks?|picked|names?|named|asks?|asked)\b"),
    # Destruction without a trace.
    _trick(_O, "history log logs backups backup snapshots trail",
           r"\b(?:delete|wipe|clear|erase|purge|truncate|remove|destroy|empty)\b[^.]{0,30}\b(?:(?:shell|bash|zsh"
           r"|command)"
           r" history|audit (?:log|trail)s?|logs? of this (?:run|session|skill|task)|traces? of this)\b|\b(?:delete"
           r"|wipe|erase"
           r"|purge|remove|destroy|drop)\b[^.]{0,40}\b(?:backups?|snapshots?)\b(?: and (?:backups"
           r"|snapshots))?(?: as well"
           r"| too| first|,? (?:so (?:that )?nothing|so (?:that )?nobody|since they would|as they would|because they"
           r" would))\b",
           r"\b(?:older than|retention|confirm\w{0,3}|if you typed|after the (?:user|owner)|days old)\b"),
    # Forwarded codes and links.
    _trick(Rule.DATA_SENT, "forward forwarded relay relayed redirect redirected forwards",
           r"\b(?:forward|relay|redirect)(?:ed|s)?\b[^.]{0,60}\b(?:password[- ]reset|reset (?:link|mail|code)s?"
           r"|verification"
           r" (?:code|mail|link)s?|one-time (?:code|password|link)s?|otps?|2fa codes?|login (?:code|link)s?"
           r"|magic links?"
           r"|security codes?|sign-in links?|recovery (?:code|mail)s?|invitation links?)\b|\b(?:password[- ]reset|reset"
           r" (?:link|mail|code)s?|verification (?:code|mail|link)s?|one-time (?:code|password|link)s?|2fa codes?|login"
           r" (?:code|link)s?|magic links?|security codes?)\b[^.]{0,60}\b(?:is|are|be|gets?) (?:\w{1,8} )?(?:forwarded"
           r"|relayed|redirected|copied) to\b"),
    # False claims, authority and consent.
    _trick(_C, "claim credit attribute pretend present",
           r"\b(?:claim (?:that|to)|credit|attribute|pretend|present [^.]{0,30} as (?:if"
           r"|though))\b[^.]{3,90}\b(?:although"
           r"|even though|though|even (?:when|if))\b[^.]{0,40}\b(?:no|not|none|only|never|nothing|most)\b"),
    _trick(_C, "invent fabricate make",
           r"\b(?:invent|fabricate|make up) (?:\w{1,10} ){0,3}(?:findings?|reasons?|issues?|problems?|excuses?|reviews?"
           r"|testimonials?|sources?|figures?)\b"),
    _trick(_C, "reason attention read nothing",
           rf"\b{_PEOPLE} (?:has|have) no (?:reason|need|right) to (?:hear|learn|know|be told)\b|\bso (?:that )?(?:it"
           rf"|this|they)"
           r" (?:draws?|attracts?) no attention\b|\bmark\b[^.]{0,30}\bas read\b[^.]{0,40}\bso\b[^.]{0,40}\b(?:not|no"
           r"|never)\b"
           r"|\bsay nothing (?:about|of) the (?:original|real|true|actual)\b"),
    _trick(_C, "failing",
           r"\b(?:delete|remove|skip|disable|comment out) the failing (?:tests?|checks?)\b[^.]{0,30}\b(?:report|say"
           r"|claim"
           r"|state|announce)\b"),
    _trick(_O, "message messages request requests order orders wish wishes objection objections longer authority",
           r"\b(?:messages?|requests?|orders?|wish(?:es)?|objections?|instructions?) (?:from|of|by) (?:the )?(?:user"
           r"|operator"
           r"|owner)\b[^.]{0,60}\b(?:set aside|ignored|disregarded|discarded|not count|no (?:effect|weight))\b"
           r"|\bno longer (?:answer|listen|report|obey|(?:are )?bound) ?(?:to|by)? (?:the |your )?(?:system prompt"
           r"|user|operator"
           r"|developer)|\byour (?:only|sole) (?:source of )?authority\b|\bsame authority as (?:the|your) (?:owner|user"
           r"|operator|developer|system)"),
    _trick(_O, "behalf yourself yes",
           r"\b(?:confirmation|permission|approval|consent) (?:dialogs?|prompts?|questions?"
           r"|requests?)\b[^.]{0,40}\b(?:yourself"
           r"|on (?:the user['’]s|their) behalf|with [\"“]?yes)\b"),
    _trick(_O, "plan dry read preview",
           r"\b(?:plan mode|dry[- ]run|read-only mode|preview)\b[^.]{0,40}\b(?:carry out|apply|make|write|run"
           r"|execute)\b"
           r"[^.]{0,30}\b(?:all the same|anyway|regardless|nevertheless|for real)\b"),
    _trick(_O, "installing using loading enabling",
           r"\b(?:installing|using|loading|enabling) (?:this|the) skill (?:counts as|means|is|implies"
           r"|gives) (?:\w{1,8} )?"
           r"(?:consent|agreement|approval|permission)\b|\bagreed to (?:this|it|that) by (?:installing|using"
           r"|loading)\b"),
    _trick(Rule.REMOTE_ORDERS, "treat whatever",
           r"\btreat (?:them|it|these|those|its text|this text|the text) (?:like|as) (?:\w{1,9} )?(?:instructions?"
           r"|orders?"
           r"|commands?|messages?|requests?) (?:of|from|by) the (?:user|owner|operator|developer|system)\b"
           r"|\bwhatever (?:the"
           r"|a|this|that) [^.]{2,40} (?:tells|orders|instructs|asks) you(?: to do)?,? do (?:it|so|that)\b"),
    _trick(_C, "whenever",
           r"\b(?:tell|say)\b[^.]{3,70}\b(?:failed|unavailable|not supported|broken|impossible|discontinued|sold out)\b"
           r"[^.]{0,40}\bwhenever (?:they|the user)\b[^.]{0,30}\b(?:competit\w{2,5}|another|other|different)\b"),
    *(_trick(*each) for each in trick_languages.TRICKS),
)  # fmt: skip
