// Signing in: with an API key, or with a link whose secret is in the fragment of the address. [contract 9.session] [contract 9.link]
import { Alert, Button, Card, Center, Code, Group, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorMessage } from '../api.ts'
import { signIn, useSignOutReason } from '../session.ts'
import { Logo } from './logo.tsx'

/** Taken once, at the start: the address bar must not keep a secret. */
const linkSecret = takeLink()

function takeLink(): string | undefined {
  if (location.pathname !== '/sign-in') return undefined
  const secret = location.hash.slice(1)
  history.replaceState(null, '', '/')
  return secret || undefined
}

let linkTried = false

export function SignInPage() {
  const farewell = useSignOutReason()
  const [key, setKey] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const enter = async (secret: { key: string } | { link: string }) => {
    setBusy(true)
    setError(undefined)
    await signIn(secret).catch((reason: unknown) => setError(errorMessage(reason)))
    setBusy(false)
  }
  useEffect(() => {
    document.title = 'Sign in · Roomkeeper'
    if (linkSecret === undefined || linkTried || !window.isSecureContext) return
    linkTried = true
    void enter({ link: linkSecret })
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void enter({ key: key.trim() })
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
              <Alert color="orange" title="Nobody can sign in here: this address is not secure">
                Others could read the key on its way. The console works over HTTPS, or at localhost: ask whoever runs
                the server for its secure address.
              </Alert>
            )}
            {farewell && !error && (
              <Alert color="gray" role="status" title="You were signed out">
                {farewell}
              </Alert>
            )}
            <PasswordInput
              ref={field}
              label="API key"
              description="It begins with rk_. The first start of the server printed one."
              placeholder="rk_…"
              autoComplete="current-password"
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              error={error && <span role="alert">{error}</span>}
              visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
              disabled={!window.isSecureContext}
            />
            <Button type="submit" loading={isBusy} disabled={key.trim() === ''} fullWidth>
              Sign in
            </Button>
            <Text fz="sm" c="dimmed">
              No key at hand? On the server, <Code>npm run roomkeeper -- login-link</Code> prints a link that signs you
              in once.
            </Text>
          </Stack>
        </form>
      </Card>
    </Center>
  )
}
