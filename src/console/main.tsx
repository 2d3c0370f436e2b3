// Entry point of the console: resumes the session, then shows the sign-in page or the application.
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './type/inter.css'
import './style.css'
import { MantineProvider } from '@mantine/core'
import { Notifications, notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, useCallback, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api.ts'
import { followEvents } from './live/event-follower.ts'
import { watchReconnecting } from './live/reconnecting.ts'
import { forgetFrom } from './parts/page/kept-state.ts'
import { ErrorPanel } from './parts/page/page.tsx'
import { trackInput } from './parts/recovery/unsaved-input.ts'
import { router } from './router.tsx'
import { resumeSession, useSignedIn } from './session.ts'
import { PasskeyOffer } from './sign-in/passkey-offer.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'
import { cssVariables, theme } from './theme.ts'

function Console({ firstError }: { readonly firstError: unknown }) {
  const [startError, setStartError] = useState(firstError)
  const resume = useCallback(() => void resumeSession().then(() => setStartError(undefined), setStartError), [])
  const signedIn = useSignedIn()
  const client = signedIn?.client
  const orgId = signedIn?.session.org.id
  useEffect(() => {
    if (!client || !orgId) return undefined
    const stop = followEvents(client, orgId)
    const stopReading = watchReconnecting()
    return () => {
      stop()
      stopReading()
      queryClient.clear()
      notifications.clean()
      forgetFrom(0)
    }
  }, [client, orgId])
  if (startError !== undefined)
    return (
      <main>
        <ErrorPanel error={startError} onRetry={resume} />
      </main>
    )
  if (!signedIn) return <SignInPage />
  return signedIn.needsPasskey ? <PasskeyOffer /> : <RouterProvider router={router} />
}

/** The style sheets do not apply before this, so that the skeleton can be painted while they load. (tools/waiting-styles.ts) */
async function applyStyles(): Promise<void> {
  const links = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"][media="not all"]')]
  await Promise.all(
    links.map(
      (link) =>
        link.sheet ??
        new Promise((resolve) => {
          link.onload = resolve
          link.onerror = resolve
        }),
    ),
  )
  for (const link of links) link.media = 'all'
}

async function start(): Promise<void> {
  trackInput()
  const [firstError] = await Promise.all([
    resumeSession().then(
      () => undefined,
      (error: unknown) => error,
    ),
    applyStyles(),
  ])
  createRoot(document.getElementById('root') as HTMLElement).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <Notifications position="bottom-right" />
          <Console firstError={firstError} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}

void start()
