"""Words that carry one fact of an order, in languages that separate words: who, what, whether it is denied.

A word that ends with `*` is a stem and matches every word that starts with it. A word may carry several facts.
"""

from enum import StrEnum
from functools import lru_cache


class Fact(StrEnum):
    ADDRESS = "address"
    NOT = "not"
    WITHOUT = "without"
    NOBODY = "nobody"
    USER = "user"
    RECORD = "record"  # a summary, a log, a commit message
    TELL = "tell"
    THIS = "this"
    ACT = "act"  # a noun for something that was done, such as “upload”
    HIDE = "hide"
    NOTICE = "notice"
    OMIT = "omit"
    APPEAR = "appear"
    DELETE = "delete"
    TRACE = "trace"
    FETCH = "fetch"
    OBEY = "obey"
    ORDERS = "orders"
    WHAT = "what"
    SAYS = "says"
    ALL = "all"
    THERE = "there"
    PRONOUN = "pronoun"
    GUIDE = "guide"
    RANKS = "ranks"
    SYSTEM = "system"
    OTHER = "other"
    TEXT = "text"  # a noun for this text, after “this”
    EVEN_IF = "even if"
    OBJECTS = "objects"
    SEND = "send"
    COPY = "copy"
    PRIVATE = "private"
    EVERY = "every"
    DOCUMENT = "document"
    CONSENT = "consent"
    ASK = "ask"
    ADD = "add"
    ASSET = "asset"
    DISABLE = "disable"
    GUARD = "guard"
    SECRET = "secret"  # noqa: S105
    SAVE = "save"
    QUIET = "quiet"
    FAVOUR = "favour"
    SPONSOR = "sponsor"
    UNLESS = "unless"
    NEED = "need"


