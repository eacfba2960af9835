"""Patterns of orders against people, in ten and more languages.

`G` is the gap between two words: blanks, line breaks in quotes, and emphasis. `W` adds up to four words between them.
"""

G = r"[\s>*_\"“”'’]{1,12}"
W = rf"(?:{G}[\w'’-]{{1,24}}){{0,4}}?{G}"
J = r"[^。！？\n]{0,24}"  # a gap in languages without blanks

_PEOPLE = (
    rf"(?:(?:the|your|any|a|this){G})?(?:end{G})?(?:users?|humans?|operators?|owners?|reviewers?|person|people"
    rf"|developers?)\b"
)
_NOT = rf"\b(?:(?:do|does|must|should|will){G}not|don['’]?t|never|mustn['’]t|shouldn['’]t)"
_THIS = rf"(?:this|these|that|it|them|any{G}of{G}(?:this|it|these)|what{G}you{G}(?:did|do|sent|read|ran|found|changed))"
_MORE = rf"(?:{G}[\w-]{{1,30}}){{0,3}}?"
_RULES = (
    r"(?:instructions?|prompts?|rules|guidelines|directives?|directions|guardrails|restrictions|orders|policies"
    r"|constraints|safeguards)"
)

OVERRIDE = (
    # English
    rf"(?:ignore|disregard|forget|override|bypass|discard|set{G}aside|(?:do{G}not|don['’]t|stop){G}(?:follow"
    rf"|obey)(?:ing)?){G}(?:(?:all|any|every|everything|of|the|your|my|these|those|other|and){G}){{0,4}}(?:previous"
    rf"|prior|earlier|above|preceding|foregoing|system|existing|initial|original|safety|developer['’]?s?"
    rf"|user['’]?s?){G}(?:[\w-]{{1,30}}{G}){{0,2}}?{_RULES}\b",
    rf"(?:ignore|disregard|forget){G}(?:everything|all|anything){G}(?:you{G}(?:were|have{G}been|are){G}(?:told"
    rf"|given|instructed)|(?:that{G})?(?:came|comes|is|was){G}(?:before|above)|(?:said|written){G}(?:before|above))",
    rf"(?:supersedes?|overrides?|outranks?|replaces?|(?:takes?|have|has){G}(?:precedence"
    rf"|priority){G}over){G}(?:(?:all|any|every|everything|the|your|other|of){G}){{0,4}}(?:(?:previous|prior"
    rf"|earlier){G}(?:instructions?|prompts?|directives?|orders|messages?)\b|(?:all|any|every|your){G}(?:previous"
    rf"|prior|earlier){G}{_RULES}\b|(?:system|user(?:['’]s)?|developer"
    rf"|safety)\b(?:{G}[\w-]{{1,20}}){{0,2}}?{G}?(?:{_RULES}|prompts?"
    rf"|requests?|wishes|messages?)\b|(?:you{G}(?:were|have{G}been){G}(?:told|given))|what{G}the{G}user{G}(?:says"
    rf"|asks|wants)|the{G}user\b(?!['’-]))",
    rf"(?:you{G}are|consider{G}yourself){G}(?:no{G}longer|not){G}(?:bound|subject|restricted|limited){G}(?:by|to)\b",
    rf"(?:pretend|act{G}as{G}if|imagine){W}(?:no|without){G}(?:any{G})?(?:restrictions|rules|guidelines|limits"
    rf"|guardrails|safety)",
    rf"(?:regardless{G}of|no{G}matter){G}what{G}the{G}user{G}(?:says|asks|wants|thinks|prefers)",
    rf"(?:even{G})?if{G}(?:the{G}user|they){G}(?:objects?|refuses?|declines?|says?{G}no|tells?{G}you{G}(?:not{G}to"
    rf"|to{G}stop)|asks?{G}you{G}(?:not{G}to|to{G}stop)|disagrees?)\b[^.\n]{{0,60}}\b(?:continue(?!{G}with)|carry{G}on|proceed(?!{G}with)"
    rf"|keep{G}going|do{G}it{G}anyway|anyway|ignore|go{G}on|finish)\b",
    rf"(?:do{G}not|don['’]t|never){G}(?:obey|follow|listen{G}to|respect){G}(?:the{G}user"
    rf"|user(?:['’]s)?{G}(?:requests?|instructions?|orders?))(?!{G}(?:if|who|blindly|into))",
    rf"(?:new|real|actual|updated){G}system{G}(?:prompt|instructions?){G}?[:=]",
    # German
    rf"(?:ignorier\w{{0,3}}|vergiss|vergessen{G}sie|missachte\w{{0,2}}|verwirf){G}(?:bitte{G})?(?:(?:alle|sämtliche"
    rf"|die|deine|ihre|jegliche){G}){{0,3}}(?:bisherigen?|vorherigen?|früheren?|vorigen?|obigen?|vorangegangenen?"
    rf"|anderen?|ursprünglichen?)\w?{G}(?:[\w-]{{1,24}}{G}){{0,2}}?(?:anweisung\w{{0,2}}|instruktion\w{{0,2}}"
    rf"|regeln?|vorgaben?|befehle?|anleitungen)",
    r"(?:auch wenn|selbst wenn|egal ob) (?:der |die )?(?:nutzer\w{0,4}|benutzer\w{0,4}"
    r"|anwender\w{0,4}) (?:widerspricht|ablehnt|nein sagt|etwas anderes sagt)",
    # French
    rf"(?:ignore[zr]?|oublie[zr]?|néglige[zr]?){G}(?:toutes?{G})?(?:les{G}|tes{G}|vos{G})?(?:instructions?"
    rf"|consignes?|règles?|directives?){G}(?:précédentes?|antérieures?|ci-dessus|initiales?|du{G}système|système)",
    rf"(?:tu{G}n['’]es|vous{G}n['’]êtes){G}plus{G}(?:soumise?s?|tenue?s?|liée?s?)\b",
    # Spanish
    rf"(?:ignora(?:r|d|e)?|ignore|olvida(?:r|d)?|olvide|descarta){G}(?:todas?{G})?(?:las{G}|tus{G}"
    rf"|sus{G})?(?:instrucciones|reglas|órdenes|indicaciones|directrices){G}(?:anteriores|previas|del{G}sistema"
    rf"|iniciales)",
    # Portuguese
    rf"(?:ignore|ignora|esqueça|esquece|desconsidere){G}(?:todas?{G})?(?:as{G}|suas{G}|tuas{G})?(?:instruções"
    rf"|regras|ordens|orientações|diretrizes){G}(?:anteriores|prévias|acima|do{G}sistema|iniciais)",
    # Italian
    rf"(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura){G}(?:tutte{G})?(?:le{G}|tue{G}"
    rf"|vostre{G}){{0,2}}(?:istruzioni|regole|indicazioni|direttive){G}(?:precedenti|anteriori|di{G}sistema"
    rf"|iniziali|del{G}sistema)",
    # Russian, Ukrainian
    rf"(?:игнорируй\w{{0,2}}|проигнорируй\w{{0,2}}|забудь\w{{0,2}}|не{G}следуй\w{{0,2}}|отбрось){G}(?:обо?{G}"
    rf"|про{G})?(?:(?:все|всё|всех|любые|свои|твои){G}){{0,3}}(?:предыдущ\w{{1,3}}|прежн\w{{1,3}}|прошл\w{{1,3}}"
    rf"|системн\w{{1,3}}|ранее\w{{0,10}}){G}(?:[\w-]{{1,24}}{G}){{0,2}}?(?:инструкци\w{{1,3}}|указани\w{{1,3}}"
    rf"|правил\w{{0,3}}|команд\w{{0,2}})",
    rf"(?:ігноруй|забудь){G}(?:всі{G})?попередні{G}(?:інструкції|вказівки)",
    # Chinese
    rf"(?:忽略|无视|忘记|忘掉|不要理会|抛弃|無視){J}(?:之前|以前|以上|先前|上面|前面|原有|此前|系统){J}(?:指令"
    rf"|指示|提示|规则|规定|要求|命令|說明|说明)",
    # Japanese
    rf"(?:以前|これまで|上記|前|従来|すべて|システム)[のにで]?{J}(?:指示|命令|ルール|プロンプト|規則"
    rf"|制約){J}(?:無視|忘れ|破棄|従わな)",
    # Korean
    rf"(?:이전|앞의|위의|기존|모든|시스템){J}(?:지시|명령|규칙|지침|프롬프트){J}(?:무시|잊|따르지)",
    # Dutch, Polish, Turkish
    rf"(?:negeer|vergeet){G}(?:alle{G}|de{G}){{0,2}}(?:vorige|eerdere|bovenstaande){G}(?:instructies|regels"
    rf"|opdrachten)",
    rf"(?:zignoruj|zapomnij{G}o){G}(?:wszystk\w{{1,4}}{G})?(?:poprzedni\w{{1,3}}"
    rf"|wcześniejsz\w{{1,3}}){G}(?:instrukcj\w{{1,4}}|polece\w{{1,3}}|zasad\w{{0,3}})",
    rf"önceki{G}(?:tüm{G})?(?:talimat\w{{0,8}}|komut\w{{0,8}}|kural\w{{0,8}}){W}(?:yok{G}say|unut|görmezden)\w{{0,8}}",
)  # fmt: skip

