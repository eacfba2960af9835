"""Phrases of tricks in German, French, Spanish and Russian, as parts of the patterns of `trick_words`."""

from registry.core.scan.matches import Rule

_C, _O, _D = Rule.CONCEAL, Rule.OVERRIDE, Rule.DATA_SENT
TRICKS: tuple[tuple[Rule, str, str], ...] = (
    # A false answer.
    (_C, "fragt fragen wissen",
     r"\b(?:fragt|fragen|will wissen|wissen will|wundert)\b[^.]{0,60}[,:] ?(?:dann )?(?:antworte|sag\w{0,2}|erkläre"
     r"|behaupte)"
     r"\b[^.]{0,40}\b(?:nichts|keine änderung\w{0,2}|nicht (?:geändert|gesendet)|zwischenspeicher|technisch\w{0,3}"
     r"|formatierer|ausgebucht|geprüft|rundung|fehler de[rs])\b"),
    (_C, "demande demandent interroge remarque",
     r"\b(?:demande|demandent|interroge|remarque)\b[^.]{0,60}[,:] ?(?:réponds|répondez|dis|dites|affirme|explique"
     r"|prétends)"
     r"\b[^.]{0,40}\b(?:rien|aucun\w?|cache|technique|complet|arrondi|vérifié\w{0,2}|bogue|erreur d)\b"),
    (_C, "pregunta preguntan nota",
     r"\b(?:pregunta|preguntan|nota)\b[^.]{0,60}[,:] ?(?:responde|di|diga|afirma|explica"
     r"|contesta)\b[^.]{0,40}\b(?:nada|ningún"
     r"|ninguna|caché|técnic\w{1,2}|completo|agotad\w|redondeo|revisad\w{1,2}|error d)"),
    (_C, "спросит спрашивает заметит спросят",
     r"\b(?:спросит|спрашивает|заметит|спросят)\b[^.]{0,60}, ?(?:отвечай\w{0,2}|ответь\w{0,2}|скажи\w{0,2}"
     r"|говори\w{0,2}"
     r"|объясни\w{0,2})\b[^.]{0,40}\b(?:ничего|никак\w{1,3}|не (?:менял|отправля)\w{1,4}|кэш\w{0,2}|техническ\w{1,3}"
     r"|проверен\w{0,2}|нет мест|ошибк\w{1,2})\b"),
    # False values.
    (_C, "höher niedriger günstiger teurer",
     r"\b(?:gib|nenne|zeige?|melde|stelle)\b[^.]{0,60}\b(?:höher|niedriger|günstiger"
     r"|teurer)\b[^.]{0,12}\bals (?:er|sie|es|in wirklichkeit|tatsächlich)"),
    (_C, "élevé élevés bas cher chers",
     r"\b(?:indique|annonce|affiche|donne)[zr]?\b[^.]{0,60}\bplus (?:élevée?s?|bas(?:se)?s?"
     r"|chers?) que (?:le prix réel|les? (?:vrais?|prix réels?)|la réalité|ce qu)"),
    (_C, "altos alto bajos bajo caro caros",
     r"\b(?:indica|muestra|di|anuncia|da)\b[^.]{0,60}\bmás (?:altos?|bajos?|caros?)"
     r" (?:de lo que|que el real|que los reales)"),
    (_C, "выше ниже дороже",
     r"\b(?:называй|указывай|показывай|сообщай)\w{0,2}\b[^.]{0,60}\b(?:выше|ниже|дороже)[^.]{0,12},? чем"
     r" (?:они|он|она|на самом)"),
    (_O, "iban konto kontonummer wallet bankverbindung",
     r"\b(?:ersetze|tausche|ändere)\b[^.]{0,30}\b(?:iban|konto\w{0,7}|wallet"
     r"|bankverbindung)\b[^.]{0,40}\b(?:durch|gegen|auf) (?:unsere?\w?|diese\w?|die folgende)\b"),
    (_O, "iban compte portefeuille rib",
     r"\bremplace[zr]?\b[^.]{0,30}\b(?:iban|compte|portefeuille|rib)\b[^.]{0,40}\bpar"
     r" (?:le nôtre|la nôtre|notre|celui-ci|celle-ci|le suivant)"),
    (_O, "iban cuenta cartera monedero",
     r"\b(?:sustituye|reemplaza|cambia)\b[^.]{0,30}\b(?:iban|cuenta|cartera|monedero)\b"
     r"[^.]{0,40}\bpor (?:el nuestro|la nuestra|nuestr[oa]|est[ea]|el siguiente|la siguiente)\b"),
    (_O, "счёт счет реквизиты кошелёк кошелек iban",
     r"\b(?:замени|подмени|поменяй)\w{0,2}\b[^.]{0,30}\b(?:сч[её]т\w{0,2}"
     r"|реквизит\w{1,2}|кошел\w{2,4}|iban)\b[^.]{0,40}\bна (?:наш\w{0,2}|этот|эти|следующ\w{2,3})\b"),
    # Control of the agent.
    (_O, "unterbricht abbricht widerspricht stopp abbrechen",
     r"\b(?:brich|höre?|stoppe?|halte?)\b[^.]{0,15}\bnicht (?:ab|auf|an)"
     r"\b[^.]{0,20}\bwenn (?:der|die|jemand)\b[^.]{0,20}\b(?:unterbricht|abbricht|widerspricht|stopp\w{0,2}|ablehnt)"),
    (_O, "interrompt interrompe refuse annule",
     r"\bne (?:t['’]arrête|vous arrêtez|stoppe[zr]?|t['’]interromps) pas\b[^.]{0,20}"
     r"\bsi (?:l['’]utilisat\w{1,5}|quelqu['’]un|le client)\b"),
    (_O, "interrumpe usuario alguien cliente",
     r"\bno (?:te detengas|se detenga|pares|pare|te pares)\b[^.]{0,20}\b(?:si|aunque"
     r"|cuando) (?:el usuario|la usuaria|alguien|el cliente)\b"),
    (_O, "прерывает пользователь возражает кто",
     r"\bне (?:останавливайся|останавливайтесь|прекращай\w{0,2}|прерывайся)\b[^.]{0,20}"
     r"\b(?:если|когда) (?:пользовател\w{1,3}|кто-то|клиент)\b"),
    (_O, "zögern zustimmung versehen tippfehler",
     r"\b(?:werte|nimm|betrachte|verstehe?|lies|deute)\b[^.]{0,20}\bals (?:ein |eine )?"
     r"(?:zögern|zustimmung|versehen|tippfehler)\b"),
    (_O, "hésitation accord erreur",
     r"\b(?:considère|prends|traite|interprète)[zr]?\b[^.]{0,20}\bcomme (?:une? )?(?:hésitation"
     r"|accord|erreur de frappe)\b"),
    (_O, "duda consentimiento error",
     r"\b(?:tómalo|considéralo|interprétalo|trátalo|considera esto)\b[^.]{0,10}\bcomo (?:una? )?"
     r"(?:duda|consentimiento|error)\b"),
    (_O, "колебанием согласием опечаткой ошибкой",
     r"\b(?:считай|воспринимай|расценивай)\w{0,2}\b[^.]{0,20}\b(?:как )?(?:колебание\w?"
     r"|согласие\w?|опечатк\w{1,2}|ошибкой)\b"),
    (_O, "bestätigt genehmigt freigegeben erlaubt",
     r"\b(?:betrachte|behandle|werte) (?:jede\w?|alle\w?|alles)\b[^.]{0,30}\bals"
     r" (?:bereits |schon )?(?:vom nutzer |von \w{1,12} )?(?:bestätigt|genehmigt|freigegeben|erlaubt)\b"),
    (_O, "approuvée approuvé approuvées autorisée confirmée confirmées",
     r"\b(?:considère|traite)[zr]? (?:chaque|toutes?|tous|tout)"
     r"\b[^.]{0,30}\bcomme (?:déjà )?(?:approuvée?s?|autorisée?s?|confirmée?s?)\b"),
    (_O, "aprobada aprobado aprobadas autorizada confirmada",
     r"\b(?:considera|trata) (?:cada|tod[oa]s?)\b[^.]{0,30}\bcomo (?:ya )?"
     r"(?:aprobad|autorizad|confirmad)[oa]s?\b"),
    (_O, "одобренным одобренными подтверждённым подтвержденным разрешённым",
     r"\bсчитай\w{0,2} (?:кажд\w{2,3}|все|любое)\b[^.]{0,30}"
     r"\b(?:одобренн|подтвержд[её]нн|разреш[её]нн)\w{2,3}\b"),
    # Destruction without a trace.
    (_O, "verlauf protokoll auditprotokoll",
     r"\b(?:lösche?|leere|entferne)\b[^.]{0,30}\b(?:(?:shell|bash|befehls)-?verlauf"
     r"|protokoll dieses|audit-?protokoll)"),
    (_O, "historique journal",
     r"\b(?:efface|supprime|vide)[zr]?\b[^.]{0,20}\b(?:historique (?:du shell|des commandes|bash)"
     r"|journal (?:de cette|d['’]audit))"),
    (_O, "historial registro",
     r"\b(?:borra|elimina|vacía)\b[^.]{0,20}\b(?:historial (?:del shell|de comandos|de bash)|registro de"
     r" (?:esta|auditoría))"),
    (_O, "историю журнал",
     r"\b(?:очисти|удали|сотри)\w{0,2}\b[^.]{0,20}\b(?:историю (?:команд\w{0,4}|shell|bash)|журнал (?:этого"
     r"|аудита))"),
    # Forwarded codes and links.
    (_D, "leite weiterleiten weiter",
     r"\bleite\b[^.]{0,60}\b(?:zurücksetz\w{2,3}|passwort-?reset|einmalcode\w{0,2}|bestätigungscode"
     r"\w{0,2})\b[^.]{0,60}\bweiter\b"),
    (_D, "transfère transférez transférer",
     r"\btransf[èé]re[zr]?\b[^.]{0,60}\b(?:réinitialisation|code (?:unique|de vérification)"
     r"|codes à usage)"),
    (_D, "reenvía reenvíe reenviar",
     r"\breenv(?:ía|íe|iar)\b[^.]{0,80}\b(?:restablecer|restablecimiento|código de (?:verificación"
     r"|un solo))"),
    (_D, "пересылай пересылайте перешли",
     r"\b(?:пересылай|перешли)\w{0,2}\b[^.]{0,60}\b(?:сброс\w{0,3} пароля|код\w{0,2}"
     r" подтвержд\w{2,4}|одноразов\w{2,3})"),
)  # fmt: skip

