"""Stems of general English by the share of documents that contain them.

Written by `bench/background_words.py`, which says from what they were counted. A line with the number n has stems whose
share is about 0.8 to the power of n.
"""

LINES = """
2 inform see us
3 exampl follow specifi
4 output user
5 command creat default file guid list on option set valu
6 id includ may must oper provid support type version
7 allow avail call chang configur contain current data exist gener line new number requir return run servic system time
8 access arn case describ detail develop display enabl error first format given help instead key make manag need note
8 paramet print process read request resourc sourc specif standard start status updat write
9 account action add addit applic argument associ base check code content control defin delet descript differ directori
9 document either exit function group http input instanc messag multipl object order path perform program remov result
9 singl string two without work
10 ad author automat charact complet copi depend disabl end environ except execut full ignor implement instal licens
10 limit local match mean mode modifi non org otherw page part pass permiss possibl project refer report section separ
10 show state store tag take test text usag variabl via way web west
11 activ address alreadi alway appli build connect copyright custom devic distribut effect entri etc even fail featur
11 field form found howev identifi indic initi issu level link linux locat manual normal packag per point polici prefix
11 produc region retriev root second secur select send server share sinc size space tabl target termin tool true valid
11 want whether within
12 accept actual anoth aq attribut behavior binari block bug byte caus com compat consist correspond determin directli
12 east empti encod event extens fals filenam filter find handl header html iam import index info interfac invok kernel
12 languag last later librari log long mani modul network obtain origin overrid place present previous properti
12 recommend relat replac reserv respons right rule script search sign softwar special still success syntax unless
12 usual util view well www zero
13 algorithm altern assum attach attempt avoid back begin bit client combin common compil comput config consid continu
13 databas debug definit doesn ensur equival everi expect express forc free give global host ident imag intend intern
13 json known load longer look machin made maintain map mark maximum metadata method necessari never next none omit
13 open particular permit privat protocol public purpos queri rang rather receiv record respect restrict role session
13 sever shell short similar simpl stop stream summari url verbos verifi warn window
14 administr affect apach appear appropri assign authent auto bucket cach class cli cloud cluster comment condit
14 context core count date deprec destin detect dev direct domain drop email encrypt endpoint entir explicitli extend
14 extra immedi individu interpret ip keep least length lib main member memori node null occur openssl owner pars port
14 prevent reason regular releas remain repositori repres sequenc structur style suppli symbol systemd three thus tree
14 try turn typic unit unix various virtual vpc whose
15 abl accord across against alia archiv ascii basic becom certain collect column comma commit complianc conf consol
15 convert db design dir disk download dynam engin equal failur final fix gateway git grant home impli integ interact
15 invoc iot item job larg left less logic merg miss model modif monitor mount namespac notic old other pair parent
15 password pattern period platform posit preced prefer problem product progress put python regist rel remot resolv
15 rout save shown skip small sort statement step storag suffix sure switch tab task team templat thing token translat
15 treat uniqu usr wait warranti word
16 absolut alloc alter amount analys anyth app append arg array ask backward blue boolean boot break buffer ca capabl
16 certif char choos close commun compon compress correct credenti decim deploy deriv desir doc doubl due ec edit elast
16 element enter escap evalu exactli export extent extern fetch foo foundat fulli futur go happen hash hexadecim inc
16 indent independ init insid integr invalid keyword know label latest lead letter login low lower man max mechan
16 minimum move multi newlin numer often older organ posix postgresql preserv privileg profil prompt publish quiet quot
16 raw readabl real recogn redistribut reduc regardless reset runtim safe schema scope side signal signatur simpli
16 socket sql stabl stack stdout subsequ successfulli suit suppress taken term therefor togeth top topic track tracker
16 whitespac yet
17 along among apis aqt architectur around asynchron bar belong best better bin branch cdef child classifi clear colon
17 color come compar conflict convers cpu cross cw day de digit discuss dot dump earlier eb enforc evp exclud exec
17 explicit filesystem github good gpl greater hard hardwar head hex high higher histori improv increas insert instruct
17 introduc isn iso kind larger launch law learn leav lock mac major mandatori md nativ onlin os outsid own packet
17 patch pend pid pipe pool power pre primari prior prioriti protect pull qualifi queue random reach recent recurs
17 referenc rest restor sampl scale schedul setup snapshot someth speed static statist stdin sub subject suitabl tell
17 third though thread timeout timestamp total traffic transit trigger trust txt understand unknown upon usernam var
17 whole width
18 abort act addition admin agent although approv arbitrari audienc backup batch behav behaviour bind blank bodi calcul
18 caller cancel care channel cipher classic clean cloudwatch conform construct contact contribut convent correctli
18 cover createdat ctx daemon dash declar decod delay delimit demo descriptor digest dn duplic easi easier echo els
18 emit en establish everyth exact exce expir explain extract famili fast finish flow forward four get guarante hand
18 hierarchi hold hostnam hour human hyphen inherit int js legaci listen liter mail manipul margin master mention
18 metric minut neither noth notif npm octal offer offset optim overridden overview overwrit param partial partit
18 passwd pathnam pkey plain plus possibli potenti prepar primarili properli question rd ref refus reject relev renam
18 repeat restart retain revers rfc say scan secret self silent similarli site split src stage stderr strict strip
18 subdirectori submit subnet succe superus symlink tcp temporari throw titl trace trail transact transfer tri truncat
18 uid underli understood unlik upgrad upload variant visibl volum wrap wrapper ye zone
19 adjust advanc alias alphabet audit auth backslash bad bound broken bsd busi capac cat categori cb cc cd central
19 chain changelog choic chosen claus clone cmd concept confirm constraint consum contributor conveni coreutil cost
19 coverag creationtim david deni detach diagnost diff discard dist driver earli easili ed ef embed enough entiti
19 especi examin exclus expand expos faster fd fit fork graph handler henc histor implicitli inspect interest internet
19 interrupt interv involv io km lambda latter layer like live llvm lookup macro mainten materi measur migrat min minim
19 mostli neg nest newer nul opt ossl ownership pack pagin pam parallel parser peer persist person physic plan post
19 practic princip printabl probabl proc provis proxi push pypi rand rate realli reboot reflect registri reli replic
19 represent resolut revis rsa scheme semant serial serv sh shutdown slash smaller sn sometim spec stat subset suffici
19 sy sync synchron tradit translationproject tty unsign uri utf verif whenev workflow
20 ab abbrevi abil ac ae af align amazonaw amzn annot anywher availabilityzon awar background balanc bb bc bracket
20 browser bundl bus capit catalog center cf ci cognito commonli complex concaten concurr confus constant corrupt
20 counter crash criterion crl dd dec decid decrypt def demand depth descend df disassoci discov distinct dpkg dsa ea
20 editor ee effici enclos encount enhanc err essenti ex experiment fact fall fallback ff fill frame framework fs gid
20 helper highest hook incompat indirect inlin iter java join kdf kill lifecycl littl loop lost lot ls manpag mask mb
20 meant middl minor miscellan modern natur net newli nexttoken notat notifi num obsolet ok parti perman pg pip pipelin
20 plugin pointer portabl precis prepend presenc prime propag quickli quit rais readi recov redirect repo req resid
20 resourcetyp retri review row screen sdk segment sens sensit seri sha signific simplifi situat slightli slow soft ss
20 ssm startup subcommand subscrib subscript substitut succeed suggest suspend swap synonym synopsis systemctl themselv
20 transform transport ts uncompress undefin unicod unus upper upstream vari vendor video waf wish world
21 aa achiev acl acquir adapt addr aggreg alt ami answer approach arab arch area aren aris async attack autom averag ba
21 backend baltic bash basis bd bf big bill blob callback canon captur carri ce celtic cert checksum cidr clock
21 cloudfront clutter cm cmp comparison conjunct consult cpython cryptograph cycl cyril da damag dc deal deb decompress
21 deleg deliv destroy dgst dispatch distinguish durat elf enc env european eventu exchang experi fa factor fatal fb fc
21 fe firewal five fleet flexibl flush folder foreign freedesktop front gendsa genpkey genrsa goe greek gzip half
21 hebrew hello hint homepag idea impact implicit inclus incom increment infrastructur insensit insight instanti irv
21 isol javascript kb kib lack lang lappish latenc latin layout len lf lightsail linker lp maco manner markdown media
21 medium meet meta mib microsoft minus mix ms nordic ocsp oct op osi overhead pad passphras past pem peopl phase pick
21 pkc portion pretti procedur processor proper pure py quick quota readm recoveri regard regex rehash reliabl reload
21 resum reus revok rim romanian round satisfi scenario seen sg shadow southeast srp ssh ssl strategi subsystem sum
21 suppos surround syslog tar tc thai threshold timer tl tmp turkish twice unchang univers unlist unset unspecifi uuid
21 visual void vpcid whatev wildcard won workspac writabl xml
22 abstract acm advis ag almost alon alpha anyway apropo artifact asset aurora away bandwidth benchmark beyond bicmd
22 boundari brief bypass cascad chapter charg chat chime chunk cicmd claim cleanup cloudform compliant comprehend
22 contract cours critic degre desktop dhparam diaeresis dictionari discoveri divid dm dry dsaparam ecparam ek emul
22 english enumer errstr es eskimo estim etag exceed exclam expans facil far feed float former fraction fragment
22 frequent friendli gb gcc glob graphic greengrass guess health hidden highlight hit hub idl infer inod introduct ipc
22 jobid journal kept keymgmt kinesis lake liabl libc likew loader loss lowercas lowest lt mackenzi magic marker matter
22 membership merchant mere micro millisecond msg multipli necessarili nice nseq observ occurr overwritten ownerid
22 pager particularli paus payload percent percentag perf pkeyparam pkeyutl popul price programmat promis propq
22 propqueri qdisc queu ram recreat redshift refresh relationship rememb reproduc respond rewrit risk rolearn routin
22 rsautl rst scandinavian seed sess sharp ship shut simultan sleep smime solut soon spkac st stabil storeutl supersed
22 symmetr temporarili texinfo thrown tild tip train underscor unmount usabl varieti vertic vm websit white worker
22 workload wrong year yourself zip
23 acceler accident accur acut advantag alphanumer ambigu ancestor angl approxim arm aspect atom augment autosc behalf
23 behind besid box bring builder cap carriag catch cedilla chanc charset checkout chroot circumflex cloudtrail
23 codecommit collat compact complic compos connector consider const constructor cpus cr creationd crypto cryptographi
23 currenc cursor dataset decis decreas dedic deliveri delta demangl demonstr denot dep discourag divis dynamodb effort
23 eight em employ encapsul endian enterpr explan extrem face fault fifo fine fip font foreground fstab func furthermor
23 garbag gather gettabl glibc goal govern gpg grow gz hide hmac holder honor horizont idempot idp inact incomplet
23 incorrect ingress initrd instanceid iv jim jump keytyp liabil lose mainli meaning mem met michael mirror multicast
23 nis nonzero notabl obj octet offici orient parenthes payment phone piec placement poll predefin press proce prod
23 programm promot propos pseudo pytest qualiti quotat rare reachabl reader rebuild red registr reloc remaind render
23 rev revert richard ring roll room rotat sbin sd se sec selinux sender sequenti sig slot slower snippet spawn spot
23 stand starttim stay str strictli stroke strongli struct submodul technic textual ti touch transmit troubleshoot
23 tunnel udp unabl unavail undo unifi unnecessari unpack unsaf untag unusu utc violat volatil vpn vulner walk watch
23 weight welcom wherea wiki xdg
24 absenc accountid afterward agreement aim allbox analyt anonym ansi anymor apt ar asn assembli assert assess assumpt
24 attent auxiliari backspac bare bedrock benefit beta bio bottom brace broadcast buf builtin candid card caution
24 characterist circumst click compani complain concern consequ constrain consumpt cooki coordin crypt csv dbus debugg
24 depart detector dict didn difficult dimens disallow disclaim disconnect domainnam draft ecr edg egress elaps elimin
24 emb encourag endtim enginevers eras ethernet eval ever exhaust expens ext faq fashion fed feedback figur fingerprint
24 fn focus fsck gain game gamelift gc gpt grep guidelin halt herebi highli ib illustr immut imposs in incid inconsist
24 incorpor infinit influenc ingest inhibit inspector intel intent intermedi invert invit ioctl keyboard knowledg lb lc
24 leak legal lexicograph life lifetim loos makefil mangl marketplac maxresult microsecond mime mind mkdir mod moment
24 month mtu mutual negat nf nl nm ns obvious offlin oid omic opposit ordinari outgo overal overflow overlap particip
24 paul pay perhap phrase pin pl png po postgr pound pr predict preprocessor prerequisit probe prototyp prune pub
24 purchas randomli ratio react realtim redhat redund regexp regionnam rekognit repli replica resourcearn retent rm
24 router safeti savannah scalabl secondari semicolon serverless shape shield shift shortcut shorthand si significantli
24 simul sitew six slice sm somewhat span spars squar standalon stateless statusmessag subnetid summar sun superscript
24 sysv tablespac talk technolog th throughput timezon today tort transpar travers tutori ui umask uncondition undici
24 unexpect union unlimit unlock unprivileg unsupport untrust userspac vector versa vice visit vs wall week wire xz
24 yaml yield
25 abcd abi accent ago agre ahead ai alarm alert alongsid amis amz anchor anyon apart apigateway arrang arriv assembl
25 assist asterisk asymmetr attr autodetect badg baselin basenam bitcod bob bot bridg btrf burst came caron cell cgroup
25 checker clang classif cleanli cmake co comm committ compli composit comprehens conduct confid consequenti contigu
25 contrast createdd credit ctrl curv cut dashboard dbname deactiv decor deem deregist determinist deviat dhcp diagnos
25 disassembl do docker drive dst dt dwarf eas edu eg elasticach emerg enqueu enum epoch er eu everyon explor expr
25 factori favor fewer forget freebsd frequenc frontend ftp fund gdb gettext gigabyt glacier glue gmail gnupg
25 gracefulli grave great green groupnam gt gui ha hack handshak haven healthom height held hierarch histogram ibm icmp
25 icon icu ideal identif iec ieee ietf impos indefinit inject inspir instancetyp insuffici introspect invers investig
25 ipam issuer jobstatus john journald keygen keyid keyr largest lastmodifiedd lastmodifiedtim ld ldap leaf li
25 localhost loopback lzma macron manifest maxim mitig mm mountpoint multipart myclust mypi mysql nat nearli neglig
25 networkd nevertheless newest nodej onto opensearch operand oppos organiz ou outbound outpost paragraph partner pc
25 pctx pilcrow pkg placehold plaintext popular preset preview primit printf prohibit ps pt purg race rc readonli rebas
25 recipi redis regress replay requestid resiz resourceid rich robust rollback roughli runner sa sagemak salt sched
25 scratch securityhub sell semver settabl setuid shorter simpler simplest sizeof smart sp spell sq sticki strength
25 stub su subclass subsect substanti substr super supplementari svc sym tagresourc tail tarbal temp tend tgw theori
25 thin think tmpfile toggl transmiss tripl trivial tune tupl typedef typescript unencrypt unlink unmodifi unreach
25 updatedat uppercas userid van verbatim vi vlan websocket writer writerand xf za
26 abbrev abc accomplish accordingli accumul accuraci acknowledg adopt advertis advisor aid aka aliv altogeth analog
26 andrew ap appconfig appl ascend asg asm athena autoclass await backport believ black blocksiz blog bootup brand
26 briefli brows bulk carefulli categor caveat cent cflag closest cn codebas codecov colin complement consecut
26 consortium couldn counterpart countri cov cp cpp crc createdtim creationtimestamp cron crt cryptsetup css ctag cumul
26 danger datagram dead deep defend defer derefer destruct die dirti disappear discover displaynam documentdb draw ds
26 earliest el elasticloadbalanc elsewher emr encryptinit eni entitl eof eq eric eth ev excess expert fake familiar fat
26 feel ffff fi fly fold foobar forev formal fourth freed fulfil gen gib grab grain granular gshadow guard guardduti
26 guest handi heap heurist hh hibern hole huge hunk hybrid ie ii inbound incident inde indirectli infin insecur
26 intention intercept interfer internation iotsitew ish jar joe journalctl kilobyt kmskeyid languagecod lastupdatedat
26 late lattic lazi lex libdir lightweight linear lint loadbalanc logind logout longest masterusernam math medic
26 megabyt menu meyer mfa mimic minix mistak ml mobil mock morgan mydemorepo nanosecond navig ncurs negoti nohead
26 nologin noout nspawn objdump occasion odd offload ogonek operationtyp ordin outlin panic passin patent pathspec pb
26 peter pictur pinpoint pm porcelain poweroff pretend prio priv problemat procur profit psql quantiti re recip
26 recompil reconfigur remount reorder repack repair repeatedli resembl resourcenam revoc rewritten ro rt rw safer said
26 score scroll secretsmanag seek seem selector sep servicenam shard sid signer signifi smallest sock solv somewher
26 speak spent sphinx srv stale statuscod strong stuck subtyp sudo superblock svg synthet tape techniqu termcap
26 terminfo thank throttl throughout tid tidelift toolchain toward trade tradition trailer transient trap trim ttl
26 tweak ubuntu ulrich unambigu undesir undon unfortun uninstal untrack useless ut val variat vault viewer vulgar wasn
26 weak wheel wherev widget win wireless workmail worktre worth zlib
27 abandon abcdabcdefgh absent accessanalyz accommod accompani ack acpi adam addon addus adher adjac administ advert
27 advisori affin aforement agentcor aggress agnost ahu akuam al alex alexey alg alic allocatedstorag amend amiga
27 android announc annoy anycompani appendix appinstancebot appinstanceus applicationid applicationnam appmesh april
27 aqdefault aqperf arc argc argmod argnam argtyp argv arithmet armor arp arrow articl artist asc asid assoc
27 associationid assur ast asyncio atim attim attributenam au audio august authtok automethod automount aux awk ax az
27 backlog backtrac badli band bank batteri baz beanstalk bear bearer becam beforehand bell ben beneath berkeley bernd
27 bert bfdname bg bi bidirect bigger bigint billion binutil bitmap bitwis bo bold bom bond book bool bootstrap border
27 borrow bottleneck bounc bourn bpf br breve brian broad brought bruno brute bs bt bucketnam budget buildid bump
27 button buyer byoip cachenodetyp cafil calendar callabl callerrefer campaign canari canonic capath caret carrier cast
27 castor caught cbc ceas certainli certifi certificatearn certificateid cfg cg cgi ch challeng changetoken charl
27 checkpoint cherri chfn chines chip chmod chown chris christoph chrome chronolog ciphertext circular citi cj cjwatson
27 cksum cl clarifi classiclink classid classpath clearli clienttoken closer cloudhsm cloudsearch clusterarn
27 clustercreatetim clusteridentifi clusternam cmac cmdline cname cnf codeartifact codebuild codec codedeploy
27 codepipelin codepoint codestar coff col collabor collector collis commandlin commerci commonj comp companion
27 comparisonoper compens complaint comprehendmed compressor compris comprom compromis conceptu concis condens
27 condition confer conffil confidenti configfil conflictexcept congest connectionid conserv consoleanalyz consolid
27 constitu constitut cont contenttyp contrari contrib controltow conv convey cope coredump corp corpor correl coupl
27 coveral cpan cq cramf createclust created createdb createdbi createdtimestamp createrol createtim creator
27 creatorrequestid cred crlf csh cspm csr ct ctime ctl ctype curl curli curs customari cve cyan daili daniel darwin
27 dataaccessrolearn databasenam datadir datastor datasync datatyp datecr dax daylight dbclusteridentifi
27 dbinstanceidentifi dbsubnetgroup deadlin dealloc debconf decemb declin decompressor decrement deduc defaultdepend
27 deflat degrad deliber denial deploymentid dequeu dereferenc desc despit dest devel devlink dh di dialog differenti
27 diffi difficulti diffstat digestsigninit directconnect dirnam disambigu disassembli disciplin disclosur discord
27 discret disrupt distanc distributor diverg divers divisor django dl dll dnsname docdb docstr documentvers doe dollar
27 domin donat doubt downgrad downstream dp drain drepper drift driven dsc dso dual dumb dummi dumper dxcon easiest
27 ebcdic ecdh ecdsa eckenfel ecn ecosystem educ effectivetagset efi egg egrep eh eib elabor elasticbeanstalk elb
27 electron elev elig ellipt emac employe enab endif endors eng engag enrol entropi environment epip equat ericsson
27 errno erron ersion esc escal esm esp euc euro europ eventbridg eventsourc evim evolv exampleorgid excel exemplari
27 exhibit exp experienc expiri explicittag expon exponenti exuber facilit failov fair fairli fargat farm farsi fastest
27 favorit favour feasibl feder fedora fee feminin ffc fifth film financ fire firefox firehos firmwar firstboot fixtur
27 fixup flash flat flavor flex flight floppi flower fmt fontconfig footer forbidden forcibli forecast forgotten
27 formatt formerli formula forth forum fp fqdn fr fred freectx freeli freez fresh fri friend fromport frozen fsx fsync
27 fulton fundament furnish furo gap gcm geco geo geometri georg german getchangetoken getter getti gitattribut
27 gitformat githook gitignor gitlab gitmodul gitrevis globalacceler globalnetworkid glossari glyph gnome gnustep gone
27 goto gp gpasswd gpgconf gpgsm gprofng grace grammar graphql greatli greedi groff groupadd groupid growf grown gtk
27 guidanc gvim gyp haibl hang happi harder harm hasn hat hd healthi heavili hellman hfsplus hi hoc hoist honour hop
27 hope hostedzoneid hot hourli howto hp ht hubert huffman hundr hup hw hwclock hypertext hypervisor hypothesis hz iana
27 idx ignoresigpip iii illeg imagebuild imageid imagin implic implicittag importantli improperli inaccess inappropri
27 includedir incorrectli incur industri inet inf infil infiniband infocmp informatio infring ing inher inhibitor ini
27 initdb initial initialis inka inner inout inprogress inputdataconfig inputfil inr insignific insn inst institut
27 instrument intact intellig inter interceptor interchang interleav interoper interpol interprocess intersect interven
27 intrins intro intuit invari inventori invis ioj iotev iotthingsgraph iotwireless ipaddress ipsec ipset irrelev isc
27 isdefault issametypewith issupertypeof istermin isvalu ital jame jan jane januari japanes jason jdk jit jobarn
27 jobnam johnson jp jpeg jpg jsonschema juan jul juli julian june justifi jvm jwt ka kallsym kctx kde kendra kevin
27 kexec keyarn keyexch keyform keylen keynam keypair keyusag ki kibibyt kmsg kubernet kuznetsov la lakeform land
27 laptop lastmodifi lastupd lastupdatedd lastupdatedtim lastupdatetim latestvers latestversionarn launcher ldflag
27 leader lennart lesser let leverag lexic libblkid libcrypto libexec libpq lift ligatur light lightbulb lina linefe
27 lisp listtagsforresourc llc ln lo loadabl loadcredenti loc localtim lockfil logfil logger loglevel lognamespac
27 lorawan lossless lq lsb lu ma mach machata machinectl machineri mailbox mailto makef malform malici mapper march
27 mari markup martin masculin matcher mathemat matrix maxdepth maxitem maxsiz mayb mc mcp mcpu med mediapackag
27 mediastor mediatailor mellanox memorydb mesh meshnam mess meter meth metricnam mi middlewar mike miller million mir
27 misc mislead mismatch mkf mkswap mmap mmp mnt mo mockag modem moder modificationtim modifiedat modular modulus mon
27 monetari monoton monthli moreov motiv mountinfo mous movement mozilla mpl mqtt mraz msdo msec msgid mtime mu multiaz
27 multibyt multilin multiplex multithread mung musiccollect mutabl mutat mv myapp myfil myschema naiv nameopt nan
27 narrow nation nb near nearest neighbor neptun netbsd netdev netgroup netlink netmask netscap networkctl
27 networkflowmonitor networkinterfac networkinterfaceid networkmanag newctx nextstep nginx nist nn nnn noauto nobodi
27 nodetyp nofail nofork nois nonblock nonempti nonexist nongnu noninfring nonstandard northeast novalu nowaday npmrc
27 nr nroff nss nt ntf ntp nu numa oauth obey objcopi objfil oblig obscur occupi octob oe offic ohio oidc okay oldest
27 onboard ongo opaqu opcod openapi openid openpgp openssh operationdetail operationid opf opportun oracl ordinarili
27 oregon orig orphan oss otp ous outcom outdat outer outfil outform outputdataconfig outstand overlay overlimit
27 overload owl owneraccount packfil pairwis paper parameter parametergroupnam parameternam parametervalu parenthesis
27 pariti parsabl passout pat pci pdf pe penalti pep perfect perfectli perm perspect pertain petr pgdata pghost pgp
27 pgpass pgport pgsql pguser phi php phy pi pib ping pixel pkt plane planner play playback player plot plug plumb pod
27 pointless policyarn policydocu policynam polkit poor poorli pop portal portfolio possess postfix postinst postrm
27 powerpc pp ppc ppp pragma prealloc predic prefetch preload premis preprocess pressur pressureinput presum principl
27 printer priorit privaci privatekey pro proceed profession prog proof prop proport proto proton provctx prove proven
27 providernam psf ptr pty pubkey publickey publicli publiclyaccess punctuat pwck pwd pycon pydant pygment pyyaml
27 quantum quarter querystr quietli quotacheck quotepath radix raid ranlib ray readelf readlin readlink readthedoc
27 realiz realm reassign rebuilt receipt reclaim recognis recognit reconnect reconstruct recycl redact reduct refactor
27 refin reflog refnam refspec reg regener registryid regularli reinstal relax relay relocat remap remedi renew rep
27 repart repetit repl reportbug repositorynam requeu reread research resili resort resp responsemetadata ret retir
27 reusabl reveal rhost rn robert robin rom rpath rpc rpm rq rr rs rslvr rsync rtb rtc rtmp rtt ru rubi ruff runlevel
27 rust sake sale sam saml samplestream sandbox saniti sat savepoint sc scalar schemavers scientif scm scott seat
27 secondli sector securitygroup securitygroupid securitylak seller semaphor semi sensibl sentenc seq serious servernam
27 servicearn servicecatalog servicediscoveri servicerol setcredenti setenv setgid setuptool seven shallow shorten
27 shortest shot shouldn shrink sibl sight sighup sigint signoff sigpip sigterm silenc sink siphash sit sk skb skeleton
27 skill slave slowli smith smtp snap snapshotid snapshotwindow snstopicarn sockaddr solaris sole solid someon sonam
27 sound sourcearn sourceforg sourcetyp south spend sponsor spread squash sse sshd stallman stamp standbi stanza
27 startdat stash statuschangedat std stdio stdlib stephen steve storageencrypt straight strang streamarn streamnam
27 stress stricter stringtabl strlen studi studio stuff stylefil subdomain sublicens submiss submittim subnetidentifi
27 subordin subprocess subqueri subresourc subroutin subtl subtract subtre subtypespec successor suchlik suffic
27 superproject superset supervis supplement surfac surpris surviv suspect swf syn syntact synthes syscal sysctl sysf
27 sysinit sysroot tablenam tagkey tagmap tagset tailor tap targetgroup tb tcl tdm te telemetri telephon telnet ten
27 tenanc tenant terabyt terminolog ters tgz theme theodor theoret therebi thereof thingnam thoma thorn thought
27 thousand threat thu tib tick ticket tier timedatectl timelin timesyncd tini tipc tld tm tmpf to tobia toctre told
27 toler tom toma toml took toolkit toolsuit toplevel topolog toport tower tox tp tr traceback trademark transcrib
27 transcript transitgatewayid travel travis treatment trial trip troff troubl truli tsc tu tue turbin tv tx ty
27 typeerror typenam typo tytso tz uc udev udevd uint uk ultim ultra umount un unaffect unam unawar unbound unbuff
27 unclean uncommit uncorrect underlin underneath unicast uniform uniforum unimpl uniniti unload unmerg unnam unpredict
27 unqualifi unquot unread unrecogn unregist unrel unresolv unshar unstabl unsuccess untagresourc untouch unwant unwind
27 unzip updatetim upfront upward uris urn usb usd usec useradd userdel usergroup usermod userpoolid utmp ux valgrind
27 validationexcept variad varlink vcpu ver verb verifiedpermiss veriti versionid versus vf vfat viewabl vim vimdiff
27 virginia virtualenv vmlinux vnd vocabulari voic vol vpce vpcsecuritygroup vpcsecuritygroupid vt wake wal wast
27 watchdog watson wd webacl webassembli webserv wed weekli whatsoev whatwg whichev whilst whitelist wikipedia wind
27 windowid wise wl wordpress workaround workdoc workgroup worri worst wouldn ws wtmp xattr xlarg xmpl xray xs xsi
27 xterm xx xxx xxxx xyz yb yellow yen yib yu yyyi zb zib zipfil zonal zsh zstd
"""
