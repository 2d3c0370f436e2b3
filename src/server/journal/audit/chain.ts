// Computes and verifies the HMAC chain that reveals an edited, removed or reordered audit entry.

import type { Org } from '../../auth/token-holder.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { OrgReader } from '../../db/handles.ts'
import { type EntryRow, findEntryOutside, findHead, listAfter } from './store.ts'

/** The chain of an organisation starts with this link, before its first entry. */
export const firstMac = (secrets: Secrets, org: string): Buffer => secrets.mac('audit chain', 'start\n', org)

/** Each link covers every stored column of its entry, and the link before it. Entries of version 0.1 have no regions. */
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
      ...(entry.regions === null ? [] : [entry.regions]),
    ]),
  )

/** `audit head` prints this text and `audit verify --expect` takes it: organisation, count and last link. */
export const headText = (org: string, count: number, mac: Buffer): string => `${org}:${count}:${mac.toString('hex')}`

export interface ChainVerdict {
  readonly org: string
  readonly entries: number
  readonly head: string
  /** A sentence about the first problem; undefined when the chain is intact. */
  readonly problem: string | undefined
}

const maxEntriesPerBatch = 1000

/** Walks the whole chain of one organisation. `expected` are heads that an operator recorded earlier. */
export async function verifyChain(
  on: OrgReader,
  secrets: Secrets,
  org: Org,
  expected: readonly string[],
): Promise<ChainVerdict> {
  const missingHeads = new Set(expected.filter((head) => head.startsWith(`${org.id}:`)))
  let link = firstMac(secrets, org.id)
  let seq = 0
  const verdict = (problem?: string): ChainVerdict => ({
    org: org.id,
    entries: seq,
    head: headText(org.id, seq, link),
    problem,
  })
  missingHeads.delete(headText(org.id, 0, link))
  for (;;) {
    const head = await findHead(on)
    if (!head) return verdict('its head is missing')
    while (seq < head.count) {
      const entries = await listAfter(on, { seq, limit: Math.min(maxEntriesPerBatch, head.count - seq) })
      if (entries.length === 0) return verdict(`entries ${seq + 1} to ${head.count} are missing`)
      for (const entry of entries) {
        if (entry.seq !== seq + 1) return verdict(`entry ${seq + 1} is missing`)
        link = entryMac(secrets, link, entry)
        if (!link.equals(entry.mac)) return verdict(`entry ${entry.seq} was changed, or is not in its place`)
        seq = entry.seq
        missingHeads.delete(headText(org.id, seq, link))
      }
    }
    if (seq > head.count || !head.mac.equals(link)) return verdict('the stored head does not belong to the last entry')
    const outside = await findEntryOutside(on, { count: seq })
    if (!outside) break
    // The server appends an entry and moves the head in one commit. An entry beyond a head that did not move is forged.
    const hasHeadMoved = (await findHead(on))?.count !== seq
    if (!hasHeadMoved || outside.seq < 1) return verdict(`entry ${outside.seq} does not belong to the log`)
  }
  const [missing] = missingHeads
  if (missing !== undefined)
    return verdict(
      `the log does not contain the expected head ${missing}: its tail was cut, or this is an older copy or another log`,
    )
  return verdict()
}
