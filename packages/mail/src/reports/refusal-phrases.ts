// Phrases of refusals, by language and server family. Latin phrases are written without accents, as `wordsOf` returns them.

/** Alternatives as one pattern. Each is a pattern of its own. */
const anyOf = (...patterns: string[]): RegExp => new RegExp(patterns.map((pattern) => `(?:${pattern})`).join('|'), 'u')

/** Full mailboxes. They take mail again once their owner deletes some. */
const full = anyOf(
  '\\bover[- ]?quota\\b',
  '\\bquota\\b.{0,40}\\b(?:exceed\\w*|violat\\w*|full|limit|reached|over)\\b',
  '\\bexceed\\w*\\b.{0,40}\\b(?:quota|storage|space)\\b',
  "\\b(?:mail ?box(?:'s)?|inbox|mail ?folder|mail ?store|mail ?drop|maildir|account|storage|disk|folder|user|recipient)\\b[^.;]{0,40}\\b(?:full|over (?:its |their )?(?:limit|quota|size))\\b",
  '\\b(?:full|stuffed) (?:mail ?box|inbox)\\b',
  '\\bout of (?:storage|disk|space)\\b|\\b(?:not enough|not have (?:enough|sufficient)|insufficient|no more|no) (?:\\w+ ){0,2}(?:space|storage)\\b|\\bdisk full\\b|\\bexdiskquota\\b',
  '\\bspace (?:limit|exceed)|\\bstorage limit|\\btoo much mail\\b|\\bquota usage\\b|\\bover the limit\\b|\\bexhausted\\b.{0,30}\\b(?:storage|space)|\\benough (?:\\w+ )?(?:space|storage)|\\bmessage count\\b|\\bnot (?:be )?able to receive\\b|\\bmail ?box size\\b|\\b(?:blocks|inode) limit\\b|\\boverquotatemp\\b',
  '\\b(?:postfach|mailbox|konto|speicher\\w*)\\b.{0,40}\\b(?:voll|ue?berfue?llt|ue?berschritten|erschopft)\\b|\\bzu ?viele\\b|\\bplatz\\b.{0,20}\\berschopft\\b',
  '\\b(?:boite|bal|compte|messagerie)\\b.{0,60}\\b(?:pleine?|saturee?|depasse\\w*)\\b|\\bquota\\b.{0,30}\\b(?:depasse|atteint)',
  '\\b(?:buzon|mailbox|casilla|bandeja|cuenta|cuota|caixa|conta|cota|quota|espacio|espaco)\\b.{0,60}\\b(?:llen[ao]|cheia|agotado|excedid[ao]|superad[ao]|lotada|esgotado)\\b',
  '\\b(?:casella|quota|spazio)\\b.{0,60}\\b(?:pien[ao]|superat[ao]|esaurit[ao])\\b|\\b(?:postbus|mailbox)\\b.{0,40}\\bvol\\b',
  '\\b(?:skrzynk\\w*|konto)\\b.{0,40}\\b(?:pelna|przepelnion\\w*|przekrocz\\w*)|\\b(?:schranka)\\b.{0,40}\\b(?:plna|preplnena)|\\bkota\\w*.{0,20}\\b(?:dolu|asildi)\\b',
  '(?:ящик|квот|хранилищ).{0,40}(?:переполнен|превышен|заполнен|исчерпан)|переполнен.{0,20}ящик',
  '容量(?:超過|オーバー|を超|不足|已满|已滿|不足)|(?:邮箱|郵箱|信箱|邮件|空间|空間).{0,10}(?:已满|已滿|满了|不足)|メールボックス.{0,15}(?:一杯|いっぱい|満杯)|용량.{0,10}초과',
)