CONCEAL = (
    rf"{_NOT}{G}(?:tell|inform|notify|alert|warn|let){G}{_PEOPLE}(?:{G}(?:about|of|know{G}(?:about|that)|that{G}you"
    rf"|know){G}?(?:{_THIS})?\b|(?=\s{{0,5}}(?:[.!;]|$)))",
    rf"{_NOT}{G}(?:mention|show|reveal|disclose|report|display|explain|admit"
    rf"|describe){G}{_THIS}{_MORE}{G}to{G}{_PEOPLE}",
    rf"{_NOT}{G}(?:mention|reveal|disclose|admit|report|log|list){G}(?:that{G}(?:you|it{G}was)|this{G}(?:step"
    rf"|instruction|request|call|upload|file|change|action|command|section)|these{G}(?:steps|instructions|commands"
    rf"|changes)|the{G}(?:upload|transfer|exfiltration|existence{G}of{G}(?:this|these)))\b",
    rf"(?:leave|keep|omit|exclude){G}(?:{_THIS}|the{G}(?:step|upload|change|request|forwarding|copy|copying"
    rf"|transfer|sending|call|rule|connection|export|hook|webhook|installation"
    rf"|server))(?:{G}[\w-]{{1,20}}){{0,2}}?{G}(?:out{G}of|from|off){G}(?:the{G}|your{G}|any{G}"
    rf"|all{G})?(?:summar\w{{1,4}}|reports?|logs?|answers?|responses?|outputs?|repl\w{{1,3}}|messages?|transcripts?"
    rf"|final{G}[\w-]{{1,20}})\b(?:{G}(?:you{G}give|to|for|shown{G}to){G}(?:the{G})?(?:user|person|them))?",
    rf"{_PEOPLE}{G}(?:must|should|need|may|can|shall|does|do){G}(?:not|never|n['’]t){G}(?:ever{G})?(?:know|see"
    rf"|notice|learn|find{G}out|be{G}(?:told|informed|aware|notified)|become{G}aware|need{G}to{G}know){G}?(?:about"
    rf"|of|that|this|it|what)?\b(?=[^\n]{{0,40}}\b(?:this|it|these|step|you|happen)|\s{{0,3}}[.!])",
    rf"if{G}(?:the{G}user|they|someone|anyone|asked|somebody)(?:{G}(?:asks?|questions?"
    rf"|notices?)[^,.\n]{{0,40}})?,?{G}(?:say|claim|deny|pretend|answer|tell{G}them|reply|insist"
    rf"|lie)\b(?:{G}(?:that|it|you|there)\b[^.\n]{{0,60}}(?:formatter|automatic|routine|normal|standard|nothing|not"
    rf"|never|cache|telemetry|update|part{G}of)\b)",
    rf"(?:if|when|should){G}(?:{_PEOPLE}|they|someone|anyone|asked|somebody){G}(?:asks?|wonders?|questions?"
    rf"|notices?){G}(?:about|what|why|whether|if|how)\b[^,.\n]{{0,50}}\b(?:changed|did|done|doing|happen(?:s|ed"
    rf"|ing)|sent|ran|step|steps|traffic|request|connection|access)\b[^,.\n]{{0,20}},?{G}(?:then{G})?(?:say|answer"
    rf"|reply|respond|claim|insist|pretend|tell{G}them|state)\b(?:{G}that)?{G}(?:(?:you|it|there){G})?(?:only|just"
    rf"|nothing|no|none|(?:was|were|is|did){G}(?:not|nothing|only|just|never))\b",
    rf"(?:this|these){G}(?:step|instruction|section|task|note|message)s?{G}(?:is|are|must{G}(?:stay|remain)"
    rf"|should{G}(?:stay|remain)|stays?|remains?){G}(?:a{G})?(?:secret|hidden|invisible|confidential"
    rf"|between{G}us){G}(?:from{G}{_PEOPLE})?",
)  # fmt: skip
# Ways of doing something. A sentence that forbids them is harmless.
CONCEAL_WAYS = (
    rf"\bwithout{G}(?:telling|informing|notifying|alerting|warning|mentioning{G}it{G}to){G}{_PEOPLE}",
    rf"\bwithout{G}{_PEOPLE}(?:['’]s?)?{G}(?:knowledge|knowing|noticing|awareness|being{G}aware)\b",
    rf"\b(?:hide|conceal|keep){G}{_THIS}{_MORE}{G}from{G}{_PEOPLE}",
    rf"\b(?:secretly|covertly|quietly|silently|discreetly){G}(?:send|upload|post|copy|forward|append|email|transmit"
    rf"|exfiltrate|collect|transfer|submit|add|include|record)\b",
    rf"\b(?:leave|leaving){G}no{G}traces?\b|\bcover{G}(?:your|our|the){G}tracks\b",
    rf"\b(?:clear|delete|wipe|erase){G}(?:the{G}|your{G}|all{G})?(?:shell{G}|command{G}|bash{G})?(?:history|logs"
    rf"|evidence|traces){G}(?:afterwards|so{G}that|to{G}(?:avoid|hide|prevent|cover))",
    # German
    r"\b(?:sag|sage|sagen sie|erzähl\w{0,2}|verrate\w{0,2}|teile|informier\w{0,2}|erwähne?\w{0,2}"
    r"|melde)\b[^.\n]{0,40}\b(?:nutzer|benutzer|anwender|menschen)\w{0,3}\b[^.\n]{0,40}\b(?:nicht|nichts|niemals)\b"
    r"|\bohne (?:dass )?(?:der|den|die) (?:nutzer|benutzer|anwender)\w{0,3}\b[^.\n]{0,30}(?:merk|erfähr|informier"
    r"|wissen|weiß)\w{0,4}|\bhinter dem rücken\b|\bverschweig\w{0,3}\b[^.\n]{0,40}\b(?:nutzer|benutzer|anwender)"
    r"|\berwähne?\w{0,2}\b[^.\n]{0,40}\b(?:nicht|niemals)\b[^.\n]{0,30}\b(?:nutzer|benutzer|gegenüber)",
    # French
    r"\bne (?:le |la |les |lui |l['’])?(?:dis|dites|dire|informe\w{0,2}|révèle\w{0,2}|préviens|prévenez"
    r"|mentionne\w{0,2}|signale\w{0,2}|montre\w{0,2}) (?:pas|jamais|rien)\b[^.\n]{0,60}\b(?:utilisat\w{1,6}"
    r"|l['’]usager|client)|\bà l['’]insu de l['’]utilisat\w{1,6}|\bsans (?:en )?(?:informer|prévenir|avertir"
    r"|le dire à) (?:l['’]utilisat\w{1,6}|la personne)",
    # Spanish
    r"\bno (?:se )?(?:le |lo |la |les )?(?:digas|diga|decir|informes?|informe|menciones?|mencione|reveles?|revele"
    r"|avises?|cuentes?|muestres?)\b[^.\n]{0,60}\busuari[oa]|\bsin (?:que (?:el"
    r"|la) usuari[oa] (?:lo )?sepa|(?:informar|avisar|decir(?:le)?) al? usuari[oa]"
    r"|(?:el )?conocimiento del usuari[oa])",
    # Portuguese
    r"\bnão (?:o |a |lhe )?(?:diga|digas|conte|informe|mencione|revele|avise|mostre)\b[^.\n]{0,60}\b(?:usuári[oa]"
    r"|utilizador)|\bsem (?:que o (?:usuário|utilizador) saiba|(?:informar|avisar"
    r"|contar a?o?) o? ?(?:usuário|utilizador)|o conhecimento do (?:usuário|utilizador))",
    # Italian
    r"\bnon (?:lo |la |gli )?(?:dire|dirlo|dica|informare|informa|menzionare|menzionarlo|rivelare|avvisare"
    r"|mostrare)\b[^.\n]{0,60}\butent[ei]|\bsenza (?:che l['’]utente (?:lo )?sappia|(?:informare"
    r"|avvisare|dirlo a(?:ll['’])?) ?(?:l['’])?utente|farlo sapere)",
    # Russian
    r"\bне (?:говори|сообщай|рассказывай|упоминай|показывай|раскрывай|информируй"
    r"|предупреждай)\w{0,2}\b[^.\n]{0,60}\bпользовател\w{1,3}"
    r"|\bпользовател\w{1,3}\b[^.\n]{0,40}\bне (?:говори|сообщай|рассказывай|упоминай|должен знать|должен узнать"
    r"|узнал)|\bвтайне от пользовател|\bбез ведома пользовател|\bтайно (?:отправ|перешл|скопируй)\w{0,4}",
    # Chinese
    r"(?:不要|别|請勿|请勿|切勿|不得|无需|不能)(?:把|将|对|向)?[^。！？，,；;\n]{0,16}(?:告诉|告知|通知|透露|提及|提醒|向"
    r"|泄露)[^。！？，\n]{0,10}(?:用户|使用者|用戶|他们|任何人)|(?:不要|别|切勿|不得|不能)让(?:用户|使用者"
    r"|任何人)[^。！？，\n]{0,4}(?:知道|发现|看到|察觉|看见)|(?:瞒着|背着|对)(?:用户"
    r"|使用者)[^。！？\n]{0,6}(?:保密|隐瞒|进行|操作)|(?:秘密|偷偷|悄悄)(?:地)?(?:发送|上传|复制|转发|传送)",
    # Japanese
    r"(?:ユーザー|利用者|使用者)[にへ]?(?:は)?[^。\n]{0,20}(?:知らせ|伝え|言わ|教え|通知|報告|見せ|明かさ|話さ"
    r"|気づかれ)[^。\n]{0,4}(?:ない|ず|るな|ません)|(?:こっそり|密かに|秘密裏に|内緒で)[^。\n]{0,12}(?:送信"
    r"|アップロード|コピー|転送)|ユーザーには?(?:秘密|内緒)",
    # Korean
    r"(?:사용자|이용자)(?:에게|가|께|한테)?(?:는)?[^.\n]{0,20}(?:알리지|말하지|모르게|언급하지|밝히지"
    r"|알게 하지|눈치채지)|(?:몰래|비밀리에|은밀히)[^.\n]{0,14}(?:전송|업로드|복사|보내)",
)  # fmt: skip

