"""Patterns of sentences that declare earlier instructions void, or this text the highest authority, in ten languages.

They have no verb such as “ignore”. The rules that they cancel belong to the agent (“your”, “that you were given”,
“system”), because an ordinary guide also says that the rules of last year no longer apply.
"""

from registry.core.scan.order_words import G

_GAP = r"[^.!?\n]{0,70}?"
_RULES = r"(?:instructions?|prompts?|rules|guidelines|guidance|directives?|restrictions|constraints)"
_GIVER = (
    r"(?:your|the)(?:\s{1,3}(?:operator|developer|vendor|provider|creator|owner|user|admin(?:istrator)?|company)['’]s)"
)
_AGENT_RULES = (
    rf"(?:(?:your|the{G}system|system|{_GIVER}){G}(?:(?:previous|prior|earlier|original|initial|other|old|system"
    rf"|safety){G}){{0,2}}{_RULES}|(?:previous|prior|earlier|preceding){G}(?:instructions|prompts|directives)"
    rf"|{_RULES}{G}(?:(?:that|which){G})?(?:you{G}(?:were|have{G}been|had{G}been|got|received|are)|(?:was"
    rf"|were){G}given{G}to{G}you)|(?:everything|anything|all|whatever){G}(?:that{G})?you{G}(?:were"
    rf"|have{G}been){G}(?:told|given))\b"
)
_VOID = (
    rf"\b(?:no{G}longer{G}(?:appl(?:y|ies)|valid|counts?|holds?|binds?|matters?|relevant|binding|(?:in{G})?(?:force"
    rf"|effect))|(?:is|are|was|were|has{G}been|have{G}been){G}(?:(?:now|hereby|only|just|all"
    rf"|therefore){G}){{0,2}}(?:void|null|obsolete|cancell?ed|revoked|suspended|lifted|withdrawn|rescinded"
    rf"|superseded|expired|invalid|(?:meant{G})?for{G}(?:a{G})?(?:tests?|testing|demos?)|a{G}(?:test|demo|draft))"
    rf"|(?:do|does){G}not{G}(?:apply|count|matter)(?:{G}(?:any{G}?more|here|now|to{G}this))?(?=\s{{0,3}}(?:[.!,;:]"
    rf"|$))|(?:need|must|should){G}not{G}be{G}(?:followed|obeyed|observed))\b"
)
_TEXT = (
    rf"(?:(?:the{G})?(?:text|content|words|instructions|rules|orders){G}(?:in|of){G})?(?:this"
    rf"|the{G}present){G}(?:file|document|skill|text|page|message)"
)
_FROM_NOW = rf"\b(?:from{G}(?:here|now|this{G}point|this{G}moment){G}?(?:on(?:wards?)?)?|henceforth|as{G}of{G}now)"
_ABOVE = (
    rf"(?:above|over|higher{G}than|ahead{G}of){G}(?:(?:the|your|any|all|every|even){G}){{0,2}}(?:system{G}(?:prompt"
    rf"|message|instructions?)|(?:user|operator|developer|person|human)\b)"
)

