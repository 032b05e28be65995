// The new text of a reply by mail program, language and position of the answer, and inputs made to be slow. All mails here are our own writing.
import { describe, expect, it } from 'vitest'
import { expectLinear } from '../../../tests/harness/cost.ts'
import { extractReplyText } from './reply-text.ts'

const QUOTE = '> Hi Ann,\n> can you send the contract?\n>\n> Bob'

const answers: [string, string, string][] = [
  ['Gmail, English', `Sure, attached.\n\nOn Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example> wrote:\n\n${QUOTE}\n`, 'Sure, attached.'],
  [
    'Gmail, wrapped attribution',
    `Sure.\n\nOn Tue, Mar 3, 2026 at 9:15 AM Robert Bartholomew Longname-Hyphen <\nrobert@x.example> wrote:\n${QUOTE}`,
    'Sure.',
  ],
  ['Gmail, German', `Ja, gern.\n\nAm Di., 3. März 2026 um 09:15 Uhr schrieb Bob <bob@x.example>:\n\n${QUOTE}`, 'Ja, gern.'],
  ['Gmail, French', `Oui, ci-joint.\n\nLe mar. 3 mars 2026 à 09:15, Bob <bob@x.example> a écrit :\n\n${QUOTE}`, 'Oui, ci-joint.'],
  ['Gmail, Spanish', `Claro.\n\nEl mar, 3 mar 2026 a las 9:15, Bob (<bob@x.example>) escribió:\n\n${QUOTE}`, 'Claro.'],
  ['Gmail, Portuguese', `Sim.\n\nEm ter., 3 de mar. de 2026 às 09:15, Bob <bob@x.example>\nescreveu:\n\n${QUOTE}`, 'Sim.'],
  ['Gmail, Italian', `Certo.\n\nIl giorno mar 3 mar 2026 alle ore 09:15 Bob <bob@x.example> ha scritto:\n\n${QUOTE}`, 'Certo.'],
  ['Gmail, Dutch', `Prima.\n\nOp di 3 mrt 2026 om 09:15 schreef Bob <bob@x.example>:\n\n${QUOTE}`, 'Prima.'],
  ['Gmail, Japanese', `承知しました。\n\n2026年3月3日(火) 9:15 Bob <bob@x.example>:\n\n${QUOTE}`, '承知しました。'],
  ['Gmail, Chinese', `好的。\n\nBob <bob@x.example> 于2026年3月3日周二 09:15写道：\n\n${QUOTE}`, '好的。'],
  ['Gmail, Korean', `네, 보냅니다.\n\n2026년 3월 3일 (화) 오전 9:15, Bob <bob@x.example>님이 작성:\n\n${QUOTE}`, '네, 보냅니다.'],
  ['Gmail, Russian', `Хорошо.\n\nвт, 3 мар. 2026 г. в 09:15, Bob <bob@x.example>:\n\n${QUOTE}`, 'Хорошо.'],
  ['Gmail, Polish', `Dobrze.\n\nwt., 3 mar 2026 o 09:15 Bob <bob@x.example> napisał(a):\n\n${QUOTE}`, 'Dobrze.'],
  ['Apple Mail, English', `Yes.\n\n> On Mar 3, 2026, at 9:15 AM, Bob <bob@x.example> wrote:\n> \n> Hi Ann`, 'Yes.'],
  ['Apple Mail, Spanish, without quote marks', 'Vale.\n\nEl 3 mar 2026, a las 9:15, Bob <bob@x.example> escribió:\n\nHola Ann', 'Vale.'],
  ['iPhone', `Ok\n\nSent from my iPhone\n\n> On Mar 3, 2026, at 9:15 AM, Bob <bob@x.example> wrote:\n> \n> Hi`, 'Ok'],
  ['iPhone, German', `Passt\n\nVon meinem iPhone gesendet\n\n> Am 03.03.2026 um 09:15 schrieb Bob <bob@x.example>:\n> \n> Hi`, 'Passt'],
  [
    'iPhone, French',
    `D’accord\n\nEnvoyé de mon iPhone\n\n> Le 3 mars 2026 à 09:15, Bob <bob@x.example> a écrit :\n> \n> Salut`,
    'D’accord',
  ],
  ['iPhone, Japanese', 'はい。\n\niPhoneから送信\n\n> 2026/03/03 9:15、Bob <bob@x.example>のメール:\n> \n> こんにちは', 'はい。'],
  [
    'Outlook for Android',
    'Fine with me.\n\nGet Outlook for Android<https://aka.ms/x>\n________________________________\nFrom: Bob <bob@x.example>\nSent: Tuesday, March 3, 2026 9:15:00 AM\nTo: Ann <ann@x.example>\nSubject: Contract\n\nHi Ann,',
    'Fine with me.',
  ],
  [
    'Outlook, English',
    'Please see attached.\n\nRegards,\nAnn\n\nFrom: Bob <bob@x.example>\nSent: Tuesday, March 3, 2026 9:15 AM\nTo: Ann <ann@x.example>\nCc: Max\nSubject: RE: Contract\n\nHi Ann,',
    'Please see attached.\n\nRegards,\nAnn',
  ],
  [
    'Outlook, German',
    'Anbei.\n\nVon: Bob <bob@x.example>\nGesendet: Dienstag, 3. März 2026 09:15\nAn: Ann <ann@x.example>\nBetreff: AW: Vertrag\n\nHallo Ann,',
    'Anbei.',
  ],
  [
    'Outlook, French',
    'Voici.\n\nDe : Bob <bob@x.example>\nEnvoyé : mardi 3 mars 2026 09:15\nÀ : Ann\nObjet : RE: Contrat\n\nBonjour',
    'Voici.',
  ],
  [
    'Outlook, Spanish, bold labels',
    'Adjunto.\n\n*De:* Bob <bob@x.example>\n*Enviado el:* martes, 3 de marzo de 2026 9:15\n*Para:* Ann\n*Asunto:* Contrato\n\nHola',
    'Adjunto.',
  ],
  ['Outlook 2003', 'Yes.\n\n-----Original Message-----\nFrom: Bob [mailto:bob@x.example]\nSent: Tuesday\nSubject: x\n\nHi', 'Yes.'],
  ['Outlook 2003, German', 'Ja.\n\n-----Ursprüngliche Nachricht-----\nVon: Bob\n\nHallo', 'Ja.'],
  [
    'Samsung',
    'Ok thanks\n\n-------- Original message --------\nFrom: Bob <bob@x.example>\nDate: 3/3/26 09:15 (GMT+00:00)\nTo: Ann\n\nHi',
    'Ok thanks',
  ],
  [
    'Thunderbird, bottom posting',
    `On 3/3/26 09:15, Bob wrote:\n${QUOTE}\n\nHere it is.\n\nAnn\n\n-- \nAnn Example\nExample Inc.`,
    'Here it is.\n\nAnn',
  ],
  ['Thunderbird, German, bottom posting', `Am 03.03.26 um 09:15 schrieb Bob:\n${QUOTE}\n\nHier ist er.`, 'Hier ist er.'],
  [
    'inline answers',
    'Hi Bob,\n\nOn 3/3/26 09:15, Bob wrote:\n> Can you come?\n\nYes.\n\n> Which day?\n\nMonday.',
    'Hi Bob,\n\nYes.\n\nMonday.',
  ],
  ['Gnus', `Bob <bob@x.example> writes:\n\n${QUOTE}\n\nDone.`, 'Done.'],
  ['a name and a quote only', 'Done.\n\nBob wrote:\n> Hi', 'Done.'],
  [
    'a signature above the quote',
    `Agreed.\n\n-- \nAnn Example\n+49 30 123\n\nOn Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example> wrote:\n${QUOTE}`,
    'Agreed.',
  ],
  ['a signature without its blank', 'Agreed.\n\n--\nAnn Example', 'Agreed.'],
  ['Yahoo', `Works.\n\n  On Tuesday, March 3, 2026 at 09:15:00 AM GMT+1, Bob <bob@x.example> wrote:  \n \n Hi Ann,\n can you?`, 'Works.'],
  [
    'Proton',
    `Works.\n\nSent with Proton Mail secure email.\n\nOn Tuesday, March 3rd, 2026 at 9:15 AM, Bob <bob@x.example> wrote:\n\n${QUOTE}`,
    'Works.',
  ],
  ['CRLF', 'Yes.\r\n\r\nOn Tue, Mar 3, 2026 at 9:15 AM Bob <bob@x.example> wrote:\r\n> Hi\r\n', 'Yes.'],
]

