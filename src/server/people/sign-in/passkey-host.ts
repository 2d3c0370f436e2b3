// Remembers for which host passkeys were added last: browsers offer them to pages of that host only. [contract 11.local]
import type { Services } from '../../context/services.ts'
import { insertSetting, listSettings, updateSetting } from '../../journal/settings/store.ts'
import { hasAnyPasskey } from './passkey-store.ts'

const name = 'passkey host'

const findHost = async ({ db }: Services): Promise<string | undefined> =>
  (await listSettings(db.system, { names: [name] }))[0]?.value

interface PasskeyHosts {
  /** The host of the public address; undefined if passkeys cannot be used there. */
  readonly current: string | undefined
  /** The host of the last start in this data folder. A database of an earlier version stores none. */
  readonly recorded: string | undefined
}

/** Returns the host of earlier passkeys if it is another one, until a person adds a passkey at the current host. */
export async function findFormerPasskeyHost(
  services: Services,
  { current, recorded }: PasskeyHosts,
): Promise<string | undefined> {
  const { db } = services
  if (!(await hasAnyPasskey(db.system))) return undefined
  const stored = await findHost(services)
  const host = stored ?? recorded ?? current
  if (stored === undefined && host !== undefined) {
    // If the disk is full, the host is not stored and a later start cannot report it.
    await db.systemTransaction((tx) => insertSetting(tx, { name, value: host })).catch(() => {})
  }
  return host === current ? undefined : host
}

/** Is called when a passkey is added, which is rare, and writes when the host is another one than that of the passkey before. */
export async function rememberPasskeyHost(services: Services, host: string): Promise<void> {
  if ((await findHost(services)) === host) return
  await services.db.systemTransaction((tx) => updateSetting(tx, { name, value: host }))
}
