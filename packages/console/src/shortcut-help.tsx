// The overlay that lists the shortcuts of the current screen.
import { Dialog } from './elements/dialog.tsx'
import { shortcutGroups } from './navigation/shortcuts.ts'

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {shortcutGroups.value.toReversed().map((group) => (
        <section key={group.title} class="stack">
          <h3>{group.title}</h3>
          <dl class="help-keys">
            {group.shortcuts.map((shortcut) => [
              <dt key={`${shortcut.keys}-keys`}>
                {shortcut.keys.split(' ').map((key) => (
                  <kbd class="key" key={key}>
                    {key}
                  </kbd>
                ))}
              </dt>,
              <dd key={`${shortcut.keys}-label`}>{shortcut.label}</dd>,
            ])}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
