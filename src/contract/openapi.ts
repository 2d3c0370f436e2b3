// The OpenAPI 3.1 document, derived from the table of operations.
import type { TProperties, TSchema } from 'typebox'
import { ErrorBody } from './error.ts'
import {
  idempotencyKeyHeader,
  idempotencyKeyHours,
  idempotencyKeyPattern,
  idempotencyReplayedHeader,
  maxIdempotencyKeyLength,
  takesIdempotencyKey,
} from './idempotency.ts'
import { kibibytes, type Operation, type Tag } from './operation.ts'
import { operationList } from './operations.ts'

type Json = { [key: string]: unknown }

const info = {
  title: 'Device Management Service Interface',
  version: '0.1.1',
  description:
    'Manages the devices ("endpoints"), regions, locations, rooms, room notes, sensor data and audit logs of one organisation. ' +
    'Every path also answers below the legacy base `/api`. `HEAD` answers the headers of each `GET`. Another method on a path that exists is a ' +
    '405, with the allowed ones in `Allow`.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}

/** The groups of operations with their descriptions, in the order in which the document shows them. */
export const tags: Readonly<Record<Tag, string>> = {
  Audit: 'The audit log: every change, with its author and its time.',
  Endpoints: 'The managed devices, called endpoints.',
  Config: 'The desired settings of endpoints, the settings that devices report, and the config versions.',
  Operations: 'Commands to devices, such as a reboot or a message, and their state.',
  Sensors: 'Sensor data of endpoints and rooms: the latest sample and the history.',
  Events: 'A live stream of events: connections, samples, operations, incidents, jobs and other changes.',
  'Bug reports': 'Logs that devices upload on request, found by a support ID.',
  Regions: 'Regions group locations.',
  Locations: 'Locations are sites or buildings, and contain rooms.',
  Rooms: 'Meeting rooms, their state and their enrolment codes.',
  'Room notes': 'Notes that people write about a room.',
  Incidents: 'Problems of endpoints and rooms, one incident for each cause; the rules that open incidents; silences.',
  Channels: 'Receivers of messages about incidents and events, and the deliveries to each.',
  Jobs: 'One action on many endpoints, all together or in stages. Changes of settings and profiles can be rolled back.',
  Gateways:
    'Programs in the buildings that manage devices of other makers, the devices that each manages, and their drivers.',
  Sources:
    'Systems that know many devices, such as Neat Pulse or an MQTT broker: gateways read them, and people adopt their devices.',
  Reports: 'Figures of rooms and devices, for people and for other tools.',
  Profiles: 'Named configs that rooms and endpoints share.',
  Users: 'People who can sign in, with their roles and regions.',
  'My account': 'The rights of the caller, and the personal keys of a person.',
  Identity: 'The identity provider with which people sign in.',
  Views: 'Saved views of the lists of the console: filters, order and columns under a name.',
  Organisation: 'The name, the time zone, the air limits and the working hours of the organisation.',
  'API keys': 'Keys that authenticate callers.',
}

export function openapi(serverUrl: string): Json {
  const components = new Map<string, Json>()
  const paths: Record<string, Json> = {}
  for (const operation of operationList) {
    for (const [i, path] of [operation.path, ...(operation.otherPaths ?? [])].entries()) {
      const full = `/v1/orgs/{orgid}${path}`
      paths[full] ??= {}
      const id = i === 0 ? operation.id : `${operation.id}Alias${i}`
      paths[full][operation.method.toLowerCase()] = describe(id, operation, components)
    }
  }
  const error = shapeOf(ErrorBody, components)
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: serverUrl, description: 'This service' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ bearerToken: [] }],
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: Object.fromEntries(
        Object.entries(errors).map(([name, { description }]) => [
          name,
          { description, content: { 'application/json': { schema: error } } },
        ]),
      ),
      securitySchemes: {
        bearerToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key. Scopes: `read` (read permissions) and `write` (write permissions); `manage` lets a key manage keys and users.',
        },
      },
    },
  }
}

