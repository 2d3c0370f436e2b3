// Turns the details of a device at Neat Pulse into the status that its endpoint reports here.
import Format from 'typebox/format'
import Value from 'typebox/value'
import { modelOf } from '../../../contract/device/models.ts'
import { StatusReport, type UpMessage } from '../../../contract/device/protocol.ts'
import { parseTime } from '../../../contract/time.ts'
import type { AnswerObject, PulseDevice } from './answers.ts'

/** The gateway decides what can be done with a mirrored device; the others are about gateways and agents. */
const notMirrored: readonly string[] = ['actions', 'configKeys', 'supports', 'reach']

const shapes = (StatusReport as unknown as { readonly properties: Readonly<Record<string, object>> }).properties
const mirroredFields = Object.keys(shapes).filter((name) => !notMirrored.includes(name))
const maxNameCharacters = 100

/** Every field that both sides know. A value of another type is left out: the server would refuse the whole status. */
export function mirroredStatus(details: AnswerObject): UpMessage<'status'> {
  Format.Set('date-time', (text) => parseTime(text) !== undefined)
  const found = mirroredFields.flatMap((name): [string, unknown][] => {
    const value = mirroredValue(name, details)
    return value !== undefined && Value.Check(shapes[name] as never, value) ? [[name, value]] : []
  })
  return Object.fromEntries(found)
}

function mirroredValue(name: string, details: AnswerObject): unknown {
  const value = details[name]
  if (name === 'name' && typeof value === 'string') return [...value].slice(0, maxNameCharacters).join('')
  if (name === 'networks' && Array.isArray(value)) return value.map(withoutNulls)
  return value ?? undefined
}

/** Some services write null for what is not known, which is allowed for a whole field only. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]])),
  )
}

export function manufacturerOf({ model, fields }: PulseDevice): string {
  return typeof fields.manufacturer === 'string' && fields.manufacturer !== ''
    ? fields.manufacturer
    : (modelOf(model).manufacturer ?? 'Neat')
}

/** Another Roomkeeper puts the maker before the serial number of a device of its gateways, and so does this one. */
export function bareSerialOf(device: PulseDevice): string | undefined {
  const maker = `${manufacturerOf(device)} `
  return device.serial?.startsWith(maker) ? device.serial.slice(maker.length) : device.serial
}

/** Why a device cannot be mirrored. A mirror of a mirror could lead back to this installation. */
export function refusalOf({ fields, id }: PulseDevice, ownEndpointId: string): string | undefined {
  if (id === ownEndpointId) return 'This is the gateway itself.'
  if (fields.kind === 'GATEWAY') return 'This is a gateway, which is managed where it is enrolled.'
  if (fields.sourceType !== undefined && fields.sourceType !== null)
    return 'This device is itself mirrored there. Connect the system that it comes from.'
  return undefined
}
