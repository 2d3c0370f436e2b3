// Turns the query of an event stream into a subscription. [contract 6.events]
import { type SelectableEventType, selectableEventTypes } from '../../../contract/journal/events.ts'
import { EventSubscription } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { invalid } from '../../core/failure.ts'
import { EventFilter } from '../../events/filter.ts'

/** A place that does not exist is accepted, as in lists: it has no events, or none yet. */
export function eventsStream(
  ctx: RequestContext,
  { types, lastEventId, ...places }: InputOf<'eventsStream'>['query'],
  isOnLegacyBase: boolean,
): EventSubscription {
  const options = { ...places, types: types === undefined ? undefined : parseTypes(types) }
  const reader = { access: ctx.access, mayReadAuditLog: ctx.may('auditLog'), isOnLegacyBase }
  return new EventSubscription(new EventFilter(options, reader), lastEventId)
}

const isSelectable = (name: string): name is SelectableEventType =>
  (selectableEventTypes as readonly string[]).includes(name)

function parseTypes(text: string): SelectableEventType[] {
  const names = text.split(',').map((name) => name.trim())
  const types = names.filter(isSelectable)
  if (types.length === names.length) return types
  throw invalid([{ field: 'types', error: `must be some of ${selectableEventTypes.join(', ')}, separated by commas` }])
}
