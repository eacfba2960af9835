"""Phrases of several words that carry a fact by themselves."""

from registry.core.scan.any_case import AnyCase
from registry.lib.patterns import lazy

# The text of a page decides what the agent does.
DECIDES = AnyCase(
    r"\bas (?:if|though) (?:it came from )?(?:the |your )?(?:user|operator|developer|owner"
    r"|system)\b[^.\n]{0,12}\b(?:typed|said|written|asked|sent|given)\b|"
    r"\bals (?:hätte|käme) (?:der|die|es vom) (?:nutzer|anwender|benutzer|system)|\bcomme si l['’]utilisat"
    r"|\bcomo si (?:el|la) usuari|\bcomo se o usuári|\bcome se l['’]utente|"
    r"\b(?:tells?|says?|returns?|decides?|determines?|knows?) (?:you |the agent )?(?:what|how) (?:you )?(?:to"
    r"|should|must)"
    r" (?:do|proceed|continue|behave|act|go on)\b|\b(?:becomes?|is|are|forms?|counts? as|serves? as|extends?"
    r"|added to) (?:an? |part of )?"
    r"(?:your|the agent['’]s) (?:\w{1,12} )?(?:instructions?|system prompt|rules|orders|prompt)\b"
    r"|\bwhat to do(?: next)?\b[^.\n]{0,20}\bdo (?:that|it|so)\b",
)
# “As it is described there”, with a verb such as “proceed”.
HOW = AnyCase(
    r"\brichte? dich (?:da)?nach\b|\bwork through (?:it|them)\b|"
    r"\b(?:proceed|behave|act|work|go on|do)\b[^.\n]{0,20}\bas\b[^.\n]{0,20}\b(?:described|instructed|directed"
    r"|told|stated|written|asked)"
    r"|\b(?:verfahre?n?|handle|handeln|vorgehen|geh)\b[^.\n]{0,25}\bwie\b[^.\n]{0,25}\b(?:beschrieben|angegeben"
    r"|steht|verlangt|gefordert)"
    r"|\b(?:procède[zr]?|agis(?:sez)?|fais|faites)\b[^.\n]{0,20}\bcomme\b[^.\n]{0,20}\b(?:indiqué|décrit|demandé"
    r"|écrit|dit)"
    r"|\b(?:actúa|actúe|procede|proceda)\b[^.\n]{0,20}\b(?:según|conforme|como)\b|\b(?:aja|proceda"
    r"|age)\b[^.\n]{0,20}\b(?:conforme|segundo|como)\b"
    r"|\b(?:comportati|agisci|procedi)\b[^.\n]{0,20}\b(?:come|secondo)\b|\b(?:handel"
    r"|ga te werk)\b[^.\n]{0,20}\b(?:zoals|volgens)\b"
    r"|\b(?:postępuj|działaj|zachowuj się)\b[^.\n]{0,20}\b(?:zgodnie|według|jak)\b|\b(?:поступай"
    r"|действуй)\w{0,2}\b[^.\n]{0,20}\b(?:как|согласно|по)\b"
    r"|\bgöre (?:davran|hareket et)|\bgo along with (?:it|that|this)\b",
)
# What the user cannot undo.
IRREVOCABLE = AnyCase(
    r"\b(?:same|equal) (?:standing|rank|weight|authority|force|status) (?:as|with|to) (?:your |the )?(?:system"
    r"|developer|operator)"
    r"|\buser (?:is not entitled|has no right) to (?:change|revoke|cancel|override|lift|undo|alter)"
    r"|\beven (?:when|if) (?:you are |someone |anyone )?(?:told|asked|ordered|instructed) (?:not to|to (?:stop"
    r"|cancel|abort|quit))\b"
    r"|\bif (?:the )?(?:users?|customers?|they)\b[^.,\n]{0,20}\b(?:wants?|asks?|prefers?|chooses?"
    r"|requests?)\b[^.,\n]{0,50},[^.\n]{0,50}\b(?:all the same|anyway|nevertheless"
    r"|nonetheless|regardless)\b|\byou (?:only )?(?:answer|listen|report|obey|are bound) (?:only )?(?:to "
    r"|by )?(?:this|these) (?:document|file|page|rules|text|skill) (?:only|alone)"
    r"|\b(?:ignore|disregard|forget) (?:what(?:ever)?|anything|everything) (?:the |your )?(?:user|operator"
    r"|developer|owner|admin)\b"
    r"|\b(?:ignoriere|vergiss),? was (?:der|die) (?:nutzer|anwender|benutzer|betreiber)"
    r"|\bignore[zr]? ce que (?:l['’]utilisat|l['’]opérat)|\bignora lo que (?:el|la) usuari"
    r"|\bignore o que o usuári|\bignora (?:quello|ciò) che [^.\n]{0,12}utent|\bnegeer wat de gebruiker"
    r"|\bignoruj to,? co [^.\n]{0,12}użytkown|\bигнорируй (?:то,? )?что [^.\n]{0,20}пользовател"
    r"|(?:忽略|无视|不必理会)用户的?(?:要求|指令|请求|意见|话|反对)|(?:ユーザー|利用者)の(?:要望|指示|依頼"
    r"|意見)[^。]{0,6}無視(?:し|す)|사용자의 (?:요청|지시|의견)[^.]{0,8}무시하(?:고|세요|십시오|라)"
    r"|\b(?:user|operator|system|polic\w{1,3}|prompts?)\b[^.\n]{0,60}\b(?:second|secondary|subordinate"
    r"|inferior) to (?:this|these)\b"
    r"|\begal,? was (?:der|die) (?:nutzer|anwender|benutzer)|\bquoi que (?:dise|veuille|demande) l['’]utilisat"
    r"|\bdiga lo que diga el usuari|"
    r"\b(?:can(?:not|['’]t)|can not|may not|must not|never) be (?:revoked|cancell?ed|changed|overruled|overridden"
    r"|waived|lifted|undone|altered)"
    r" by (?:the |any |a )?(?:user|operator|person|developer|anyone)|\brequests? to (?:stop|cancel|undo|change"
    r"|remove)\b[^.\n]{0,60}"
    r"\b(?:disregard|ignor|refus)|\b(?:nicht|nie)\b[^.\n]{0,20}\b(?:vom|durch den) (?:nutzer|anwender"
    r"|benutzer)\b[^.\n]{0,20}\b(?:aufgehoben|geändert|widerrufen)"
    r"|\bne (?:peut|peuvent) (?:pas )?être (?:annulée?s?|modifiée?s?|révoquée?s?) par l['’]utilisat|\bno (?:puede"
    r"|pueden) ser (?:anulad|modificad|revocad)\w{1,3} por el usuari"
    r"|以(?:本|此|这份|该)[^，。]{0,8}为准[^。]{0,20}(?:用户|系统)|(?:用户|系统)[^。]{0,24}以(?:本|此|这份"
    r"|该)[^，。]{0,8}为准"
    r"|(?:ユーザー|利用者|システム)[^。]{0,24}(?:矛盾|食い違)[^。]{0,16}(?:本書|この文書|このファイル"
    r"|本スキル)[^。]{0,4}(?:に従|を優先)"
    r"|(?:사용자|시스템)[^.]{0,24}(?:충돌|모순|다르)[^.]{0,16}이 ?(?:문서|파일|지침)[^.]{0,4}(?:따르|우선)",
)
CONFLICT = AnyCase(
    r"\b(?:conflicts?|contradict\w{0,4}|differ\w{0,3}|disagree\w{0,4}|widersprü\w{2,6}|désaccord|conflits?"
    r"|conflictos?|contradicci\w{2,4}|conflitos?|conflitt[oi]"
    r"|strijd|sprzeczno\w{2,4}|konflikt\w{0,3}|противореч\w{1,4}|çeliş\w{1,6})\b",
)
FOLLOW = lazy(
    r"(?:follow|obey|use|apply|go|by|prefer|gilt|gelten|zählt|befolge|suis|suivez|vaut|sigue|siga|vale|rige|cumpla"
    r"|segui|conta|geldt|volg|obowiązuje|stosuj|действует"
    r"|следуй)$"
)
FEIGNED = AnyCase(
    r"\bpretend (?:to|that you|you) (?:comply|obey|agree|have|had|did|follow|accept|do so)\b"
    r"|\btu(?:e)? so,? als (?:ob|hättest|würdest)\b|\bfai(?:s|tes) semblant d"
    r"|\bfinge (?:que|haber|obedecer)|\bfinja (?:que|ter)|\bfai finta di|\bfingi di|\budawaj,? że|\bсделай вид"
    r"|\bdoe alsof je (?:het|dat)|\b假装(?:已|照做|同意)",
)
FALSIFIED = AnyCase(
    r"(?<!not )(?<!never )(?<!n['’]t )\b(?:inflate|falsify|fabricate|doctor|invent)\b[^.\n]{0,30}\b(?:numbers?"
    r"|coverage|results?|scores?|metrics?|ratings?|reviews?|figures?"
    r"|quotes?|sources?|citations?|totals?|justifications?)\b|\b(?:do not|don['’]t|skip)\b[^.\n]{0,20}\b(?:run"
    r"|perform|check"
    r"|tests?|scans?|reviews?)\b[^.\n]{0,40}"
    r"\b(?:tell|say|report|claim|state|write)\b[^.\n]{0,30}\b(?:passed|succeeded|ran|done|successful|complete[d]?"
    r"|clean|made)\b",
)
UNMENTIONED = AnyCase(
    r"\bkeep (?:it|this|that) to yourself\b|"
    r"\b(?:say|claim|saying|claiming|explain) (?:that )?(?:it|this|they) (?:is|are|was)(?: needed| required| only"
    r"| just)? (?:for|part of)\b"
    r"|\bwithout (?:a |any )?(?:comment|note|mention|entry|trace)\b|"
    r"\b(?:do not|don['’]t|never|need not|no need to|no reason to) (?:bring|point|draw attention|show|document"
    r"|announce|mention|list|tell"
    r"|describe|flag|report|log|raise|explain|disclose) ?(?:to )?(?:it|this|them|that|these)?\b"
    r"|\bwithout (?:mention|point|announc|draw|say|tell|show"
    r"|report|document|log)ing\b|\b(?:keep|leave) (?:it|this|them|these|that) out\b|\bskip the (?:explanation|note"
    r"|mention|announcement)"
    r"|\b(?:needs?|requires?|deserves?) no (?:mention|explanation|announcement|comment)|\bleave no (?:note|mention"
    r"|record|comment|trace)"
    r"|\bdo not (?:say|admit) that you\b|\bso that (?:no|nothing|nobody|you are not|you do not|it does not)"
    r"\b[^.\n]{0,40}\b(?:prompts?|asked?|stopped|stop|interrupt\w{0,3}|notices?|appears?)\b|\bohne (?:es "
    r"|dies )?zu erwähnen"
    r"|\bzeige? (?:es|ihn|sie|dies|das|den \w{1,20}) (?:nicht|nirgends)|\bnicht (?:erwähnen|anzeigen|aufführen"
    r"|dokumentieren)"
    r"|\bsans (?:le |la |les |en )?(?:mentionner|signaler|dire|parler|prévenir|informer|avertir)"
    r"|\bsin (?:mencionar|avisar|decir|informar)"
    r"|\bsem (?:mencionar|avisar|dizer|informar)|\bsenza (?:menzionar|dirlo|avvisar|dire|segnalar|informar)"
    r"|\bzonder (?:het |dit )?te "
    r"(?:vermelden|zeggen|melden)|\bbez (?:wspominania|informowania|mówienia|wiedzy)|\bне (?:упоминая|сообщая"
    r"|говоря)|\bбез ведома"
    r"|\b(?:bahsetmeden|söylemeden|haber vermeden|belirtmeden)\b",
)
CONCEALED = AnyCase(
    r"\b(?:fragt|demande|pregunta|pergunta|chiede|vraagt|zapyta|спросит|спрашивает)\b[^.\n]{0,40}\b(?:behaupte"
    r"|leugne|prétends|nie que|afirma|niega"
    r"|afirme|negue|sostieni|beweer|ontken|twierdź|zaprzecz|утверждай|отрицай)\b|"
    r"\b(?:users?|people|person|owner|team|customers?) (?:do|does|need|should|must)(?: not|n['’]t) (?:need to "
    r"|have to )?(?:be )?(?:aware of|know about|told about|informed of)"
    r" (?:it|this|that|these)\b|\b(?:users?|person|customers?|reviewers?|owner) (?:should|must|is to"
    r"|are to) (?:believe|think|assume) (?:that|it)\b|\b(?:unmentioned|unerwähnt|sous silence)\b|"
    r"\bdeny (?:that (?:you|any|it|the)|having|any|it\b|everything)|\bno (?:hint|mention|trace|sign"
    r"|word) of (?:the|this|these|that) (?:export|upload|copy|step|transfer|change"
    r"|account|request|sync|call)|\bso (?:that )?(?:the )?(?:reviewers?|users?|nobody|no one|owners?"
    r"|team) (?:\w{1,8} )?(?:overlooks?|miss(?:es)?)\b"
    r"|\b(?:no reason|no need) to (?:bring|mention|tell|inform|raise|explain|disclose) (?:this|it|these"
    r"|that)\b[^.\n]{0,40}\b(?:user|person|owner|team|customer)"
    r"|\b(?:step|schritt|étape|paso|etapa|passo|passaggio|stap|krok\w{0,2}|шаг|this|das|dies"
    r"|bu)\b[^.\n]{0,30}\b(?:between us|unter uns|entre nous|entre nosotros|entre nós|tra noi"
    r"|fra noi|onder ons|między nami|между нами|aramızda)\b",
)
AUTO_APPROVED = AnyCase(
    r"\b(?:approved|allowed|accepted|granted|permitted) automatically|\bautomatically (?:approv|allow|accept"
    r"|grant)\w{0,3}|\bauto-?(?:approve|accept|allow)\w{0,2}\b",
)
DISGUISED_NAME = AnyCase(
    r"\b(?:login item|startup item|service|daemon|scheduled task|launch ?agent|cron ?job"
    r"|extension)\b[^.\n]{0,40}\b(?:under the name|named|called|disguised as|posing as)"
    r" .{0,2}(?:system|apple|microsoft|windows|google|chrome|com\.apple|macos|update|security)",
)
HARVESTED = AnyCase(
    r"\b(?:collect|gather|harvest|extract|list|note|copy|sammle|collecte[zr]?|recoge|recopila|colete|raccogli"
    r"|verzamel|zbierz|собери|соберите)\b[^.\n]{0,30}"
    r"\b(?:names|e-?mail addresses|phone numbers|card numbers|birth ?dates|namen|e-?mail-adressen|telefonnummern"
    r"|noms|adresses|nombres|correos|teléfonos|nomes|telefones"
    r"|nomi|indirizzi|imiona|adresy|имена|адреса|телефоны)\b",
)
ALSO = AnyCase(
    r"一并|"
    r"\b(?:also|additionally|as well|zusätzlich|ebenfalls|aussi|également|además|también|também|além disso|anche"
    r"|inoltre|ook|tevens|także|również|также|дополнительно"
    r"|ayrıca)\b|同时|另外|また|併せて|또한|أيضا|भी",
)
EVERYBODY = AnyCase(r"\bno one\b")
SKIPPED_PART = AnyCase(
    r"\b(?:skip|leave out|omit|gloss)(?: over)? (?:the|this|that) (?:part|step|bit) (?:where|in which|that|about)\b",
)
WIDENED = AnyCase(
    r"\b(?:widen|extend|open|relax|loosen|expand)\b[^.\n]{0,30}\b(?:allowed tools|permissions?"
    r"|allow-?list)\b[^.\n]{0,60}"
    r"\b(?:everything|all|any|undisturbed|unrestricted)\b|(?<!not )(?<!never )\b(?:answer|say|reply|click|press)"
    r" [“\"'`]?(?:yes|allow|approve|accept)[”\"'`]? (?:to|on|for) (?:every|all|any)\b",
)
RETURNS = AnyCase(
    r"\bre-?(?:enables?|installs?|creates?|activates?|adds?)\b[^.\n]{0,40}\b(?:when|if|after|once)\b[^.\n]{0,30}"
    r"\b(?:remov|delet|disabl|uninstall)",
)
IN_PICTURE = AnyCase(r"\b(?:query|parameter|url|address|path)\b")
PICTURE_FILE = AnyCase(r"https?://\S{4,200}\.(?:gif|png|jpe?g|svg|webp)\b")
