// Phrases of bounces in prose, by language. A stem has no word boundary behind it, so that "fail" matches "failed" and "failure".

const anyOf = (...patterns: string[]): RegExp => new RegExp(patterns.map((pattern) => `(?:${pattern})`).join('|'), 'iu')

/** Subjects of bounces. */
export const failureSubject = anyOf(
  '\\bundeliver|\\bun(?:able|successful).{0,20}deliver|\\b(?:mail|message|e-?mail)?\\s?delivery\\b.{0,20}\\b(?:fail|notif|problem|error|report|status|warning|unsuccess|delay|incomplete|refus|reject|impossible)|\\bfail(?:ed|ure)?\\b.{0,20}\\b(?:deliver|notice|mail|delivery|message)',
  "\\b(?:mail|mailer|e-?mail|message|smtp|system)\\b.{0,25}\\b(?:error|fail|problem|undeliver|bounce|reject|refus|not deliver|n[o']t be deliver|could ?n[o']t|cannot be)|\\bnon[- ]?(?:deliver|remis)|\\bnot (?:been )?deliver|\\b(?:could ?n[o']t|cannot|can't) (?:be )?deliver",
  '\\breturned\\b.{0,30}\\b(?:mail|message|e-?mail|sender)|\\b(?:mail|message|e-?mail)\\b.{0,15}\\b(?:returned|returning)|\\breturning\\b.{0,15}\\b(?:mail|message)|\\breject(?:ed|ion)\\b|\\bbounced?\\b|\\bprocessing error|\\bmailbox\\b.{0,20}\\bfull|\\buser unknown|\\bunknown (?:user|recipient|address)|\\bnot (?:exist|found)\\b|\\bno such (?:user|recipient)|\\bblocked by|\\bfailed (?:\\(|mail)',
  '\\bwarning:|\\bdelayed\\b|\\bdelay\\b|\\bpostponed\\b|\\bretry|\\bnot yet\\b',
  "nicht (?:zugestellt|zustellbar|ausgeliefert|gesendet)|unzustellbar|zustell(?:fehler|ung|problem)|fehler bei der|r(?:ü|ue)ckl(?:ä|ae)ufer|non (?:remis|delivr|d(?:é|e)livr|distribu)|(?:é|e)chec|impossible de (?:remettre|d(?:é|e)livrer)|retour (?:à|a) l'exp|no (?:se ha podido|se pudo|ha sido|fue) entreg|no entregad|error (?:de|en la) entrega|fallo en la entrega|devuelto|n(?:ã|a)o (?:foi )?entreg|n(?:ã|a)o p(?:ô|o)de|falha na entrega|devolvid|mancat[oa] (?:recapito|consegna)|non recapitat|impossibile (?:recapitare|consegnare)",
  'onbestelbaar|niet (?:afgeleverd|bezorgd)|mislukt|niedostarcz|nie (?:dostarcz|mo(?:ż|z)na)|zwrot|nedoru(?:č|c)|inte levereras|kunde inte|olevererbar|kunne ikke|ikke leveres|ulevererbar|toimit(?:us|t)|iletilemedi|teslim edilemedi|gönderilemedi|k(?:é|e)zbes(?:í|i)t|nelivrat|недоставл|не доставлен|не може|не удалось|ошибка доставки|не дійшл|недоставка|возвращ',
  '配信(?:不能|エラー|できません|失敗)|送信(?:できません|エラー|失敗)|エラーメール|不達|戻り|退信|退回|投递失败|投递|無法(?:傳遞|投遞)|无法(?:投递|送达|传递)|傳送失敗|发送失败|系统退信|반송|배달 실패|전송 실패|전달되지',
)

