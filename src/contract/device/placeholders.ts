// Texts that makers leave where a name or a serial number belongs. [contract 13.enrolment]

/** Small letters and digits only. */
const placeholders = new Set([
  'chassisserialnumber',
  'default',
  'defaultstring',
  'empty',
  'invalid',
  'na',
  'none',
  'notapplicable',
  'notavailable',
  'notspecified',
  'null',
  'oem',
  'serialnumber',
  'sku',
  'systemmanufacturer',
  'systemproductname',
  'systemserialnumber',
  'systemversion',
  'type1productconfigid',
  'undefined',
  'unknown',
])
const toBeFilledIn = /^tobefilled/
/** 0000000, xxxx */
const oneCharacter = /^(.)\1*$/u
const digitsInOrder = /^0?123456789?0?$/
/** A shorter serial number cannot tell the devices of a maker apart. */
const minSerialCharacters = 4

const lettersAndDigits = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/** The text on one line, or undefined if it is a placeholder. */
export function realText(text: string | null | undefined): string | undefined {
  const line = (text ?? '').replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  const plain = lettersAndDigits(line)
  const isPlaceholder =
    plain === '' ||
    placeholders.has(plain) ||
    [toBeFilledIn, oneCharacter, digitsInOrder].some((pattern) => pattern.test(plain))
  return isPlaceholder ? undefined : line
}

/** Undefined for a serial number that many devices have. */
export function realSerial(serial: string | null | undefined): string | undefined {
  const real = realText(serial)
  return real !== undefined && lettersAndDigits(real).length >= minSerialCharacters ? real : undefined
}
