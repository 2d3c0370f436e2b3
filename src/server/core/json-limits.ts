// Checks how many keys, values, lists and objects JSON has and how deep it is nested before it is parsed: JSON.parse needs over 1 µs for each key that it has not seen before, 0.1 µs for each list, and more for each level of a deep value.

/** The limits for one body or message. 500 samples have 4,501 keys. [contract 7.2] */
export const maxJsonKeys = 6000
/** Lists and objects together. */
const maxJsonContainers = 6000
/** Commas between the values of lists and the fields of objects. */
export const maxJsonCommas = 20_000
const maxJsonDepth = 32

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Says which limit is exceeded. The result is meaningless for a text that is not JSON. */
export function exceededLimit(json: Buffer): string | undefined {
  let [keys, commas, containers, depth] = [0, 0, 0, 0]
  let isInString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) isInString = !isInString
    else if (isInString) {
      if (byte === backslash) i++
    } else if (byte === colon) {
      if (++keys > maxJsonKeys) return `has more than ${maxJsonKeys} keys`
    } else if (byte === comma) {
      if (++commas > maxJsonCommas) return `has more than ${maxJsonCommas} commas between values`
    } else if (byte === openList || byte === openObject) {
      if (++containers > maxJsonContainers) return `has more than ${maxJsonContainers} lists and objects`
      if (++depth > maxJsonDepth) return `is nested more than ${maxJsonDepth} levels deep`
    } else if (byte === closeList || byte === closeObject) depth--
  }
  return undefined
}
