// Reads the answers of Neat Pulse: what they must have is checked, and what this program does not know is left out.
import { SourceFailure } from '../source.ts'

export type AnswerObject = Readonly<Record<string, unknown>>

/** A device as the list of all devices has it, with everything that the list says of it. */
export interface PulseDevice {
  readonly id: string
  readonly serial?: string | undefined
  readonly model: string
  readonly connected: boolean
  readonly roomId?: string | undefined
  readonly fields: AnswerObject
}

export interface DeviceSensorData {
  readonly sample: AnswerObject
  /** Beside the sample: `shutterClosed`, `measured`. */
  readonly beside: AnswerObject
}

const maxQuotedCharacters = 80

/** Throws a SourceFailure for anything but JSON, such as the page of a proxy. */
export function parseAnswer(text: string, contentType: string | null, host: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const isPage = contentType?.includes('html') || /^\s*<(?:!doctype|html)/i.test(text)
    throw new SourceFailure(
      'FAILING',
      isPage
        ? `${host} answers with a web page instead of data. Check the address, and whether a proxy wants a sign-in.`
        : `${host} sent an answer that is not complete JSON.`,
    )
  }
}

/** A list in its own key, as most clients expect it; also a bare list, or one in `data` or `items`. */
export function listInAnswer(answer: unknown, key: string, host: string): readonly AnswerObject[] {
  const found = Array.isArray(answer)
    ? answer
    : isObject(answer)
      ? (answer[key] ?? answer.data ?? answer.items)
      : undefined
  // Services that leave out empty fields send {} for an empty list.
  if (found === undefined && isObject(answer) && Object.keys(answer).length === 0) return []
  if (!Array.isArray(found) || !found.every(isObject))
    throw new SourceFailure('FAILING', `${host} sent no list of ${key}. Its interface may have changed.`)
  return found
}

/** Undefined on the last page. */
export function nextPageOf(answer: unknown): string | undefined {
  const token = isObject(answer) ? (answer.nextPageToken ?? answer.pageToken) : undefined
  return typeof token === 'string' && token !== '' ? token : undefined
}

export function listedDevice(fields: AnswerObject, host: string): PulseDevice {
  const { id, serial, model, connected, roomId } = fields
  const wrong =
    (!isText(id) && 'id') ||
    (!isText(model) && 'model') ||
    (typeof connected !== 'boolean' && 'connected') ||
    (serial !== undefined && serial !== null && typeof serial !== 'string' && 'serial') ||
    (!['undefined', 'string', 'number'].includes(typeof (roomId ?? undefined)) && 'roomId')
  if (wrong) {
    const value = JSON.stringify(fields[wrong])?.slice(0, maxQuotedCharacters) ?? 'nothing'
    throw new SourceFailure(
      'FAILING',
      `${host} sent a device whose ${wrong} is ${value}. Its interface may have changed.`,
    )
  }
  return {
    id: id as string,
    model: model as string,
    connected: connected as boolean,
    fields,
    ...(isText(serial) && { serial }),
    ...(idText(roomId) !== undefined && { roomId: idText(roomId) }),
  }
}

/** The samples of all devices; undefined for a device that has none. */
export function sensorDataByDevice(answer: unknown, host: string): ReadonlyMap<string, DeviceSensorData | undefined> {
  return new Map(
    listInAnswer(answer, 'data', host).map((item) => {
      const id = idText(item.id ?? item.endpointId)
      if (id === undefined)
        throw new SourceFailure('FAILING', `${host} sent sensor data without a device. Its interface may have changed.`)
      return [id, sensorDataIn(item.endpointData)]
    }),
  )
}

function sensorDataIn(value: unknown): DeviceSensorData | undefined {
  if (!isObject(value)) return undefined
  const sample = Array.isArray(value.data) ? value.data[0] : value.data
  return isObject(sample) ? { sample, beside: value } : undefined
}

/** Identifiers are numbers or texts, depending on the kind and on the base path. 0 means none. */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value !== 0) return String(value)
  return isText(value) && value !== '0' && value.length <= 128 ? value : undefined
}

export const isObject = (value: unknown): value is AnswerObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
