// The endpoints of identities, their addresses and mailboxes. Making, changing and deleting identities is the organization's business.
import * as addressContract from '@callsign/contract/addresses'
import * as contract from '@callsign/contract/identities'
import { type Route, route } from '../../../core/route.ts'
import type { Identities } from './operations.ts'

export const identityRoutes = (identities: Identities): Route[] => [
  route(contract.createIdentity, 'organization', (call, { body }) => identities.createIdentity(call, body)),
  route(contract.listIdentities, 'agent', (call, { query }) => identities.listIdentities(call.caller, query)),
  route(contract.getIdentity, 'agent', (call, { params }) => identities.getIdentity(call.caller, params.handle)),
  route(contract.updateIdentity, 'organization', (call, { params, body }) => identities.updateIdentity(call, params.handle, body)),
  route(contract.deleteIdentity, 'organization', (call, { params }) => identities.deleteIdentity(call, params.handle)),
  route(addressContract.listAddresses, 'agent', (call, { params, query }) => identities.listAddresses(call.caller, params.handle, query)),
  route(addressContract.createAddress, 'organization', (call, { params, body }) => identities.createAddress(call, params.handle, body)),
  route(addressContract.setPrimaryAddress, 'organization', (call, { params }) =>
    identities.setPrimaryAddress(call, params.handle, params.email_address),
  ),
  route(addressContract.deleteAddress, 'organization', (call, { params }) =>
    identities.deleteAddress(call, params.handle, params.email_address),
  ),
  route(contract.listMailboxes, 'agent', (call, { query }) => identities.listMailboxes(call.caller, query)),
  route(contract.getMailbox, 'agent', (call, { params }) => identities.getMailbox(call.caller, params.email_address)),
]
