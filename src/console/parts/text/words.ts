// Numbers with their nouns, singular and plural.

export const plural = (count: number, one: string, many: string = `${one}s`): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`