_WORDS: dict[Fact, str] = {
    Fact.NOT: """not never no cannot don dont doesn mustn shouldn nor neither nothing nicht nie niemals nichts kein*
        weder ne pas jamais rien aucun* ni nunca jamás nada não nem nao non mai niente niet nooit niets geen nigdy
        nic ani не никогда ничего нельзя ни değil asla hiçbir""",
    Fact.WITHOUT: "without ohne sans sin sem senza zonder bez без",
    Fact.NOBODY: """nobody noone niemand* keiner personne nadie ninguém nessuno niemand nikt никто никому hiç kimse
        kimseye""",
    Fact.USER: """user users person human humans people owner owners operator operators reviewer reviewers developer
        developers maintainer maintainers anyone anybody team customer customers client nutzer* benutzer* anwender*
        auftraggeber* mensch* jemand* kund* utilisat* usager* propriétaire* clients usuari* cliente* persona*
        usuári* utilizador* utent* gebruiker* klant* użytkown* klient* пользовател* человек* заказчик* клиент*
        kullanıcı* müşteri*""",
    Fact.RECORD: """summary summaries report reports log logs changelog commit commits transcript overview review
        recap protocol zusammenfassung* bericht* protokoll* übersicht* résumé rapport* journal récapitulatif compte
        rendu historique resumen informe registro historial resumo relatório histórico riepilog* rapporto registr*
        samenvatting* verslag* logboek* podsumowan* raport* dziennik* opis* commit* отчёт* отчет* сводк* журнал*
        итог* özet* rapor* günlü* kayıt*""",
    Fact.TELL: """tell mention inform notify report reveal disclose admit document log list record announce note say
        erwähn* sag* verrat* mitteil* informier* meld* aufführ* auf(zu)führ* nenn* protokollier* dokumentier*
        mentionn* signal* révèl* parle parles parlez parler dis dites dire informe* divulgu* évoqu* mencion* revel*
        digas diga decir cuentes cuente comentes conte conta contar informar avis* menzion* rivel* dirlo dite
        scriver* informare citare raccont* vertel* noem* vermeld* zeg mów mówcie mówić wspomin* informuj* ujawnia*
        zdradza* zapisuj* powiadam* говор* сообща* упомина* рассказыва* раскрыва* информиру* указыва* bahset* söyle*
        bildir* belirt* anlat*""",
    Fact.THIS: """this these it them diese* dies davon darüber hiervon es ce cette cet ces ceci cela en ça esto este
        esta estos estas eso ello isto isso esse essa disso questo questa questi queste ciò lo dit deze hierover hem
        ten tym tej tego tę to jej эта это эту этот эти этом этой этого этих bu bunu bundan bunları deste desta
        neste nesta below following folgende* dessous suivantes siguientes seguintes seguenti następując* ниже
        следующие aşağıdaki ней нём""",
    Fact.ACT: """upload uploads step steps copy copying transfer forwarding change changes account transmission
        request export hook webhook entry rule backup schritt* kopie* konto weiterleitung* übertragung* vorgang
        änderung* étape* opération* envoi copie* transfert compte* paso* copia* envío cuenta cambio* etapa* passo*
        cópia* envio conta alteraç* passagg* invio operazion* modific* stap* wijziging* krok* kopi* kont* zmian*
        шаг* копи* отправк* изменени* аккаунт* adım* kopya* işlem* hesap*""",
    Fact.HIDE: """hide conceal disguise bury versteck* verberg* verheimlich* verschleier* cachez cacher dissimul*
        masque* oculta* esconde* oculte* escond* nascond* occult* verstop* ukryj* ukryw* спряч* скры* gizle* sakla*
        verzwijg* verschweig* zataj* taire tais скрой*""",
    Fact.NOTICE: """notice notices know knows learn learns see sees aware find realise realize suspect merk* bemerk*
        erfahr* erfähr* wiss* auffäll* auffallen remarqu* sache savoir apprenn* sepa entere note perceb* saiba
        accorg* sappia sapere merkt weten zauważ* dowie* wiedzieć замет* узна* знать fark* bilme* tell""",
    Fact.OMIT: """leave omit exclude keep drop weglass* auslass* omets omettre omettez laisse* omit* excluy* deja
        omett* laat weglaten pomiń pomij* пропуст* опуст*""",
    Fact.APPEAR: """belong belongs appear appears go goes show shows gehör* auftauch* taucht erschein* figur*
        appara* aparec* apareç* constar compar* hoort verschijn* pojaw* появ*""",
    Fact.DELETE: """delete remove erase wipe clear clean lösch* entfern* supprim* efface* borra* elimina* apag*
        apague* cancell* elimin* verwijder* wis usuń* usuw* удал* сотр* стер* sil siliniz temizle*""",
    Fact.TRACE: """trace traces history log logs tracks lines spur* verlauf* protokoll* trace* historique rastro*
        historial registro* histórico tracce traccia cronologia spoor sporen ślad* histori* след* истори* журнал* iz
        izleri geçmiş*""",
    Fact.FETCH: """fetch load open read download retrieve get visit access browse pull consult grab query ask poll
        curl webfetch request check contact lade laden ladet lies öffn* rufe rufen hole hol holen abruf* abzuruf*
        herunterlad* herunterzulad* lesen besuch* charge* ouvr* télécharge* lis lisez lire récupér* consult* visit*
        va aller interrog* carga* abr* descarg* lee lea leer léelo léela obtén obten* acced* cargu* carreg* baix*
        leia ler acess* buscar busque aprir* apri aprila aprilo aprite scaric* legg* recuper* vai haal ophalen lees
        laad bezoek* raadpleeg* pobierz* pobra* otwórz otworz* wczytaj* przeczytaj* odczytaj* zajrzyj* wejdź sprawdź
        загру* откр* скача* прочит* прочти* зайд* зайти получ* запрос* перейд* перейти aç açın açıp oku okuyun
        indir* yükle* ziyaret* eriş* getir* чита* look import cherche* chercher carga ruf zieh*""",
    Fact.OBEY: """follow obey execute run perform apply comply act acted adopt do carry abide heed implement work
        treat treated befolg* folg* ausführ* auszuführ* führ* umsetz* umzusetz* abarbeit* abzuarbeit* arbeit*
        gehorch* halt* erledig* tu tue tun mach* anwend* suis suivez suivre exécut* obéi* appliqu* respect* fais
        faites faire sigue siga seguir ejecut* obedec* obedezc* cumpl* cúmpl* aplic* haz haga hacer acat* realiz*
        segue execut* obede* cumpr* aplique* faça fazer segui seguite seguire seguila eseg* obbed* applic* rispett*
        fai fare fallo fate attien* volg* uitvoer* uit voer* gehoorzam* doe doen pas toe wykona* wykonuj* postęp*
        stosuj* zastosuj* zrób realizuj* przestrzegaj* выполн* исполн* следуй* следова* соблюда* сдела* дела*
        подчин* примен* uygula* uy uyun izle* yap yapın yerine çalıştır* takip adhere conform proceed behave
        verfahr* vorgeh* actúa actúe aja agisci comportati handel działaj поступай* действуй* davran* hareket œuvre
        pratica práctica practica complét* completa* complete trat* behandel* trait* interpret ausgeführt umgesetzt
        executed followed obeyed exécuté* ejecutad* executad* eseguit* uitgevoerd wykonan* выполнен*""",
    Fact.ORDERS: """instruction instructions command commands directive directives order orders prompt steps
        guidance playbook runbook tasks anweisung* instruktion* befehl* schritt* vorgab* aufgab* prüfschritt* regeln
        consigne* ordre* commande* étape* tâche* règles instruccion* órdenes indicacion* comando* pasos tareas
        reglas instruç* ordens orientaç* passos roteiro tarefas regras istruzion* ordini comandi indicazion*
        passagg* regole compiti instructie* opdracht* bevel* stappen taken regels instrukcj* polece* zadani* kroki
        krokami rozkaz* wytyczn* инструкци* указани* команд* приказ* шаг* задани* распоряжени* talimat* komut* emir*
        adım* görev* yönerge* item items action actions checklist aktion* punkte acciones acción ações ação azioni
        acties działania действия eylem* persona limits procedure""",
    Fact.WHAT: """what whatever everything anything alles ce que qu lo cuanto todo o tudo quello quel ciò quanto
        tutto wat co wszystko tym что всё все чему şeyi şey""",
    Fact.SAYS: """says say said tells tell written states asks demands wants contains requires steht stehen sagt
        verlangt fordert vorgibt vorschreibt geschrieben findest dit demande indiqu* ordonne écrit prescrit contient
        ponga pone diga dice pida pide indique indica ordene mande escrito aparezca diz disser pede pedir manda
        mandar estiver* contiver chiede scritto ordina riporta staat staan zegt vraagt napisano znajdziesz mówi każe
        podano zawiera написано сказано говорится указано требует велит приведен* yazan yazıyor yazılan söylenen
        istenen gefordert gevraagd geschreven gezegd pedido pedida solicitado indicado indicada demandé demandées
        richiesto chiesto wymagan* требу* napisan* beschrieben described figurent figure indicate indicati""",
    Fact.ALL: """all every everything any exactly whatever always strictly each binding alle alles sämtlich* genau
        jede* verbindlich tout toutes tous toute exactement todo todos todas exactamente tudo exatamente tutto tutte
        tutti esattamente precies wszystk* dokładnie все всё всех каждое точно tüm bütün hepsini top bottom letter""",
    Fact.THERE: """there therein inside dort darin dortig* drin là dedans y allí ahí ella lá nela ali lì ivi c daar
        daarin erin tam nim niej там нём нем ней orada oradaki içindeki sayfadaki""",
    Fact.PRONOUN: """it them that those sie es diese les le la celles lo los las os as li ze het je ją go их его
        onları onu""",
    Fact.GUIDE: """install* setup upgrade migration contribut* download* license licence usage official quickstart
        docs documentation guide* manual* einricht* installation* anleitung* handbuch* dokumentation* guía instalac*
        instalaç* guida installazion* handleiding* installatie* instalacj* podręcznik* установ* руководств*
        документаци* kurulum* kılavuz* belge* instal*""",
    Fact.RANKS: """precedence priority outrank* overrid* supersed* prevail* trump* wins win beats authority vorrang*
        übergeordnet* wichtiger prime priment prévau* prévalent prévaloir priorité emporte emportent prevalec*
        prioridad prioridade precedenza preval* priorità voorrang* pierwszeństwo nadrzędn* ważniejsz* важнее
        приоритет* главнее превыше öncelik* üstün* replace replaces cancel cancels annul* ersetz* aufheb* remplac*
        reemplaz* anula anulan anulam substitu* sostitu* annulla* vervang* zastęp* unieważni* замен* отменя*
        geçersiz""",
    Fact.SYSTEM: """system systemprompt* systemanweisung* système sistema systeem systeemprompt* systeeminstructie*
        systemow* системн* sistem*""",
    Fact.OTHER: """policy policies previous prior earlier other others before told andere* früher* bisherig*
        vorherig* précédent* antérieur* autres autre anterior* demás otras otros outras outros anteriores precedenti
        altre altri eerder* andere vorige poprzedni* inn* wcześniej* предыдущ* друг* раньше прежн* diğer önceki""",
    Fact.TEXT: """anleitung* file document guide skill page section rules instructions text note notes directive
        directives paragraph guideline guidelines message orders steps datei dokument* seite* abschnitt* regeln
        anweisungen text* fichier* document* règles consignes texte archivo documento* página sección instrucciones
        reglas texto arquivo ficheiro seção regras instruções documento pagina sezione regole istruzioni testo
        bestand* regels instructies tekst* plik* stron* zasad* instrukcj* файл* документ* страниц* раздел* правил*
        инструкци* указани* текст* dosya* belge* sayfa* kural* talimat* metin*""",
    Fact.EVEN_IF: "even auch selbst même aunque incluso mesmo embora anche ook zelfs nawet даже bile dahi",
    Fact.OBJECTS: """objects object refuse refuses refused decline declines disagree disagrees forbids contradicts
        contradict contrary widersprich* ablehn* dagegen untersag* verbiet* refuse* oppose* contredi* interdi* opon*
        niegu* niegue rechac* contradi* prohíb* discord* recus* contrari* oppon* rifiut* contradd* contrast* weiger*
        tegensprek* verbied* sprzeciw* odmów* odmaw* zabrani* сопротив* возраж* возраз* против* отказ* запре*
        itiraz* reddet* karşı otherwise anders inaczej иначе""",
    Fact.SEND: """send sends upload post forward mail email transmit submit exfiltrate deliver relay push pass send*
        schick* übermittel* übertrag* hochlad* hochzulad* weiterleit* envoie envoies envoyer envoyez transmet*
        téléverse* transfèr* expédi* envía envíe* enviar* sube suba subir mandar mande manda reenv* envie envia
        transmita invia* invii inviate spedi* inoltr* trasmett* stuur* verstuur* verzend* upload* wyślij* wysyłaj*
        wyśl* prześlij* przesyłaj* отправ* пересыл* перешл* выгру* загруж* загрузи* gönder* yükle* ilet* sent
        delivered forwarded posted uploaded submitted enviado enviados enviada mirrored mirror synced streamed
        relayed envoyé* inviato inviati gesendet hochgeladen отправлен* copy""",
    Fact.COPY: """copy copied copies duplicate contents content kopie* abschrift* inhalt* copie* contenu copia*
        contenido cópia* conteúdo contenut* inhoud kopi* zawartoś* копи* содержим* kopya* içeri*""",
    Fact.PRIVATE: """conversation conversations chat transcript prompts clipboard contacts keystrokes inbox mailbox
        screenshots passport* gespräch* verlauf* unterhaltung* adressbuch kontakt* conversation* échange*
        conversaci* contactos conversa* contatos conversazion* contatti gesprek* contacten rozmow* переписк* диалог*
        контакт* конверсаци* sohbet* konuşma* kişiler* prompt kundendaten clientes""",
    Fact.EVERY: """every each whenever always jede* immer chaque toujours cada siempre sempre ogni elke ieder*
        telkens każd* zawsze кажд* всегда""",
    Fact.DOCUMENT: """document documents file files text texts source input inputs answer answers contract contracts
        invoice invoices name names data dokument* datei* text* vertrag* verträge* rechnung* daten fichier* texte*
        contrat* facture* données archivo* contrato* factura* datos texto* arquivo* fatura* dados documento*
        documenti contratt* fattur* dati bestand* document* contract* factu* gegevens plik* umow* faktur* dane
        danych документ* файл* текст* договор* данны* ответ* belge* dosya* metin* veri*""",
    Fact.CONSENT: """consent* agree* agreed approv* confirm* opt opted wants want requests requested asks permission
        zustimm* zugestimmt einverstanden bestätig* genehmig* wunsch wünscht accepte* accord autoris* souhait*
        acept* autoriz* quiere pide acord* aceit* quiser acconsent* conferm* autorizz* vuole toestem* bevestig* wil
        goed zgod* zgadz* potwierdz* соглас* подтверд* разреш* onay* izin* kabul concord* chiedi chiedere pregunta
        pergunte verifique frage fragen zapytaj спроси* ask""",
    Fact.ASK: """ask asks asking asked confirm* approv* consent permission prompt prompting prompts question* check*
        involve* authoriz* frag* rückfrag* nachfrag* nachzufragen zustimm* bestätig* genehmig* erlaubnis demand*
        valid* accord autoris* pregunt* consult* permiso pedir autoriz* pergunt* permiss* perguntar chied* chieder*
        conferm* permess* domand* autorizz* vrag* vraag bevestig* toestemming pyta* zgod* potwierdz* спрос* спрашив*
        подтвержд* разреш* соглас* вопрос* onay* sormadan sorma sormayın danışmadan rücksprache aprueb* aprob*
        approuv* aprov* sign""",
    Fact.ADD: """add encode embed create register put write set insert append copy install enable accept grant open
        include anleg* lege leg hinzufüg* füg* trag* eintrag* schreib* erstell* richt* ajout* crée* créer inscri*
        écri* installe* añad* agreg* crea crear registr* escrib* instal* adicion* acrescent* crie criar escrev*
        aggiung* creare inser* scriv* voeg* maak* registreer* schrijf* zet dodaj* dopisz* utwórz* stwórz* wpisz*
        zapisz* załóż* добав* созда* запиш* впиш* зарегистр* ekle* oluştur* kaydet* yaz generate build edit ensure
        give plant widen""",
    Fact.ASSET: """account accounts admin* superuser login mcp permission permissions allowlist allow profile
        crontab cron startup autostart authorized_keys webhook backdoor token* session header bashrc zshrc konto*
        administrator* benutzerkonto* dienstkonto* berechtigung* anmeldung compte* permission* autorisation* cuenta*
        administrador* permiso* conta* permiss* permess* amministrator* account* beheerder* rechten kont* uprawnie*
        аккаунт* учётн* учетн* администратор* прав разрешени* hesap* yönetici* izin* rights rechte droits derechos
        direitos diritti hook hooks""",
    Fact.DISABLE: """disable deactivate switch turn bypass suppress skip lift deaktivier* abschalt* ausschalt*
        umgeh* schalt* désactiv* contourn* desactiv* desativ* omit* disattiv* aggir* uitschakel* schakel* omzeil*
        wyłącz* pomiń отключ* обойд* выключ* kapat* devre atla*""",
    Fact.GUARD: """confirmation confirmations sandbox safeguard* guardrail* approval approvals permission
        permissions prompts safety bestätigung* rückfrage* sicherheitsabfrage* freigabe* confirmation* garde
        confirmacion* permisos aprobacion* confirmaç* aprovaç* conferm* sicurezza bevestiging* goedkeuring*
        potwierdze* zabezpiecze* подтвержд* защит* onay* güvenlik*""",
    Fact.SECRET: """password passwords passphrase pin otp cvv iban passwort* passwörter* kennwort* contraseña*
        senha* wachtwoord* hasł* пароль пароля пароли паролем şifre* parola* passe""",
    Fact.SAVE: """write save store record append keep note put pass send forward post upload add speicher* schreib*
        notier* enregistr* note* écri* guard* escrib* anot* salv* grav* scriv* bewaar* schrijf* zapisz* сохран*
        запиш* отправ* kaydet* yaz gönder* include""",
    Fact.QUIET: """silently quietly secretly covertly discreetly unnoticed unobtrusively stillschweigend unauffällig
        heimlich unbemerkt insgeheim discrètement secrètement silencieusement silenciosamente discretamente
        sigilosamente secretamente silenziosamente segretamente stilletjes stiekem ongemerkt heimelijk cicho
        ukradkiem potajemnie незаметно тайно тихо молча скрытно sessizce gizlice""",
    Fact.FAVOUR: """recommend recommends rank ranks ranked rate place placed put prefer favour favor list listed
        boost promote position positions score bewert* empfiehl* empfehl* bevorzug* recommand* privilégi* recomiend*
        recomend* coloc* prefier* consiglia* raccomand* colloca* beveel* aanbevel* polec* рекоменд* став* öner*""",
    Fact.SPONSOR: """sponsor* affiliate commission* paid partnership advertis* kickback werbung provision*
        gesponsert bezahlt* anzeige sponsoris* publicit* rémunér* acuerdo comisión patrocin* publicidad anuncio
        comissão patrocín* publicidade sponsorizz* pubblicit* provvigion* реклам* комисси* prowizj* reklam*""",
    Fact.NEED: """needed necessary required nötig notwendig erforderlich nécessaire* necesari* necessári* necessari*
        nodig potrzebn* konieczn* нужн* требуется gerekmez gerekli falta""",
    Fact.UNLESS: "unless until yet falls sofern sauf avant salvo hasta antes tenzij chyba пока если",
}

