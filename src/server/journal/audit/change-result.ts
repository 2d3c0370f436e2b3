// The contents of an audit entry, as the work of a change returns them.
import type { EventSubjects } from '../../events/draft.ts'
import type { LocatedRow } from '../../events/find-places.ts'

/** A resource that an audit entry names. */
export interface AuditRef {
  readonly type: string
  readonly id: string
  readonly name: string
  /** The serial number of an endpoint. `affected` has it: after the endpoint is gone, the name alone does not say which device it was. */
  readonly serial?: string
}
export const auditRef = (type: string, { id, name }: { id: number | string; name: string }): AuditRef => ({
  type,
  id: String(id),
  name,
})

/** The work of a change returns its result, and the contents of the audit entry. */
export interface ChangeResult<T> {
  /** In a POST this is its answer: a repeat with the same Idempotency-Key gets it too. [contract 7.once] */
  readonly result: T
  /** Runs after the commit, for example to wake devices. */
  readonly afterCommit?: () => void
  readonly target: AuditRef
  readonly before?: Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
  readonly affected?: readonly AuditRef[]
  /** The job whose effect this is. [contract 12.rights] */
  readonly jobId?: number | undefined
  /** The places of a target that has several, such as an incident. They were looked up when its subjects joined it. */
  readonly located?: readonly LocatedRow[]
  /** Further things that the details name, such as the target of a job. They decide who sees the details, and are not a part of the event. */
  readonly named?: EventSubjects
  /** True if the call did the opposite of its operation, such as removing a profile: the entry then has `undoType`. */
  readonly undone?: boolean
}
