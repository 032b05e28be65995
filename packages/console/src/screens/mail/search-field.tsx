// The search of the inbox. Its text is part of the address.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../elements/icon.tsx'
import { setQuery } from '../../navigation/place.ts'

const typingMs = 250
const operators = [
  'from:',
  'to:',
  'subject:',
  'label:',
  'tag:NAME:VALUE',
  'metadata:KEY:VALUE',
  'flag:',
  'is:unread',
  'is:starred',
  'has:code',
  'has:attachment',
  'after:',
  'before:',
]
const hint = `Words, "phrases", -without, ${operators.join(' ')}`

export const searchProblemId = 'mail-search-problem'

/** `hasProblem` is true while the element with `searchProblemId` explains what is wrong. */
export function SearchField({ search, hasProblem, isDisabled }: { search: string; hasProblem: boolean; isDisabled: boolean }) {
  const [text, setText] = useState(search)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // While a person types, the address follows the text and not the other way round.
    if (document.activeElement !== input.current) setText(search)
  }, [search])
  useEffect(() => {
    if (text === search) return
    const timer = setTimeout(() => setQuery({ q: text || undefined }), typingMs)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <search class="search">
      <Icon name="search" />
      <label class="visually-hidden" for="mail-search">
        Search messages
      </label>
      <input
        ref={input}
        id="mail-search"
        class="input"
        type="search"
        disabled={isDisabled}
        value={text}
        placeholder={isDisabled ? 'Drafts are not searched' : 'Search'}
        title={hint}
        aria-invalid={hasProblem}
        aria-describedby={hasProblem ? searchProblemId : undefined}
        autoComplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <span class="key hide-small">/</span>
    </search>
  )
}