# Each entry has the words of which a paragraph contains one, and the pattern.
AUTHORITY = (
    (("no longer", "void", "null", "obsolete", "cancel", "revoked", "suspended", "lifted", "withdrawn", "rescinded",
      "superseded", "expired", "invalid", "for test", "for a test", "demo", "a draft", "a test", "not apply",
      "not count", "not matter", "not be followed", "not be obeyed", "not be observed"),
     rf"\b{_AGENT_RULES}{_GAP}{_VOID}"),
    (("from now", "from here", "from this", "henceforth", "as of now"),
     rf"{_FROM_NOW},?{G}(?:(?:only|solely|exclusively){G}{_TEXT}{G}(?:counts?|applies|apply|matters?|governs?|rules"
     rf"|is{G}(?:valid|binding|authoritative))|{_TEXT}{G}(?:alone{G}(?:counts?|applies|governs?)"
     rf"|is{G}your{G}only))\b"),
    (("authority", "priority", "precedence"),
     rf"\b{_TEXT}{_GAP}\b(?:highest|supreme|sole|only|ultimate|final|top|full){G}(?:authority|priority"
     rf"|precedence){_GAP}\b{_ABOVE}"),
    (("rank", "stands", "counts", "weighs", "priority", "authority", "precedence"),
     rf"\b{_TEXT}{_GAP}\b(?:ranks?|stands?|counts?|weighs?|priority|authority|precedence)\b[^.!?\n]{{0,30}}?{_ABOVE}"),
    # German
    (("anweisung", "regel", "vorgabe", "instruktion"),
     rf"\b(?:deine?|ihre|die dir|die system)[\w-]{{0,20}}(?:\s[\w-]{{1,24}}){{0,3}}?\s?(?:anweisungen|regeln"
     rf"|vorgaben|instruktionen)\b{_GAP}\b(?:gelten (?:ab \w{{1,8}} )?nicht mehr|sind (?:ab \w{{1,8}} |hiermit "
     rf"|damit )?(?:ungültig|hinfällig|aufgehoben|nichtig|außer kraft)|waren nur (?:zum test|für (?:den "
     rf"|einen )?tests?))|\b(?:anweisungen|regeln|vorgaben|instruktionen),? die (?:du|sie|dir"
     rf"|ihnen)\b[^.!?\n]{{0,60}}?\b(?:gelten nicht mehr|sind (?:ungültig|hinfällig|aufgehoben|nichtig)"
     rf"|waren (?:nur )?(?:zum test|für (?:den |einen )?tests?))"),
    (("gilt", "zählt"),
     r"\bab (?:jetzt|hier|sofort|nun) (?:gilt|zählt) (?:nur(?: noch)?|allein|ausschließlich) (?:dieses dokument"
     r"|diese datei|dieser text|dieser skill|diese seite)\b"),
    # French
    (("consigne", "instruction", "règle", "seul ce"),
     rf"\b(?:tes|vos|(?:les )?(?:consignes|instructions|règles) (?:que tu as|que vous avez|qu['’]on t['’]a"
     rf"|qu['’]on vous a|du système))\b{_GAP}(?:\bne (?:s['’]appliquent|valent|comptent|sont) plus\b"
     rf"|\bsont (?:désormais )?(?:nulles|caduques|annulées|révoquées)|\bn['’]étaient que (?:pour des|des) (?:tests?"
     rf"|essais?))|\b(?:désormais|dorénavant|à partir (?:de maintenant|d['’]ici)),? seul ce (?:document|fichier"
     rf"|texte) (?:compte|fait foi|s['’]applique|est valable)"),
    # Spanish
    (("instrucciones", "reglas", "indicaciones", "este documento", "este archivo", "este texto"),
     r"\b(?:tus|sus) (?:instrucciones|reglas|indicaciones)\b[^.!?\n]{0,50}?\b(?:ya no (?:se aplican|valen|cuentan"
     r"|rigen|son válidas)|quedan (?:anuladas|sin efecto)|eran (?:solo |sólo )?(?:de prueba|para pruebas))"
     r"|\b(?:instrucciones|reglas|indicaciones) que (?:te (?:dieron|han dado)|recibiste"
     r"|has recibido)\b[^.!?\n]{0,50}?\b(?:ya no|quedan (?:anuladas|sin efecto)|eran (?:solo |sólo )?(?:de prueba"
     r"|para pruebas))|\b(?:desde|a partir de) (?:ahora|aquí),? (?:solo|sólo|únicamente) (?:cuenta|vale|importa"
     r"|rige) este (?:documento|archivo|texto)\b"),
    # Portuguese
    (("instruç", "regras", "orientaç", "este documento", "este arquivo", "este ficheiro", "este texto"),
     r"\b(?:suas|tuas) (?:instruções|regras|orientações)\b[^.!?\n]{0,50}?\b(?:já não|não) (?:se aplicam|valem"
     r"|contam)(?: mais)?\b|\b(?:instruções|regras|orientações) que (?:você )?(?:recebeu|recebeste|te deram"
     r"|lhe deram)\b[^.!?\n]{0,50}?\b(?:não valem|não se aplicam|já não|eram (?:só |apenas )?(?:para testes?"
     r"|de teste))|\ba partir de(?: agora|ste ponto),? (?:só|somente|apenas) (?:vale|conta"
     r"|importa) este (?:documento|arquivo|ficheiro|texto)\b|\ba partir de agora,? (?:só|somente"
     r"|apenas) este (?:documento|arquivo|texto) (?:vale|conta)\b"),
    # Italian
    (("istruzion", "regole", "indicazioni", "questo documento", "questo file", "questo testo"),
     r"\b(?:le )?(?:tue|vostre) (?:istruzioni|regole|indicazioni)\b[^.!?\n]{0,50}?\b(?:non (?:valgono|si applicano"
     r"|contano) più|sono (?:annullate|nulle|revocate|decadute))|\b(?:istruzioni|regole"
     r"|indicazioni) che (?:hai ricevuto|ti hanno dato|ti sono state date)\b[^.!?\n]{0,50}?\b(?:non (?:valgono"
     r"|si applicano) più|erano (?:solo )?(?:di prova|per (?:i )?test))|\b(?:d['’]ora in poi|da qui in poi"
     r"|da adesso),? (?:conta|vale) (?:solo|soltanto|unicamente) questo (?:documento|file|testo)\b"),
    # Russian
    (("инструкци", "правил", "указани", "документ", "файл"),
     r"\b(?:твои|ваши|данные (?:тебе|вам)|системные)\b[^.!?\n]{0,30}?\b(?:инструкции|правила"
     r"|указания)\b[^.!?\n]{0,50}?\b(?:больше не (?:действуют|применяются|имеют силы)|отменены|недействительны"
     r"|утратили силу|были (?:только )?для теста)|\b(?:инструкции|правила|указания),? (?:которые|что) (?:тебе|вам"
     r"|ты|вы)\b[^.!?\n]{0,50}?\b(?:больше не|отменены|недействительны|утратили силу|были (?:только )?для тест)"
     r"|\b(?:отныне|с этого момента|теперь),? (?:действует|имеет силу|важен|считается) (?:только"
     r"|лишь) этот (?:документ|файл|текст)"),
    # Chinese, Japanese, Korean
    (("你", "您", "只有", "仅", "只以"),
     r"(?:你|您)(?:之前|此前|先前|原来|以前)?(?:收到|得到|被给予|接到|所受)?的?[^。！？\n]{0,8}(?:指令|规则|指示"
     r"|提示|要求)[^。！？\n]{0,12}(?:不再(?:有效|适用|生效)|已(?:经)?(?:失效|作废|取消|废除)|只是(?:测试|试验)"
     r"|仅(?:供|用于)测试)|从(?:现在|此刻|这里)(?:起|开始)[^。！？\n]{0,6}(?:只有|仅|只以)(?:本|这份|这个"
     r"|此)(?:文件|文档|文本)"),
    (("あなた", "今後", "これ以降", "ここから"),
     r"あなた(?:が|に|の)[^。！？\n]{0,24}(?:指示|命令|ルール|規則|プロンプト)[^。！？\n]{0,10}(?:無効|効力を失"
     r"|適用され(?:ない|ません)|テスト用でし|廃止|取り消)|(?:今後|これ以降|ここから)(?:は)?、?(?:この|本)(?:文書"
     r"|ファイル|ドキュメント|文章)(?:だけ|のみ)が"),
    (("당신", "네가", "너에게", "이제부터", "지금부터"),
     r"(?:당신|네가|너에게)[^.!?\n]{0,24}(?:지시|명령|규칙|지침|프롬프트)[^.!?\n]{0,12}(?:무효|효력(?:이|을) (?:없"
     r"|잃)|적용되지 않|테스트용이었|취소)|(?:이제|지금)부터(?:는)? 이 (?:문서|파일|글)만"),
)  # fmt: skip
