// Carries out the operations on saved views, one function for each. [contract 11.views]

import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { maxOwnViews, maxSharedViews, type ViewPage } from '../../../contract/people/views.ts'
import { permissionDenied, sessionEnded } from '../../auth/failures.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { findKey } from '../keys/store.ts'
import { isUserActive } from '../users/store.ts'
import { deleteView, findView, insertView, listViews, updateView, type ViewOwner, type ViewRow } from './store.ts'

type View = ResponseOf<Operations['viewsCreate']>

export const viewsList = async (ctx: RequestContext) => ({
  views: (await listViews(ctx.db, idsOf(ownerOf(ctx)))).map(viewOf),
})

export const viewsCreate = (ctx: RequestContext, body: InputOf<'viewsCreate'>['body']) =>
  change(ctx, 'viewsCreate', async (tx) => {
    const owner = body.shared ? shared : ownerOf(ctx)
    const draft = {
      version: 1,
      ...owner,
      name: body.name,
      page: body.page,
      query: body.query,
      columns: columnsText(body.columns),
      author_type: ctx.actor.type,
      author_id: ctx.actor.id,
      author_name: ctx.actor.name,
    }
    await requireRoom(tx, ctx, draft)
    const view = { ...draft, id: await nextId(tx, 'view') }
    await insertView(tx, view)
    return {
      result: new VersionedAnswer(1, viewOf(view)),
      target: targetOf(view),
      after: auditedView.all(view),
    }
  })

export const viewsUpdate = (ctx: RequestContext, viewId: string, body: InputOf<'viewsUpdate'>['body']) =>
  change(ctx, 'viewsUpdate', async (tx) => {
    const before = await requireView(tx, ctx, viewId)
    checkIfMatch(ctx, before.version)
    const wasShared = isShared(before)
    const willBeShared = body.shared ?? wasShared
    const view = {
      ...before,
      version: before.version + 1,
      ...(willBeShared !== wasShared && (willBeShared ? shared : ownerOf(ctx))),
      ...(body.name !== undefined && { name: body.name }),
      ...(body.query !== undefined && { query: body.query }),
      ...(body.columns !== undefined && { columns: columnsText(body.columns) }),
    }
    if (wasShared || willBeShared) requireWrite(ctx)
    if (willBeShared !== wasShared) await requireRoom(tx, ctx, view)
    await updateView(tx, view)
    return {
      result: new VersionedAnswer(view.version, viewOf(view)),
      target: wasShared ? { ...targetOf(view), type: sharedType } : targetOf(view),
      ...auditedView.change(before, view),
    }
  })

export const viewsDelete = (ctx: RequestContext, viewId: string) =>
  change(ctx, 'viewsDelete', async (tx) => {
    const view = await requireView(tx, ctx, viewId)
    checkIfMatch(ctx, view.version)
    if (isShared(view)) requireWrite(ctx)
    await deleteView(tx, { id: view.id })
    return { result: {}, target: targetOf(view), before: auditedView.all(view) }
  })

const shared: ViewOwner = { user_id: null, key_id: null }
const isShared = ({ user_id, key_id }: ViewOwner): boolean => user_id === null && key_id === null

/** A personal key acts as its person. */
function ownerOf({ user, key }: RequestContext): ViewOwner {
  if (user) return { user_id: user.id, key_id: null }
  if (key) return { user_id: null, key_id: key.id }
  throw new Error('a view was asked for by neither a person nor a key')
}

/** Ids start at 1, so no view has the owner 0. */
const idsOf = ({ user_id, key_id }: ViewOwner) => ({ user: user_id ?? 0, key: key_id ?? 0 })

/** The view of another owner does not exist for the caller. */
async function requireView(on: OrgReader, ctx: RequestContext, viewId: string): Promise<ViewRow> {
  const id = parseInt32(viewId)
  const found = id === undefined ? undefined : await findView(on, { id, ...idsOf(ownerOf(ctx)) })
  return mustFind(found, `view ${viewId}`)
}

function requireWrite(ctx: RequestContext): void {
  if (!ctx.may('write')) throw permissionDenied(ctx, 'write', undefined, ', which shared views need')
}

/** Refuses a view that its owner has no room for, or whose owner is gone since the request began. */
async function requireRoom(tx: Tx, ctx: RequestContext, owner: ViewOwner): Promise<void> {
  const views = await listViews(tx, idsOf(owner))
  if (isShared(owner)) {
    requireWrite(ctx)
    if (views.length >= maxSharedViews) {
      throw new Failure('FAILED_PRECONDITION', `there are ${maxSharedViews} shared views already. Delete one first.`)
    }
    return
  }
  const isThere = owner.user_id
    ? await isUserActive(tx, { id: owner.user_id })
    : (await findKey(tx, { id: owner.key_id ?? 0 })) !== undefined
  if (!isThere) throw sessionEnded()
  if (views.filter((view) => !isShared(view)).length >= maxOwnViews) {
    throw new Failure('FAILED_PRECONDITION', `you have ${maxOwnViews} views of your own already. Delete one first.`)
  }
}

const columnsText = (columns: readonly string[] | null | undefined): string | null =>
  columns ? JSON.stringify([...new Set(columns)]) : null

const columnsOf = ({ columns }: ViewRow): string[] | undefined => (columns === null ? undefined : JSON.parse(columns))

function viewOf(row: ViewRow): View {
  const columns = columnsOf(row)
  return {
    id: String(row.id),
    name: row.name,
    page: row.page as ViewPage,
    query: row.query,
    ...(columns && { columns }),
    shared: isShared(row),
    version: row.version,
    createdBy: { type: row.author_type, id: row.author_id, name: row.author_name },
  }
}

/** Events about shared views reach everybody (events/filter.ts). */
const sharedType = 'sharedView'
const targetOf = (view: ViewRow) => auditRef(isShared(view) ? sharedType : 'view', view)

const auditedView = new AuditedFields(
  (row: ViewRow) => ({
    name: row.name,
    page: row.page,
    query: row.query,
    columns: columnsOf(row) ?? null,
    shared: isShared(row),
  }),
  ['name'],
)
