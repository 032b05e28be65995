// Replies by server family and language. Some end an address, others refuse one message, one sender or one attempt.
import { describe, expect, test } from 'vitest'
import { expectCost } from '../../tests/harness/cost.ts'
import { isHardBounce } from './hard-bounce.ts'

type Reply = readonly [status: string | null, text: string]
const wronglyRead = (replies: readonly Reply[], isDead: boolean) =>
  replies.filter(([status, text]) => isHardBounce(status, text) !== isDead).map(([status, text]) => `${status} ${text}`)

describe('addresses that exist', () => {
  const living: Record<string, Reply[]> = {
    'rate limits, whatever the code': [
      ['5.1.1', '550 5.1.1 <ada@example.com>: too many recipients in this session'],
      [
        '5.2.1',
        '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
      ],
      ['5.1.0', '550 5.1.0 Sending rate limit exceeded, slow down'],
      [null, '550 User unknown to the greylist, please try again later'],
      ['5.0.0', '554 Too many connections from your host'],
      ['5.1.1', '550 5.1.1 Recipient address rejected: hourly limit of messages reached'],
      [null, '550 Trop de connexions, veuillez verifier votre configuration'],
    ],
    'full mailboxes, whatever the code': [
      ['5.1.0', '550 5.1.0 <ada@example.com>: mailbox is full'],
      ['5.1.1', '552 5.1.1 Boite du destinataire pleine. Recipient overquota.'],
      ['5.1.1', "550 5.1.1 ada@example.com User's mailbox has exceeded its storage quota"],
      ['5.2.1', '550 5.2.1 This account does not have enough space'],
      ['5.1.1', '552 5.1.1 The user has exhausted the allowed storage'],
      ['5.1.1', '550 5.1.1 Not able to receive more mail'],
      ['5.1.1', '550 5.1.1 Benutzer hat zu viele Mails'],
      [null, '550 Postfach ist voll'],
      [null, '554 La casilla del usuario esta llena'],
      [null, '550 Конечный почтовый ящик переполнен'],
      [null, '550 メールボックスがいっぱいです'],
      [null, '550 收件人邮箱已满'],
    ],
    'policy, reputation and content': [
      ['5.1.1', '550 5.1.1 Recipient address rejected: message blocked by policy'],
      ['5.7.1', '550 5.7.1 Service unavailable; client host [192.0.2.1] blocked using zen.spamhaus.org'],
      ['5.1.0', '550 5.1.0 SPF check failed for the sending domain'],
      ['5.1.1', '553 5.1.1 Sender Policy Framework (SPF) fail'],
      [null, '554 Your access to this mail system has been rejected due to the poor reputation of a domain'],
      ['5.2.1', '550 5.2.1 Mailbox unavailable. Your IP address 192.0.2.1 is blacklisted'],
      ['5.7.26', '550 5.7.26 Unauthenticated email from example.com is not accepted due to its DMARC policy'],
      ['5.5.0', '550 5.5.0 Message rejected: possible virus'],
      ['5.1.1', '550 5.1.1 Relay access denied'],
      ['5.3.4', '552 5.3.4 Message size exceeds fixed limit'],
      ['5.1.1', '550 5.1.1 Unacceptable content'],
      ['5.1.1', '550 5.1.1 Encrypted attachments are refused'],
      ['5.1.1', '550 5.1.1 Failed several antispam checks'],
      ['5.1.1', '550 5.1.1 Not configured to relay mail for this domain'],
      ['5.7.1', '550 5.7.1 <ada@example.com>: Recipient address rejected: Access denied'],
    ],
    'the sender': [
      ['5.1.8', '550 5.1.8 <bob@example.net>: Sender address rejected: Domain not found'],
      [null, '550 sorry, your envelope sender domain must exist'],
      [null, '550 Verification failed for <bob@example.net>. No Such User Here. Sender verify failed'],
      ['5.1.0', '550 5.1.0 unknown sender bob@example.net'],
      ['5.1.1', 'host mx.example.com[192.0.2.1] said: 550 5.1.1 user unknown (in reply to MAIL FROM command)'],
      ['5.1.7', '550 5.1.7 Unknown domain'],
      ['5.0.0', '553 5.1.8 User unknown'],
      [null, '550 5.7.27 example.net has a null MX'],
      [null, '550 Domain does not exist'],
      ['5.7.1', '550 5.7.1 Invalid domain name'],
      [null, "550 The sender's account is locked, user inactive"],
      [null, '550 Outbound mail: this account is disabled'],
      [null, '550 Backscatter: expired address'],
      ['5.6.0', '554 5.6.0 malformed address: a bracket may not follow a comma'],
      [null, '550 Invalid address in a header of the message'],
    ],
    'the choice of the recipient': [
      ['5.1.1', '550 5.1.1 Mail refused because of the preference of the recipient'],
      ['5.7.133', "550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; you don't have permission to send to this list"],
      [null, '550 The user is not accepting mail from this address'],
      ['5.7.1', '554 5.7.1 Only approved senders may write to this mailbox'],
      ['5.1.1', '550 5.1.1 Mailbox currently suspended'],
      [null, '550 The user does not accept email in Cyrillic'],
      [null, '550 This user does not like newsletters'],
      [null, '550 The domain does not accept mail over unencrypted connections'],
      ['5.0.0', '550 5.0.0 Recipient address rejected: account inactive, on hold'],
    ],
    'a failure on the way': [
      ['5.4.6', '554 5.4.6 Too many hops'],
      ['5.4.4', 'Host or domain name not found. Name service error for name=example.com type=MX: Host not found, try again'],
      ['5.4.7', 'delivery time expired: connection refused'],
      ['4.4.7', 'retry timeout exceeded'],
      [null, "DNS Error: 12345 DNS type 'mx' lookup of slow.example responded with code SERVFAIL"],
      ['5.1.1', '554 5.1.1 mail loop detected'],
      ['5.1.1', '554 5.1.1 Server too busy'],
      ['5.1.1', '554 5.1.1 excessive recursion'],
      ['5.1.1', '550 5.1.1 You have to verify your address first'],
      [null, '550 The archive is disabled on this server'],
      [null, '550 SMTP sending is disabled'],
      ['5.1.1', 'maildrop: could not create /var/mail/ada: no such user'],
      ['5.5.1', '503 5.5.1 Need RCPT, no valid recipients'],
      [null, '550 mailbox disabled temporarly'],
      [null, '550 mailbox currently not available'],
    ],
    'temporary codes, whatever the words': [
      ['4.2.1', '450 4.2.1 <ada@example.com>: mailbox disabled'],
      [null, '450 User unknown'],
      ['4.1.1', 'Recipient address rejected: User unknown'],
      ['2.1.5', 'User unknown'],
      ['5.1.1', '451 user unknown'],
      ['5.1.1', 'host mx said: 450 user unknown'],
      ['5.1.1', 'refused (450 user unknown)'],
    ],
    'general refusals': [
      ['5.0.0', '550 No'],
      ['5.0.0', '554 Transaction failed'],
      ['5.7.1', '554 5.7.1 Message rejected'],
      ['5.7.1', '554 5.7.1 recipient rejected'],
      ['5.3.0', '550 5.3.0 mailbox unavailable'],
      [null, '550 5.710.1 mailbox unavailable'],
      ['5.1.0', ''],
      [null, ''],
      ['5.1.0', '550 #5.1.0 Address rejected.'],
      ['5.0.1', '550 5.0.1 Recipient rejected'],
      [null, '550 <ada@example.com> recipient rejected'],
      [null, '550 mailbox unavailable or access denyed'],
      [null, 'All of these recipients were refused by the next server.'],
    ],
  }
  test.each(Object.entries(living))('%s', (_name, replies) => expect(wronglyRead(replies, false)).toEqual([]))
})

