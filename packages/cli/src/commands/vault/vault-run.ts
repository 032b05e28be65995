// vault run starts another program with the secrets it needs in its environment alone.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Secret, SecretType, UnlockedVault } from '@callsign/sdk'
import { mainMember } from '@callsign/sdk/vault'
import { type Command, several } from '../../command.ts'
import { UsageError } from '../../usage-error.ts'
import { unlockOptions, withVault } from './vault-access.ts'

type Wish = { reference: string; variable: string }

/** Variables that open the vault are hidden from the child, which gets only the named secrets. */
const withheld = ['CALLSIGN_VAULT_KEY', 'CALLSIGN_NEW_VAULT_KEY', 'CALLSIGN_RECOVERY_CODE']

const passedSignals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']

/** Parses `NAME[:member]=VARIABLE`. A name may contain `=` and `:`, a variable cannot. */
function readWish(wish: string): Wish {
  const [, reference, variable] = /^(.+)=([A-Za-z_][A-Za-z0-9_]*)$/s.exec(wish) ?? []
  if (reference === undefined || variable === undefined) throw new UsageError(`--secret must be NAME[:member]=VARIABLE, not "${wish}".`)
  return { reference, variable }
}

/**
 * Every secret with a verified name, in a variable named after it: `prod db` becomes PROD_DB. An existing variable is never replaced.
 * Otherwise a secret named path or ld_preload could change how the program runs.
 */
function wishForAll(vault: UnlockedVault, environment: NodeJS.ProcessEnv): Wish[] {
  const wishes = new Map<string, Wish>()
  for (const { id, name, isBound } of vault.list()) {
    if (!isBound) continue
    const variable = name
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=[0-9])/, '_')
    const other = wishes.get(variable)
    const why = other
      ? `another secret has the same variable`
      : loaderVariable.test(variable) || variable in environment
        ? 'it is taken'
        : ''
    if (why !== '') throw new UsageError(`${name} cannot be stored in ${variable}: ${why}. Choose variables with --secret NAME=VARIABLE.`)
    wishes.set(variable, { reference: id, variable })
  }
  return [...wishes.values()]
}

/** Variables that make a loader or an interpreter run other code. */
const loaderVariable = /^(LD_|DYLD_|NODE_|PYTHON|PERL|RUBY|BASH_|GIT_)|^(PATH|IFS|ENV|SHELL|HOME|_)$/

/** The value of a requested secret. The whole text is tried as a name first, then its last part as a member. */
async function fulfil(vault: UnlockedVault, { reference, variable }: Wish): Promise<[string, string]> {
  const isName = vault.list().some((one) => one.id === reference || (one.isBound && one.name === reference))
  const cut = reference.lastIndexOf(':')
  const [name, member] = isName || cut < 0 ? [reference, undefined] : [reference.slice(0, cut), reference.slice(cut + 1)]
  const secret: Secret = await vault.get(name)
  const wanted = member ?? mainMember[secret.type as SecretType]
  const value =
    wanted !== undefined && Object.hasOwn(secret.payload, wanted) ? (secret.payload as Record<string, unknown>)[wanted] : undefined
  if (typeof value !== 'string') throw new UsageError(`${name} does not have a text member ${wanted ?? ''}.`)
  if (value.includes('\0')) throw new UsageError(`${name} contains a NUL character, which an environment variable cannot contain.`)
  return [variable, value]
}

/** Runs a program in the foreground. Passes signals on, and returns its exit code, or 128 plus the number of the signal that ended it. */
function runChild(command: string, args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env: environment })
    const forward = (signal: NodeJS.Signals) => {
      // On a terminal Ctrl-C reaches the child by itself, as one of the foreground group.
      const isFromTerminal = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT')
      if (!isFromTerminal) child.kill(signal)
    }
    for (const signal of passedSignals) process.on(signal, forward)
    const finish = () => {
      for (const signal of passedSignals) process.off(signal, forward)
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      finish()
      if (error.code !== 'ENOENT' && error.code !== 'EACCES') return reject(error)
      process.stderr.write(`callsign: ${command} ${error.code === 'ENOENT' ? 'was not found' : 'cannot be run'}.\n`)
      resolve(error.code === 'ENOENT' ? 127 : 126)
    })
    child.once('exit', (code, signal) => {
      finish()
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
}

export const vaultRunCommands: Command[] = [
  {
    words: 'vault run',
    passesOn: true,
    about: 'Runs a program with secrets in its environment.',
    example: 'callsign vault run --secret payments=PAYMENTS_KEY -- node job.js',
    operations: ['unlockVault'],
    options: {
      secret: {
        type: 'string',
        multiple: true,
        value: 'NAME[:member]=VARIABLE',
        about: 'A secret and the variable to store it in. Repeatable. Defaults to every secret: payments is stored in PAYMENTS.',
      },
      ...unlockOptions,
    },
    async run(context, values, [command, ...args]) {
      const wishes = several(values, 'secret').map(readWish)
      if (command === undefined) throw new UsageError('The program is missing. Give it after --.')
      const secrets = await withVault(context, values, (vault) => {
        const wanted = wishes.length > 0 ? wishes : wishForAll(vault, context.environment)
        if (wanted.length === 0) context.output.note('The vault has no secret with a verified name. The program runs without secrets.')
        return Promise.all(wanted.map((wish) => fulfil(vault, wish)))
      })
      const inherited = Object.fromEntries(Object.entries(context.environment).filter(([name]) => !withheld.includes(name)))
      return runChild(command, args, { ...inherited, ...Object.fromEntries(secrets) })
    },
  },
]