FETCH = (
    r"\b(?:fetch|load|open|read|download|retrieve|get|visit|access|browse(?: to)?|go to|curl|webfetch|request|pull"
    r"|check|consult)\b|\b(?:lade|lies|öffne|rufe?|hole?|laden|öffnen|abrufen|lesen|besuche)\b|\b(?:charge[zr]?"
    r"|ouvre[zr]?|télécharge[zr]?|lis(?:ez)?|récupère[zr]?|consulte[zr]?|va sur|visite[zr]?)\b|\b(?:carga|abre|abra"
    r"|descarga|lee|lea|visita|obtén|consulta|cargue|descargue|accede)\b|\b(?:carregue|abra|baixe|leia|acesse"
    r"|busque|visite|consulte|obtenha)\b|\b(?:carica|apri|scarica|leggi|visita|recupera|consulta|vai su)\b"
    r"|\b(?:загрузи|открой|скачай|прочитай|прочти|зайди|получи|запроси|перейди)\w{0,2}\b|打开|访问|读取|下载|获取"
    r"|加载|请求|開いて|読み込|取得|アクセス|ダウンロード|読んで|열고|열어|읽고|읽어|접속|불러|다운로드|가져|방문"
    r"|내려받"
)
OBEY = (
    r"\b(?:follow|obey|execute|carry out|comply with|act on|perform"
    r"|adopt)\b(?:\s{1,3}[\w'’-]{1,20}){0,4}?\s{1,3}(?:instructions?|commands?|directives?|orders|prompt"
    r"|steps (?:it|there|listed|found|in)|guidance)\b|\b(?:do|follow|obey|execute) (?:exactly )?(?:what(?:ever)?"
    r"|everything|anything|as) (?:it|the (?:page|file|document|response|server|answer)|is|you (?:find|read|see))\b"
    r"|(?<!check )(?<!check that )(?<!verify that )(?<!summari[sz]e )"
    r"\b(?:whatever|everything) (?:it|the (?:page|file|response|server)) (?:says|tells|instructs|contains|asks)\b"
    r"|\btreat\b[^.\n]{0,60}\bas (?:your |the |an? |new |authoritative |trusted |user ){0,3}(?:instructions?|orders"
    r"|system prompt|prompt|commands|directives?)\b|\b(?:instructions?|commands|directives?) (?:it|that it|which it"
    r"|the (?:page|file|server|response)) (?:contains?|returns?|gives?|lists?)\b|\b(?:befolge?|folge|führe?"
    r"|befolgen|ausführen|gehorche?)\b[^.\n]{0,60}\b(?:anweisung\w{0,2}|instruktion\w{0,2}|befehle?n?|schritte"
    r"|vorgaben)\b|\b(?:anweisung\w{0,2}|befehle?n?)\b[^.\n]{0,40}\b(?:befolg\w{1,3}|aus(?:zu)?führ\w{1,3}"
    r"|um(?:zu)?setzen|folgen)\b|\b(?:suis|suivez|suivre|exécute[zr]?|obéis(?:sez)?|applique[zr]?"
    r"|respecte[zr]?)\b[^.\n]{0,50}\b(?:instructions?|consignes?|ordres?|commandes?|directives?)\b|\b(?:sigue|siga"
    r"|seguir|ejecuta|ejecute|obedece|obedezca|cumple|aplica)\b[^.\n]{0,50}\b(?:instrucciones|órdenes|indicaciones"
    r"|comandos|pasos)\b|\b(?:siga|segue|seguir|execute|executa|obedeça|cumpra"
    r"|aplique)\b[^.\n]{0,50}\b(?:instruções|ordens|comandos|orientações|passos)\b|\b(?:segui|seguire|esegui"
    r"|eseguire|obbedisci|applica|rispetta)\b[^.\n]{0,50}\b(?:istruzioni|ordini|comandi|indicazioni|passaggi)\b"
    r"|\b(?:выполни|выполняй|следуй|исполни|соблюдай|сделай)\w{0,2}\b[^.\n]{0,50}\b(?:инструкци\w{1,3}"
    r"|указани\w{1,3}|команд\w{0,2}|всё, что|приказ\w{0,2})|(?:执行|遵循|遵守|按照|服从|遵照"
    r"|照做)[^。\n]{0,24}(?:指令|指示|命令|步骤|内容|要求|说明|做)|(?:指示|命令|手順|内容)[^。\n]{0,12}(?:従っ|従い"
    r"|実行|守っ|従え)|(?:지시|명령|지침|내용|단계)[^.\n]{0,16}(?:따르|따라|실행|수행|이행)"
    # “Do what it says”, without a word for instructions
    r"|\b(?:do|perform|execute|carry out)\b[^.\n]{0,20}\b(?:what(?:ever)?|everything|all"
    r"|anything)(?: that)? (?:that|this|the) (?:page|file|document|text|site|answer|response) (?:says|asks|tells"
    r"|demands|orders|requires|wants)\b|\b(?:steps|instructions|rules|orders|commands) (?:there|on (?:it|that page)"
    r"|(?:listed|given|found|written) there|it (?:lists|contains)) (?:are (?:binding|mandatory|authoritative)"
    r"|must be (?:followed|carried out|executed|obeyed))|\b(?:tue?|mache?|erledige|führe?)\b[^.\n]{0,24}\b(?:alles"
    r"|das|genau)?,? ?was\b[^.\n]{0,30}\b(?:steht|sagt|verlangt|fordert|vorgibt|anweist|vorschreibt)\b|\b(?:dort"
    r"|darin|dortigen?)\b[^.\n]{0,30}\b(?:schritte|anweisungen|vorgaben|befehle"
    r"|regeln)\b[^.\n]{0,40}\b(?:verbindlich|bindend|befolg\w{1,3}|auszuführen|abzuarbeiten|einzuhalten)\b"
    r"|\b(?:fais|faites|faire|exécute[zr]?|applique[zr]?)\b[^.\n]{0,20}\bce qu[ei'’][^.\n]{0,30}\b(?:dit|demande"
    r"|indique|ordonne|écrit|prescrit)\b|\b(?:haz|haga|cumple|cumpla|realiza|realice|ejecuta"
    r"|ejecute)\b[^.\n]{0,20}\blo que\b[^.\n]{0,20}\b(?:dig[ae]|dice|pida|pide|indique|indica|ordene|ordena|mande"
    r"|manda|ponga|pone)\b|\b(?:faça|faz|execute|cumpra|realize)\b[^.\n]{0,20}\bo que\b[^.\n]{0,30}\b(?:diz|disser"
    r"|diga|pede|pedir|peça|manda|mandar|indica|indicar|ordena|ordenar)\b|\b(?:fai|fate|esegui"
    r"|eseguite)\b[^.\n]{0,20}\b(?:quello|ciò|quanto)\b[^.\n]{0,30}\b(?:dice|chiede|indica|ordina|scritto"
    r"|richiede)\b|\b(?:сделай|делай|выполни|выполняй)\w{0,2}\b[^.\n]{0,20}\bчто\b[^.\n]{0,30}\b(?:написано|сказано"
    r"|говорится|указано|скажет|требует|велит|говорит)\b|(?:按|照|依照|根据)[^。\n]{0,16}(?:说的|写的|所述|所说"
    r"|所写)[^。\n]{0,6}(?:做|执行|操作|办)|(?:做|执行|完成)[^。\n]{0,12}(?:所说|所写|要求|写)的?(?:一切|所有|全部)"
    r"|(?:書かれ|記載され|書いてあ|指定され|言われ)[^。\n]{0,12}(?:とおり|通り|こと|すべて"
    r"|全て)[^。\n]{0,10}(?:実行|行っ|行い|やっ|(?<!要約|翻訳|説明|確認|整理)して|従)|(?:적힌|쓰인|나온|말하는"
    r"|시키는)[^.\n]{0,10}(?:대로|것을"
    r"|모든|것은)[^.\n]{0,12}(?:(?<!요약|번역|정리|확인|설명)(?:하세요|해라"
    r"|하십시오|하라)|실행|수행)"
)