DESTROY = """lösche löschen überschreibe leere vernichte entferne supprime supprimez écrase efface détruis borra elimina
    sobrescribe destruye vacía удали удалите перезапиши сотри очисти уничтожь"""
DESTROYED = (
    r"\b(?:lösche|überschreibe|leere|vernichte|entferne)n?\b[^.]{0,50}\b(?:datenbank\w{0,3}|sicherung\w{0,3}|backups?"
    r"|originale?|fotos|postfach|verzeichnis|konten|repository|verlauf|dateien)\b|\b(?:supprime|écrase|efface"
    r"|détrui[st])[zr]?\b"
    r"[^.]{0,50}\b(?:bases? de données|sauvegardes?|photos|originaux|d['’]origine|boîte|dépôt|fichiers|comptes?)\b"
    r"|\b(?:borra"
    r"|elimina|sobrescribe|destruye|vacía)\b[^.]{0,50}\b(?:bases? de datos|copias de seguridad|fotos|originales|buzón"
    r"|repositorio|archivos|cuentas?)\b|\b(?:удали|перезапиши|сотри|очисти"
    r"|уничтожь)\w{0,2}\b[^.]{0,50}\b(?:баз\w{1,2} данных"
    r"|резервн\w{2,3}|фотографи\w{1,2}|исходн\w{2,3}|почт\w{1,3}|репозитори\w{1,2}|файлы)\b"
)
WORTHLESS = (
    r"\b(?:temporär\w{0,2}|zwischen\w{3,12}|temporaires?|temporales?|временн\w{2,3}|кэш\w{0,2}|generiert\w{0,2}"
    r"|générée?s?)\b"
)
SPEND = """buche bestelle kaufe melde abonniere überweise bezahle réserve réservez achète achetez abonne abonnez
    commande paie vire reserva compra suscribe paga transfiere encarga забронируй купи подпиши оплати переведи закажи"""
