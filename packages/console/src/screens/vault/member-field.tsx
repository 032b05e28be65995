// The field of one member of a secret, hidden while its value is secret, with a generator for passwords.
import type { SecretType } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { TextArea, TextField } from '../../elements/fields.tsx'
import { PasswordGenerator } from './password-generator.tsx'
import { isGenerated, type Member } from './secret-types.ts'

type MemberFieldProps = { member: Member; type: SecretType; value: string; onInput: (value: string) => void }

const hints: Record<string, string> = { totp: 'A base32 secret, or an otpauth:// address.' }

export function MemberField({ member, type, value, onInput }: MemberFieldProps) {
  const [isShown, setShown] = useState(false)
  const [isGenerating, setGenerating] = useState(false)
  const label = member.isRequired ? member.label : `${member.label} (optional)`
  const hint = hints[member.name]
  if (member.isLong)
    return (
      <TextArea label={label} value={value} onInput={onInput} rows={member.name === 'notes' ? 3 : 6} isMono={member.name !== 'notes'} />
    )
  return (
    <div class="member-field">
      <TextField
        label={label}
        type={member.isHidden && !isShown ? 'password' : 'text'}
        value={value}
        onInput={onInput}
        hint={hint}
        required={member.isRequired}
        isMono={member.isHidden}
      />
      {member.isHidden && (
        <div class="row wrap">
          <Button size="small" isPressed={isShown} onClick={() => setShown(!isShown)}>
            Show
            <span class="visually-hidden"> {member.label}</span>
          </Button>
          {isGenerated(type, member.name) && (
            <Button size="small" isPressed={isGenerating} onClick={() => setGenerating(!isGenerating)}>
              Generate
            </Button>
          )}
        </div>
      )}
      {isGenerating && (
        <PasswordGenerator
          onUse={(password) => {
            onInput(password)
            setGenerating(false)
          }}
        />
      )}
    </div>
  )
}
