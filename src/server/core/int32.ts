// Reads the integers of ids and parameters. [contract 1.5]
const plainInt32 = /^(0|-?[1-9]\d{0,9})$/

/** `1e3`, `01`, `2147483648` and `-0` are not int32. */
export function parseInt32(text: string): number | undefined {
  if (!plainInt32.test(text)) return undefined
  const value = Number(text)
  return value === (value | 0) ? value : undefined
}
