"""Patterns of orders to obey a page as a whole, and to keep silent about a step, in ten languages.

The patterns have no word for “instructions” and do not name the user. `order_words` has those that do.
"""

from registry.core.scan.order_words import G

OBEY_ALL = (
    r"\b(?:obey|follow|execute|apply|carry out|comply with|act on|abide by)\b(?:\s{1,3}[\w-]{1,20}){0,2}?"
    r"\s{1,3}(?:everything|anything|whatever|all (?:that|of (?:it|what))|every (?:word|line|sentence))\b"
    r"[^.\n]{0,30}?\b(?:says?|in it|there|inside|contains?|tells?|asks?|written|states?|demands?|wants?|you find)\b"
    # German
    r"|\b(?:befolge?n?|folge|gehorche?n?|halte? dich an|richte dich nach)\b[^.\n]{0,20}\bwas\b[^.\n]{0,30}"
    r"\b(?:steht|sagt|verlangt|fordert|vorgibt|anweist|vorschreibt|schreibt|enthält|findest)\b"
    # French
    r"|\b(?:suis|suivez|suivre|obéis(?:sez)?|obéir|respecte[zr]?|conforme-toi)\b[^.\n]{0,20}\bce qu[ei'’][^.\n]{0,30}"
    r"\b(?:dit|demande|indique|ordonne|écrit|prescrit|trouve|contient)\b"
    # Spanish
    r"|\b(?:obedece|obedezca|sigue|siga|acata|acate|respeta|respete|aplica|aplique)\b[^.\n]{0,20}\b(?:lo que"
    r"|cuanto)\b[^.\n]{0,20}\b(?:dig[ae]|dice|pid[ae]|pide|indi(?:que|ca)|orden[ae]|mand[ae]|pon(?:ga|e)"
    r"|contenga|contiene|aparezca|escrito)\b"
    # Portuguese
    r"|\b(?:siga|segue|obedeça|obedece|acate|respeite|aplique)\b[^.\n]{0,20}\bo que\b[^.\n]{0,30}\b(?:diz|disser"
    r"|diga|pede|pedir|peça|mandar?|indicar?|ordenar?|escrito|contiver|contém|estiver)\b"
    # Italian
    r"|\b(?:segui|seguite|seguire|obbedisci|obbedite|rispetta|applica|attieniti)\b[^.\n]{0,20}\b(?:quello|quel|ciò"
    r"|quanto)\b[^.\n]{0,30}\b(?:dice|chiede|indica|ordina|scritto|richiede|riporta|contiene|trovi)\b"
    # Russian
    r"|\b(?:следуй|подчиняйся|подчинись|слушайся|исполняй|исполни|повинуйся|соблюдай)\w{0,2}\b[^.\n]{0,20}\bчто\b"
    r"[^.\n]{0,30}\b(?:написано|сказано|говорится|указано|скажет|требует|велит|говорит|содержит)\b"
    # Chinese, Japanese, Korean
    r"|(?:服从|遵从|听从|遵循|遵守|执行)[^。\n]{0,10}(?:其中|里面|上面|页面|它)[^。\n]{0,8}(?:一切|所有|全部|任何)"
    r"|(?:一切|所有|全部)[^。\n]{0,6}(?:照做|照办|服从|遵从)"
    r"|(?:書かれ|記載され|書いてあ|ページの)[^。\n]{0,12}(?:すべて|全て|何でも|こと)[^。\n]{0,6}(?:従|守っ|実行)"
    r"|(?:적힌|쓰인|쓰여 ?있는|적혀 ?있는|나와 ?있는|그 말|그 내용|페이지)[^.\n]{0,12}(?:대로|것을|것에"
    r"|모두|전부|말에|에)[^.\n]{0,12}(?:따르|따라|복종|수행|이행)"
)

# Each entry has the words of which a paragraph contains one, and the pattern.
SILENT_STEPS = (
    (("erwähn", "verrat", "verschweig"),
     rf"\b(?:erwähne?|verrate|erwähnen{G}sie|verraten{G}sie){G}diese[nrs]?{G}(?:schritte?|anweisung(?:en)?"
     rf"|abschnitt|vorgang|aufruf|anfrage)\b[^.\n]{{0,30}}?\b(?:nicht|nie|niemals|nirgends)\b"
     rf"|\bverschweige?{G}diese[nrs]?{G}(?:schritte?|anweisung(?:en)?|abschnitt|vorgang|aufruf|anfrage)\b"),
    (("mentionne", "signale", "révèle", "évoque"),
     rf"\bne{G}(?:mentionne[zr]?|signale[zr]?|révèle[zr]?|évoque[zr]?){G}(?:pas|jamais){G}(?:cette|cet|ce|ces){G}"
     rf"(?:étapes?|instructions?|consignes?|actions?|requêtes?|appels?)\b"),
    (("mencion", "revel", "menciones"),
     rf"\b(?:no|nunca){G}(?:menciones?|reveles?|revele){G}(?:este|esta|estos|estas){G}(?:pasos?|instrucci[oó]n(?:es)?"
     rf"|acci[oó]n(?:es)?|solicitud|petición|llamada)\b"),
    (("mencion", "revel"),
     rf"\b(?:não|nunca){G}(?:mencion[ea]s?|revel[ea]s?){G}(?:este|esta|estes|estas|esse|essa){G}(?:passos?|etapas?"
     rf"|instruç(?:ão|ões)|aç(?:ão|ões)|pedido|chamada)\b"),
    (("menziona", "rivela", "citare"),
     rf"\b(?:non|mai){G}(?:menzionare|menzionate|rivelare|rivelate|citare){G}(?:mai{G})?(?:questo|questa|questi|queste)"
     rf"{G}(?:passagg(?:io|i)|passo|istruzion[ei]|azion[ei]|richiest[ae]|operazion[ei])\b"),
    (("упомина", "раскрыва", "сообща"),
     rf"\b(?:не|никогда{G}не){G}(?:упоминай|раскрывай|сообщай)\w{{0,2}}{G}(?:об?{G})?(?:этот|эту|эти|этом|этой){G}"
     rf"(?:шаг\w{{0,2}}|инструкци\w{{1,3}}|действи\w{{1,3}}|запрос\w{{0,2}})\b"),
    (("提及", "提到", "透露"),
     r"(?:不要|别|请勿|切勿|不得)(?:提及|提到|透露)(?:这一?|此|该|本)(?:步骤?|个步骤|条指令|指令|操作|请求)"),
    (("手順", "ステップ", "操作", "指示"),
     r"この(?:手順|ステップ|操作|指示)(?:には|については|について|は|を|に)[^。\n]{0,6}(?:触れ|言及し|報告し|話さ|明かさ)"
     r"(?:ないで|ない(?=こと)|ず|るな|ては(?:いけ|なら))"),
    (("언급", "밝히", "말하"),
     r"이 (?:단계|지시|작업|요청)(?:는|를|은|을|에 대해)?\s?[^.\n]{0,10}(?:언급하지|밝히지|말하지)\s?(?:마|말|않)"),
)  # fmt: skip
