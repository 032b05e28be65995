// The frame around every screen, with navigation, connection, theme, account and shortcuts.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { startLive } from './cache/live.ts'
import { invalidate, useQuery } from './cache/query.ts'
import { CommandPalette } from './command-palette.tsx'
import { ComposerSlot } from './composer-slot.tsx'
import { Button } from './elements/button.tsx'
import { Icon, type IconName } from './elements/icon.tsx'
import { Logo } from './elements/logo.tsx'
import { attempt } from './elements/toasts.tsx'
import { addressOf, followLink, go, place } from './navigation/place.ts'
import { screenNames } from './navigation/screen-names.ts'
import { listenForPalette, listenForShortcuts, paletteKeys, useShortcuts } from './navigation/shortcuts.ts'
import { type Theme, theme } from './navigation/theme.ts'
import { PauseNotice } from './pause.tsx'
import type { ScreenEntry } from './screen-entry.ts'
import { helpGroup, homeOf, screens } from './screens.ts'
import { streamState } from './session/client.ts'
import { canReview, memberName, role, session, signOut, unnamed } from './session/session.ts'
import { ShortcutHelp } from './shortcut-help.tsx'
import { loadOverview, waitingCounts } from './waiting.ts'

/** Failing webhooks, expiring keys and findings of the server have no event, so their counts are read again. */
const overviewMs = 60_000

export function Shell({ children }: { children: ComponentChildren }) {
  const isMenuOpen = useSignal(false)
  const isHelpOpen = useSignal(false)
  const isPaletteOpen = useSignal(false)
  useEffect(listenForShortcuts, [])
  useEffect(startLive, [])
  const openPalette = () => {
    isMenuOpen.value = false
    isPaletteOpen.value = true
  }
  useEffect(() => listenForPalette(openPalette), [])
  useEffect(() => {
    document.addEventListener('click', followLink)
    return () => document.removeEventListener('click', followLink)
  }, [])
  useEffect(() => {
    isMenuOpen.value = false
  }, [place.value.path])
  useQuery(canReview.value ? 'overview' : null, loadOverview)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || invalidate('overview'), overviewMs)
    return () => clearInterval(timer)
  }, [])
  const visible = screens.filter((screen) => screen.roles.includes(role.value))
  useEffect(() => {
    screenNames.value = visible.map((screen) => screen.name)
  }, [role.value])
  useShortcuts('Everywhere', [
    { keys: '?', label: 'Show the shortcuts', run: () => (isHelpOpen.value = true) },
    ...visible
      .filter((screen) => screen.key)
      .map((screen) => ({ keys: `g ${screen.key}`, label: `Go to ${screen.title}`, run: () => open(screen) })),
  ])
  return (
    <div class="shell">
      <Sidebar screens={visible} isOpen={isMenuOpen.value} onSearch={openPalette} onHelp={() => (isHelpOpen.value = true)} />
      {isMenuOpen.value && (
        <button type="button" class="scrim" aria-label="Close the navigation" onClick={() => (isMenuOpen.value = false)} />
      )}
      <main class="main">
        <div class="topbar">
          <Button kind="quiet" icon="menu" label="Open the navigation" onClick={() => (isMenuOpen.value = true)} />
          <a class="brand" href={addressOf('/')}>
            <Logo />
            Callsign
          </a>
        </div>
        <PauseNotice />
        {children}
      </main>
      <ComposerSlot />
      {isPaletteOpen.value && <CommandPalette screens={visible} onOpen={open} onClose={() => (isPaletteOpen.value = false)} />}
      {isHelpOpen.value && <ShortcutHelp onClose={() => (isHelpOpen.value = false)} />}
    </div>
  )
}

/** Shows a screen, or loads the page of one that has its own. */
function open({ name, load }: ScreenEntry): void {
  if (load === null) location.assign(addressOf(`/${name}`))
  else go(addressOf(`/${name}`))
}

type SidebarProps = { screens: ScreenEntry[]; isOpen: boolean; onSearch: () => void; onHelp: () => void }

function Sidebar({ screens: visible, isOpen, onSearch, onHelp }: SidebarProps) {
  const groups = [...new Set(visible.map((screen) => screen.group))].filter((group) => group !== null)
  return (
    <aside class={`sidebar${isOpen ? ' open' : ''}`}>
      <a class="brand" href={addressOf('/')}>
        <Logo />
        Callsign
      </a>
      <button type="button" class="palette-button" onClick={onSearch}>
        <Icon name="search" />
        <span class="grow">Search</span>
        <span class="key">{paletteKeys}</span>
      </button>
      <nav class="stack" aria-label="Screens">
        {groups.map((group) => (
          <div class="nav-group" key={group}>
            {group && <h2>{group}</h2>}
            {visible
              .filter((screen) => screen.group === group)
              .map((screen) => (
                <NavLink key={screen.name} screen={screen} />
              ))}
            {group === helpGroup && (
              <a class="nav-link" href="/docs">
                <Icon name="docs" />
                Docs
              </a>
            )}
          </div>
        ))}
      </nav>
      <SidebarFoot onHelp={onHelp} />
    </aside>
  )
}

function NavLink({ screen }: { screen: ScreenEntry }) {
  const isCurrent = (place.value.parts[0] ?? homeOf(role.value)) === screen.name
  const count = waitingCounts.value[screen.name] ?? 0
  return (
    <a class="nav-link" href={addressOf(`/${screen.name}`)} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={screen.icon} />
      {screen.title}
      {count > 0 && (
        <span class="count">
          {count > 99 ? '99+' : count}
          <span class="visually-hidden"> waiting</span>
        </span>
      )}
    </a>
  )
}

const streamTexts = { live: 'Live', connecting: 'Connecting', lost: 'Connection lost' }
const nextTheme: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const themeIcons: Record<Theme, IconName> = { system: 'screen', light: 'sun', dark: 'moon' }

function SidebarFoot({ onHelp }: { onHelp: () => void }) {
  const current = session.value
  const name = current?.member ? memberName(current.member) : current?.agent ? `@${current.agent.handle}` : 'Organization key'
  return (
    <div class="sidebar-foot">
      <div class="foot-row">
        <span class={`live-dot ${streamState.value}`} />
        <span class="grow" role="status">
          {streamTexts[streamState.value]}
        </span>
        <Button kind="quiet" size="small" icon="keyboard" label="Shortcuts" onClick={onHelp} />
        <Button
          kind="quiet"
          size="small"
          icon={themeIcons[theme.value]}
          label={`Theme: ${theme.value}`}
          onClick={() => (theme.value = nextTheme[theme.value])}
        />
      </div>
      <div class="foot-row">
        <span class="grow truncate" title={name}>
          {name} {name !== unnamed && <span class="faint">{role.value}</span>}
        </span>
        <Button kind="quiet" size="small" icon="out" label="Sign out" onClick={() => void attempt(signOut)} />
      </div>
    </div>
  )
}
