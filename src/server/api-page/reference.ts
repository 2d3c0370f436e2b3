// Collects the content of the page from the operation table and the OpenAPI document that is derived from it.
import { STATUS_CODES } from 'node:http'
import { openapi } from '../../contract/openapi.ts'
import type { Operation } from '../../contract/operation.ts'
import { operationList } from '../../contract/operations.ts'

/** The part of JSON Schema that the contract uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly pattern?: string
  readonly writeOnly?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

interface Answer {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, { readonly description: string }>>
  readonly content?: Content
}

interface OperationObject {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, { readonly description: string }>>
    readonly securitySchemes: { readonly bearerToken: { readonly description: string } }
  }
}

export interface ErrorAnswer {
  readonly status: string
  readonly title: string
  readonly description: string
}

/** An operation of the table, with its description in the OpenAPI document. */
export interface ReferenceEntry {
  readonly operation: Operation & { readonly id: string }
  /** The part of the path that is common to all operations. */
  readonly base: string
  readonly parameters: readonly Parameter[]
  readonly body: JsonSchema | undefined
  readonly answer: JsonSchema | undefined
  readonly answerHeaders: NonNullable<Answer['headers']>
  readonly errors: readonly ErrorAnswer[]
}

export interface ApiReference {
  readonly info: Document['info']
  readonly tokenDescription: string
  readonly entries: readonly ReferenceEntry[]
  readonly groups: readonly { readonly tag: string; readonly entries: readonly ReferenceEntry[] }[]
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

export function readReference(): ApiReference {
  const document = openapi('') as unknown as Document
  const objects = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((object) => [object.operationId, { path, object }] as const),
    ),
  )
  const entries = operationList.flatMap((operation) => {
    const described = objects.get(operation.id)
    return described ? [entryOf(document, operation, described.path, described.object)] : []
  })
  return {
    info: document.info,
    tokenDescription: document.components.securitySchemes.bearerToken.description,
    entries,
    groups: document.tags.map(({ name: tag }) => ({ tag, entries: entries.filter((e) => e.operation.tag === tag) })),
    schemas: document.components.schemas,
  }
}

function entryOf(
  document: Document,
  operation: ReferenceEntry['operation'],
  path: string,
  object: OperationObject,
): ReferenceEntry {
  return {
    operation,
    base: path.slice(0, path.length - operation.path.length),
    parameters: object.parameters,
    body: jsonIn(object.requestBody?.content),
    answer: jsonIn(object.responses['200']?.content),
    answerHeaders: object.responses['200']?.headers ?? {},
    errors: Object.entries(object.responses).flatMap(([status, { $ref }]) => {
      if ($ref === undefined) return []
      const name = nameIn($ref)
      return [
        {
          status,
          title: STATUS_CODES[status] ?? name,
          description: document.components.responses[name]?.description ?? '',
        },
      ]
    }),
  }
}

const jsonIn = (content: Content | undefined): JsonSchema | undefined => content?.['application/json']?.schema

/** Returns the last part of `#/components/schemas/Name`. */
export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

export function namesIn(schema: unknown): Set<string> {
  if (typeof schema !== 'object' || schema === null) return new Set()
  const { $ref } = schema as JsonSchema
  if (typeof $ref === 'string') return new Set([nameIn($ref)])
  return new Set(Object.values(schema).flatMap((inside) => [...namesIn(inside)]))
}

/** Returns every error once, ordered by status. */
export const allErrors = ({ entries }: ApiReference): ErrorAnswer[] =>
  [...new Map(entries.flatMap((e) => e.errors.map((error) => [error.status, error])))]
    .map(([, error]) => error)
    .sort((a, b) => Number(a.status) - Number(b.status))
