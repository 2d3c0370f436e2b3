// The tables of docs/device-protocol.md as they must be: made from the schemas, the config keys and the models.
import { configKeys, readOnlyKeys } from '../../../src/contract/device/config-keys.ts'
import { deviceMessages } from '../../../src/contract/device/messages.ts'
import { models, sensors } from '../../../src/contract/device/models.ts'
import { int32 } from '../../../src/contract/shape.ts'

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly const?: boolean
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly $ref?: string
}

const definitions = deviceMessages().$defs as Record<string, Schema>
const nameOf = (reference: string) => reference.replace('#/$defs/', '')
const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ')
const row = (...cells: string[]) => `|${cells.map((cell) => (cell ? ` ${cell} ` : ' ')).join('|')}|`

function fieldRows({ properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties).map(([name, field]) =>
    row(code([name]), typeOf(field), required.includes(name) ? 'yes' : 'no', meaningOf(field)),
  )
}

const meaningOf = (field: Schema): string =>
  field.description ??
  (field.$ref ? definitions[nameOf(field.$ref)]?.description : undefined) ??
  field.anyOf?.map(meaningOf).find((meaning) => meaning !== '') ??
  ''

/** In words. That a field may also be null is said once, in the text above its table. */
function typeOf(field: Schema): string {
  if (field.$ref) return nameOf(field.$ref)
  if (field.enum) return code(field.enum)
  if (field.const !== undefined) return code([String(field.const)])
  if (field.anyOf) return field.anyOf.flatMap((one) => (one.type === 'null' ? [] : [typeOf(one)])).join(' or ')
  if (field.patternProperties) {
    const count = field.maxProperties === undefined ? '' : ` of up to ${field.maxProperties} keys`
    return `object${count}, each value ${Object.values(field.patternProperties).map(typeOf)}`
  }
  switch (field.type) {
    case 'boolean':
      return 'true or false'
    case 'integer':
      return `whole number${field.minimum === 0 ? ` from 0${endOf(field)}` : ''}`
    case 'array':
      return `list of ${bounds(field.minItems, field.maxItems)}${typeOf(field.items ?? {})}`
    case 'string':
      if (field.format === 'uuid') return 'UUID'
      if (field.format === 'date-time') return 'time, RFC 3339'
      return `text${field.maxLength === undefined ? '' : `, ${bounds(field.minLength, field.maxLength)}characters`}`
    default:
      return field.type ?? ''
  }
}

/** The largest number of 32 bits is no bound that a maker needs to know. */
const endOf = ({ maximum = int32.maximum }: Schema): string => (maximum < int32.maximum ? ` to ${maximum}` : '')

const bounds = (min: number | undefined, max: number | undefined): string =>
  max === undefined ? '' : min === undefined ? `up to ${max} ` : `${min} to ${max} `

function keyRows(keys: typeof configKeys): string[] {
  return Object.entries(keys).map(([name, key]) => {
    const type = { boolean: 'true or false', number: 'number', integer: 'whole number', string: 'text', enum: 'one of' }
    const range = key.min === undefined ? [] : [`from ${key.min} to ${key.max}`]
    const remarks = [...range, ...(key.unit ? [`in ${key.unit}`] : []), ...(key.secret ? ['a password'] : [])]
    const values = key.values ? `${key.type === 'enum' ? '' : 'for example '}${code(key.values)}` : ''
    return row(code([name]), type[key.type], [...remarks, ...(values ? [values] : [])].join('; '))
  })
}

/** By the first cell of their head: the rows of every table that is made of something in the code. */
export const tables: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [name, fieldRows(schema)])),
  'Key of a config': keyRows(configKeys),
  'Read-only key': keyRows(readOnlyKeys),
  'Model code': Object.entries(models).map(([model, { name, sensors: has }]) =>
    row(code([model]), name, code(sensors.filter((sensor) => has.includes(sensor)))),
  ),
}
