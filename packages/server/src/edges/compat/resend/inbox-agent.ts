// The settings of the agent of an inbox: the instructions of our identity. Its tone and actions are metadata, since no program of ours reads them.
import { getIdentity, updateIdentity } from '@callsign/contract/identities'
import { optionalText } from './composition.ts'
import { handleOf } from './inboxes.ts'
import { listField, ResendFailure, type ResendRequest, type ResendRoute } from './route.ts'

const tones = ['concise_professional', 'concise_casual', 'expanded_professional', 'expanded_casual']
const actions = ['draft_reply', 'forward_thread', 'add_labels', 'assign_thread', 'mark_as_spam', 'archive', 'move_to_trash']

const [toneKey, actionsKey] = ['resend_tone', 'resend_actions'] as const

function checkKnown(field: string, values: string[], known: string[]): void {
  const other = values.find((value) => !known.includes(value))
  if (other !== undefined)
    throw new ResendFailure(422, 'validation_error', `\`${field}\` must be one of ${known.join(', ')}, not ${other.slice(0, 50)}.`)
}

async function update(request: ResendRequest): Promise<unknown> {
  const fields = request.body as Record<string, unknown>
  const instructions = fields.instructions === null ? null : optionalText(fields, 'instructions')
  const tone = fields.tone === null ? null : optionalText(fields, 'tone')
  const chosen = listField(request.body, 'actions')
  if (tone) checkKnown('tone', [tone], tones)
  checkKnown('actions', chosen ?? [], actions)
  const metadata = {
    ...(tone !== undefined && { [toneKey]: tone }),
    ...(chosen && { [actionsKey]: chosen.length > 0 ? chosen.join(',') : null }),
  }
  const body = {
    ...(instructions !== undefined && { instructions }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
  if (Object.keys(body).length === 0)
    throw new ResendFailure(422, 'missing_required_field', 'One of `instructions`, `tone` and `actions` is required.')
  const { mailbox } = await request.call(updateIdentity, { params: { handle: await handleOf(request) }, body })
  return { object: 'inbox_agent', id: mailbox.id }
}

export const inboxAgentRoutes: ResendRoute[] = [
  {
    method: 'GET',
    path: '/inboxes/:inbox/agent',
    async run(request) {
      const { instructions, metadata } = await request.call(getIdentity, { params: { handle: await handleOf(request) } })
      return {
        object: 'inbox_agent',
        instructions,
        tone: metadata[toneKey] ?? null,
        actions: String(metadata[actionsKey] ?? '')
          .split(',')
          .filter(Boolean),
      }
    },
  },
  { method: 'PATCH', path: '/inboxes/:inbox/agent', run: update },
]
