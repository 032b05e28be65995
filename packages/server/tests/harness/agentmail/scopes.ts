// The scopes in which the SDK has the same methods: the account, an inbox and a pod.
import type { AgentMail, Check, Context } from './context.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK types each scope on its own
type Api = any

/** Checks of methods that exist in several scopes. `api` has them in one of the scopes. */
export type Scoped = Record<string, (context: Context, api: Api) => Promise<void>>

/** The resources of the only pod, with the parameters of those of the account. */
const podOf = ({ pods }: AgentMail): Api =>
  new Proxy(
    {},
    {
      get: (_, resource) =>
        new Proxy(
          {},
          {
            get:
              (_, method) =>
              (...values: unknown[]) =>
                (pods as Api)[resource][method]('default', ...values),
          },
        ),
    },
  )

const named = (prefix: string, checks: Scoped, apiOf: (client: AgentMail) => Api): Record<string, Check> =>
  Object.fromEntries(
    Object.entries(checks).map(([name, check]) => [`${prefix}${name}`, (context: Context) => check(context, apiOf(context.client))]),
  )

/** The checks of a resource of the account and of the pod. */
export const inAccountAndPod = (resource: string, checks: Scoped): Record<string, Check> => ({
  ...named(`${resource}.`, checks, (client) => client),
  ...named(`pods.${resource}.`, checks, podOf),
})

/** The checks of a resource of an inbox. `checksOf` takes the methods without their first parameter, the inbox. */
export const within = (
  prefix: string,
  checksOf: (resourceOf: (api: Api, address: string) => Api) => Scoped,
  resourceOf: (api: Api) => Api,
): Record<string, Check> =>
  named(
    prefix,
    checksOf(
      (api, address) =>
        new Proxy(
          {},
          {
            get:
              (_, method) =>
              (...values: unknown[]) =>
                resourceOf(api)[method](address, ...values),
          },
        ),
    ),
    (client) => client,
  )
