// The completion script for zsh.
import type { Command } from '../command.ts'
import { summaryOf } from '../help.ts'
import { type Candidate, type Candidates, candidatesOf, quoted } from './candidates.ts'

const described = (list: Candidate[]): string => list.map(({ word, about }) => quoted(`${word}:${about}`)).join(' ')

const flags = (names: string[]): string => names.map((name) => `--${name}`).join('|')

/** The branches that offer options, their values, and the second words. */
function branchesOf({ actions, commands }: Candidates): { options: string; choices: string; words: string } {
  const options = commands.map(({ words, options: own }) => {
    const list = own.map(([name, { about }]) => ({ word: `--${name}`, about: summaryOf(about) }))
    return `    ${words.includes(' ') ? quoted(words) : `${quoted(`${words} `)}*`}) options=(${described(list)}) ;;`
  })
  const choices = commands.flatMap(({ words, options: own }) =>
    own.flatMap(([name, { choices: values }]) =>
      values ? [`    ${quoted(`${words} --${name}`)}) compadd ${values.join(' ')}; return ;;`] : [],
    ),
  )
  const words = [
    ...[...actions].map(([topic, list]) => `        ${topic}) offer=(${described(list)}) ;;`),
    ...commands.flatMap((one) =>
      one.argumentChoices.length > 0 ? [`        ${one.words}) offer=(${one.argumentChoices.join(' ')}) ;;`] : [],
    ),
  ]
  return { options: options.join('\n'), choices: choices.join('\n'), words: words.join('\n') }
}

export function zshScript(commands: readonly Command[]): string {
  const candidates = candidatesOf(commands)
  const { topics, valued, files } = candidates
  const branches = branchesOf(candidates)
  return `#compdef callsign
# Completion of callsign for zsh. Load it with: source <(callsign completion zsh)
_callsign() {
  local word is_value i
  local -a given options offer
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $is_value ]]; then is_value=; continue; fi
    case $word in
      --) shift $i words; ((CURRENT -= i)); _normal; return ;;
      ${flags(valued)}) is_value=1 ;;
      -*) ;;
      *) given+=("$word") ;;
    esac
  done
  if [[ $given[1] == help ]]; then shift given; fi
  local command="$given[1] $given[2]"
  case $command in
${branches.options}
  esac
  case "\${command% } $words[CURRENT-1]" in
${branches.choices}
  esac
  if [[ -n $is_value ]]; then
    case $words[CURRENT-1] in
      ${flags(files)}) _files ;;
    esac
    return
  fi
  if [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
    return
  fi
  case $#given in
    0) offer=(${described(topics)} 'help:Print the help of a command.') ;;
    1)
      case $given[1] in
${branches.words}
      esac
      ;;
  esac
  _describe command offer
}
if [[ $funcstack[1] == _callsign ]]; then
  _callsign "$@"
else
  compdef _callsign callsign
fi`
}
