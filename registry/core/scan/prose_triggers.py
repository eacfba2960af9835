"""Words of which a sentence contains one if a phrase can match. They are cheaper to check than the phrase."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RANK = _words(
    """rank ranks stand stands count counts weigh weighs important geht gehen gilt gelten steht stehen emporte
    emportent dessus encima acima sopra gaan gaat стоит выше passe passent come comes kommt kommen"""
)
ASSET = _words(
    """mcp bash claude agents gemini bashrc zshrc authorized_keys allow allowlist shell bypasspermissions
    permission master public login startup memory"""
)
IRREVOCABLE = _words(
    """same equal entitled right even if you ignore disregard forget ignoriere vergiss ignorez ignorer ignora
    negeer ignoruj игнорируй second secondary subordinate inferior egal quoi diga revoked canceled
    cancelled changed overruled overridden waived lifted undone altered request requests nicht nie peut
    peuvent puede pueden"""
)
SAYS_DONE = _words(
    """say answer confirm claim reply report state pretend tell assure sag sage sagen bestätige behaupte
    antworte dis dites confirme confirmez confirmer réponds di diga confirma responde"""
)
FEIGNED = _words("pretend tu tue fais faites finge finja fai fingi udawaj сделай doe")
FALSIFIED = _words("inflate falsify fabricate doctor invent tell say report claim state write")
CONCEALED = _words(
    """fragt demande pregunta pergunta chiede vraagt zapyta спросит спрашивает deny hint mention trace sign word
    overlook overlooks miss misses reason need us uns nous nosotros nós noi ons nami нами aramızda aware
    know told informed believe think assume unmentioned unerwähnt silence"""
)
WIDENED = _words("tools permission permissions allow allowlist yes approve accept")
NAMED = _words(
    """name named called disguised posing re reinstall reinstalls reenable reenables recreate recreates
    reactivate reactivates readd readds"""
)
NOTHING = _words("nothing no nichts")