/** The errors that any operation can have, by their status. */
const errors: Record<string, { status: string; description: string; when?: (o: Operation) => boolean }> = {
  BadRequest: { status: '400', description: 'INVALID_ARGUMENT or FAILED_PRECONDITION: the message says what to do.' },
  Unauthenticated: { status: '401', description: 'The token is missing or not valid.' },
  PermissionDenied: { status: '403', description: 'The key lacks the scope that the message names.' },
  NotFound: { status: '404', description: 'The resource does not exist, or the caller may not see it.' },
  Conflict: {
    status: '409',
    description:
      'Concurrent changes prevented this one, even after retries, or an earlier request with the same `Idempotency-Key` still runs. Try again.',
    when: (o) => o.audit !== undefined,
  },
  Stale: { status: '412', description: '`If-Match` names another version.', when: (o) => o.ifMatch === true },
  TooLarge: {
    status: '413',
    description: 'The body is larger than the operation allows.',
    when: (o) => o.body !== undefined,
  },
  NotJson: { status: '415', description: 'The body is not application/json.', when: (o) => o.body !== undefined },
  TooMany: { status: '429', description: 'The rate limit is reached; wait for `Retry-After` seconds.' },
  Internal: { status: '500', description: 'An error of the server. Report it with the requestId.' },
  Unavailable: { status: '503', description: 'The server cannot answer now. Try again after `Retry-After` seconds.' },
}

function describe(id: string, operation: Operation, components: Map<string, Json>): Json {
  const { example, response } = operation
  const needs = [operation.scope, ...(operation.manage ? ['manage'] : [])]
  return {
    operationId: id,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description ? `${operation.description} ` : ''}Needs: ${needs.join(' and ')}.`,
    security: [{ bearerToken: needs }],
    parameters: [
      {
        name: 'orgid',
        in: 'path',
        required: true,
        description: 'Identifier of the organisation.',
        schema: { type: 'string' },
        example: 'LXJ45kN',
      },
      ...parameters('path', operation.params, example.params),
      ...parameters('query', operation.query, example.query),
      ...(operation.ifMatch
        ? [conditional('If-Match', 'The change is made only if the resource still has this version.')]
        : []),
      ...(takesIdempotencyKey(operation) ? [idempotencyKeyParameter(operation)] : []),
      ...(operation.stream ? [conditional('Last-Event-ID', 'The stream continues after this event.')] : []),
      ...(isConditional(operation)
        ? [conditional('If-None-Match', 'The answer is 304 if it would still have this ETag.')]
        : []),
    ],
    ...(operation.body && {
      requestBody: {
        description: `At most ${kibibytes(operation.bodyLimitBytes)}.`,
        required: operation.optionalBody === undefined,
        content: {
          'application/json': { schema: shapeOf(withDates(operation.body), components), example: example.body },
        },
      },
    }),
    responses: {
      '200': {
        description: 'Success.',
        ...answerHeaders(operation),
        content: {
          ...(operation.download
            ? { [operation.download]: { schema: clean(response) } }
            : {
                [operation.stream ?? 'application/json']: {
                  schema: shapeOf(response, components),
                  example: example.response,
                },
              }),
          ...(operation.csv && { 'text/csv': { schema: csvSchema(operation) } }),
        },
      },
      ...(isConditional(operation) && {
        '304': { description: 'The answer still has the ETag of `If-None-Match`.' },
      }),
      ...Object.fromEntries(
        Object.entries(errors)
          .filter(([, error]) => error.when?.(operation) ?? true)
          .map(([name, { status }]) => [status, { $ref: `#/components/responses/${name}` }]),
      ),
    },
  }
}

/** A stream does not end, and text that is written while it is read has no version. */
const isConditional = ({ method, stream, download }: Operation): boolean =>
  method === 'GET' && !stream && !download?.startsWith('text/')

