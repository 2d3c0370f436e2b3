// Writes the type declarations of the contract for the packages: the same names as in src/contract, without their schema library.
import { downMessages, EnrolAnswer, EnrolRequest, upMessages } from '../../src/contract/device/protocol.ts'
import { ErrorBody } from '../../src/contract/error.ts'
import { Event } from '../../src/contract/journal/events.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operationList } from '../../src/contract/operations.ts'
import { indent, type ShapeSchema, ShapeTypes } from './schema-types.ts'

const plain = (shape: object) => JSON.parse(JSON.stringify(shape)) as ShapeSchema

/** Files by their path below the folder of types. */
export type DeclarationFiles = Readonly<Record<string, string>>

/** The declarations that those of src/client import. */
export function clientContractTypes(): DeclarationFiles {
  const types = new ShapeTypes()
  const operations = operationList.map((operation) => `${operation.id}: ${operationType(operation, types)}`)
  for (const shape of [ErrorBody, Event]) types.typeOf(plain(shape))
  return {
    'contract/error.d.ts': "export type { RpcError as ErrorBody } from './operations.js'\n",
    'contract/journal/events.d.ts': "export type { Event } from '../operations.js'\n",
    'contract/operation.d.ts': operationTypes,
    'contract/operations.d.ts': `${types.declarations()}
export interface Operations {
${operations.map(indent).join('\n')}
}
export type OperationId = keyof Operations
`,
  }
}

/** An operation's inputs are written as they are called: times in a query may be milliseconds or text. */
function operationType(operation: Operation, types: ShapeTypes): string {
  const { params, query, body, optionalBody, response, stream, csv, download } = operation
  const timeOrOther = (shape: ShapeSchema) =>
    shape.format === 'date-time' ? { ...shape, type: ['number', 'string'] } : shape
  const inputs = (shapes: object, isRequired: (shape: object) => boolean) => {
    const entries = Object.entries(shapes as Record<string, object>)
    return types.fieldsOf(
      Object.fromEntries(entries.map(([name, shape]) => [name, timeOrOther(plain(shape))])),
      entries.filter(([, shape]) => isRequired(shape)).map(([name]) => name),
    )
  }
  const fields = [
    params && `params: ${inputs(params, () => true)}`,
    query && `query: ${inputs(query, (shape) => 'required' in shape && shape.required === true)}`,
    body && `body: ${types.typeOf(plain(body))}`,
    optionalBody && `optionalBody: '${optionalBody}'`,
    `response: ${types.typeOf(plain(response))}`,
    stream && `stream: '${stream}'`,
    csv && 'csv: true',
    download && `download: '${download}'`,
  ]
  return `{\n${fields
    .flatMap((field) => field || [])
    .map(indent)
    .join('\n')}\n}`
}

const operationTypes = `export interface Operation {
  readonly method: string
  readonly path: string
}
export type ParamsOf<O> = O extends { params: infer P } ? P : Record<never, never>
export type QueryInput<O> = O extends { query: infer Q } ? Q : Record<never, never>
export type BodyOf<O> = O extends { body: infer B } ? B : undefined
export type ResponseOf<O> = O extends { response: infer R } ? R : never
`

/** The declarations that those of src/device import. */
export function deviceContractTypes(): DeclarationFiles {
  const types = new ShapeTypes()
  const table = (messages: Readonly<Record<string, object>>) =>
    Object.entries(messages)
      .map(([kind, shape]) => `  '${kind}': ${types.typeOf(plain(shape))}`)
      .join('\n')
  const up = table(upMessages)
  const down = table(downMessages)
  for (const shape of [EnrolRequest, EnrolAnswer]) types.typeOf(plain(shape))
  return {
    'contract/device/protocol.d.ts': `${types.declarations()}
export type CommandReport = OperationReport
export type DeviceCommandMessage = OperationCommand
export interface UpMessages {
${up}
}
export interface DownMessages {
${down}
}
export type UpKind = keyof UpMessages
export type UpMessage<K extends UpKind> = UpMessages[K]
export type DownKind = keyof DownMessages
`,
  }
}
