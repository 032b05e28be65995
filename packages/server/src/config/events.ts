// Settings of webhooks.
import { area, setting } from './setting.ts'
import { secondsList } from './values.ts'

export const events = area({
  title: 'Events and webhooks',
  settings: {
    webhookRetrySeconds: setting({
      name: 'CALLSIGN_WEBHOOK_RETRY_SECONDS',
      fallback: '5,300,1800,7200,18000,36000,50400,72000,86400',
      shown: '5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h',
      sentence: 'Delays in seconds between attempts to deliver an event to a webhook. The delivery fails after the last attempt.',
      read: secondsList,
    }),
  },
})
