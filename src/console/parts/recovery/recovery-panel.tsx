// Shown while the server cannot be reached, or after it was updated: waits until it answers, then reloads.
import { Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useEffect, useEffectEvent, useState } from 'react'
import { backOffMs } from '../../../client/back-off.ts'
import { ApiError } from '../../../client/client.ts'
import { ServerUnreachableError } from '../../reachable-fetch.ts'
import { WarnIcon } from '../page/icons.tsx'
import { canReloadByItself, reloadByItself } from './automatic-reload.ts'
import { CodeLoadError } from './load-code.ts'
import { type ProbeResult, probeServer } from './server-probe.ts'
import { hasUnsavedInput } from './unsaved-input.ts'

const probeBackOff = { firstMs: 1000, maxMs: 30_000 }
/** A server without its database answers the probe while requests still fail, so these are repeated slowly. */
const notReadyBackOff = { firstMs: 10_000, maxMs: 30_000 }
/** A hidden tab must not probe for days. */
const probeLimitMs = 60 * 60_000

const isGatewayError = (error: unknown): error is ApiError =>
  error instanceof ApiError && [502, 503, 504].includes(error.status)
/** The service itself answers, with an error that says why. An answer of a proxy has no such body. */
const isNotReady = (error: unknown): error is ApiError => isGatewayError(error) && error.body !== undefined

/** True for errors that pass by themselves once the server is back, or once the console is loaded again. */
export const isRecoverable = (error: unknown): boolean =>
  error instanceof CodeLoadError || error instanceof ServerUnreachableError || isGatewayError(error)

type Phase = 'probing' | 'gave up' | 'reloading' | 'unsaved input' | 'reload did not help'

interface RecoveryPanelProps {
  readonly error: unknown
  /** Repeats the failed request. Code that could not be loaded needs a reload instead. */
  readonly onRetry: () => void
}

export function RecoveryPanel({ error, onRetry }: RecoveryPanelProps) {
  const [found, setFound] = useState<ProbeResult>()
  const [phase, setPhase] = useState<Phase>('probing')
  const [round, setRound] = useState(0)
  const isCode = error instanceof CodeLoadError

  const recover = useEffectEvent(() => {
    if (!isCode) return onRetry()
    if (hasUnsavedInput()) return setPhase('unsaved input')
    if (!canReloadByItself()) return setPhase('reload did not help')
    setPhase('reloading')
    reloadByItself()
  })

  useEffect(() => {
    let isStopped = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const startedMs = Date.now()
    const backOff = isNotReady(error) ? notReadyBackOff : probeBackOff
    const probeLater = (failures: number) => {
      if (Date.now() - startedMs > probeLimitMs) return setPhase('gave up')
      timer = setTimeout(probe, backOffMs(failures, backOff), failures)
    }
    const probe = async (failures: number) => {
      const result = await probeServer()
      if (isStopped) return
      setFound(result)
      if (result === 'unreachable') probeLater(failures + 1)
      else recover()
    }
    setPhase('probing')
    // The first look at code that is missing happens immediately: it decides which of the two messages is shown.
    if (isCode || round > 0) void probe(0)
    else probeLater(0)
    return () => {
      isStopped = true
      clearTimeout(timer)
    }
  }, [error, isCode, round])

  // The message is not known before the first answer; nothing is better than a wrong one for that moment.
  if (isCode && found === undefined) return null
  const hasFoundServer = isCode && found !== 'unreachable'
  return (
    <Card role="alert" bg="var(--rk-panel)">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Text c="var(--rk-offline)" span>
          <WarnIcon />
        </Text>
        <Stack gap="xs" align="flex-start">
          <Title order={2} fz="md">
            {titleOf(error, found)}
          </Title>
          <Text>{textOf(phase, error)}</Text>
          {hasFoundServer ? (
            phase !== 'reloading' && (
              <Button variant="default" size="xs" onClick={() => location.reload()}>
                Reload
              </Button>
            )
          ) : (
            <Button variant="default" size="xs" onClick={() => setRound(round + 1)}>
              Try again
            </Button>
          )}
        </Stack>
      </Group>
    </Card>
  )
}

function titleOf(error: unknown, found: ProbeResult | undefined): string {
  if (isNotReady(error)) return 'The server is not ready'
  if (!(error instanceof CodeLoadError) || found === 'unreachable') return 'Can’t reach the server'
  return found === 'updated' ? 'Roomkeeper was updated' : error.message
}

function textOf(phase: Phase, error: unknown): string {
  switch (phase) {
    case 'probing':
      if (isNotReady(error)) return `${error.message} The console tries again by itself.`
      return 'The page reloads by itself once the server answers.'
    case 'gave up':
      return 'The server did not answer for an hour. Check your connection, then try again.'
    case 'reloading':
      return 'The page is being reloaded.'
    case 'unsaved input':
      return 'This page has input that is not saved. Save or copy it, then reload.'
    case 'reload did not help':
      return 'A reload did not help. If reloading again does not help, tell an administrator of Roomkeeper.'
  }
}