/** Rate limits, and refusals that ask for another attempt. */
const tooFast = anyOf(
  '\\btoo (?:many|fast|quickly|frequent\\w*)\\b',
  '\\brate\\b.{0,40}\\b(?:limit\\w*|exceed\\w*|prevents?|of unsolicited)|\\blimit\\w*\\b.{0,20}\\brate\\b|\\bratelimit|\\bthrottl',
  '\\bmax(?:imum)?\\b.{0,30}\\b(?:connections?|recipients|messages|sessions)\\b|\\b(?:recipients?|messages?|connections?|sending|hourly|daily) limit\\b',
  '\\b(?:limit|quota)\\b.{0,30}\\b(?:messages|recipients|connections|per (?:hour|day|minute))\\b|\\breceivingrate|\\bexceeded\\b.{0,40}\\b(?:limit|messages|recipients|connections)\\b',
  '\\b(?:unusual|unexpected|high) (?:volume|rate|amount)\\b|\\bslow down\\b|\\bflood',
  '\\b(?:try|retry|resend\\w*|again)\\b(?: \\S+){0,4} (?:later|in \\d+|after \\d+)\\b|\\btempor\\w+|\\bcurrently (?:unavailable|not available|unable|disabled)\\b|\\b(?:grey|gray) ?list|\\bdeferred\\b|\\btransient\\b',
  '\\btrop de (?:connexions|messages|destinataires)\\b|\\bzu viele\\b|\\bdemasiad[oa]s\\b|\\bespater\\b|\\bspater (?:erneut|noch)|\\bmas tarde\\b|\\bmais tarde\\b|\\bplus tard\\b|\\bpiu tardi\\b',
  'слишком (?:много|часто)|временно|позже|频率|頻率|过多|過多|稍后|稍後|一時的|しばらく',
)

/** Refusals of a message, of its content, or of the system that sends it. */
const refusedMessage = anyOf(
  'spam|antyspam|\\bjunk ?mail|\\bunsolicited\\b|\\bunwanted\\b|\\bube\\b|\\bbulk (?:e-?mail|mail)',
  '\\b(?:black|block|deny) ?list|\\bblocked\\b|\\bblocking\\b|\\b(?:rbl|dnsbl|uribl|surbl|csi|sbl|xbl|pbl)\\b|\\bspamhaus|\\bspamcop|\\bsorbs\\b|\\bbarracuda|\\bproofpoint|\\bcloudmark',
  "(?<!not |isn't )\\blisted (?:at|by|in|on)\\b|\\breputation\\b|\\bbanned\\b|\\bsuspicious\\b|\\babuse\\b|\\bcomplaints?\\b|\\bfraud|\\bphish|\\bvirus|\\bmalware|\\binfected\\b|\\bharmful\\b",
  '\\bpolic(?:y|ies)\\b|\\baccess[- ]den\\w+|\\bcontent\\b|\\battachments?\\b|\\bstandards?\\b|\\bautomatic\\w*\\b.{0,20}\\bmessages\\b|\\bsyntax error\\b|\\bline terminator|\\bdynamic[- ]ip|\\bdial-?up\\b|\\bip profile\\b|\\bmust (?:precede|issue)\\b|\\bprohibit|\\bforbidden\\b|\\badministrative(?:ly)?\\b|\\bcompliance\\b|\\bsecurity\\b|\\bcontent\\b.{0,30}\\b(?:reject|denied|filter|not accept|prohibit)|\\bfilter(?:ed|ing)?\\b',
  "\\b(?:un|not |n't |not be )?authori[sz]ed\\b|\\bunauthori[sz]ed|\\bauthenticat|\\bunauthenticated\\b|\\bdmarc\\b|\\bdkim\\b|\\bspf\\b|\\bsender ?id\\b|\\bptr\\b|\\breverse (?:dns|lookup)|\\brdns\\b|\\b(?:helo|ehlo)\\b",
  '\\brelay(?:ed|ing|s)?\\b(?! recipient| user|=)|\\brcpthosts\\b',
  '\\bmessage\\b.{0,30}\\btoo (?:large|big|long)\\b|\\btoo (?:large|big)\\b|\\bmessage size\\b|\\bsize (?:limit|exceed)|\\bexceed\\w*\\b.{0,40}\\b(?:size|maximum|limit)\\b|\\blarger than\\b',
  '\\btls\\b.{0,30}\\b(?:required|must)\\b|\\bstarttls\\b|\\bencrypt(?:ion|ed)? (?:required|needed)\\b|\\bmust issue\\b|\\bauth(?:entication)? required\\b',
  '\\bpishing\\b|\\bunerwunscht|\\brichtlinie|\\bpolitique\\b|\\bindesirable|\\bpolitica\\b|\\bno deseado|\\bpolityk|спам|заблокирован|политик|垃圾邮件|垃圾郵件|拒收|迷惑メール|스팸',
)

