// Reads what a device published: its topic, then the message, checked against the protocol's schema.
import { isUtf8 } from 'node:buffer'
import { Ajv, type ValidateFunction } from 'ajv'
import { downMessages, type UpKind, upMessages } from '../../contract/device.ts'
import { parseTime } from '../../platform/clock.ts'
import { textProblem } from '../../platform/text.ts'
import { isUuid } from '../../platform/uuid.ts'

function makeAjv(strictNumbers: boolean): Ajv {
  // What the schema does not know is dropped, at any depth: nobody's concern, and not to be stored.
  const ajv = new Ajv({ strict: false, strictNumbers, removeAdditional: 'all' })
  for (const format of ['line', 'lines', 'int32', 'binary']) ajv.addFormat(format, true)
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', (text) => parseTime(text) !== undefined)
  return ajv
}

/** JSON has no infinity, but 1e999 becomes one. */
const ajv = makeAjv(true)
/** A sample with such a value is refused alone, by those who know what may be measured; others of its message are kept. */
const ajvOfSamples = makeAjv(false)

const validators = Object.fromEntries(
  Object.entries(upMessages).map(([kind, shape]) => [kind, (kind === 'sample' ? ajvOfSamples : ajv).compile(shape)]),
) as unknown as Record<UpKind, ValidateFunction>

/** What a subscription of this device asks for below its own topics: a kind, `#` or `+`. */
export function subscribedTo(filter: string, endpointId: string): string | undefined {
  const own = `v1/${endpointId}/down/`
  const rest = filter.startsWith(own) ? filter.slice(own.length) : ''
  return rest === '#' || rest === '+' || Object.hasOwn(downMessages, rest) ? rest : undefined
}

export class BadMessage extends Error {}

/** Texts as everywhere: trimmed, without control characters; only what is said to people may have lines. [contract 1.10] */
const tidy = (mayHaveLines: boolean) => (_key: string, value: unknown) => {
  if (typeof value !== 'string') return value
  const problem = textProblem(value, mayHaveLines)
  if (problem) throw new BadMessage(`a text ${problem}`)
  return value.trim()
}
/** A sample has no text, and comes often. */
const tidyOf: Record<UpKind, ReturnType<typeof tidy> | undefined> = {
  status: tidy(false),
  sample: undefined,
  config: tidy(true),
  operation: tidy(true),
  logs: tidy(false),
}

const isKind = (name: string): name is UpKind => Object.hasOwn(validators, name)

/** The message, or why it is none. */
export function readMessage(kind: string, payload: Buffer): { kind: UpKind; message: unknown } {
  if (!isKind(kind)) throw new BadMessage(`there is no message "${kind.slice(0, 40)}"`)
  if (!isUtf8(payload)) throw new BadMessage('it is not UTF-8 text')
  let message: unknown
  try {
    message = JSON.parse(payload.toString('utf8'), tidyOf[kind])
  } catch (error) {
    throw error instanceof BadMessage ? error : new BadMessage('it is not JSON')
  }
  const validate = validators[kind]
  if (!validate(message)) {
    const [first] = validate.errors ?? []
    throw new BadMessage(`${first?.instancePath.slice(1).replaceAll('/', '.') || 'it'} ${first?.message ?? 'is wrong'}`)
  }
  return { kind, message }
}
