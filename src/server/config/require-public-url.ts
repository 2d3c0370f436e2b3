// Refuses a second node that would tell people and devices an address of its own.
import { StartupError } from '../core/failure.ts'
import type { ServeOptions } from './server-options.ts'

/** The other nodes are those that are up on the same database. Without --public-url each node would give out its own address. */
export function requirePublicUrl(
  { publicUrl }: Pick<ServeOptions, 'publicUrl'>,
  otherNodes: readonly { readonly name: string }[],
): void {
  if (publicUrl !== undefined || otherNodes.length === 0) return
  const names = new Intl.ListFormat('en-GB').format(otherNodes.slice(0, 5).map(({ name }) => name))
  throw new StartupError(
    `Other nodes serve this database (${names}), so links and devices need an address that leads to all of them. Set --public-url to that of the balancer, on every node.`,
  )
}
