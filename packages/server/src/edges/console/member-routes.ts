// The routes of the own account and of the members of the organization.
import { strict } from '@callsign/contract/schema'
import Type from 'typebox'
import { forbidden } from '../../core/errors.ts'
import { type Links, linkUrl } from '../../features/account/links/operations.ts'
import type { Acting, Members } from '../../features/account/members/operations.ts'
import { type MemberRole, memberRoles } from '../../features/account/roles/model.ts'
import type { Session } from '../../features/account/sessions/model.ts'
import { actorOfSession } from '../../features/account/sessions/operations.ts'
import type { SignIn } from '../../features/account/sign-in/operations.ts'
import { type Ask, type ConsoleRoute, signedIn } from './routes.ts'

type Parts = { members: Members; links: Links; signIn: SignIn; publicUrl: () => string }

const Name = Type.String({ maxLength: 100 })
const Email = Type.String({ minLength: 3, maxLength: 254 })
const Role = Type.Unsafe<MemberRole>({ type: 'string', enum: [...memberRoles] })
const SelfBody = strict({ name: Type.Optional(Name), email: Type.Optional(Email) })
const PasswordBody = strict({
  password: Type.String({ minLength: 1, maxLength: 256 }),
  current_password: Type.Optional(Type.String({ maxLength: 256 })),
})
const NewMemberBody = strict({ email: Email, name: Type.Optional(Name), role: Role })
const MemberBody = strict({ role: Type.Optional(Role), name: Type.Optional(Name), email: Type.Optional(Email) })

/** The lifetime of links that invite a member, or let one set a password again. */
const inviteMs = 72 * 3_600_000

const actingOf = ({ session, client }: Ask<Session>): Acting => ({
  organizationId: session.organizationId,
  actor: actorOfSession(session, client.requestId),
})

export function memberRoutes({ members, links, signIn, publicUrl }: Parts): ConsoleRoute[] {
  const selfOf = ({ session }: Ask<Session>): string => session.member?.id as string
  const newLink = (acting: Acting, userId: string) => ({ ...acting, userId, lifetimeMs: inviteMs })

  return [
    signedIn('member', 'GET', 'me', null, async (ask) => ({ body: await members.get(ask.session.organizationId, selfOf(ask)) })),
    signedIn('member', 'PATCH', 'me', SelfBody, async (ask) => {
      const isOther = ask.body.email !== undefined && ask.body.email.trim().toLowerCase() !== ask.session.member?.email
      if (isOther && ask.session.role !== 'owner') throw forbidden('An owner changes the e-mail address of other members.')
      return { body: await members.update(actingOf(ask), selfOf(ask), ask.body) }
    }),
    signedIn('member', 'PUT', 'me/password', PasswordBody, async ({ session, client, body }) => {
      await signIn.setPassword(session, client, body.password, body.current_password)
      return {}
    }),
    signedIn('owner', 'GET', 'members', null, async ({ session }) => ({ body: { members: await members.list(session.organizationId) } })),
    signedIn('owner', 'POST', 'members', NewMemberBody, async (ask) => {
      const acting = actingOf(ask)
      const { name = '', ...rest } = ask.body
      const made = await members.create(acting, { ...rest, name }, (tx, id) => links.create(tx, newLink(acting, id)))
      return { status: 201, body: { ...made.member, invite_link: linkUrl(publicUrl(), made.result) } }
    }),
    signedIn('owner', 'POST', 'members/{id}/link', null, async (ask) => {
      const acting = actingOf(ask)
      const token = await links.createForMember(newLink(acting, ask.params.id as string))
      return { status: 201, body: { invite_link: linkUrl(publicUrl(), token) } }
    }),
    signedIn('owner', 'PATCH', 'members/{id}', MemberBody, async (ask) => ({
      body: await members.update(actingOf(ask), ask.params.id as string, ask.body),
    })),
    signedIn('owner', 'DELETE', 'members/{id}', null, async (ask) => {
      await members.remove(actingOf(ask), ask.params.id as string)
      return {}
    }),
  ]
}
