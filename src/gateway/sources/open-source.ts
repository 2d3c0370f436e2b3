// Opens a session with a source within a time limit, whatever its driver does.
import type { ListedSource } from '../../contract/device/protocol.ts'
import { DriverFailure } from '../driver.ts'
import { openWithin } from '../open-driver-session.ts'
import {
  type SourceContext,
  SourceFailure,
  type SourceSession,
  type SourceSettings,
  sourceFailureOf,
} from './source.ts'
import type { SourceTable } from './source-table.ts'

interface OpenOptions {
  readonly limitMs: number
  /** Called with the session before it can emit an event. */
  readonly listen?: (session: SourceSession) => void
}

/** Rejects with a SourceFailure or a DriverFailure, or with the error of a driver that has a bug. */
export async function openSource(
  sources: SourceTable,
  settings: SourceSettings,
  context: SourceContext,
  { limitMs, listen }: OpenOptions,
): Promise<SourceSession> {
  const { type } = settings
  const load = sources[type]
  if (!load)
    throw new SourceFailure(
      'UNSUPPORTED',
      `This gateway cannot read sources of the type "${type}". Update the gateway.`,
    )
  const open = async () => {
    const session = await (await load()).open(settings, context)
    listen?.(session)
    return session
  }
  const late = (seconds: number) =>
    new SourceFailure('UNREACHABLE', `The source gave no useful answer within ${seconds} s.`)
  return openWithin(open, { signal: context.signal, limitMs, late })
}

/** The part of a listed source that its driver needs: a source with other values is opened anew. */
export function driverSettings(source: ListedSource): SourceSettings {
  const { id, revision, targetRevision, state, deviceCount, hasStructure, ...settings } = source
  return settings
}

/** Anything else that goes wrong is a mistake of the driver, and concerns this source only. */
export function failureOf(error: unknown): SourceFailure {
  if (error instanceof SourceFailure) return error
  if (error instanceof DriverFailure) return sourceFailureOf(error)
  return new SourceFailure('FAILING', `The driver failed: ${error instanceof Error ? error.message : String(error)}`)
}
