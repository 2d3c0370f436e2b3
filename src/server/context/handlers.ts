// Defines the type of each operation's handler, so that a missing or wrong one does not compile.
import type { BodyOf, ParamsOf, QueryInput, ResponseOf } from '../../contract/operation.ts'
import type { OperationId, Operations } from '../../contract/operations.ts'
import type { NumberText } from '../core/number-text.ts'
import type { EventSubscription, PagedList, ReadyAnswer, StreamedAnswer, VersionedAnswer } from './answers.ts'
import type { RequestContext } from './request-context.ts'

export interface InputOf<K extends OperationId> {
  readonly params: ParamsOf<Operations[K]>
  readonly query: QueryInput<Operations[K]>
  readonly body: BodyOf<Operations[K]>
  /** The numbers of the body as they were written, for an operation that preserves that. */
  readonly numberText: NumberText
  /** The caller accepts `text/csv`, and the operation supports it. */
  readonly csv: boolean
  /** The method is HEAD, so the answer has the headers of GET, and no body. */
  readonly headOnly: boolean
  /** The request was sent to the legacy base. [contract 5.2.shutter] */
  readonly legacy: boolean
}

export type AnswerOf<K extends OperationId> = Operations[K] extends { download: string }
  ? StreamedAnswer
  : Operations[K] extends { stream: string }
    ? EventSubscription
    :
        | (Operations[K] extends { versioned: true }
            ? VersionedAnswer<ResponseOf<Operations[K]>> | ReadyAnswer
            : ResponseOf<Operations[K]> | ReadyAnswer)
        | (Operations[K] extends { csv: true } ? StreamedAnswer | PagedList : never)

export type OperationHandlers<K extends OperationId = OperationId> = {
  readonly [I in K]: (ctx: RequestContext, input: InputOf<I>) => AnswerOf<I> | Promise<AnswerOf<I>>
}
