// Finding by what somebody types: case, accents and the order of words do not matter.

export const normalizeText = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

export const searchWords = (text: string): string[] => normalizeText(text).split(/\s+/).filter(Boolean)

/** `text` is folded already: it is the same for every letter that is typed. */
export const includesAll = (text: string, words: readonly string[]): boolean =>
  words.every((word) => text.includes(word))

/** By this, "Room 9" comes before "Room 10"; ten thousand are compared in some milliseconds, by a collator in a hundred. */
export const naturalSortKey = (name: string): string =>
  normalizeText(name).replaceAll(/\d+/g, (digits) => digits.padStart(12, '0'))

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
