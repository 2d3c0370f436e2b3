// Texts that makers leave in the firmware where a name or a serial number belongs.

/** In small letters, and without the dot at the end. */
const placeholders = new Set([
  'chassis serial number',
  'default string',
  'empty',
  'invalid',
  'n/a',
  'na',
  'none',
  'not applicable',
  'not available',
  'not specified',
  'o.e.m',
  'oem',
  'serial number',
  'sku',
  'system manufacturer',
  'system product name',
  'system serial number',
  'system version',
  'to be filled by o.e.m',
  'to be filled by oem',
  'type1productconfigid',
  'undefined',
  'unknown',
])
/** 0000000, xxxx, --- and the digits in their order. */
const sameCharacter = /^(.)\1*$/
const countedDigits = /^0?123456789?0?$/

/** The text on one line, or undefined if it is a placeholder. */
export function realText(text: string | null | undefined): string | undefined {
  const line = (text ?? '').replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  const bare = line.toLowerCase().replace(/[.\s]+$/, '')
  if (bare === '' || placeholders.has(bare)) return undefined
  const characters = bare.replaceAll(/[\s:._-]/g, '')
  return characters === '' || sameCharacter.test(characters) || countedDigits.test(characters) ? undefined : line
}
