// completion prints a completion script for a shell.
import { type Command, oneOf } from '../command.ts'
import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import { zshScript } from '../completion/zsh.ts'
import { UsageError } from '../usage-error.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
const shells = ['bash', 'zsh', 'fish'] as const

export const completionCommands: Command[] = [
  {
    words: 'completion',
    takes: 'SHELL',
    about:
      'Prints a completion script for bash, zsh or fish. Load it in the startup file of the shell, such as ~/.bashrc, or for fish save it as ~/.config/fish/completions/callsign.fish.',
    example: 'source <(callsign completion bash)',
    operations: [],
    argumentChoices: shells,
    async run({ output, commands }, _values, [given]) {
      const shell = oneOf({ shell: given }, 'shell', shells)
      if (!shell) throw new UsageError(`SHELL must be bash, zsh or fish, not "${given}".`)
      output.raw(scripts[shell](commands))
      return 0
    },
  },
]
