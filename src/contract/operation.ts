// The shape of an operation: one value from which routes, OpenAPI, client, tests and audit types are derived.
import type { Static, TProperties, TSchema } from 'typebox'
import type { CsvList } from './csv-list.ts'

export type Scope = 'read' | 'write'
export type Tag =
  | 'Audit'
  | 'Endpoints'
  | 'Config'
  | 'Operations'
  | 'Sensors'
  | 'Events'
  | 'Bug reports'
  | 'Regions'
  | 'Locations'
  | 'Rooms'
  | 'Room notes'
  | 'Profiles'
  | 'Users'
  | 'API keys'
  | 'My account'
  | 'Organisation'
  | 'Views'
  | 'Identity'
  | 'Incidents'
  | 'Channels'
  | 'Jobs'
  | 'Gateways'
  | 'Sources'
  | 'Reports'
export type AuditCategory = 'USER' | 'DEVICE' | 'ORG'

/** Bodies of callers that are not authenticated yet (enrolment, sign-in), and of operations that take none. [contract 7.1] */
export const smallBodyBytes = 4 * 1024
/** Bodies that hold a name and a few references. */
export const mediumBodyBytes = 16 * 1024
/** Bodies with a list of ids, a long text or a config, and of updates to which clients send back a whole answer. */
export const largeBodyBytes = 64 * 1024

/** Bodies with long lists of texts. */
export const hugeBodyBytes = 128 * 1024

/** Bodies with several lists of hundreds of ids. */
export const jobBodyBytes = 256 * 1024

/** Bodies with certificates, hundreds of names of another system, or rules for reading its messages. */
export const sourceBodyBytes = 896 * 1024

/** A limit as a person reads it. */
export const kibibytes = (bytes: number): string => `${bytes / 1024} KiB`

export type Operation = OperationWithBody | OperationWithoutBody

interface OperationWithBody extends OperationBase {
  readonly body: TSchema
  /** The largest body that is read; a larger one is a 413. [contract 7.1] */
  readonly bodyLimitBytes: number
  /** A body that is missing means {}. With `any value`, so does one that is not an object, which real clients send. */
  readonly optionalBody?: 'missing' | 'any value'
}

interface OperationWithoutBody extends OperationBase {
  readonly body?: undefined
  readonly optionalBody?: undefined
  readonly bodyLimitBytes?: undefined
}

interface OperationBase {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below /v1/orgs/{orgid}. */
  readonly path: string
  /** Further paths that real clients use for the same operation. */
  readonly otherPaths?: readonly string[]
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** Its name on the command line, such as `endpoints list`, where the name that is derived of its id would be awkward. */
  readonly command?: string
  readonly scope: Scope
  /** The scope `operate` is enough, which is less than write. [contract 11.user] */
  readonly operate?: true
  /** Needs, beside the scope, the right to manage keys, users and the identity provider. [contract 3.5] */
  readonly manage?: true
  /** Needs, beside the scope, a caller who sees all regions, because the operation changes what all regions share. [contract 11.user] */
  readonly everywhere?: true
  /** Needs, beside the scope, the right to read the audit log. [contract 11.user] */
  readonly auditLog?: true
  /** Only for people: a key that is not personal is refused. [contract 11.local] */
  readonly person?: true
  readonly params?: TProperties
  readonly query?: TProperties
  /** Other names of a body key that real clients send: alias -> key. */
  readonly bodyAliases?: Readonly<Record<string, string>>
  /** A key that some clients put around the body; it is taken off. */
  readonly bodyWrapper?: string
  /** The answer shows every number as it was written: `1.0` stays `1.0`. */
  readonly keepsNumberText?: true
  readonly response: TSchema
  /** The answer is a file of this type, not JSON. */
  readonly download?: string
  /** The answer does not end: events of this type, each with the response as its data. [contract 6.events] */
  readonly stream?: 'text/event-stream'
  /** The answer is one writable resource and carries its version as a strong ETag. [contract 7.8] */
  readonly versioned?: true
  /** Writes one resource, so `If-Match` guards it. [contract 7.11] */
  readonly ifMatch?: true
  /** Writes nothing although it is a POST, and so makes no audit entry. */
  readonly reads?: true
  /** The audit entry that a success makes: every writing operation has one. [contract 5.4.audit] */
  readonly audit?: {
    readonly category: AuditCategory
    readonly type: string
    /** The audit type when the same call undoes: assigning the profile null unassigns it. */
    readonly undoType?: string
  }
  /**
   * Why the answer is not stored with the change for a repeat with the same Idempotency-Key: it shows a secret once, or it is known only
   * after the commit. [contract 7.once]
   */
  readonly repeat?: 'secret' | 'later'
  /** Also answers `text/csv` to a caller that asks for it. Its query has `bom`. */
  readonly csv?: true
  /** The CSV is made of the JSON list; otherwise the rule writes it. [contract 6.csv] */
  readonly csvList?: CsvList
  readonly example: {
    readonly params?: Readonly<Record<string, unknown>>
    readonly query?: Readonly<Record<string, unknown>>
    readonly body?: unknown
    readonly response: unknown
  }
}

/** Keeps the literal types of an operation, so that handler and client are typed by it. */
export const operation = <const O extends Operation>(o: O): O => o

type StaticOf<P> = P extends TProperties ? { -readonly [K in keyof P]: Static<P[K]> } : Record<never, never>
/** A query parameter is optional unless its shape says `required: true`. */
type QueryOf<P> = P extends TProperties
  ? { -readonly [K in keyof P as P[K] extends { required: true } ? K : never]: Static<P[K]> } & {
      -readonly [K in keyof P as P[K] extends { required: true } ? never : K]?: Static<P[K]>
    }
  : Record<never, never>

export type ParamsOf<O> = O extends { params: infer P } ? StaticOf<P> : Record<never, never>
export type QueryInput<O> = O extends { query: infer Q } ? QueryOf<Q> : Record<never, never>
export type BodyOf<O> = O extends { body: infer B extends TSchema } ? Static<B> : undefined
export type ResponseOf<O> = O extends { response: infer R extends TSchema } ? Static<R> : never
