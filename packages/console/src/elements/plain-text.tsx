// Sentences of the server for people: names in backticks are set as code, without the backticks.

export function PlainText({ text }: { text: string }) {
  const parts = text.split(/`([^`]+)`/)
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
}
