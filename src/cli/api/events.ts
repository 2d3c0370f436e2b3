// `api events stream`: prints the events of the organisation as they happen.
import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs } from '../../client/back-off.ts'
import { ApiError, request } from '../../client/client.ts'
import { EventStream } from '../../client/event-stream.ts'
import type { Event } from '../../contract/journal/events.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Connected } from '../http/connect.ts'
import { printResult, type Terminal } from '../terminal/terminal.ts'
import type { Input } from './input.ts'
import type { CommonOptions } from './operation-options.ts'

const reconnect = { firstMs: 1000, maxMs: 30_000 }

/** Returns when the command is interrupted, or without --watch when the connection ends. */
export async function printEvents(
  terminal: Terminal,
  { clientOptions }: Connected,
  operation: Operation,
  input: Input,
  { json, watch }: CommonOptions,
): Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  void terminal.untilStopped().then(() => stop.abort())
  let lastEventId: string | undefined
  let failures = 0
  while (!signal.aborted) {
    const onOpen = () => {
      failures = 0
    }
    const call = { signal, lastEventId, onOpen }
    // After the first connection, the header says where to go on, and not the option.
    const { lastEventId: _, ...further } = input
    const stream = new EventStream(call, () =>
      request(clientOptions, operation, lastEventId === undefined ? input : further, call),
    )
    try {
      for await (const { event } of stream) {
        printResult(terminal, json, event, [lineOf(event)])
        lastEventId = stream.lastEventId
      }
    } catch (error) {
      if (signal.aborted) return
      if (!watch || isRefused(error)) throw error
      terminal.writeError(`${(error as Error).message} Connecting again.`)
    }
    if (!watch) return
    lastEventId = stream.lastEventId ?? lastEventId
    await pause(backOffMs(failures++, reconnect), undefined, { signal }).catch(() => {})
  }
}

/** Another attempt would be refused too. */
const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status < 500 && error.status !== 429

const lineOf = ({ at, type, ...rest }: Event): string => `${at}  ${type.padEnd(12)}  ${JSON.stringify(rest)}`
