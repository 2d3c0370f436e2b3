// Counts the keys in JSON before it is parsed: objects with ever different keys are what JSON.parse is slowest at, over 1 µs a key.

/** In one body or message, at all depths. 500 samples have 4,501. [contract 7.2] */
export const maxJsonKeys = 6000
/** As in `"":1,`: JSON that is shorter cannot hold too many. */
const leastBytesPerKey = 5

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]

/** Of anything but JSON it says nothing of use, and does no harm. */
export function hasTooManyKeys(json: Buffer): boolean {
  if (json.length <= maxJsonKeys * leastBytesPerKey) return false
  let keys = 0
  let isInText = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) isInText = !isInText
    else if (isInText) {
      if (byte === backslash) i++
    } else if (byte === colon && ++keys > maxJsonKeys) return true
  }
  return false
}