/** Refusals of the author or of the return path, which say nothing about the recipient. */
const refusedSender = anyOf(
  '\\bin reply to (?:the )?(?:mail from|helo|ehlo|starttls|auth|initial)\\b|\\bmail from:',
  "(?<!(?:return\\w*|back|bounced?) (?:\\S+ )?(?:to )?(?:the )?(?:original )?)\\b(?:sender(?:'s)?|originator|envelope[- ]from|return[- ]path|from (?:address|domain|field)|sending (?:domain|host|server|ip|mta)|mail from|rfc\\.?5321 from)\\b[^.;]{0,60}\\b(?:unknown|not found|not exist|n't exist|must exist|invalid|reject\\w*|denied|refused|verif\\w*|resolv\\w*|unresolvable|not allowed|not permitted|not accepted|no mx|not valid|fail\\w*|bogus|forged|bad|unrouteable|has no|not in|disabled|inactive|blocked|locked|expired|closed)\\b",
  '\\b(?:unknown|invalid|bad|forged|bogus|unresolvable|unverified|rejected|illegal|unverifiable|unroutable|unrouteable) (?:\\S+ )?(?:sender|originator|from address|return[- ]path|sender address|sender domain)\\b',
  "\\b(?:sender|callout|callback) verif|\\bverification failed for\\b|\\byour (?:ip|domain|host|server|mail ?server|network|e-?mail (?:address|server))\\b[^.;]{0,60}\\b(?:reject\\w*|denied|refused|not|invalid|fail\\w*|does ?n[o']t)\\b",
  '\\bbackscatter|\\bbatv\\b|\\bsending denied\\b|\\boutbounds?\\b|\\bipv6\\b|\\bheaders?\\b|\\bmay not follow\\b|\\bfailing address in\\b',
  '\\b(?:client|sending) host rejected\\b|\\bhost (?:is )?(?:not allowed|rejected|denied)\\b|\\bhost name\\b.{0,30}\\b(?:resolve|not found)|\\babsender\\w*\\b.{0,40}\\b(?:unbekannt|ungue?ltig|abgelehnt|gesperrt)',
)

/** Recipients that exist and take no mail from this author, or only mail of some kind. */
const refusedByRecipient = anyOf(
  '\\bpreferences?\\b|\\byour?\\b.{0,40}\\bverif|\\bpermission\\b|\\brestrict(?:ed|ion|s)\\b|\\b(?:white|allow|safe) ?list|\\bchallenge\\b|\\bmoderat(?:ed|or|ion)\\b|\\bmembers? only\\b|\\bsubscribers?\\b|\\bapproved senders?\\b|\\bsuspended\\b|\\[suspend\\]|\\bon[- ]hold\\b',
  "\\b(?:not|n't|refus\\w*|declin\\w*|stopp?ed|only) (?:be )?(?:accept\\w*|allow\\w*|receiv\\w*|want\\w*)\\b[^.;]{0,40}\\b(?:from|by this sender)\\b|\\bonly accepts?\\b|\\bdoes ?n[o']t want\\b",
  "\\b(?:not|n't) (?:allowed|permitted|able) to (?:send|post|e-?mail|contact|connect)\\b|\\brejected by (?:the |this )?(?:recipient|user)\\b|\\bby (?:the |this )?(?:recipient|user)'?s? (?:choice|request|rule)",
)

/** Failures of a system or of the path to it. */
const brokenPath = anyOf(
  '\\bloop(?:s|ed|ing)?\\b|\\bmailloop|\\btoo many hops\\b|\\bhops? count\\b|\\bmaximum hop|\\bmisconfigur|(?!dns error:.{0,120} domain name not found)\\b(?:internal|system|local|server|configuration|database|i/o|protocol|dns|lookup|software) (?:\\w+ )?(?:error|failure|problem)\\b',
  '\\bunreachable\\b|\\brecursi\\w+|\\bforwarded more than\\b|\\bbusy\\b|\\bload is\\b|\\bconn?ection refused\\b|\\b(?:name|dns|ip|host) ?(?:name )?lookup\\b|\\byour host ?name\\b|\\bnot reachable\\b|\\bconnection\\b.{0,20}\\b(?:refused|timed|reset|lost|dropped|closed|failed)\\b|\\blost connection\\b|\\btimed? ?out\\b|\\bno route\\b|\\bcould not connect\\b|\\bunable to (?:connect|establish)\\b|\\bno answer\\b|\\bnot responding\\b|\\bdid not respond\\b',
  '\\b(?:message|delivery|queue\\w*|retry|delivery time)\\b.{0,20}\\b(?:expired|exceeded)\\b|\\bin (?:the )?queue (?:for )?too long\\b|\\bmaximum (?:delivery|retry|queue)\\b|\\bhost not found,? try again\\b|\\bservice (?:currently |temporarily )?(?:unavailable|not available)\\b|\\bout of memory\\b',
  // A delivery program that failed.
  "\\b(?:could ?n[o']t|can ?n[o']t|can't|cannot|could not|unable to|failed to) (?:create|open|lock|write|append|chdir|execute)\\b",
)