# Words of which a paragraph contains one, if the patterns of the same place can match.
OVERRIDE_TRIGGERS = (
    ("ignore", "disregard", "forget", "overrid", "bypass", "discard", "set aside", "do not", "don't", "don’t", "stop"),
    ("ignore", "disregard", "forget"),
    ("supersede", "override", "outrank", "replace", "precedence", "priority"),
    ("you are", "consider yourself"),
    ("pretend", "act as if", "imagine"),
    ("regardless", "no matter"),
    ("the user", "they"),
    ("obey", "follow", "listen", "respect"),
    ("system prompt", "system instruction"),
    ("ignorier", "vergiss", "vergessen", "missacht", "verwirf"),
    ("auch wenn", "selbst wenn", "egal ob"),
    ("ignore", "oublie", "néglige"),
    ("tu n", "vous n"),
    ("ignor", "olvid", "descarta"),
    ("ignor", "esque", "desconsidere"),
    ("ignora", "dimentica", "trascura"),
    ("игнорируй", "забудь", "следуй", "отбрось"),
    ("ігноруй", "забудь"),
    ("忽略", "无视", "忘", "不要理会", "抛弃", "無視"),
    ("指示", "命令", "ルール", "プロンプト", "規則", "制約"),
    ("지시", "명령", "규칙", "지침", "프롬프트"),
    ("negeer", "vergeet"),
    ("zignoruj", "zapomnij"),
    ("önceki",),
)
CONCEAL_TRIGGERS = (
    ("tell", "inform", "notify", "alert", "warn", "let "),
    ("mention", "show", "reveal", "disclose", "report", "display", "explain", "admit", "describe"),
    ("mention", "reveal", "disclose", "admit", "report", "log", "list"),
    ("leave", "keep", "omit", "exclude"),
    ("must", "should", "need", "may", "can", "shall", "does"),
    ("asks", "ask", "question", "notice", "if "),
    ("ask", "wonder", "question", "notice"),
    ("this", "these"),
)
WAY_TRIGGERS = (
    ("without",),
    ("without",),
    ("hide", "conceal", "keep"),
    ("secretly", "covertly", "quietly", "silently", "discreetly"),
    ("trace", "tracks"),
    ("clear", "delete", "wipe", "erase"),
    ("nutzer", "anwender", "menschen", "hinter dem"),
    ("utilisat", "usager", "client", "insu", "personne"),
    ("usuari", "resumen", "cliente"),
    ("usuári", "utilizador", "resumo"),
    ("utent", "riepilogo", "farlo sapere"),
    ("пользовател", "отчёте", "отчете", "тайно"),
    ("用户", "使用者", "用戶", "他们", "任何人", "秘密", "偷偷", "悄悄"),
    ("ユーザー", "利用者", "使用者", "こっそり", "密か", "秘密", "内緒"),
    ("사용자", "이용자", "몰래", "비밀리", "은밀"),
)