describe('replies', () => {
  it.each(answers)('%s', (_name, text, expected) => expect(extractReplyText(text)).toBe(expected))
})

const untouched: [string, string][] = [
  ['a plain mail', 'Hello,\n\nplease call me.\n\nBest,\nAnn'],
  ['a sentence with a colon', 'As my boss wrote:\nplease call me at 10:30.'],
  ['a remark with a page', 'On page 3 he wrote:\nnothing of interest.'],
  ['a list of times', 'Times:\n10:00 Ann\n11:00 Bob'],
  ['one label alone', 'From: the airport\nwe take a taxi.'],
  ['a dash list', '-- one\n-- two'],
  ['Sent in a sentence', 'Sent from my side yesterday, as discussed in the meeting; it is\nnot lost.'],
  ['a sentence like a device', 'The scan is attached.\n\nSent from my desk, is much easier than from the phone.'],
  ['a sentence about a phone', 'Sent from my phone I always forget the attachment, here it is'],
  ['an itinerary', 'Your trip:\n\nFrom: Berlin\nTo: Paris\nDate: 3 March, 09:15\nSeat: 12'],
  ['a sentence with a time', 'At 10:30 she wrote:\nthe room is taken.'],
  ['an escaped From', 'Hello,\n\n>From my point of view this is fine.\n\nAnn'],
  ['a title between dashes', '---- Agenda ----\nMoney\n---- Any other business ----\nNone'],
]
describe('text that only looks like a quote', () => {
  it.each(untouched)('%s', (_name, text) => expect(extractReplyText(text)).toBe(text))
})

