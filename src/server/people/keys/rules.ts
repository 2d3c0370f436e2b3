// Carries out the operations on API keys, one function for each. [contract 3.1] [contract 6.keys]
import type { CallerScope, Permission } from '../../../contract/people/permissions.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import { refuseGrantBeyondOwn } from '../../context/grants.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import { RegionAccess } from '../../core/region-access.ts'
import type { ForgetPlace } from '../../fleet/deleted-place.ts'
import { requireRegions } from '../../fleet/regions/requested-regions.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { futureTime, storeNewKey } from './new-key.ts'
import { deleteKey, deleteRegionOfKeys, findKey, hasOtherManager, listKeys } from './store.ts'
import { auditedKey, keyView } from './view.ts'

export interface NewKey {
  readonly name: string
  readonly scopes: readonly CallerScope[]
  readonly manage?: boolean
  /** The regions that the key is limited to; absent: all. */
  readonly regionIds?: readonly number[] | undefined
  readonly expiresAt?: string | null
  /** The limit, in requests per second, of this key alone. Only the command line sets it. */
  readonly rateLimit?: number | undefined
}

export const keysList = async (ctx: RequestContext) => ({
  keys: (await listKeys(ctx.db)).map(keyView),
})

export async function keysCreate(ctx: RequestContext, newKey: NewKey) {
  refuseWrongGrant(ctx, newKey)
  const now = ctx.clock.now()
  const { name, scopes, manage = false, rateLimit } = newKey
  const expiresAt = typeof newKey.expiresAt === 'string' ? futureTime(newKey.expiresAt, now) : null
  const { row, key } = await change(ctx, 'keysCreate', async (tx) => {
    const regionIds = newKey.regionIds && (await requireRegions(tx, newKey.regionIds))
    refuseGrantBeyondOwn(ctx, [], regionIds ? RegionAccess.of(regionIds) : RegionAccess.everything)
    const values = { name, scopes, manage, regionIds, rateLimit: rateLimit ?? null, createdAt: now, expiresAt }
    const created = await storeNewKey(tx, { ...values, userId: null })
    return { result: created, target: auditRef('key', created.row), after: auditedKey(created.row) }
  })
  ctx.keysChanged()
  return new VersionedAnswer(1, { ...keyView(row), key })
}

export async function keysDelete(ctx: RequestContext, keyId: string) {
  await change(ctx, 'keysDelete', async (tx) => {
    const id = parseInt32(keyId)
    const key = mustFind(id === undefined ? undefined : await findKey(tx, { id }), `key ${keyId}`)
    checkIfMatch(ctx, key.version)
    if (key.manage === 1 && key.user_id === null && !(await hasOtherManager(tx, key, ctx.clock.now()))) {
      throw new Failure(
        'FAILED_PRECONDITION',
        'the last key that manages (it needs manage and write) cannot be revoked. Create another one first.',
      )
    }
    await deleteKey(tx, { id: key.id })
    return { result: undefined, target: auditRef('key', key), before: auditedKey(key) }
  })
  ctx.keysChanged()
  return {}
}

/** A caller cannot grant a permission that it lacks, and a key that manages is not limited to regions. [contract 3.5] [contract 3.6] */
function refuseWrongGrant(ctx: RequestContext, { scopes, manage, regionIds }: NewKey) {
  const permissions: Permission[] = [...scopes, ...(manage ? (['manage'] as const) : [])]
  refuseGrantBeyondOwn(ctx, permissions, RegionAccess.nothing)
  if (!regionIds) return
  if (regionIds.length === 0)
    throw invalid([{ field: 'regionIds', error: 'must name at least one region; leave it out for all regions' }])
  if (manage)
    throw invalid([{ field: 'regionIds', error: 'cannot be given together with manage; leave one of them out' }])
}

/** A key whose last region is deleted sees nothing. [contract D.3] */
export const removeRegionFromKeys: ForgetPlace = async (tx, { type, id }) => {
  if (type !== 'region') return []
  await raiseResourceVersions(tx, { keysOfRegion: [id] })
  return (await deleteRegionOfKeys(tx, { region: id })).map((key) => auditRef('key', key))
}
