// Reads the messages of devices and checks them against the schemas of the device protocol.
import { isUtf8 } from 'node:buffer'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import {
  downMessages,
  type MessageRefused,
  maxIgnoredKeys,
  type UpKind,
  upMessages,
} from '../../../contract/device/protocol.ts'
import { textProblem } from '../../../contract/text.ts'
import { parseTime } from '../../../contract/time.ts'
import { exceededLimit } from '../../core/json-limits.ts'
import { isUuid } from '../../core/uuid.ts'
import { BadText, type Copy, findUnknownKeys, knownFieldsCopier } from './known-fields.ts'

function makeAjv(strictNumbers: boolean): Ajv {
  // Fields that a schema does not know are dropped, at any depth, so that they are never stored. `verbose` adds the schema to errors.
  const ajv = new Ajv({ strict: false, strictNumbers, removeAdditional: 'all', verbose: true })
  for (const format of ['line', 'lines', 'int32', 'binary']) ajv.addFormat(format, true)
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', (text) => parseTime(text) !== undefined)
  return ajv
}

/** JSON has no infinity, but 1e999 becomes one. */
const ajv = makeAjv(true)
/** The check of sensor ranges refuses a sample with an infinite value alone; the other samples of its message are stored. */
const ajvOfSamples = makeAjv(false)

const validators = new Map<UpKind, ValidateFunction>()

/** A validator is compiled for the first message of its kind: compiling all of them would make every start longer. */
function validatorOf(kind: UpKind): ValidateFunction {
  let validator = validators.get(kind)
  if (!validator) {
    validator = (kind === 'sample' ? ajvOfSamples : ajv).compile(upMessages[kind])
    validators.set(kind, validator)
  }
  return validator
}

/** The part of a topic filter below the device's own topic: a kind, `#` or `+`; undefined if it is not its own topic. */
export function subscribedTo(filter: string, endpointId: string): string | undefined {
  const own = `v1/${endpointId}/down/`
  const rest = filter.startsWith(own) ? filter.slice(own.length) : ''
  return rest === '#' || rest === '+' || Object.hasOwn(downMessages, rest) ? rest : undefined
}

/** The limit for the name of a field, in characters: the name can be as long as the message. */
const maxFieldLength = 200
export const maxKindLength = 40

/** Says what is wrong with a message, and where. */
export class BadMessage extends Error {
  /** A JSON Pointer; empty for the message as a whole. */
  readonly field: string
  readonly allowed: readonly string[] | undefined

  constructor(problem: string, field = '', allowed?: readonly string[]) {
    const name = field.slice(1, maxFieldLength).replaceAll('/', '.') || 'it'
    super(`${name} ${problem}`)
    this.field = field.slice(0, maxFieldLength)
    this.allowed = allowed
  }
}

/** The answer to a bad message. Its size is bounded, because every part of it is. */
export const messageRefused = (kind: string, { message, field, allowed }: BadMessage): MessageRefused => ({
  kind: kind.slice(0, maxKindLength),
  reason: `The message was not stored: ${message}. Do not send it again.`,
  field,
  ...(allowed && { allowed: [...allowed] }),
})

/** Texts are trimmed and have no control characters; only texts that people read may have lines. [contract 1.10] */
const copier = (kind: UpKind, mayHaveLines: boolean): Copy =>
  knownFieldsCopier(upMessages[kind] as object, (text) => {
    const problem = textProblem(text, mayHaveLines)
    if (problem) throw new BadText(problem)
    return text.trim()
  })

const copyKnown: Record<UpKind, Copy> = {
  status: copier('status', false),
  // A sample has no text and comes often, so its unknown fields are left to validation.
  sample: (message) => message,
  config: copier('config', true),
  operation: copier('operation', true),
  logs: copier('logs', false),
  devices: copier('devices', false),
  sources: copier('sources', false),
}

const isKind = (name: string): name is UpKind => Object.hasOwn(upMessages, name)

export interface ReadMessage {
  readonly kind: UpKind
  readonly message: unknown
  /** JSON Pointers to keys that the schema does not know. */
  readonly ignoredKeys: readonly string[]
}

/** Throws BadMessage, which says what is wrong. Unknown keys are looked for only if `wantsIgnored` returns true. */
export function readMessage(
  kind: string,
  payload: Buffer,
  wantsIgnored: (kind: UpKind) => boolean = () => false,
): ReadMessage {
  if (!isKind(kind)) throw new BadMessage('is of a kind that does not exist', '', Object.keys(upMessages))
  if (!isUtf8(payload)) throw new BadMessage('is not UTF-8 text')
  const exceeded = exceededLimit(payload)
  if (exceeded) throw new BadMessage(exceeded)
  let message: unknown
  try {
    message = JSON.parse(payload.toString('utf8'))
  } catch {
    throw new BadMessage('is not JSON')
  }
  // Validation removes unknown keys, so they are looked for before it.
  const ignoredKeys = wantsIgnored(kind) ? unknownKeys(kind, message) : []
  message = copyFields(kind, message)
  const validate = validatorOf(kind)
  if (!validate(message)) throw asBadMessage(validate.errors ?? [])
  return { kind, message, ignoredKeys }
}

const unknownKeys = (kind: UpKind, sent: unknown): string[] =>
  findUnknownKeys(upMessages[kind] as object, sent, maxIgnoredKeys).map((path) =>
    pointerTo(path).slice(0, maxFieldLength),
  )

const pointerTo = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${escapePointer(String(step))}`).join('')

function copyFields(kind: UpKind, message: unknown): unknown {
  try {
    return copyKnown[kind](message)
  } catch (error) {
    if (!(error instanceof BadText)) throw error
    throw new BadMessage(error.message, pointerTo(error.path))
  }
}

/** A value that fits none of several types has an error for each, so all errors at the place of the first are read. */
function asBadMessage([first, ...others]: readonly ErrorObject[]): BadMessage {
  if (!first) return new BadMessage('is wrong')
  const { keyword, instancePath, params, parentSchema } = first
  if (keyword === 'required') {
    return new BadMessage('is missing', `${instancePath}/${escapePointer(params.missingProperty)}`)
  }
  const allowed = parentSchema?.enum as readonly string[] | undefined
  if (allowed) return new BadMessage(`must be one of ${allowed.join(', ')}`, instancePath, allowed)
  if (keyword !== 'type') return new BadMessage(first.message ?? 'is wrong', instancePath)
  const types = [first, ...others]
    .filter((error) => error.keyword === 'type' && error.instancePath === instancePath)
    .map((error) => error.params.type as string)
  return new BadMessage(`must be ${types.join(' or ')}`, instancePath)
}

/** RFC 6901, section 3. */
const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