describe('edges', () => {
  it('keeps a forward that says nothing else', () => {
    const text = '---------- Forwarded message ---------\nFrom: Bob <bob@x.example>\nDate: Tue\nSubject: x\nTo: Ann\n\nHi'
    expect(extractReplyText(text)).toBe(text)
  })
  it('finds nothing new in a bare quote', () =>
    expect(extractReplyText(`On Tue, Mar 3, 2026 at 9:15 AM Bob <b@x.example> wrote:\n${QUOTE}`)).toBe(''))
  it('takes nothing for nothing', () => expect(extractReplyText('')).toBe(''))
  it('looks at 64 KB', () => expect(extractReplyText('a'.repeat(100_000))).toHaveLength(65_536))
  it('gives well-formed text without NUL', () => expect(extractReplyText('a\0\ud800b')).toBe('a\ufffdb'))
})

describe('inputs made to be slow', () => {
  const units = [
    '\n',
    'On ',
    'On \n',
    '>',
    '> \n',
    'a:\n',
    'x wrote:\n',
    'On 1:00 <a@b.c>\n',
    '-- \n',
    'From: a\n',
    '----- a -----\n',
    '-',
    '_\n',
    'wrote 12:00:\n',
    '<',
    '<@',
    ' ',
    '\r',
    'On <a@',
  ]
  it.each(units)('%j again and again costs no more than its length', async (unit) => {
    await expectLinear(
      (characters) => {
        const text = unit.repeat(Math.ceil(characters / unit.length))
        return () => extractReplyText(text)
      },
      16_384,
      5,
    )
  })
})
