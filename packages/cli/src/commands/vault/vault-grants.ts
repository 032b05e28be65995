// vault grants.
import type { Command } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { unlockOptions, withVault } from './vault-access.ts'

export const vaultGrantCommands: Command[] = [
  {
    words: 'vault grants',
    takes: 'NAME',
    about: 'Lists the agents that can read a secret, newest grant first.',
    example: 'callsign vault grants payments',
    operations: ['listVaultAccess'],
    options: unlockOptions,
    run: (context, values, [reference = '']) =>
      withVault(context, values, async (vault) => {
        const grants = await vault.grants(reference)
        context.output.result({ data: grants }, (width) =>
          table(
            ['AGENT', 'SINCE', 'ID'],
            grants.map((one) => [one.agent_handle, ago(one.created_at), one.id]),
            width,
          ),
        )
        return 0
      }),
  },
]
