// The regions, locations, rooms and profiles of a source, and their links to what is here. [contract 15.links]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type LinkedKind, linkedKinds } from '../../../contract/fleet/sources.ts'
import { type ReadyAnswer, TextChunks } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { requireSource, sourceRef } from './rules.ts'
import { deleteSourceLink, listLinkable, upsertLink } from './store.ts'
import { findStructureTime, listLinks, listThingsAfter, listThingsById } from './structure-store.ts'

/** Things that are read and written in one turn of the event loop. */
const thingsPerTurn = 500

export async function sourcesStructure(ctx: RequestContext, id: string): Promise<ReadyAnswer> {
  const { structure_at } = mustFind(await findStructureTime(ctx.db, { id }), `source ${id}`)
  const answer = new TextChunks()
  answer.add(structure_at === null ? '{' : `{"readAt":${JSON.stringify(isoTime(structure_at))},`)
  for (const [i, kind] of linkedKinds.entries()) {
    answer.add(`${i === 0 ? '' : ','}"${kind}s":[`)
    const links = await linksOf(ctx.db, id, kind)
    let isFirst = true
    for (let after = ''; ; ) {
      const rows = await listThingsAfter(ctx.db, { source: id, kind, after, limit: thingsPerTurn })
      const last = rows.at(-1)
      if (!last) break
      const things = rows.map(({ their_id, report }) => {
        const linkedId = links.get(their_id)
        return linkedId === undefined ? report : `${report.slice(0, -1)},"linkedId":${linkedId}}`
      })
      answer.add(`${isFirst ? '' : ','}${things.join()}`)
      if (rows.length < thingsPerTurn) break
      isFirst = false
      after = last.their_id
      await nextTurn()
    }
    answer.add(']')
  }
  answer.add('}')
  return answer.end()
}

const linksOf = async (on: OrgReader, source: string, kind: LinkedKind): Promise<Map<string, number>> =>
  new Map((await listLinks(on, { source, kind })).map(({ their_id, our_id }) => [their_id, our_id]))

type Links = InputOf<'sourcesLink'>['body']['links']

export const sourcesLink = (ctx: RequestContext, id: string, links: Links) =>
  change(ctx, 'sourcesLink', async (tx) => {
    const source = await requireSource(tx, id)
    for (const kind of linkedKinds) {
      const named = links.filter((link) => link.kind === kind)
      if (named.length > 0) await storeLinks(tx, id, kind, named)
    }
    return {
      result: {},
      target: sourceRef(source),
      after: Object.fromEntries(
        linkedKinds.flatMap((kind) => {
          const ids = links.flatMap((link) => (link.kind === kind ? [[link.theirId, link.linkedId]] : []))
          return ids.length > 0 ? [[`${kind}Links`, Object.fromEntries(ids)]] : []
        }),
      ),
    }
  })

async function storeLinks(tx: Tx, source: string, kind: LinkedKind, links: Links): Promise<void> {
  await requireLinkable(tx, source, kind, links)
  for (const { theirId, linkedId } of links) {
    if (linkedId === null) await deleteSourceLink(tx, { source, kind, theirId })
  }
  const known = new Map([...(await linksOf(tx, source, kind))].map(([theirId, ourId]) => [ourId, theirId]))
  for (const { theirId, linkedId } of links) {
    if (linkedId === null) continue
    const other = known.get(linkedId) ?? theirId
    if (other !== theirId) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `${kind} ${linkedId} is linked to ${kind} ${other} of this source. Remove that link first.`,
      )
    }
    known.set(linkedId, theirId)
    await upsertLink(tx, { source, kind, theirId, ourId: linkedId })
  }
}

/** Both ends of a new link must be there. */
async function requireLinkable(tx: Tx, source: string, kind: LinkedKind, links: Links): Promise<void> {
  const wanted = links.filter(({ linkedId }) => linkedId !== null)
  if (wanted.length === 0) return
  const theirIds = wanted.map(({ theirId }) => theirId)
  const theirs = new Set((await listThingsById(tx, { source, kind, ids: theirIds })).map((row) => row.their_id))
  const ids = wanted.map(({ linkedId }) => Number(linkedId))
  const ours = new Set((await listLinkable[kind](tx, { ids })).map((row) => row.id))
  for (const { theirId, linkedId } of wanted) {
    if (!theirs.has(theirId)) {
      throw new Failure('FAILED_PRECONDITION', `the source has no ${kind} ${theirId}. Read its structure again.`)
    }
    if (!ours.has(Number(linkedId))) {
      throw new Failure('FAILED_PRECONDITION', `there is no ${kind} ${linkedId}. Create it first, or name another.`)
    }
  }
}
