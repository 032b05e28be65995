// Tabs with arrow keys. The selected tab is usually a parameter of the address.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export type Tab<T extends string> = { id: T; label: ComponentChildren }

type TabsProps<T extends string> = {
  tabs: readonly Tab<T>[]
  selected: T
  name: string
  onSelect: (id: T) => void
  children?: ComponentChildren
}

export function Tabs<T extends string>({ tabs, selected, name, onSelect, children }: TabsProps<T>) {
  const id = useId()
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = tabs.findIndex((tab) => tab.id === selected)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (!next) return
    onSelect(next.id)
    document.getElementById(`${id}-${next.id}`)?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={name} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === selected}
            aria-controls={children === undefined ? undefined : `${id}-panel`}
            tabIndex={tab.id === selected ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {children !== undefined && (
        <div id={`${id}-panel`} class="tab-panel" role="tabpanel" aria-labelledby={`${id}-${selected}`}>
          {children}
        </div>
      )}
    </>
  )
}
