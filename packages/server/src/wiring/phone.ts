// Builds phone numbers and texts on the suppliers that the settings name and on the simulator.
import type { Emit } from '../core/event.ts'
import { createPhoneSimulator } from '../edges/suppliers/simulator-phone.ts'
import { createTelnyx } from '../edges/suppliers/telnyx.ts'
import { createTwilio } from '../edges/suppliers/twilio.ts'
import type { Identities } from '../features/account/identities/operations.ts'
import type { Accounts } from '../features/account/organizations/operations.ts'
import type { Events } from '../features/events/log/operations.ts'
import type { Attachments } from '../features/mail/attachments/operations.ts'
import { areaCodesIn, tollFreeCodes } from '../features/phone/area-codes.ts'
import { type Arrivals, createArrivals } from '../features/phone/arrivals.ts'
import { type CallbackPaths, createCallbackPaths } from '../features/phone/callback-paths.ts'
import { createInbox } from '../features/phone/inbox.ts'
import { createPhoneJobs } from '../features/phone/jobs.ts'
import { createPhones, type Phones } from '../features/phone/operations.ts'
import type { PhoneProvider, ProviderName } from '../features/phone/provider.ts'
import { phoneRoutes } from '../features/phone/routes.ts'
import type { SimulatorState } from '../features/simulator/operations.ts'
import { type Area, hourMs, type SharedParts } from './parts.ts'

type Needs = SharedParts & {
  accounts: Accounts
  identities: Identities
  events: Events
  emit: Emit
  attachments: Attachments
  simulatorState: SimulatorState
}

export type PhoneArea = Area & {
  phones: Phones
  arrivals: Arrivals
  callbackPaths: CallbackPaths
  /** Signs the callbacks of the simulator. */
  simulatorSignKey: Buffer
  /** Polls the provider now for the state of a number. */
  pollNow: (numberId: string) => Promise<void>
}

/** Longest wait of a request for its number: shorter than the timeouts of clients and proxies. */
const provisionWaitMs = 25_000

export function createPhoneArea(needs: Needs): PhoneArea {
  const { config, db, keyring, accounts, identities, events, attachments, web, emit, enqueue, publicUrl, businessEvents } = needs
  const log = needs.log.child({ part: 'phones' })
  const callbackPaths = createCallbackPaths(keyring.subkey('phone-callbacks'))
  const simulatorSignKey = keyring.subkey('phone-simulator')
  const { providers, closers } = createProviders(needs, callbackPaths, simulatorSignKey)

  const pollMs = config.phonePollSeconds * 1000
  const jobs = createPhoneJobs({ db, providers, enqueue, emit, pollMs, businessEvents, log })
  const providerName = config.phoneProvider
  const phones = createPhones({ db, accounts, identities, attachments, enqueue, providerName, waitMsMax: provisionWaitMs })
  const arrivals = createArrivals({
    db,
    attachments,
    web,
    providers,
    jobs,
    providerNames: [...providers.keys()],
    emit,
    enqueue,
    publicUrl,
    callbackPaths,
    businessEvents,
    log,
  })
  const inbox = createInbox({ db, phones, attachments, wait: events.wait })

  identities.onDelete((tx, { identityId }) => phones.releaseOf(tx, identityId))
  events.describe('pn', phones.describe)
  events.describe('sms', inbox.describe)
  attachments.addSource({ findFile: inbox.findFile, findNamedBlobs: inbox.findNamedBlobs })

  return {
    phones,
    arrivals,
    callbackPaths,
    simulatorSignKey,
    pollNow: jobs.pollNow,
    routes: phoneRoutes(phones, inbox, arrivals),
    handlers: [...jobs.handlers, arrivals.mediaHandler],
    scheduledTasks: [
      { name: 'catch up with texts', everyMs: config.phoneCatchUpSeconds * 1000, isDueAtStart: true, run: arrivals.catchUp },
      { name: 'sweep texts', everyMs: hourMs, run: () => Promise.all([phones.sweep(), arrivals.sweep()]) },
    ],
    close: async () => {
      await Promise.all(closers.map((close) => close()))
    },
  }
}

/** The simulator and every supplier that has settings: a number is released where it was bought, also after `CALLSIGN_PHONE_PROVIDER` changed. */
function createProviders({ config, simulatorState, publicUrl, userAgent }: Needs, callbackPaths: CallbackPaths, signKey: Buffer) {
  const callbackUrl = (name: ProviderName) => () => `${publicUrl()}${callbackPaths.of(name)}`
  const providers = new Map<ProviderName, PhoneProvider>([
    [
      'simulator',
      createPhoneSimulator({
        carrier: simulatorState.phoneCarrier,
        readyMs: config.simSmsReadyMs,
        signKey,
        areaCodesOf: ({ country, type, region, areaCode }) =>
          areaCode !== null ? [areaCode] : type === 'toll_free' ? tollFreeCodes() : areaCodesIn(country, region),
      }),
    ],
  ])
  const closers: (() => Promise<void>)[] = []
  const { telnyxApiKey, telnyxPublicKey, telnyxMessagingProfileId, twilioAccountSid, twilioAuthToken } = config
  if (telnyxApiKey && telnyxPublicKey && telnyxMessagingProfileId) {
    const telnyx = createTelnyx({
      apiKey: telnyxApiKey,
      publicKey: telnyxPublicKey,
      messagingProfileId: telnyxMessagingProfileId,
      apiUrl: config.telnyxApiUrl,
      userAgent,
      callbackUrl: callbackUrl('telnyx'),
    })
    providers.set('telnyx', telnyx)
    closers.push(telnyx.close)
  }
  if (twilioAccountSid && twilioAuthToken) {
    const twilio = createTwilio({
      accountSid: twilioAccountSid,
      authToken: twilioAuthToken,
      apiUrl: config.twilioApiUrl,
      userAgent,
      callbackUrl: callbackUrl('twilio'),
    })
    providers.set('twilio', twilio)
    closers.push(twilio.close)
  }
  return { providers, closers }
}
