// Repeatable random numbers: equal inputs give equal results, so that a seed always produces the same fleet.

export const hashSeed = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** A number from 0 to below 1 that depends only on the arguments. */
export function seededRandom(...numbers: number[]): number {
  let hash = 0x9e3779b9
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x85ebca6b)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

export const pick = <T>(list: readonly T[], fraction: number): T => list[Math.floor(fraction * list.length)] as T
/** A whole number from `low` to `high`, both included. */
export const between = (low: number, high: number, fraction: number): number =>
  low + Math.floor(fraction * (high - low + 1))
