// Shortens the content of a message that would be larger than receivers accept. [contract 10.delivery]
import { maxMessageBytes } from '../../../contract/channels/messages.ts'

/** The type, the time, the organisation, the sequence and the address of the console are added when the message is sent. */
const envelopeBytes = 2048
const maxDataBytes = maxMessageBytes - envelopeBytes

/** Each step keeps fewer items of a list or an object, and fewer characters of a text. */
const steps = [
  { items: 500, characters: 4000, depth: 8 },
  { items: 100, characters: 1000, depth: 8 },
  { items: 30, characters: 300, depth: 6 },
  { items: 10, characters: 200, depth: 5 },
  { items: 10, characters: 100, depth: 3 },
  { items: 5, characters: 50, depth: 2 },
] as const

type Step = (typeof steps)[number]
type MessageContent = Readonly<Record<string, unknown>>

/** Returns the JSON of the content. Content that was shortened has `"shortened": true`. */
export function messageJson(content: MessageContent): string {
  const whole = JSON.stringify(content)
  if (Buffer.byteLength(whole) <= maxDataBytes) return whole
  const plain = JSON.parse(whole) as MessageContent
  for (const step of steps) {
    const text = JSON.stringify({ ...(shorten(plain, step, 0) as MessageContent), shortened: true })
    if (Buffer.byteLength(text) <= maxDataBytes) return text
  }
  return '{"shortened":true}'
}

/** The two outermost objects have fixed keys, and keep all of them. */
function shorten(value: unknown, step: Step, depth: number): unknown {
  if (typeof value === 'string') {
    return value.length > step.characters ? `${value.slice(0, step.characters).toWellFormed()}…` : value
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth > step.depth) return Array.isArray(value) ? [] : {}
  if (Array.isArray(value)) return value.slice(0, step.items).map((item) => shorten(item, step, depth + 1))
  const entries = Object.entries(value)
  const kept = depth < 2 ? entries : entries.slice(0, step.items)
  return Object.fromEntries(kept.map(([key, item]) => [key, shorten(item, step, depth + 1)]))
}
