// The ways to sign in that this server and this browser offer, and the reasons for those that they do not. [contract 11.local]
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type SignInWays, signInPath } from '../../../../contract/people/sign-in.ts'
import { consoleRequest } from '../../../console-request.ts'
import { browserHasPasskeys } from './passkeys.ts'

export const useSignInWays = () =>
  useQuery({ queryKey: ['signInWays'], queryFn: () => consoleRequest<SignInWays>('GET', signInPath) })

/** The reason why a passkey cannot be used here; undefined if it can. */
export function passkeyObstacle(ways: SignInWays | undefined): ReactNode {
  if (!ways) return 'The server did not say whether passkeys are set up.'
  const { available, reason, origin, url } = ways.passkeys
  if (!available) return reason ?? 'Passkeys are not set up on this server.'
  if (!browserHasPasskeys()) return 'This browser does not support passkeys.'
  if (origin !== undefined && origin !== location.origin) {
    return (
      <>
        Passkeys work at{' '}
        <Anchor href={url ?? origin} inherit underline="always">
          {url ?? origin}
        </Anchor>
        , not at this address.
      </>
    )
  }
  return undefined
}