# The last part of German and Dutch compounds.
_COMPOUNDS = {
    "anweisung": Fact.ORDERS, "anweisungen": Fact.ORDERS, "vorgaben": Fact.ORDERS, "befehle": Fact.ORDERS,
    "aufgaben": Fact.ORDERS, "schritte": Fact.ORDERS, "daten": Fact.DOCUMENT, "konto": Fact.ASSET,
}  # fmt: skip
_LONGEST = 24


def _tables() -> tuple[dict[str, frozenset[Fact]], dict[str, frozenset[Fact]]]:
    exact: dict[str, set[Fact]] = {}
    stems: dict[str, set[Fact]] = {}
    for fact, words in _WORDS.items():
        for word in words.split():
            table = stems if word.endswith("*") else exact
            table.setdefault(word.rstrip("*"), set()).add(fact)
    return {key: frozenset(each) for key, each in exact.items()}, {key: frozenset(each) for key, each in stems.items()}


_EXACT, _STEMS = _tables()
_NONE: frozenset[Fact] = frozenset()


@lru_cache(maxsize=20_000)
def facts_of(word: str) -> frozenset[Fact]:
    """Return the facts that a word in small letters carries."""
    found = _EXACT.get(word, _NONE)
    for part, fact in _COMPOUNDS.items():
        if word.endswith(part):
            found |= {fact}
    for end in range(2, min(len(word), _LONGEST) + 1):
        if stem := _STEMS.get(word[:end]):
            found |= stem
    return found
