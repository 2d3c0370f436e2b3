// The one shape of every error. [contract 2.1]

import Type, { type Static } from 'typebox'
import { Int32, Shape } from './shape.ts'

/** A closed union, so that clients branch on the code and never on the message. [contract 2.2] */
export const errorCodes = [
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'ABORTED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RESOURCE_EXHAUSTED',
  'REQUEST_HEADER_FIELDS_TOO_LARGE',
  'INTERNAL',
  'UNAVAILABLE',
] as const
export type ErrorCode = (typeof errorCodes)[number]

export const ErrorBody = Shape('rpcError', {
  status: Int32('The HTTP status.'),
  code: Type.Unsafe<ErrorCode>({ type: 'string', enum: [...errorCodes] }),
  message: Type.String({ description: 'Human-readable message: what is wrong, and what to do.' }),
  violations: Type.Optional(
    Type.Array(Shape('rpcViolation', { field: Type.String(), error: Type.String() }), {
      description: 'One entry for each field that is not valid.',
    }),
  ),
  requestId: Type.String({ description: 'The X-Request-Id of the call. Log lines about the call have it too.' }),
})
export type ErrorBody = Static<typeof ErrorBody>
export type Violation = { field: string; error: string }
