// The sign-in page: takes an API key, or a sign-in link whose secret is in the URL fragment. [contract 9.session] [contract 9.link]
import { Alert, Button, Card, Center, Code, Group, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorMessage } from '../api.ts'
import { pathUnderBase } from '../base-path.ts'
import { signIn, useSignOutReason } from '../session.ts'
import { Logo } from './logo.tsx'

/** Read once at the start and removed from the address bar, which must not keep a secret. */
const linkSecret = takeLinkSecret()

function takeLinkSecret(): string | undefined {
  if (location.pathname !== pathUnderBase('/sign-in')) return undefined
  const secret = location.hash.slice(1)
  history.replaceState(null, '', pathUnderBase('/'))
  return secret || undefined
}

let linkTried = false

export function SignInPage() {
  const signOutReason = useSignOutReason()
  const [key, setKey] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submitSecret = async (secret: { key: string } | { link: string }) => {
    setBusy(true)
    setError(undefined)
    await signIn(secret).catch((reason: unknown) => setError(errorMessage(reason)))
    setBusy(false)
  }
  useEffect(() => {
    document.title = 'Sign in · Roomkeeper'
    if (linkSecret === undefined || linkTried || !window.isSecureContext) return
    linkTried = true
    void submitSecret({ link: linkSecret })
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void submitSecret({ key: key.trim() })
  }
  return (
    <Center component="main" mih="100dvh" p="md" bg="var(--rk-page)">
      <Card w="100%" maw={430} padding="xl" bg="var(--rk-panel)">
        <form onSubmit={submit}>
          <Stack>
            <Group gap="sm">
              <Logo size={34} />
              <Title order={1} fz="xl">
                Sign in to Roomkeeper
              </Title>
            </Group>
            {!window.isSecureContext && (
              <Alert color="orange" title="Sign-in is disabled: this connection is not secure">
                Your key could be read on its way to the server. Open this page over HTTPS or on localhost, or ask an
                administrator for the secure address.
              </Alert>
            )}
            {signOutReason && !error && (
              <Alert color="gray" role="status" title="You have been signed out">
                {signOutReason}
              </Alert>
            )}
            <PasswordInput
              ref={field}
              label="API key"
              description="Starts with rk_. Printed when the server first started."
              placeholder="rk_…"
              autoComplete="current-password"
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              error={error && <span role="alert">{error}</span>}
              visibilityToggleButtonProps={{ 'aria-label': 'Show or hide key' }}
              disabled={!window.isSecureContext}
            />
            <Button type="submit" loading={isBusy} disabled={key.trim() === ''} fullWidth>
              Sign in
            </Button>
            <Text fz="sm" c="dimmed">
              Lost your key? Create a one-time sign-in link on the server: <Code>npm run roomkeeper -- login-link</Code>
            </Text>
          </Stack>
        </form>
      </Card>
    </Center>
  )
}