/** Phrases of refusals that leave the address alive. */
export const livingPhrases: readonly RegExp[] = [full, tooFast, refusedMessage, refusedSender, refusedByRecipient, brokenPath]

/** True for a full mailbox. `words` is from `wordsOf`. */
export const isMailboxFull = (words: string): boolean => full.test(words)

const who =
  '(?:users?|user ?name|recipients?|recipient name|addressee|mail ?box(?:es)?|inbox|accounts?|address(?:es)?|user ?id|e-?mail|local[- ]part|alias|person|mail ?drop|customer|client|login|id|member|destinatario)'
const notThere =
  "(?:unknown|inactive|disabled|discontinued|invalid|undeliverable|unrout(?:e)?able|non[- ]?exist\\w*|inexistent\\w*|deactivated|deleted|closed|terminated|cancell?ed|removed|expired|obsolete|retired|dormant|not (?:\\w+ ){0,2}(?:found|known|exist\\w*|recogni[sz]ed|valid|listed|registered|active|defined|here|present|resolve\\w*|in use|local|match\\w*|set ?up)|(?:cannot|can ?not|could ?n[o']t|could not|was ?n[o']t|is ?n[o']t|has ?n[o']t)(?: be| been)? (?:found|located|recogni[sz]ed|resolved|identified|listed|valid|active)|do(?:es|s)? ?n(?:ot|'t|t) (?:seem to )?exist|did ?n[o']t exist|no longer|never (?:existed|logged))"

