// The secret of a sign-in link, taken from the fragment of the address. [contract 9.link]
import { pathUnderBase } from '../base-path.ts'

/** Read once at the start and removed from the address bar, which must not keep a secret. */
export const linkSecret = takeLinkSecret()

function takeLinkSecret(): string | undefined {
  if (location.pathname !== pathUnderBase('/sign-in')) return undefined
  const secret = location.hash.slice(1)
  history.replaceState(null, '', pathUnderBase('/'))
  return secret || undefined
}