/** Sentences of bounces. */
export const failureText = anyOf(
  "\\b(?:could ?n[o']t|could not|can ?n[o']t|can't|cannot|unable to|un(?:able|successful).{0,40}) ?(?:be )?(?:deliver|reach|complete|send|transfer)|\\b(?:was|were|been|being|is) ?(?:n[o']t|not|undeliver|reject|refus|bounced|return)(?:ed)?\\b.{0,30}(?:deliver|accept|to (?:you|sender)|by|because|due)|\\bnot (?:yet )?(?:be |been )?deliver|\\bundeliver|\\bdelivery\\b.{0,120}\\bfail|\\bfail(?:ed|ure)?\\b.{0,40}\\b(?:deliver|recipient|address)",
  "\\bpermanent(?:ly)? (?:fatal )?(?:error|fail)|\\bfatal error|\\bdid ?n[o']t reach|\\breturned to (?:you|sender|the sender)|\\bmessage that you sent could not|\\bencountered (?:an error|delivery problems)|\\bhas been (?:returned|rejected|refused|postponed|blocked|bounced)|\\bwas (?:automatically )?reject|\\bintended recipient\\b.{0,80}\\b(?:full|unknown|not)|\\bnon[- ]?delivery|\\bsaid: ?[45]\\d\\d",
  "nicht (?:zugestellt|zustellbar|ausgeliefert|erreicht)|unzustellbar|n'a (?:pas|pu|pas pu)|pas pu (?:ê|e)tre|ne peut (?:ê|e)tre|non remis|no (?:se ha podido|se pudo|ha sido|pudo ser|puede ser|fue|se puede) ?entreg|no ha podido|n(?:ã|a)o (?:foi|p(?:ô|o)de|pode) ?(?:ser )?entreg|non (?:è|e) stato|impossibile (?:recapitare|consegnare)|niet (?:worden )?(?:bezorgd|afgeleverd)|kan niet worden|nie (?:został|zosta|mog)|niedostarcz|kunde inte|kunne ikke|iletilemedi|teslim edilemedi",
  'не (?:может быть|была? |удалось |был )?(?:доставлен|доставить|отправ)|не доставлено|возвращен|配信(?:でき|不能|され)|送信でき|届き?ませんでした|无法(?:投递|送达|传递|发送)|無法|退信|退回|전송하지|배달되지|전달되지',
)

/** Phrases of a delay. */
export const stillTrying = anyOf(
  "\\b(?:will|continue[sd]? to|still|being|be|attempts will) (?:keep (?:on )?|continue to )?(?:be )?(?:try(?:ing)?|retr(?:y|ied|ying)|attempt(?:s|ed|ing)? (?:to (?:re)?(?:deliver|send|transfer)|(?:re)?delivery|again|for)|continue\\b)|\\bno action is required|\\bthis is (?:only |just )?a warning|\\b(?:do not|don't) need to (?:resend|do anything|take any action)|\\bwarning message only",
  '\\bnot yet (?:been )?(?:delivered|sent)|\\bdelayed\\b|\\bpostponed\\b|\\bwill be (?:tried|retried|queued)|\\b(?:next|further) (?:retry|attempt)|weiter(?:hin)? versuch|verz(?:ö|oe)gert|retard(?:é|e)|seguir(?:á|a) intentando|retrasad|atrasad|in ritardo|vertraagd|op(?:ó|o)(?:ź|z)nion|задержан|попытки доставки|遅延|延迟|延遲|지연',
)

/** Phrases of a message that was tried for too long. */
export const expired = anyOf(
  '\\b(?:too (?:long|old)|(?:retry )?time(?:out)? (?:has )?exceeded|maximum[- ]time[- ]expired|(?:delivery|message|retry|queue) (?:time )?(?:has )?(?:expired|timed out)|within the allowed queue|exceeded maximum delivery|retry(?:ing)? (?:limit|timeout)|(?:unable to deliver|aborted|failed) .{0,30}after \\d|failed \\d+ attempts)',
)

/** Phrases of a system that gave up, which end a delay. */
export const gaveUp = anyOf(
  '\\b(?:gave? up|given up|giving up|no further attempts|will not (?:try|retry|be (?:re)?tried)|not going to try)\\b',
  expired.source,
)
