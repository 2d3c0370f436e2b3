// Reads the JSON of a message, which can come from anybody: its depth is limited, and its text is never executed.

export const maxJsonDepth = 32

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonMap = { readonly [key: string]: Json }

/** Undefined if the text is not JSON, or is nested deeper than any sensor's. */
export function parseLimitedJson(text: string): Json | undefined {
  if (!isShallow(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

export const isJsonObject = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An own key of an object: `__proto__` and `constructor` are keys like others. */
export const keyOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

export const textKeyOf = (value: Json | undefined, key: string): string | undefined => {
  const found = keyOf(value, key)
  return typeof found === 'string' && found !== '' ? found : undefined
}

function isShallow(text: string): boolean {
  let depth = 0
  let isInString = false
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (isInString) {
      if (character === backslash) i++
      else if (character === quote) isInString = false
    } else if (character === quote) isInString = true
    else if (character === openBrace || character === openBracket) {
      if (++depth > maxJsonDepth) return false
    } else if (character === closeBrace || character === closeBracket) depth--
  }
  return true
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d]