describe('addresses that are gone', () => {
  const dead: Record<string, Reply[]> = {
    'the words of mail systems, under any code': [
      ['5.7.1', '550 5.7.1 No such user!'],
      ['5.3.0', '553 5.3.0 <ada@example.com>... Addressee unknown, relay=[192.0.2.1]'],
      ['5.0.0', '550 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table'],
      [null, '550 <ada@example.com>: Recipient address rejected: User unknown in relay recipient table'],
      [null, '550 No such user here'],
      [null, '550 Message was not accepted -- invalid mailbox. Local mailbox ada@example.com is unavailable: user not found'],
      [null, '551 not our customer'],
      [null, '550 That user does not seem to be here'],
      [null, 'Unrouteable address'],
      [null, "550 I'm sorry, there is no mailbox here by that name"],
      ['5.0.0', '550 "ada@example.com" is not a known user'],
      ['5.0.0', '551 <ada@example.com> is a deactivated mailbox'],
      ['5.7.1', '553 sorry, badrcptto (user mail-box not found) (#5.7.1)'],
      [null, "554 RCPT (ada@example.com) dosn't exist"],
      ['5.0.0', '550 BAD_RECIPIENT'],
      [null, '550 No one with that address here'],
      [null, '550 <ada> is now disabled'],
      [null, '550 ada@example.com:user not exist'],
      [null, '550 The recipient cannot be verified'],
      [null, '550 Unable to find the alias user'],
      [null, '550 Invalid final delivery userid'],
      [null, '550 unrecognized recipient'],
      [null, '550 We do not handle mail for example.com'],
      [null, 'DNS Error: Domain name not found'],
      [null, "DNS Error: 12345 DNS type 'mx' lookup of gone.example responded with code NXDOMAIN Domain name not found: gone.example"],
    ],
    Microsoft: [
      ['5.4.1', '550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [AM6EUR05FT036.eop-eur05.prod.protection.outlook.com]'],
      ['5.0.0', "550-'5.4.1 Recipient address rejected: Access denied."],
      ['5.1.351', 'Remote server returned unknown recipient or mailbox unavailable'],
      ['5.1.351', '550 5.1.351'],
      [null, '550 5.1.10 refused'],
      ['5.4.1', '550 Recipient address rejected: Access denied'],
      ['5.1.1', `${'x'.repeat(1000)} 450 later`],
      ['5.5.0', '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).'],
      ['5.1.10', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'],
      [null, 'The recipient name is not recognized'],
      [null, '550 Requested action not taken: mailbox unavailable'],
    ],
    'Yahoo and AOL': [
      [null, "554 delivery error: dd This user doesn't have a yahoo.com account (ada@yahoo.com) [0] - mta1.mail.yahoo.com"],
      [
        null,
        '554 delivery error: dd Sorry your message to ada@yahoo.com cannot be delivered. This account has been disabled or discontinued [#102].',
      ],
      [null, '554 30 Sorry, your message to ada@yahoo.com cannot be delivered. This mailbox is disabled (554.30).'],
      [null, '552 1 Requested mail action aborted, mailbox not found'],
      ['5.1.1', '550 MAILBOX NOT FOUND'],
    ],
    'Domino and Notes': [
      [null, 'User ada (ada@example.com) not listed in Domino Directory'],
      ['5.0.0', 'User ada (ada@example.com) not listed in public Name & Address Book'],
    ],
    Gmail: [
      [
        '5.1.1',
        "550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the recipient's email address for typos",
      ],
      ['5.2.1', '550 5.2.1 The email account that you tried to reach is inactive.'],
    ],
    domains: [
      ['5.4.4', 'Host or domain name not found. Name service error for name=gone.example type=A: Host not found'],
      [null, 'Domain gone.example does not accept mail (nullMX)'],
      ['5.1.2', '550 Host unknown'],
      [null, "Sorry, I couldn't find any host named gone.example. (#5.1.2)"],
      ['5.4.310', 'DNS domain gone.example does not exist'],
      ['5.1.2', '550 5.1.2 Unknown domain'],
      ['5.4.4', '550 5.4.4 Invalid domain name'],
      [null, 'No valid recipients were left. ada@gone.example: unknown host'],
      [null, 'The domain of the address was not found'],
    ],
    'codes alone': [
      ['5.1.1', ''],
      ['5.1.6', '550 5.1.6'],
      ['5.2.1', '550 5.2.1 <ada@example.com>'],
      [null, '550 5.1.1 <ada@example.com>'],
    ],
    'vague words beside a code of addresses': [
      ['5.1.0', '550 5.1.0 Mailbox not available'],
      ['5.0.1', '550 5.0.1 Address unavailable'],
      [null, '550 No mailbox of this name is available'],
    ],
    'other languages': [
      [null, '550 Benutzer unbekannt'],
      [null, '550 Empfaenger existiert nicht'],
      [null, '550 5.7.1 Utilisateur inconnu'],
      [null, "L'adresse de messagerie n'existe pas"],
      [null, '550 El usuario no existe'],
      [null, 'Esta casilla ha expirado por falta de uso.'],
      [null, '554 Usuário Inválido ou Inexistente'],
      [null, '550 Casella inesistente'],
      [null, '550 Destinatario errato'],
      [null, '550 Naslov ne obstaja'],
      [null, '550 Gebruiker onbekend'],
      [null, '501 Odbiorca <ada@example.pl> nie istnieje'],
      [null, '550 Uživatel neexistuje'],
      [null, '550 Okänd mottagare'],
      [null, '550 Kullanıcı bulunamadı'],
      [null, '550 Пользователь не найден'],
      [null, '550 宛先が存在しません'],
      [null, '550 用户不存在'],
      [null, '550 사용자를 찾을 수 없습니다'],
    ],
  }
  test.each(Object.entries(dead))('%s', (_name, replies) => expect(wronglyRead(replies, true)).toEqual([]))
})

test('hosts, addresses and URLs decide nothing', () => {
  expect(isHardBounce(null, 'host spam.example[192.0.2.1] said: 550 User unknown')).toBe(true)
  expect(isHardBounce(null, 'host spam-policy.filter.example.com[192.0.2.1] said: 550 User unknown')).toBe(true)
  expect(isHardBounce('5.0.0', '550 <no-such-user@example.com>: refused, see https://example.com/user-unknown')).toBe(false)
  expect(isHardBounce(null, '550 <quota.full@example.com>: User unknown')).toBe(true)
})

test('a reply of hostile length takes a bounded time', async () => {
  await expectCost(() => {
    for (const unit of ['mailbox ', 'sender ', 'user ', 'a.b.c.', 'recipient address ', '550 5.1.1 ', 'x@y '])
      isHardBounce(null, unit.repeat(200_000))
  }, 2000)
})
