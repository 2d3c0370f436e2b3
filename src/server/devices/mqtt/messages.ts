// Reads the messages of devices and checks them against the schemas of the device protocol.
import { isUtf8 } from 'node:buffer'
import { Ajv, type ValidateFunction } from 'ajv'
import { downMessages, type UpKind, upMessages } from '../../../contract/device/protocol.ts'
import { parseTime } from '../../core/clock.ts'
import { hasTooManyKeys, maxJsonKeys } from '../../core/json-keys.ts'
import { textProblem } from '../../core/text.ts'
import { isUuid } from '../../core/uuid.ts'
import { type Copy, knownFieldsCopier } from './known-fields.ts'

function makeAjv(strictNumbers: boolean): Ajv {
  // Fields that a schema does not know are dropped, at any depth, so that they are never stored.
  const ajv = new Ajv({ strict: false, strictNumbers, removeAdditional: 'all' })
  for (const format of ['line', 'lines', 'int32', 'binary']) ajv.addFormat(format, true)
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', (text) => parseTime(text) !== undefined)
  return ajv
}

/** JSON has no infinity, but 1e999 becomes one. */
const ajv = makeAjv(true)
/** The check of sensor ranges refuses a sample with an infinite value alone; the other samples of its message are stored. */
const ajvOfSamples = makeAjv(false)

const validators = Object.fromEntries(
  Object.entries(upMessages).map(([kind, shape]) => [kind, (kind === 'sample' ? ajvOfSamples : ajv).compile(shape)]),
) as unknown as Record<UpKind, ValidateFunction>

/** The part of a topic filter below the device's own topic: a kind, `#` or `+`; undefined if it is not its own topic. */
export function subscribedTo(filter: string, endpointId: string): string | undefined {
  const own = `v1/${endpointId}/down/`
  const rest = filter.startsWith(own) ? filter.slice(own.length) : ''
  return rest === '#' || rest === '+' || Object.hasOwn(downMessages, rest) ? rest : undefined
}

export class BadMessage extends Error {}

/** Texts are trimmed and have no control characters; only texts that people read may have lines. [contract 1.10] */
const copier = (kind: UpKind, mayHaveLines: boolean): Copy =>
  knownFieldsCopier(upMessages[kind] as object, (text) => {
    const problem = textProblem(text, mayHaveLines)
    if (problem) throw new BadMessage(`a text ${problem}`)
    return text.trim()
  })

const copyKnown: Record<UpKind, Copy> = {
  status: copier('status', false),
  // A sample has no text and comes often, so its unknown fields are left to validation.
  sample: (message) => message,
  config: copier('config', true),
  operation: copier('operation', true),
  logs: copier('logs', false),
}

/** In characters: the name of a field may contain a key that is as long as the message. */
const maxReasonLength = 200

const isKind = (name: string): name is UpKind => Object.hasOwn(validators, name)

/** Throws BadMessage, which says what is wrong. */
export function readMessage(kind: string, payload: Buffer): { kind: UpKind; message: unknown } {
  if (!isKind(kind)) throw new BadMessage(`there is no message "${kind.slice(0, 40)}"`)
  if (!isUtf8(payload)) throw new BadMessage('it is not UTF-8 text')
  if (hasTooManyKeys(payload)) throw new BadMessage(`it has more than ${maxJsonKeys} keys`)
  let message: unknown
  try {
    message = JSON.parse(payload.toString('utf8'))
  } catch {
    throw new BadMessage('it is not JSON')
  }
  message = copyKnown[kind](message)
  const validate = validators[kind]
  if (!validate(message)) {
    const [first] = validate.errors ?? []
    const field = first?.instancePath.slice(1, maxReasonLength).replaceAll('/', '.') || 'it'
    throw new BadMessage(`${field} ${first?.message ?? 'is wrong'}`)
  }
  return { kind, message }
}
