// Reads a JSON-RPC message of a codec, and refuses one that would cost too much memory before it is parsed.
import { maxDepth, maxMessageValues } from './limits.ts'

export interface RpcMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Throws an Error whose message completes the sentence "The codec sent …". */
export function readXapiMessage(text: string): RpcMessage {
  checkSize(text)
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    throw new Error('a message that is not JSON.')
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new Error('a message that is not a JSON-RPC object.')
  }
  return message
}

/** Counts brackets and commas outside of strings: each value has at most one of them before it. */
function checkSize(text: string): void {
  let depth = 0
  let values = 0
  let isText = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (isText) {
      if (c === '\\') i++
      else if (c === '"') isText = false
    } else if (c === '"') isText = true
    else if (c === '{' || c === '[') {
      values++
      if (++depth > maxDepth) throw new Error(`a message with more than ${maxDepth} levels.`)
    } else if (c === '}' || c === ']') depth--
    else if (c === ',' && ++values > maxMessageValues)
      throw new Error(`a message with more than ${maxMessageValues} values.`)
  }
}
