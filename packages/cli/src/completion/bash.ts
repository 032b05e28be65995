// The completion script for bash 3.2 and later.
import type { Command } from '../command.ts'
import { globalOptions } from '../command-line.ts'
import { type Candidates, type CommandCandidates, candidatesOf, quoted } from './candidates.ts'

/** A pattern that matches the two given words of a command. */
const patternOf = ({ words }: CommandCandidates): string => (words.includes(' ') ? quoted(words) : `${quoted(`${words} `)}*`)

const flags = (names: string[]): string => names.map((name) => `--${name}`).join('|')

/** A list of words for compgen. */
const offered = (words: readonly string[]): string => `offer=${quoted(words.join(' '))} ;;`

/** The branches that offer options, their values, and the second words. */
function branchesOf({ actions, commands }: Candidates): { options: string; choices: string; words: string } {
  const options = commands.map((one) => `    ${patternOf(one)}) options=${quoted(one.options.map(([name]) => `--${name}`).join(' '))} ;;`)
  const choices = commands.flatMap(({ words, options: own }) =>
    own.flatMap(([name, { choices: values }]) => (values ? [`    ${quoted(`${words} --${name}`)}) ${offered(values)}`] : [])),
  )
  const words = [
    ...[...actions].map(([topic, list]) => `      ${topic}) ${offered(list.map(({ word }) => word))}`),
    ...commands.flatMap((one) => (one.argumentChoices.length > 0 ? [`      ${one.words}) ${offered(one.argumentChoices)}`] : [])),
  ]
  return { options: options.join('\n'), choices: choices.join('\n'), words: words.join('\n') }
}

export function bashScript(commands: readonly Command[]): string {
  const candidates = candidatesOf(commands)
  const { topics, valued, files } = candidates
  const branches = branchesOf(candidates)
  const anyOption = quoted(['version', ...Object.keys(globalOptions)].map((name) => `--${name}`).join(' '))
  return `# Completion of callsign for bash. Load it with: source <(callsign completion bash)
_callsign() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} word i is_value= options= offer=
  local given=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # bash splits --option=value into three words.
    if [[ $word == '=' ]]; then is_value=1; continue; fi
    if [[ -n $is_value ]]; then is_value=; continue; fi
    case $word in
      --) COMPREPLY=($(compgen -c -f -- "$current")); return ;;
      ${flags(valued)}) is_value=1 ;;
      -*) ;;
      *) given+=("$word") ;;
    esac
  done
  [[ $current == '=' ]] && current=
  [[ $previous == '=' ]] && previous=\${COMP_WORDS[COMP_CWORD-2]}
  if [[ \${given[0]-} == help ]]; then given=("\${given[@]:1}"); fi
  local command="\${given[0]-} \${given[1]-}"
  case "$command" in
${branches.options}
  esac
  case "\${command% } $previous" in
${branches.choices}
  esac
  if [[ -z $offer && -n $is_value ]]; then
    case $previous in
      ${flags(files)})
        compopt -o filenames 2>/dev/null
        local IFS=$'\\n'
        COMPREPLY=($(compgen -f -- "$current"))
        ;;
    esac
    return
  fi
  if [[ -z $offer && $current == -* ]]; then
    offer=\${options:-${anyOption}}
  elif [[ -z $offer && \${#given[@]} -eq 0 ]]; then
    offer=${quoted(`${topics.map(({ word }) => word).join(' ')} help`)}
  elif [[ -z $offer && \${#given[@]} -eq 1 ]]; then
    case \${given[0]} in
${branches.words}
    esac
  fi
  COMPREPLY=($(compgen -W "$offer" -- "$current"))
}
complete -F _callsign callsign`
}
