// The chain that makes an edited, removed or reordered audit entry visible.

import type { Org } from '../../auth/keyring.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { OrgReader } from '../../db/handles.ts'
import { type EntryRow, findHead, findOutside, listAfter } from './store.ts'

/** Before the first entry. */
export const firstMac = (secrets: Secrets, org: string): Buffer => secrets.mac('audit chain', 'start\n', org)

/** Each link covers everything that is stored of the entry, and the link before it. */
export const entryMac = (secrets: Secrets, before: Buffer, entry: Omit<EntryRow, 'mac' | 'org'>): Buffer =>
  secrets.mac(
    'audit chain',
    before,
    JSON.stringify([
      entry.seq,
      entry.timestamp,
      entry.category,
      entry.type,
      entry.actor_type,
      entry.actor_id,
      entry.actor_name,
      entry.target_type,
      entry.target_id,
      entry.target_name,
      entry.details,
      entry.request_id,
      entry.ip,
    ]),
  )

/** What `audit head` prints and `audit verify --expect` takes: organisation, count and last link. */
export const headText = (org: string, count: number, mac: Buffer): string => `${org}:${count}:${mac.toString('hex')}`

export interface Verdict {
  readonly org: string
  readonly entries: number
  readonly head: string
  /** The first thing that is wrong, as a sentence; undefined when nothing is. */
  readonly problem: string | undefined
}

const batch = 1000

/** Walks the whole chain of one organisation. `expected` are heads that were written down earlier. */
export async function verifyChain(
  on: OrgReader,
  secrets: Secrets,
  org: Org,
  expected: readonly string[],
): Promise<Verdict> {
  const waiting = new Set(expected.filter((head) => head.startsWith(`${org.id}:`)))
  let link = firstMac(secrets, org.id)
  let seq = 0
  const verdict = (problem?: string): Verdict => ({
    org: org.id,
    entries: seq,
    head: headText(org.id, seq, link),
    problem,
  })
  waiting.delete(headText(org.id, 0, link))
  for (;;) {
    const head = await findHead(on)
    if (!head) return verdict('its head is missing')
    while (seq < head.count) {
      const entries = await listAfter(on, { seq, limit: Math.min(batch, head.count - seq) })
      if (entries.length === 0) return verdict(`entries ${seq + 1} to ${head.count} are missing`)
      for (const entry of entries) {
        if (entry.seq !== seq + 1) return verdict(`entry ${seq + 1} is missing`)
        link = entryMac(secrets, link, entry)
        if (!link.equals(entry.mac)) return verdict(`entry ${entry.seq} was changed, or is not in its place`)
        seq = entry.seq
        waiting.delete(headText(org.id, seq, link))
      }
    }
    if (seq > head.count || !head.mac.equals(link)) return verdict('the stored head does not belong to the last entry')
    const stranger = await findOutside(on, { count: seq })
    if (!stranger) break
    // Appended while this runs, with its head in the same commit; or put there by somebody who does not know the chain.
    const moved = (await findHead(on))?.count !== seq
    if (!moved || stranger.seq < 1) return verdict(`entry ${stranger.seq} does not belong to the log`)
  }
  const [missing] = waiting
  if (missing !== undefined)
    return verdict(
      `the log does not contain the expected head ${missing}: its tail was cut, or this is an older copy or another log`,
    )
  return verdict()
}