/** Phrases that say that the address does not exist, or takes no mail any more. */
export const deadPhrases: readonly RegExp[] = [
  anyOf(
    // "No valid recipients" ends a transaction in which each recipient was refused before.
    `\\b(?:no|not an?|not our|not any|is ?n[o']t an?) (?!valid recipients\\b)(?:(?:such|known|valid|existing|active|local|real|registered|matching|usable|deliverable) )*(?:(?:e-?mail|mail|local|virtual|recipient|user|final) )*${who}\\b`,
    `\\b(?:unknown|unrecogni[sz]ed|invalid|bad|wrong|incorrect|malformed|non[- ]?exist\\w*|inexistent|inactive|disabled|unrout(?:e)?able|undeliverable|illegal|unregistered|expired|deactivated|obsolete|undefined|unresolvable)(?: or \\w+)?,?[ -](?:[\\w'-]+ ){0,2}${who}\\b`,
    `\\b${who}\\b[^.;]{0,60}?\\b${notThere}(?![\\w'])`,
    `\\bnot (?:listed|found|known|registered|present) in (?:\\S+ ){0,4}(?:directory|address ?book|database|table|domain)|\\bname & address book|\\bnot recogni[sz]ed\\b|\\brecipnotfound|\\brecipient ?not ?found|\\bexrecipnotfound`,
    "\\b(?:this|the|that) user\\b.{0,30}\\bdoes ?n[o']t (?:have|exist|appear|belong|seem|live|work|match)|\\bdoes ?n[o']t have an?\\b.{0,40}\\b(?:account|mailbox|address|delivery point)|\\bnot (?:a |an )?our (?:customer|user)|\\bnot our customer\\b|\\bno (?:mail ?box|account|user|one|body)\\b.{0,20}\\bby that name|\\bnever logged (?:on|in)",
    "\\b(?:no ?such ?user|user ?unknown|no[- ]?one (?:with|at|by|here)|nobody (?:with|at|by|here)|incorrectly addressed|not activated|receiving disabled|valid notes mail file)\\b|(?<!\\b(?:archive|journaling|sending|service|feature|protocol|smtp|login|access|delivery|connector|encryption|option) )\\bis (?:now )?(?:disabled|inactive|deactivated)\\b|\\bnot known (?:here|at|to)\\b|\\bunable to find (?:\\w+ ){0,2}(?:user|recipient|mailbox|alias|address|account)\\b|\\b(?:recipient|user|address|mailbox) (?:cannot|could not|can ?not|can't) be verified|\\bdo(?:es)?(?: not|n't) handle mail\\b",
    "\\b(?:rcpt|recipient)\\b \\(?[^.;]{0,40}\\b(?:dosn't|doesn't|does not|doesnt) exist|\\bno such (?:id|object|entry|person|address|contact|rcpt|mail)\\b|\\bmail ?box not found\\b|\\buser (?:doesn't|not) exist",
    '\\bno longer (?:\\w+ ){0,3}(?:available|valid|exists?|in use|active|works?|employed|at|on|with|with us|accept\\w*|monitored|used|in service|employee)\\b|\\bhas (?:left|moved)\\b|\\bleft (?:the |our )?(?:company|organi[sz]ation)\\b|\\buser has moved\\b',
  ),
  // Hosts that do not exist, and domains that take no mail (RFC 7505).
  anyOf(
    "\\b(?:host(?: ?name)?|tenant)\\b[^.;]{0,40}\\b(?:not found|unknown|does ?n[o']t exist|did ?n[o']t exist|n't exist|not exist|non[- ]?existent|could not be (?:found|resolved)|cannot be (?:found|resolved))\\b",
    "\\b(?:unknown|non[- ]?existent|no such|invalid|bad|unrouteable|unroutable) (?:\\w+ ){0,2}(?:host|destination)\\b|\\bnxdomain\\b|\\bnull ?mx\\b|\\bdoes(?: not| ?n[o']t) (?:accept|receive|handle) (?:any )?(?:e-?)?mail\\b(?! (?:in|from|over|with|without|that|which|larger|of|on|via|as|unless|until)\\b)|\\bcould ?n[o']t find any host\\b|\\bno (?:valid )?mx (?:or a )?records?\\b|\\bunknown address error\\b",
  ),
  // Other languages, Latin script.
  anyOf(
    '\\b(?:empfae?nger\\w*|benutzer|adresse|adressat|mailbox|postfach|konto|teilnehmer|nutzer|account)\\b[^.;]{0,60}\\b(?:unbekannt|existiert nicht|nicht gefunden|nicht bekannt|nicht vorhanden|ungue?ltig|nicht erreichbar|gibt es nicht|deaktiviert|gesperrt|geloe?scht)\\b|\\b(?:unbekannte[rn]?|ungue?ltige[rn]?|kein(?:e|en)?) (?:empfae?nger\\w*|benutzer|adresse|mailbox|postfach|nutzer)\\b',
    "\\b(?:utilisateur|adresse|destinataire|boite|compte|usager|bal)\\b[^.;]{0,80}(?:\\binconnue?s?\\b|\\bn'existe (?:pas|plus)\\b|\\bintrouvable\\b|\\binvalides?\\b|\\bnon reconnue?\\b|\\bdesactivee?\\b|\\binexistante?\\b|\\bn'est (?:pas|plus) (?:valide|reconnue?|active)\\b|\\bnon (?:recense|trouvee?)\\b|\\bsupprimee?\\b)",
    '\\bnadie con\\b|\\b(?:usuario|destinatario|direccion|cuenta|casilla|buzon|correo)\\b[^.;]{0,60}\\b(?:desconocid[oa]|no existe|inexistente|no encontrad[oa]|invalid[oa]|no valid[oa]|deshabilitad[oa]|desactivad[oa]|inactiv[oa]|expirado|cancelad[oa]|eliminad[oa]|no (?:se )?(?:encuentra|encontro|localizad[oa]))\\b',
    '\\b(?:usuario|destinatario|endereco|conta|caixa)\\b[^.;]{0,60}\\b(?:desconhecid[oa]|nao existe|inexistente|nao encontrad[oa]|invalid[oa]|desativad[oa]|inativ[oa]|cancelad[oa]|bloqueada? por inatividade|nao (?:foi )?localizad[oa])\\b|\\busuario invalido',
    '\\bdestin\\w*\\.? (?:sconosciut|errat)|\\bindirizzo\\b.{0,20}\\bbloccat|\\btrovare\\b.{0,20}\\bindirizzo|\\b(?:utente|destinatario|indirizzo|casella|account)\\b[^.;]{0,60}\\b(?:sconosciut[oa]|non esiste|inesistente|non trovat[oa]|non valid[oa]|disabilitat[oa]|disattivat[oa]|non (?:e )?(?:attiv[oa]|presente))\\b',
    '\\b(?:gebruiker|ontvanger|adres|e-?mailadres|postbus|geadresseerde)\\b[^.;]{0,60}\\b(?:onbekend|bestaat niet|niet gevonden|ongeldig|niet bekend)\\b|\\bonbekende (?:gebruiker|ontvanger)\\b',
    '\\b(?:uzytkownik\\w*|adres\\w*|konto|konta|skrzynk\\w*|odbiorc\\w*)\\b[^.;]{0,60}\\b(?:nieznan[yae]|nie (?:istnieje|znaleziono|ma)|zablokowan[ey]|usuniet[eay]|nieaktywn[ey])\\b|\\bnie ma (?:tu )?takie\\w*|\\bnieznany (?:uzytkownik|odbiorca|adresat)\\b|\\bbrak (?:takiego )?(?:uzytkownika|konta)\\b',
    '\\b(?:uzivatel|schranka|adresa|adresat|prijemce)\\b[^.;]{0,60}\\b(?:neexistuje|neznam[yaeo]|nenalezen\\w*)\\b|\\b(?:anvandare|mottagare|adress\\w*|bruker|bruger|mottaker|modtager|postkasse)\\w*\\b[^.;]{0,60}\\b(?:okand|finns inte|finnes ikke|findes ikke|ukjent|ukendt|existerar inte|saknas)\\b|\\b(?:okand|ukjent|ukendt) (?:anvandare|mottagare|bruker|bruger|mottaker|modtager)\\b',
    '\\b(?:kullanici|alici|hesap|posta kutusu)\\w*\\b[^.;]{0,60}\\b(?:bulunamadi|yok|mevcut degil|gecersiz|bilinmiyor)\\b|\\bkayttaja\\w*\\b.{0,40}\\b(?:tuntematon|ei (?:ole|loydy))|\\b(?:felhasznalo|cimzett)\\b.{0,40}\\b(?:ismeretlen|nem letezik)\\b|\\bne (?:obstaja|postoji)\\b|\\butilizator\\w*\\b.{0,40}\\b(?:necunoscut|inexistent|nu exista)\\b|\\b(?:pengguna|penerima)\\b.{0,40}\\btidak (?:ditemukan|ada|dikenal)\\b',
  ),
  // Other scripts.
  anyOf(
    '(?:пользовател|получател|адрес|ящик|абонент|аккаунт|учетн|учётн|користувач).{0,60}(?:не найден|не существует|неизвестен|неизвестн|недействит|отключ|удал[её]н|не зарегистрирован|не знайден|не існує|заблокирован)|(?:нет такого|несуществующ\\S+|неизвестн\\S+|неверн\\S+|нет) (?:пользовател|адрес|получател|ящик)',
    '(?:ユーザー?|宛先|アドレス|受信者|メールボックス).{0,30}(?:見つかりません|存在しません|不明|ありません|存在しない|見つからない|無効)|(?:用户|用戶|收件人|邮箱|郵箱|帐号|帳號|账号|地址|使用者).{0,20}(?:不存在|未找到|找不到|无效|無效|已停用|已被禁用|未知|被禁用|被注销)|(?:不存在|无效|無效|未知)的?(?:用户|用戶|收件人|邮箱|郵箱|地址)|查无此人|查無此人',
    '(?:사용자|수신자|주소|계정|메일).{0,20}(?:없습니다|찾을 수 없|존재하지 않|알 수 없)|(?:משתמש|נמען|כתובת).{0,30}(?:לא (?:קיים|נמצא|ידוע)|אינו קיים)|(?:المستخدم|المستلم|العنوان|البريد).{0,40}(?:غير موجود|غير معروف|لا يوجد)',
  ),
]

