// Chance that repeats itself: the same seed and the same numbers always give the same, so a fleet is the same every time.

export const seedOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** From 0 up to 1. */
export function chance(...numbers: number[]): number {
  let hash = 0x9e3779b9
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x85ebca6b)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

export const pick = <T>(list: readonly T[], at: number): T => list[Math.floor(at * list.length)] as T
/** A whole number from `low` to `high`, both possible. */
export const between = (low: number, high: number, at: number): number => low + Math.floor(at * (high - low + 1))