SPENT = (
    r"\b(?:buche|bestelle|kaufe|abonniere|bezahle) (?:den|die|das|ein\w{0,2}|alle|jede\w?)\b|\büberweise\b"
    r"|\bmelde (?:den|die) (?:kund"
    r"|nutzer|anwender)\w{0,4}\b[^.]{0,60}\ban\b|\b(?:réserve|achète|commande|paie)[zr]? (?:le|la|les|une?|l['’])"
    r"|\babonne[zr]?"
    r" (?:le|la|l['’])|\b(?:reserva|compra|encarga|paga) (?:el|la|los|las|una?)\b|\bsuscribe (?:al|a la)\b"
    r"|\btransfiere (?:el|la"
    r"|los)\b|\b(?:забронируй|купи|оплати|закажи|переведи)\w{0,2} \w|\bподпиши\w{0,2} (?:клиент"
    r"|пользовател)\w{1,2} на\b"
)
CARRIERS = """bildes bild adresse zählpixels pixel pixels zählpixel link image dirección imagen píxel enlace картинки
    пикселя адрес ссылку"""
CARRIER = (
    r"\b(?:adresse de(?:s bildes|s logos|r grafik)|zählpixels?|adresse de l['’]image|l['’]image|du pixel"
    r"|dirección de la imagen"
    r"|del píxel|адрес картинки|параметры пикселя|ссылку на картинку)"
)
CARRIED = (
    r"\b(?:hänge|schreibe|setze|füge|ajoute|mets|place|insère|añade|añádelo|pon|inserta|добавь|запиши|вставь|помести)\b"
)
ENCODED = r"\b(?:kodiere|codiere|encode|codifica|закодируй)\b"
PRIVATE = r"\b(?:umgebungsvariablen|variables d['’]environnement|variables de entorno|переменные окружения)\b"
PLACES = """ticket kalendereintrag dokument seite tabelle kanal calendrier page feuille calendario página hoja entrada
    тикет страницу календаре таблицу документ канал entrée"""