function csvSchema({ csvList }: Operation) {
  if (!csvList) return { type: 'string' }
  const names = csvList.columns.map(({ name }) => `\`${name}\``)
  const fields = csvList.hasFields ? ', and `field.NAME` for each name of a field' : ''
  return { type: 'string', description: `All pages. Columns: ${names.join(', ')}${fields}.` }
}

function answerHeaders(operation: Operation) {
  const headers = {
    ...((operation.versioned || isConditional(operation)) && {
      ETag: { description: 'Version of the answer.', schema: { type: 'string' } },
    }),
    ...(takesIdempotencyKey(operation) &&
      operation.repeat !== 'secret' && {
        [idempotencyReplayedHeader]: {
          description: 'Present if this is the answer of an earlier request with the same `Idempotency-Key`.',
          schema: { type: 'string', const: 'true' },
        },
      }),
  }
  return Object.keys(headers).length > 0 && { headers }
}

function idempotencyKeyParameter({ repeat }: Operation) {
  const answer =
    repeat === 'secret'
      ? 'and is a 400 that names what the first one made, because the answer shows a secret once'
      : 'and gets the answer of the first one'
  return {
    name: idempotencyKeyHeader,
    in: 'header',
    required: false,
    description: `Makes the request safe to send twice: a repeat with the same key within ${idempotencyKeyHours} hours is not done again, ${answer}.`,
    schema: { type: 'string', minLength: 1, maxLength: maxIdempotencyKeyLength, pattern: idempotencyKeyPattern.source },
  }
}

const conditional = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

const parameters = (
  place: 'path' | 'query',
  shapes: TProperties = {},
  example: Readonly<Record<string, unknown>> = {},
) =>
  Object.entries(shapes).map(([name, shape]) => {
    const { description, required, plainDays: _, ...schema } = withDates(clean(shape)) as Json
    return {
      name,
      in: place,
      required: place === 'path' || required === true,
      description,
      schema,
      ...(example[name] !== undefined && { example: example[name] }),
    }
  })

/** Requests accept a date alone instead of a time, so the document must not make validators refuse it. [contract 1.6] */
const withDates = (shape: unknown): unknown =>
  JSON.parse(JSON.stringify(shape), (_, value) => {
    if (value?.format !== 'date-time') return value
    const { type, format, ...rest } = value
    return {
      anyOf: [
        { type, format },
        { type, format: 'date' },
      ],
      ...rest,
    }
  })

/** A shape with a title becomes a component of that name; the rest stays where it is. */
function shapeOf(shape: unknown, components: Map<string, Json>): Json {
  const { title, ...rest } = clean(shape) as Json
  if (typeof title !== 'string') return inner(rest, components)
  if (!components.has(title)) {
    components.set(title, {})
    components.set(title, inner(rest, components))
  }
  return { $ref: `#/components/schemas/${title}` }
}

function inner(shape: Json, components: Map<string, Json>): Json {
  const walk = (value: unknown): unknown => (isShape(value) ? shapeOf(value, components) : value)
  return {
    ...shape,
    ...(isShape(shape.properties) && {
      properties: Object.fromEntries(Object.entries(shape.properties).map(([name, value]) => [name, walk(value)])),
    }),
    ...(shape.items !== undefined && { items: walk(shape.items) }),
    ...(Array.isArray(shape.anyOf) && { anyOf: shape.anyOf.map(walk) }),
  }
}

const isShape = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Removes the private keys of TypeBox, and our own formats, which other tools do not know. */
const ownFormats = new Set(['line', 'lines', 'any', 'email-address', 'timezone'])
const clean = (shape: unknown): TSchema =>
  JSON.parse(JSON.stringify(shape), (key, value) =>
    key.startsWith('~') || (key === 'format' && ownFormats.has(value)) ? undefined : value,
  )
