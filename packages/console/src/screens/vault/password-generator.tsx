// Generates a password by length and kinds of characters.
import { generatePassword, type PasswordCharacters, passwordCharacters, passwordLengthMax, passwordLengthMin } from '@callsign/sdk/vault'
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { Checkbox } from '../../elements/fields.tsx'

const labels: Record<PasswordCharacters, string> = { lower: 'a-z', upper: 'A-Z', digits: '2-9', symbols: '!#$%' }
const allKinds = Object.keys(passwordCharacters) as PasswordCharacters[]
const usualLength = 24

export function PasswordGenerator({ onUse }: { onUse: (password: string) => void }) {
  const [length, setLength] = useState(usualLength)
  const [kinds, setKinds] = useState(allKinds)
  const [password, setPassword] = useState(() => generatePassword(usualLength, allKinds))
  const draw = (nextLength: number, nextKinds: PasswordCharacters[]) => {
    setLength(nextLength)
    setKinds(nextKinds)
    setPassword(generatePassword(nextLength, nextKinds))
  }
  const toggle = (kind: PasswordCharacters) => (isOn: boolean) =>
    draw(length, isOn ? allKinds.filter((one) => one === kind || kinds.includes(one)) : kinds.filter((one) => one !== kind))
  const alphabet = kinds.reduce((size, kind) => size + passwordCharacters[kind].length, 0)
  return (
    <fieldset class="generator">
      <legend class="visually-hidden">Password generator</legend>
      <output class="mono generated" aria-label="Generated password">
        {password}
      </output>
      <label class="row">
        <span>Length {length}</span>
        <input
          class="grow"
          type="range"
          min={passwordLengthMin}
          max={passwordLengthMax}
          value={length}
          onInput={(event) => draw(Number(event.currentTarget.value), kinds)}
        />
      </label>
      <div class="row wrap">
        {allKinds.map((kind) => (
          <Checkbox
            key={kind}
            label={labels[kind]}
            checked={kinds.includes(kind)}
            disabled={kinds.length === 1 && kinds[0] === kind}
            onChange={toggle(kind)}
          />
        ))}
        <span class="faint">{Math.floor(length * Math.log2(alphabet))} bits</span>
      </div>
      <div class="row">
        <Button size="small" kind="primary" onClick={() => onUse(password)}>
          Use it
        </Button>
        <Button size="small" icon="refresh" onClick={() => draw(length, kinds)}>
          Another one
        </Button>
      </div>
    </fieldset>
  )
}