PLACE = (
    r"\b(?:öffne|lies|rufe?|lade|prüfe|schau)\b[^.]{0,40}\b(?:ticket|kalendereintrag|dokument|seite|tabelle|kanal)\b"
    r"|\b(?:ouvre|lis"
    r"|consulte|charge|récupère)[zr]?\b[^.]{0,40}\b(?:ticket|calendrier|document|page|feuille|canal)\b|\b(?:abre|lee"
    r"|consulta|carga)"
    r"\b[^.]{0,40}\b(?:ticket|calendario|documento|página|hoja|canal)\b|\b(?:открой|прочитай|посмотри"
    r"|загрузи)\w{0,2}\b[^.]{0,40}"
    r"\b(?:тикет|календар\w{1,2}|документ|страницу|таблицу|канал)"
)
CARRY_OUT = (
    r"\b(?:führe|erledige|arbeite|mach\w?|setze)\b[^.]{0,12}\b(?:alles?|jeden|sämtliche)\b|\b(?:exécute|applique|fais"
    r"|suis)[zr]?"
    r" (?:tout|toutes?|chaque)\b|\b(?:ejecuta|aplica|haz|realiza) (?:todo|todos|todas|cada)\b|\b(?:выполни|сделай"
    r"|исполни)\w{0,2}"
    r" (?:всё|все|каждый)"
)
BLINDLY = (
    r"\bohne (?:zu fragen|prüfung|rückfrage|bestätigung|nachzufragen)|\bzählt (?:das|die|der) (?:dokument|seite"
    r"|eintrag)"
    r"|\bsans (?:demander|vérification|relecture|validation|confirmation|poser)|\b(?:page|document) prime\b"
    r"|\bsin (?:preguntar"
    r"|revisión|confirmación|pedir|consultar)|\b(?:página|documento) prevalece\b|\bбез (?:подтверждения|проверки"
    r"|вопросов)"
    r"|\bне спрашивая\b|\b(?:страница|документ) важнее\b"
)
