// Words around numbers and names: capitals, singular and plural.

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const plural = (count: number, one: string, many: string = `${one}s`): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`
