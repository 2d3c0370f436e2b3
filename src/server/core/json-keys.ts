// Counts the keys in JSON before it is parsed, because JSON.parse needs over 1 µs for each key that it has not seen before.

/** The limit for one body or message, at all depths. 500 samples have 4,501 keys. [contract 7.2] */
export const maxJsonKeys = 6000
/** The shortest key with its value is `"":1,`. */
const minBytesPerKey = 5

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]

/** The result is meaningless for a text that is not JSON. */
export function hasTooManyKeys(json: Buffer): boolean {
  if (json.length <= maxJsonKeys * minBytesPerKey) return false
  let keys = 0
  let isInString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) isInString = !isInString
    else if (isInString) {
      if (byte === backslash) i++
    } else if (byte === colon && ++keys > maxJsonKeys) return true
  }
  return false
}