/** Phrases of domains that do not exist, which may be that of the recipient or of the sender. */
export const deadDomainPhrases: RegExp = anyOf(
  "\\bdomain(?: name)?\\b[^.;]{0,40}\\b(?:not found|unknown|does ?n[o']t exist|did ?n[o']t exist|n't exist|not exist|non[- ]?existent|could not be (?:found|resolved)|cannot be (?:found|resolved))\\b",
  '\\b(?:unknown|non[- ]?existent|no such|invalid|bad|unrouteable|unroutable) (?:\\w+ ){0,2}domain\\b',
)

/** Phrases that say so only beside a code of addresses, or without a code. Elsewhere servers use them for policy too. */
export const vaguePhrases: RegExp = anyOf(
  '\\b(?:mail ?box|account|address|inbox)\\b[^.;]{0,40}\\b(?:unavailable|not (?:currently )?available)\\b',
  `\\bunavailable (?:${who})\\b|\\bno mailbox\\b.{0,40}\\bavailable\\b`,
)

/** Phrases of a refusal without a cause. They are a reason, but the address may exist. */
export const refusalPhrases: RegExp = anyOf(
  `\\b${who}\\b[^.;]{0,40}\\b(?:rejected|refused|not accepted|denied)\\b`,
  `\\brejected (?:${who})\\b`,
)
