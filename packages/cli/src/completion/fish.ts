// The completion script for fish.
import type { Command, Option } from '../command.ts'
import { summaryOf } from '../help.ts'
import { type Candidate, candidatesOf } from './candidates.ts'

/** A word in single quotes, in which fish takes backslashes for escapes. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const complete = (condition: string, rest: string): string => `complete -c callsign -n ${quoted(condition)} ${rest}`

const wordLine = (condition: string, { word, about }: Candidate): string => complete(condition, `-a ${quoted(word)} -d ${quoted(about)}`)

function optionLine(words: string, [name, { type, value, choices, about }]: [string, Option]): string {
  const takes =
    type === 'boolean' ? '' : value === 'FILE' || value === 'FOLDER' ? ' -r -F' : ` -x${choices ? ` -a ${quoted(choices.join(' '))}` : ''}`
  return complete(`__callsign_in ${words}`, `-l ${name}${takes} -d ${quoted(summaryOf(about))}`)
}

export function fishScript(commands: readonly Command[]): string {
  const { topics, actions, commands: own, valued } = candidatesOf(commands)
  const actionLines = [...actions].flatMap(([topic, list]) => list.map((one) => wordLine(`__callsign_at ${topic}`, one)))
  const argumentLines = own.flatMap(({ words, argumentChoices }) =>
    argumentChoices.map((word) => complete(`__callsign_at ${words}`, `-a ${quoted(word)}`)),
  )
  return `# Completion of callsign for fish. Save it as ~/.config/fish/completions/callsign.fish
function __callsign_given
    set -l is_value
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test -n "$is_value"
            set is_value
            continue
        end
        switch $word
            case ${valued.map((name) => `--${name}`).join(' ')}
                set is_value 1
            case help '-*'
            case '*'
                echo $word
        end
    end
end
function __callsign_at
    set -l given (__callsign_given)
    test "$given" = "$argv"
end
function __callsign_in
    set -l given (__callsign_given)
    string match -q -- "$argv *" "$given "
end
complete -c callsign -f
${topics.map((one) => wordLine("__callsign_at ''", one)).join('\n')}
${wordLine("__callsign_at ''", { word: 'help', about: 'Print the help of a command.' })}
${actionLines.join('\n')}
${argumentLines.join('\n')}
${own.flatMap(({ words, options }) => options.map((option) => optionLine(words, option))).join('\n')}`
}
