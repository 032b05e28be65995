// Suppressions.
import type { Suppression } from '@callsign/contract/suppressions'
import { createSuppression, deleteSuppression, listSuppressions } from '@callsign/contract/suppressions'
import type { Static } from 'typebox'
import type { ApiCall } from '../../../core/api-call.ts'
import { listPage } from './pages.ts'
import { listField, ResendFailure, type ResendRoute, textField } from './route.ts'

const toSuppression = ({ id, email_address, source, message_id, created_at }: Static<typeof Suppression>) => ({
  id,
  email: email_address,
  origin: source,
  source_id: message_id,
  created_at,
})

/** The entry with this address or id. */
async function findSuppression(call: ApiCall, name: string): Promise<Static<typeof Suppression>> {
  const query = name.includes('@') ? { email_address: name } : { id: name }
  const isNamed = name.includes('@') || /^sup_\w{1,40}$/.test(name)
  const { data } = isNamed ? await call(listSuppressions, { query }) : { data: [] }
  const [found] = data
  if (!found) throw new ResendFailure(404, 'not_found', 'Suppression not found')
  return found
}

async function remove(call: ApiCall, name: string): Promise<{ object: 'suppression'; id: string; deleted: true }> {
  const { id, email_address } = await findSuppression(call, name)
  await call(deleteSuppression, { params: { email_address } })
  return { object: 'suppression', id, deleted: true }
}

export const suppressionRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/suppressions',
    status: 201,
    async run({ body, call }) {
      const { id } = await call(createSuppression, { body: { email_address: textField(body, 'email') } })
      return { object: 'suppression', id }
    },
  },
  {
    method: 'GET',
    path: '/suppressions',
    run(request) {
      const { origin } = request.query
      const source = origin === 'bounce' || origin === 'complaint' || origin === 'manual' ? ({ source: origin } as const) : {}
      return listPage(request, (page) => request.call(listSuppressions, { query: { ...page, ...source } }), toSuppression)
    },
  },
  {
    method: 'GET',
    path: '/suppressions/:email',
    run: async ({ call, params }) => ({ object: 'suppression', ...toSuppression(await findSuppression(call, params.email as string)) }),
  },
  {
    method: 'DELETE',
    path: '/suppressions/:email',
    run: ({ call, params }) => remove(call, params.email as string),
  },
  {
    method: 'POST',
    path: '/suppressions/batch/add',
    status: 201,
    async run({ body, call }) {
      const data: { object: 'suppression'; id: string }[] = []
      for (const email_address of listField(body, 'emails') ?? []) {
        data.push({ object: 'suppression', id: (await call(createSuppression, { body: { email_address } })).id })
      }
      return { data }
    },
  },
  {
    method: 'POST',
    path: '/suppressions/batch/remove',
    async run({ body, call }) {
      const data: { object: 'suppression'; id: string; deleted: true }[] = []
      for (const name of listField(body, 'emails') ?? listField(body, 'ids') ?? []) data.push(await remove(call, name))
      return { data }
    },
  },
]
