// The sign-in page offers what is set up: a company account, a passkey, a link or an API key. [contract 9.session] [contract 11.local]
import { Button, Divider, PasswordInput, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorMessage } from '../api.ts'
import { signInWithPasskey } from '../domain/people/sign-in/passkeys.ts'
import { passkeyObstacle, useSignInWays } from '../domain/people/sign-in/sign-in-ways.tsx'
import { ErrorText } from '../parts/page/page.tsx'
import { Notice } from '../parts/text/notice.tsx'
import { signIn, useSignOutReason } from '../session.ts'
import { FirstOwnerForm, isEmailRequired } from './first-owner-form.tsx'
import { linkSecret } from './link-secret.ts'
import { SignInCard } from './sign-in-card.tsx'

let linkTried = false

export function SignInPage() {
  const byLink = useMutation({ mutationFn: (link: string) => signIn({ link }) })
  const tryLink = byLink.mutate
  useEffect(() => {
    if (linkSecret === undefined || linkTried || !window.isSecureContext) return
    linkTried = true
    tryLink(linkSecret)
  }, [tryLink])
  if (linkSecret !== undefined && isEmailRequired(byLink.error)) return <FirstOwnerForm link={linkSecret} />
  return <SignInOptions linkError={byLink.error} isBusy={byLink.isPending} />
}

function SignInOptions({ linkError, isBusy }: { readonly linkError: unknown; readonly isBusy: boolean }) {
  const signOutReason = useSignOutReason()
  const { data: ways } = useSignInWays()
  const obstacle = passkeyObstacle(ways)
  const passkey = useMutation({ mutationFn: signInWithPasskey })
  const hasOtherWay = ways !== undefined && (obstacle === undefined || ways.providers.length > 0)
  return (
    <SignInCard title="Sign in to Roomkeeper">
      {!window.isSecureContext && (
        <Notice tone="warning" role="alert" title="Sign-in is disabled: this connection is not secure">
          Your key could be read on its way to the server. Open this page over HTTPS or on localhost, or ask an
          administrator for the secure address.
        </Notice>
      )}
      {signOutReason && !linkError && (
        <Notice tone="quiet" role="status" title="You have been signed out">
          {signOutReason}
        </Notice>
      )}
      {linkError !== null && linkError !== undefined && (
        <Notice tone="danger" role="alert" title="This link did not work">
          {errorMessage(linkError)}
        </Notice>
      )}
      {window.isSecureContext && hasOtherWay && (
        <Stack gap="xs">
          {ways.providers.map(({ orgId, orgName, url }, _index, { length }) => (
            <Button key={orgId} component="a" href={url} fullWidth>
              {length === 1 ? 'Sign in with company account' : `Sign in to ${orgName} with company account`}
            </Button>
          ))}
          {obstacle === undefined && (
            <Button
              variant={ways.providers.length > 0 ? 'default' : 'filled'}
              loading={passkey.isPending}
              onClick={() => passkey.mutate()}
              fullWidth
            >
              Sign in with a passkey
            </Button>
          )}
          <ErrorText error={passkey.error} />
        </Stack>
      )}
      {window.isSecureContext && hasOtherWay && <Divider label="or" />}
      <KeyForm isPrimary={!hasOtherWay} isBusy={isBusy} />
      <Text fz="sm" c="dimmed">
        Can’t sign in? Ask an owner for a link. On the server, the command login-link creates one.
      </Text>
      {/* A person can change the address or the browser; owners read in the settings what the server lacks. */}
      {ways?.passkeys.available && window.isSecureContext && obstacle !== undefined && (
        <Text fz="xs" c="dimmed">
          {obstacle}
        </Text>
      )}
    </SignInCard>
  )
}

interface KeyFormProps {
  /** Whether an API key is the only way. */
  readonly isPrimary: boolean
  readonly isBusy: boolean
}

function KeyForm({ isPrimary, isBusy }: KeyFormProps) {
  const [key, setKey] = useState('')
  const byKey = useMutation({ mutationFn: () => signIn({ key: key.trim() }) })
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    byKey.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <PasswordInput
          ref={field}
          label="API key"
          description="Starts with rk_. Created on the server, or by an owner."
          placeholder="rk_…"
          autoComplete="current-password"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={byKey.error && <span role="alert">{errorMessage(byKey.error)}</span>}
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide key' }}
          disabled={!window.isSecureContext}
        />
        <Button
          type="submit"
          variant={isPrimary ? 'filled' : 'default'}
          loading={isBusy || byKey.isPending}
          disabled={key.trim() === ''}
          fullWidth
        >
          Sign in
        </Button>
      </Stack>
    </form>
  )
}
