// Values as an agent sends them, read as numbers and texts: OctetString and Counter64 arrive as bytes.

/** Undefined: the agent does not have the object. */
export type SnmpValue = number | string | Buffer | undefined

export const snmpNumber = (value: SnmpValue): number | undefined => (typeof value === 'number' ? value : undefined)

const controlCharacters = /[\p{Cc}\p{Cf}]+/gu

/** One line of at most `maxLength` characters; undefined if nothing can be read. */
export function snmpText(value: SnmpValue, maxLength: number): string | undefined {
  if (value === undefined || typeof value === 'number') return undefined
  const text = typeof value === 'string' ? value : decode(value)
  return [...text.replaceAll(controlCharacters, ' ').trim()].slice(0, maxLength).join('').trim() || undefined
}

/** Old agents write Latin-1. */
function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return text.includes('\uFFFD') ? bytes.toString('latin1') : text
}
