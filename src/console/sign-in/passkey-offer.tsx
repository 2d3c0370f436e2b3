// Offers a passkey after a sign-in with a link, because the link does not work a second time. [contract 11.local]
import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { browserHasPasskeys, createPasskey } from '../domain/people/sign-in/passkeys.ts'
import { passkeyObstacle, useSignInWays } from '../domain/people/sign-in/sign-in-ways.tsx'
import { ErrorText } from '../parts/page/page.tsx'
import { Loading } from '../parts/page/skeleton.tsx'
import { Notice } from '../parts/text/notice.tsx'
import { dismissPasskeyOffer, useSession } from '../session.ts'
import { SignInCard } from './sign-in-card.tsx'

export function PasskeyOffer() {
  const { user } = useSession()
  const { data: ways, isPending } = useSignInWays()
  const add = useMutation({ mutationFn: () => createPasskey(''), onSuccess: dismissPasskeyOffer })
  const obstacle = passkeyObstacle(ways)
  return (
    <SignInCard title={`Welcome${user?.name ? `, ${user.name}` : ''}`}>
      <Text style={{ overflowWrap: 'anywhere' }}>
        You are signed in as <b>{user?.email}</b>. Your link cannot be used again.
      </Text>
      {isPending && <Loading />}
      {!isPending && obstacle === undefined && (
        <Text>
          Add a passkey to sign in next time with your fingerprint, your face or the PIN of this device. There is no
          password.
        </Text>
      )}
      {!isPending && obstacle !== undefined && (
        <Notice tone="warning" role="alert" title="You cannot add a passkey here">
          {obstacle} {!browserHasPasskeys() && 'Next time, open the console in a browser that has passkeys.'}
        </Notice>
      )}
      {!isPending && obstacle !== undefined && (
        <Text fz="sm" c="dimmed">
          To sign in next time, use your company account if it is set up, or ask an owner for a new link.
        </Text>
      )}
      <ErrorText error={add.error} />
      <Group gap="xs" grow>
        <Button variant="default" onClick={dismissPasskeyOffer}>
          {obstacle === undefined ? 'Not now' : 'Continue'}
        </Button>
        {!isPending && obstacle === undefined && (
          <Button loading={add.isPending} onClick={() => add.mutate()}>
            Add passkey
          </Button>
        )}
      </Group>
    </SignInCard>
  )
}
