"""Stems of general English by the share of documents that contain them.

Written by `bench/background_words.py`, which says from what they were counted. A line with the number n has stems whose
share is about 0.8 to the power of n.
"""

LINES = """
2 inform see us
3 exampl follow output specifi
4 command user
5 creat default file guid list on option set
6 id mai must oper provid support type valu version
7 avail call chang configur contain current data includ line new number requir return run servic system time
8 access account allow arn describ detail develop displai enabl error exist first format gener given help instead kei
8 make manag note paramet print read request resourc sourc specif standard start status updat write
9 action add applic argument associ base case code control defin delet descript differ directori document either exit
9 function group http input instanc messag multipl need order perform process program remov result singl string two
9 without work
10 ad addit automat charact check complet content copi depend disabl end environ except execut full ignor implement
10 licens limit local match mean mode non object org otherw page part pass path permiss possibl produc project refer
10 report section separ show state store tag take text variabl via wai web west
11 activ address alwai appli author build connect copyright custom devic distribut effect entri etc even fail field
11 form found howev iam identifi indic initi instal level link linux locat manual modifi normal packag per polici
11 prefix region retriev root second secur select send share sinc size space tabl target termin test tool true usag
11 valid want whether within
12 accept actual alreadi anoth aq attribut behavior binari block bug byte caus com compat consist correspond determin
12 east empti encod extens fals featur filenam filter find html info interfac invok issu kernel languag last later
12 librari log long mani network obtain origin overrid place point present previous recommend relat replac reserv
12 respons right rule script search server sign softwar special success syntax unless usual util view well www zero
13 altern assum attach attempt avoid back begin bit client common compil comput config consid databas debug definit
13 directli doesn ensur equival event expect express forc free give global handl header host ident import index intend
13 json known load longer look machin made maintain map mark maximum metadata method modul necessari never next none
13 omit open particular permit privat properti public purpos queri rang receiv record restrict role session sever shell
13 short similar simpl still stop stream summari verbos verifi vpc
14 administr affect algorithm apach appear appropri assign authent auto bucket class cli cloud cluster combin comment
14 condit context continu count deprec destin detect dev direct domain drop email encrypt endpoint everi explicitli
14 extend imag immedi individu intern interpret ip keep least length lib main member memori null occur openssl owner
14 port prevent protocol rather reason regular releas remain repositori respect sequenc structur style suppli symbol
14 systemd three thus tree try turn typic unit url various virtual warn whose window
15 abl against alia archiv ascii basic becom cach certain certif collect column comma commit complianc conf core date
15 db design dir disk element engin entir extra failur final gatewai git grant home impli integ interact invoc iot item
15 job larg left less logic miss model modif monitor mount namespac node notic old other pair parent pars password
15 pattern period platform posit preced prefer problem product progress put python regist rel remot repres resolv rout
15 save shown small sort statement step suffix sure switch task team thing token translat treat uniqu unix usr wait
15 warranti word
16 absolut accord across alloc amount analys anyth append arg ask backward blue boolean boot break buffer ca capabl
16 char choos close commun compon compress consol convert correct decim desir doc doubl download dynam ec edit elast
16 enter equal escap evalu exactli export extent fix foo foundat futur go happen hash hexadecim inc indent independ
16 init insid integr invalid know label latest letter login man max mechan merg minimum move multi newlin numer often
16 older organ postgresql preserv privileg profil prompt publish quiet quot raw readabl real recogn redistribut reduc
16 regardless reset runtim schema scope side signal signatur simpli skip socket sql stack stdout storag subsequ
16 successfulli suit suppress tab taken templat term therefor togeth top topic track tracker whitespac yet
17 along alter among apis app aqt architectur around arrai asynchron bar belong best better bin branch cdef child
17 classifi clear colon come compar conflict cpu credenti cross cw dai de deriv digit discuss due dump earlier eb en
17 evp exclud exec explicit extern fetch filesystem fulli gpl greater hardwar head hex high higher improv increas
17 insert instruct introduc isn iso keyword kind larger launch law lead learn leav lock low lower mac mandatori nativ
17 onlin os outsid own packet patch pend pid pipe posix pre primari prioriti protect qualifi queue random recent recurs
17 referenc rest restor safe sampl scale schedul setup snapshot speed stabl static statist stdin sub subject suitabl
17 tell third though thread timeout timestamp total traffic transit trigger txt understand unknown upon usernam var
17 whole width
18 act addition admin agent although approv arbitrari backup batch behaviour bind blank calcul caller cancel care
18 channel cipher classic clean cloudwatch color conform construct contact convers cover createdat ctx daemon dash
18 declar delimit demo descriptor digest dn dot duplic easi easier echo els enforc everyth exact exce expir explain
18 extract famili fast finish flow forward four get github good guarante hand hard hierarchi histori hold hostnam hour
18 human hyphen inherit int legaci listen liter mail major manipul margin master mention metric minut neither noth
18 notif octal offer offset optim overridden overview overwrit param partit passwd pathnam pkei plus pool possibli
18 potenti power prepar princip prior properli pull question rd reach ref refus reject relev renam repeat restart
18 revers rfc rsa scan self silent similarli site someth split stage strict subdirectori submit subnet succe superus
18 symlink temporari titl trace trail transact transfer tri truncat trust uid underli understood unlik upgrad upload
18 visibl volum ye zone
19 abort adjust advanc alphabet amazonaw amzn audienc audit auth backslash bad behav bodi bound broken bsd busi capac
19 cat categori cb cc cd central chain choic chosen claus cmd concept confirm constraint contribut conveni convent
19 coreutil correctli cost creationtim david decod delai deni deploi deploy detach diagnost diff discard dist driver
19 earli easili ed ef embed emit enough entiti especi establish examin exclus expand faster fd fork graph henc histor
19 implicitli inspect interest internet interrupt interv involv io km lambda latter layer like llvm lookup macro
19 mainten materi md measur migrat min minim mostli neg newer nexttoken nul opt ossl ownership pack pagin pam parallel
19 partial peer persist person physic plain plan post practic primarili printabl probabl proc provis push rand rate
19 realli reboot reflect registri reli replic represent resourcetyp retain revis sai scheme secret semant serial sh
19 shutdown slash smaller sn sometim src stderr strip subset suffici sy synchron tcp throw tradit translationproject
19 tty unsign uri utf variant verif whenev wrap wrapper
20 ab abbrevi abil ac ae af alias align annot anywher availabilityzon awar background balanc bb bc bus capit catalog
20 center cf changelog clone cognito commonli complex concaten concurr confus constant consum contributor corrupt
20 counter crash criterion crl dd dec decid decrypt def demand depth descend df disassoci discov distinct dpkg dsa ea
20 editor ee effici enclos encount enhanc err essenti ex expos fact fall ff fill fit frame fs gid handler helper
20 highest incompat indirect inlin iter java join js kdf kill live loop lost lot ls manpag mask mb meant middl minor
20 miscellan modern natur nest net newli notat notifi num ok parser parti perman pg pip pipelin pointer portabl precis
20 prepend presenc prime propag proxi pypi quickli quit rais readi recov resid resolut row screen sdk segment sens
20 sensit seri serv sha signific simplifi situat slightli slow soft spec ss ssm stat subcommand subscrib substitut
20 succeed suggest suspend swap sync synonym synopsis systemctl themselv transform ts unicod unus upper vari vendor
20 video waf wish workflow world
21 aa achiev acl acquir adapt addr aggreg ami answer approach arab arch area aren attack autom averag ba backend baltic
21 basis bd bf big bill blob bracket browser bundl carri ce celtic checksum cidr clock cloudform cloudfront clutter cm
21 cmp comparison conjunct consult cryptograph cycl cyril da damag dc deal deb decompress deleg deliv dgst distinguish
21 durat elf enc env european eventu experi experiment fa fallback fatal fb fc fe firewal five fleet flexibl flush
21 folder framework freedesktop front gendsa genpkei genrsa goe greek half hebrew hello hook hub idea impact implicit
21 incom increment infrastructur insensit insight instanti irv isol kib lack lang lappish latenc latin len lf lifecycl
21 lightsail linker littl lp manner media medium meet mib minus mix ms nordic npm obsolet ocsp oct op pad passphras
21 past pem peopl percentag phase pick pkc plugin pretti procedur processor proper py quick quota recoveri redirect
21 regard regex rehash reliabl repo req resum retri review revok rim romanian satisfi scenario seen sg shadow southeast
21 srp ssh ssl startup strategi subscript subsystem sum suppos surround syslog tar tc thai threshold tl tmp transport
21 turkish twice unchang uncompress undefin univers unlist unset unspecifi upstream uuid visual vpcid whatev wildcard
21 won workspac writabl xml
22 acm advis ag almost alon alpha alt anywai apropo aris artifact asset async aurora awai bandwidth bash bicmd boundari
22 brief bypass callback canon captur cascad cert chapter charg chat chime ci cicmd claim cleanup compliant comprehend
22 cours coverag cpython creationd critic degre desktop destroi dhparam diaeresis dictionari discoveri divid dm dry
22 dsaparam dynamodb ecparam ek emul english enumer errstr eskimo estim exceed exchang exclam expans facil factor far
22 feed float foreign former fraction fragment frequent friendli gb gcc glob graphic greengrass guess gzip health
22 hidden highlight hint hit homepag idl inact inclus infer inod introduct ipc javascript jobid journal kb kept keymgmt
22 kinesis lake layout libc likew loader lt mackenzi maco magic markdown marker matter mere meta micro microsoft msg
22 necessarili nice nseq observ occurr osi overhead overwritten ownerid pager particularli paus percent perf pkeyparam
22 pkeyutl popul portion price propq propqueri pure qdisc ram recreat redshift refresh relationship reload rememb
22 reproduc respond reus risk rolearn round routin rsautl rst scandinavian se seed sess sharp ship shut simultan sleep
22 smime soon spkac st storeutl symmetr temporarili texinfo tild timer tip train underscor unmount usabl varieti vertic
22 vm void websit white workload wrong yourself zip
23 abstract acceler accident accur acut advantag ambigu ancestor angl approxim arm aspect atom augment autosc behalf
23 behind benchmark besid beyond box bring cap carriag catch cedilla chanc checkout chroot chunk circumflex cloudtrail
23 codecommit collat compact complic compos connector consider const contract cpus cr crypto cryptographi currenc
23 cursor dataset decis decreas dedic deliveri delta demonstr denot depart detector discourag dispatch divis domainnam
23 effort eight em emploi encapsul endian es etag explan extrem fault fifo fine fip fstab func furthermor gather
23 gettabl glibc goal govern gpg gz hide hmac honor horizont idempot idp incomplet incorrect ingress initrd instanceid
23 iv jim jump keytyp liabl loss lowercas lowest mainli mem membership merchant met michael millisecond mirror
23 multicast multipli nis octet offici orient parenthes payload payment phone piec placement predefin press proce prod
23 programm programmat promot propos pseudo qualiti queu quotat rare reachabl reader readm rebuild red registr reloc
23 rev revert rewrit richard ring roll rotat sbin sd sec selinux sender sequenti slot slower snippet solut spawn spot
23 stai stand starttim str stroke strongli struct submodul supersed technic textual ti touch transmit udp unabl unavail
23 undo unifi unnecessari unpack unsaf untag unusu utc violat volatil vpn watch weight wherea wiki worker xdg year
24 absenc accountid afterward agreement aim alarm allbox alphanumer analyt ansi anymor apt ar asn assembli assert
24 assess assumpt attent auxiliari backspac bare bedrock beta bio bottom broadcast buf builder builtin candid card
24 characterist charset circumst complain consequ constrain cooki coordin createdd crypt csv dbus debugg demangl didn
24 difficult dimens disallow disclaim disconnect ecr egress elaps elasticach elimin encourag endtim enginevers enterpr
24 eras ethernet eu eval ever expens ext face faq fashion fed feedback figur fingerprint font foreground fsck gain game
24 gamelift garbag gc gpt grep grow gui halt highli holder illustr immut imposs in incid inconsist infinit influenc
24 ingest inhibit inspector instancetyp intel intent intermedi invert invit ioctl keyboard knowledg lb lc legal
24 lexicograph liabil lifetim loos lose makefil mangl marketplac maxresult meaning microsecond mime mkdir mod moment
24 month mtu mutual negat nf nl nm nonzero notabl ns obj obvious offlin oid omic opposit ordinari outgo overal overlap
24 pai particip paul perhap phrase pl poll postgr pound predict preprocessor prerequisit probe prune pub purchas pytest
24 randomli ratio realtim redhat redund regionnam rekognit remaind render repli replica requestid resourcearn retent rm
24 room router safeti savannah scalabl secondari securityhub semicolon serverless shield shift shortcut shorthand si
24 sig significantli simul sitew six sm somewhat span spars squar stabil standalon statusmessag strictli subnetid
24 summar sun superscript sysv tablespac talk technolog th throughput thrown timezon todai travers troubleshoot tunnel
24 tutori ui umask uncondition unexpect union unlock unprivileg unsupport updatedat userspac vice visit vulner walk
24 week welcom wire xz yield
25 abcd abi accent ago ahead ai alert amis amz anchor anonym anyon ap apart apigatewai arrang arriv assembl assist
25 asymmetr attr autodetect baselin basenam benefit bitcod bob bot brace bridg btrf burst came caron caution cell
25 cgroup checker clang classif cleanli click cmake co comm committ compani compli composit comprehens concern conduct
25 confid consequenti constructor consumpt contrast createdtim creationtimestamp ctrl curv cut dashboard dbname deactiv
25 deem deregist determinist deviat dhcp diagnos dict disassembl docker draft drive dst dt dwarf edg edu eg emb emerg
25 enqueu enum epoch er exhaust explor expr favor fewer fn focus forget freebsd frequenc ftp gdb gettext gigabyt
25 glacier glue gmail gnupg grave green groupnam gt guardduti guidelin ha hack haven healthom height held herebi
25 hierarch histogram ib ibm icmp icon icu ideal iec ieee impos incorpor inject insuffici introspect invers investig
25 iotsitew ipam issuer jobstatus john journald keygen keyid keyr kmskeyid largest lastmodifiedd lastmodifiedtim ld
25 ldap leaf leak life localhost loopback lzma macron manifest maxim medic mind mitig mm mountpoint myclust mysql nat
25 nearli neglig networkd nevertheless newest onto opensearch operand oppos organiz ou outbound outpost overflow
25 paragraph partner pc pctx pilcrow pin pkg plaintext po pr preset preview printf prohibit promis prototyp ps pt race
25 rc react readonli rebas recipi redis replai resiz resourceid rollback runner sa sagemak salt sched scratch settabl
25 setuid shape shorter sid sizeof slice sp spell sq stateless strength stub su subsect substanti substr supplementari
25 svc sym tagresourc tail tarbal temp tend tgw thin think tmpfile tort transmiss transpar tripl tune tupl typedef
25 unencrypt unlimit unlink unmodifi unreach untrust uppercas userid van vector verbatim versa vi vlan vs wall widget
25 writer writerand xf yaml za
26 abbrev abc accomplish accordingli accumul accuraci acknowledg adopt advertis advisor agre aid aka alongsid altogeth
26 analog andrew appconfig appl ascend asg asm asterisk athena autoclass believ black blocksiz blog bootup brand
26 briefli brows bulk carefulli categor cent cflag cn colin complement consecut consortium contigu couldn countri cp
26 cpp crc created createtim credit cron crt cryptsetup css ctag cumul danger datagram dbclusteridentifi dead decor
26 defend defer dep derefer destruct die directconnect dirti disappear discover displaynam do documentdb draw ds
26 earliest eas el elasticloadbalanc elb elsewher emr encryptinit eni entitl eq eth everyon expert fake fat ffff fi
26 fold foobar forev formerli fourth freed frontend fulfil fund gen gib grab granular great gshadow guest handi
26 handshak heap heurist hh hibern hole huge hunk hybrid identif ietf ii inbound inde indefinit indirectli insecur
26 inspir interfer iotwireless ish istermin joe journalctl kilobyt languagecod lastupdatedat late lattic lazi lex li
26 libdir lightweight linear loadbalanc logind masterusernam math megabyt menu meyer mfa minix mobil morgan multipart
26 mydemorepo mypi nanosecond ncurs nodej nohead nologin noout nspawn objdump occasion odd offload ogonek operationtyp
26 ordin panic passin pathspec pb peter pictur pinpoint placehold pm png policynam popular porcelain poweroff pretend
26 primit prio priv profit psql purg quantiti recip recompil reconfigur regexp regress remount reorder repack repair
26 repeatedli repositorynam resembl resourcenam revoc rewritten rich ro robust roughli rslvr rt rtb rw said score
26 scroll secretsmanag securitygroupid seek seem selector sell semver servicecatalog servicenam servicerol shard signer
26 signifi simpler simplest smallest smart sock solv somewher speak srv sticki strong stuck subclass subtyp sudo super
26 superblock synthet techniqu termcap terminfo theori throttl throughout tid toggl toolchain toward trade tradition
26 trap trim trivial ttl tweak ubuntu ulrich unambigu undesir undon unfortun uninstal untrack useless ut val variat
26 vault viewer vulgar wasn wheel wherev win wireless workmail worktre worth zlib
27 aaaaaaaaa abandon abcdabcdefgh absent accessanalyz accommod accompani ack acpi adam addon addus adjac administ
27 advert advisori affin aforement agentcor aggress agnost ahu akuam al alex alexei alg alic aliv allocatedstorag amend
27 amiga annoi announc anycompani appendix appinstancebot appinstanceus applianc applicationid applicationnam appmesh
27 apprunn april aqdefault aqperf arc argc argmod argnam argtyp argv arithmet armor arp arrow articl artist asc asid
27 assoc associatedrol associationid assur ast asyncio atrestencryptionen attim attributenam au audio august authtok
27 automethod automount aux avg await awk ax az backlog backport backtrac badg badli band bank batteri baz beanstalk
27 bear bearer becam beforehand began bell ben beneath berkelei bernd bert bfdname bg bi bigger billion binutil bitmap
27 bitwis bo bold bom bond book bool bootstrap border bottleneck bounc bourn bpf br breve brian broad brought bruno
27 brute bs bt bucketnam budget buildid bump button buyer byoip cachenodetyp cafil calendar callerrefer campaign canari
27 canonic capath caret carrier cast castor catalogid caught caveat cbc ceas certainli certifi certificatearn
27 certificateid cfg cg cgi ch challeng changetoken charl checkpoint cherri chfn chines chip chmod chown chris
27 christoph chrome chronolog ciphertext circular citi cjwatson cksum cl clarifi classiclink classid classpath clearli
27 clientid clienttoken closest cloudhsm cloudsearch clusterarn clustercreatetim clusteridentifi clusternam cmac
27 cmdline cname cnf codeartifact codebas codebuild codec codecov codedeploi codepipelin codestar coff col collabor
27 collector collis commandlin commerci commonj comp companion comparisonoper compens complaint comprehendmed
27 compressor compris comprom compromis conceptu concis condens condition conffil confidenti configfil configservic
27 conflictexcept congest connectionid conserv consoleanalyz consolid constitu constitut cont contenttyp contrari
27 contrib controltow conv convei cope coredump corp corpor correl counterpart coupl cov cpan cq cramf createclust
27 createdb createdbi createdtimestamp createrol creator creatorrequestid cred crlf csh cspm csr ct ctime ctl ctype
27 curl curli curs customari cv cve cyan daili daniel darwin dataaccessrolearn databasenam datadir datastor datastoreid
27 datasync datatyp datecr dax daylight dbcluster dbinstanceidentifi dbsubnetgroup deadlin dealloc debconf decemb
27 declin decompressor decrement deduc deep defaultdepend deflat degrad deliber denial deploymentid dequeu dereferenc
27 desc despit dest devel devlink dh di dialog differenti diffi difficulti diffstat digestsigninit dirnam disambigu
27 disassembli disciplin disclosur discord discret disrupt distanc distributor diverg divers divisor django dl dll
27 dnsname docdb docstr documentvers doe dollar domin doubt downgrad downstream dp drain drepper drift driven dsc
27 dselect dso dual dumb dummi dumper dxcon easiest ebcdic ecdsa eckenfel ecn ecosystem educ effectivetagset efi eggert
27 egrep eh eib elabor elasticbeanstalk electron elev elig ellipt emac emailaddress employe enab endif endors eng engag
27 enrol entropi environment eof equat eric ericsson errno erron ersion esc escal esp euc euro europ ev eventbridg evim
27 evolv exampleorgid excel excess exemplari exhibit exp experienc expiri explicittag expon exponenti exuber fabrizio
27 facilit factori failov fair fairli familiar fargat farm farsi fastest favorit favour feasibl fedc feder fedora fee
27 feel feminin ffc fifth film financ fire firehos firmwar firstboot fixup flash flat flavor flex flight floppi flower
27 fly fmt fontconfig footer forbidden forcibli forecast forgotten formal formatt formula forth forum fp fpolacco fqdn
27 fr fred freectx freeli freez fresh frg fri friend fromport frozen fsx fsync fulton functionarn fundament furnish gap
27 gcm geco geo geometri georg german getchangetoken getobject getti gitattribut gitformat githook gitignor gitlab
27 gitmodul gitrevis globalacceler globalnetworkid glossari glyph gnome gnustep gone goto gp gpasswd gpgconf gpgsm
27 gprofng grace gracefulli grain grammar graphql greatli groff groupadd groupid growf grown grp gtk guard guidanc gvim
27 gyp haibl hang happi harder harm hasn hat hd healthi heavili hellman hfsplus hi hoc honour hop hope hostedzoneid hot
27 hourli howto hp hsm ht hubert huffman hundr hup hw hwclock hypertext hypervisor hypothesis hz iana idx ie
27 ignoresigpip iii illeg imagebuild imageid imagin implic implicittag importantli improperli inaccess inappropri
27 incident includedir incorrectli incur industri inet inf infil infin infiniband infocmp informatio infring ing inher
27 inhibitor ini initdb initial initialis inka inner inout inprogress inputdataconfig inputfil inputformat inr
27 insignific insn inst institut instrument intact intellig intention inter intercept interchang interleav internation
27 interoper interpol interprocess intersect interven intro intuit invari inventori invis ioj iotev iotthingsgraph
27 ipaddress ipsec ipset irq irrelev isdefault issametypewith issupertypeof isvalu ital jame jan jane januari japanes
27 jar jason jdk jit jobarn jobnam johnson jp jpeg jpg jsonschema juan jul juli julian june justifi jvm jwt ka kallsym
27 kctx kde kendra kevin kexec keyarn keyexch keyform keylen keynam keypair keyusag ki kibibyt kmsg kra kubernet
27 kuznetsov la lakeform land laptop lastmodifi lastupd lastupdatedd lastupdatedtim lastupdatetim latestvers
27 latestversionarn launcher ldflag leader leap lennart lesser let leverag lexic lgw libblkid libcrypto libexec libpq
27 lift ligatur light lightbulb lina linefe lint lisp listtagsforresourc llc ln lo loadabl loadcredenti loc localtim
27 logfil logger loggroup loglevel lognamespac logout longest lorawan lossless lq lsb lu ma mach machata machinectl
27 machineri mailbox mailto makef malform malici malloc mapper march mari markup martin masculin mathemat matrix
27 maxdepth maxitem maxsiz mayb mc mcpu med mediaconnect mediaconvert mediapackag mediastor mediatailor mellanox
27 memorydb mesh meshnam mess meter meth metricnam mi mike miller mimic mir misc mislead mismatch mistak mkf mkswap ml
27 mmap mmp mnt mo mock modem moder modificationtim modifiedat modular modulus mon monetari monoton monthli moreov
27 motion mountinfo mous movement mozilla mpl mqtt mraz msdo msec msgid mtime mu multiaz multibyt multilin multithread
27 mung musiccollect mutabl mutat mv mw myapp myfil mygroup myschema naiv nameopt nan narrow nation navig nb ne near
27 nearest negoti neighbor neptun netbsd netdev netgroup netlink netmask netscap networkctl networkflowmonitor
27 networkinterfac networkinterfaceid networkmanag newctx newus nextstep nginx nist nn nnn noauto nobodi nodegroup
27 nodetyp nofail nofork nois nonblock nonc nonempti nonexist nongnu noninfring nonstandard northeast novalu nowadai
27 npmrc nr nroff nss nt ntf ntp nu numa obei objcopi objfil obscur occupi octob oe offic ohio oidc okai oldest onboard
27 ongo opaqu opcod openid openpgp openssh operationdetail operationid opf opportun oq oracl ordinarili oregon orig
27 orphan oss otp ous outcom outdat outer outfil outform outlin outputdataconfig outstand overlai overlimit overload
27 owneraccount packfil pairwis paper parameter parametergroupnam parameternam parametervalu parenthesis pariti parsabl
27 passout pat patent pci pdf pe penalti pep perfectli perm perspect pertain petr pgdata pghost pgp pgpass pgport pgsql
27 pguser phi php phy pi pib ping pixel pkt plai plane planner playback player plug plumb pod pointless policyarn
27 policydocu polkit poor poorli pop portal portfolio portmap possess postfix postinst postrm powerpc pp ppc ppp pragma
27 prealloc predic prefetch preload premis preprocess pressur pressureinput presum principl printer priorit privaci
27 privatekei pro problemat proceed procur prog proof proport proto proton provctx prove providernam ptr pty pubkei
27 publickei publicli publiclyaccess punctuat pwck pwd pycon pyyaml quantum quarter querystr quietli quotacheck
27 quotepath radix rai raid ranlib re readelf readerendpoint readlin readlink readthedoc realiz realm rebuilt receipt
27 reclaim recognis recognit reconnect reconstruct recycl redact reduct refactor refin reflog refnam refspec reg
27 regener registryid regularli reinstal relai relax relocat remap remedi renew rep repart repetit repl
27 replicationgroupid reportbug reread research resili resort resp responsemetadata ret retir reveal rhost rn robert
27 robin rom rp rpath rpc rpm rq rr rs rsync rtc rtmp rtt ru rubi ruff runlevel ruser safer sake sale sam saml
27 samplestream sandbox saniti sat savepoint sc scalar schemavers scientif scm scott seat secondli sector securitygroup
27 securitylak seller semaphor semi sensibl sentenc sep seq serious servicearn servicediscoveri setcr setcredenti
27 setenv setgid setuptool seven shallow shorten shortest shot shouldn shrink shrinkwrap sibl sight sighup sigint
27 signoff sigpip sigterm silenc simon sink siphash sit sk skb skeleton skill slave slowli smb smith smtp snap
27 snapshotid snapshotwindow snstopicarn sockaddr solaris sole solid someon sonam sound sourcearn sourceforg sourcetyp
27 south spend spent sphinx spread squash sse sshd stab stale stallman stamp standbi stanza startdat stash
27 statuschangedat statuscod std stdio stdlib stephen steve storageencrypt storagetyp strang streamarn streamnam stress
27 stricter stride stringtabl strlen studi studio stuff stylefil subdomain sublicens submiss submittim
27 subnetgroupstatus subnetidentifi subnetstatus subordin subprocess subqueri subresourc subroutin subtl subtract
27 subtre subtypespec successor suchlik suffic superproject superset supervis supplement supportcod surpris surviv
27 suspect swf syn syntact synthes syscal sysctl sysf sysinit sysroot sysus tablenam tagkei tagmap tagset tailor tap
27 tape targetarn targetgroup tb tcl tdm te telemetri telephon telnet ten tenanc tenant terabyt terminolog ters
27 testfold tex tgz thank theme theodor therebi thereof thinggroup thingnam thoma thorn thought thousand threat thu tib
27 tick ticket tidelift tier timedatectl timelin timesyncd tini tipc tld tm tmpf to tobia toctre told toler tom toma
27 took toolkit toolsuit toplevel topolog toport tower tox tp tr traceback trademark trailer transcrib transcript
27 transient transitgatewayid travel travis treatment trial trip troff troubl truli tsc tu tue turbin tv tx ty typenam
27 typescript typo tytso tz uc udev udevd uint uk ulimit ultim ultra umount un unaffect unam unawar unbound unbuff
27 unclean uncommit uncorrect underlin underneath undici unicast uniform uniforum unimpl uniniti unload unmerg unnam
27 unpredict unqualifi unquot unread unrecogn unregist unrel unresolv unshar unstabl unsuccess untagresourc untouch
27 unwant unwind unzip updatetim upfront upward uris urn usb usd usec useradd userdel usergroup usermod userpoolid utmp
27 ux valgrind validationexcept variad varlink vcpu ver verb verifiedpermiss veriti versionid versus vf vfat viewabl
27 vim vimdiff virginia virtualenv vmlinux vocabulari voic vol vpce vpcsecuritygroup vpcsecuritygroupid vt wake wal
27 wast watchdog watson wd weak webacl webserv websocket wed whatsoev whichev whilst whitelist wikipedia wind windowid
27 wise wl wordpress workaround workdoc workgroup worri worst wouldn ws wtmp xattr xlarg xmpl xrai xs xsi xterm xx xxx
27 xxxx yb yellow yen yib yu yyyi zb zib zipfil zonal zsh zst zstd
"""
