// The mark of Callsign, a signal that leaves a point.
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <g fill="none" stroke="var(--on-accent)" stroke-width="2.6" stroke-linecap="round">
        <path d="M8 20.5a8 8 0 0 1 16 0" />
        <path d="M12.300 20.500a3.700 3.700 0 0 1 7.400 0" />
      </g>
      <circle cx="16" cy="22" r="1.600" fill="var(--on-accent)" />
    </svg>
  )
}
