// Events: who follows what. [contract 6.events]
import { type SelectableEventType, selectableEventTypes } from '../../../contract/events.ts'
import { invalid } from '../../core/failure.ts'
import { EventFilter } from '../../events/filter.ts'
import { EventSubscription } from '../../http/event-streams.ts'
import type { InputOf } from '../../http/handlers.ts'

/** A place that does not exist is no mistake, as in lists: nothing happens there, or not yet. */
export function eventsStream({ types, lastEventId, ...places }: InputOf<'eventsStream'>['query']): EventSubscription {
  return new EventSubscription(
    new EventFilter({ ...places, types: types === undefined ? undefined : typesOf(types) }),
    lastEventId,
  )
}

const isChosen = (name: string): name is SelectableEventType =>
  (selectableEventTypes as readonly string[]).includes(name)

function typesOf(text: string): SelectableEventType[] {
  const names = text.split(',').map((name) => name.trim())
  const types = names.filter(isChosen)
  if (types.length === names.length) return types
  throw invalid([{ field: 'types', error: `must be some of ${selectableEventTypes.join(', ')}, separated by commas` }])
}
