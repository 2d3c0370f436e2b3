// Assigns ids: per organisation and noun, from 1, never used twice. [contract D.5]

import type { TelemetryTx, Tx } from '../handles.ts'
import { writeAny } from './query.ts'

export type CountedNoun =
  | 'region'
  | 'location'
  | 'room'
  | 'note'
  | 'profile'
  | 'config'
  | 'user'
  | 'key'
  | 'endpoint'
  | 'userSession'
  | 'passkey'
  | 'incident'
  | 'silence'
  | 'channel'
  | 'job'
  | 'recurringJob'
  | 'view'

const incrementCounter = writeAny((db, p: { org: number; noun: string }) =>
  db
    .insertInto('counters')
    .values({ org: p.org, noun: p.noun, last: 1 })
    .onConflict((c) => c.columns(['org', 'noun']).doUpdateSet((e) => ({ last: e('counters.last', '+', 1) })))
    .returning('last'),
)

export async function nextId(tx: Tx | TelemetryTx, noun: CountedNoun): Promise<number> {
  const [row] = await incrementCounter(tx, { noun })
  if (!row) throw new Error(`the database returned no id for a new ${noun}`)
  return row.last
}
