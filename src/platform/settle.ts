// What a process does once between its start and its service: it lets go of what only the start needed, and of nothing that keeps it fast.
import { executionAsyncResource } from 'node:async_hooks'

/** Ticks that no collection may take: nobody reads them. */
const ticks: object[] = []

/**
 * Starting leaves garbage that an idle server would keep for days, and with it the space that was made for new things: half of
 * its memory. It costs 0.1 s, once.
 */
export async function settle(): Promise<void> {
  ticks.push(await aTick())
  if (!process.features.inspector) return
  const { Session } = await import('node:inspector')
  const session = new Session()
  session.connect()
  await new Promise((resolve) => session.post('HeapProfiler.collectGarbage', resolve))
  session.disconnect()
}

/**
 * The object in which Node queues a tick. V8 forgets a shape when a collection finds no object that has it. Node makes these with
 * computed keys, and V8 never learns those a second time: every tick would cost several times as much from then on, and a
 * request takes several. One that stays keeps their shape.
 */
const aTick = (): Promise<object> => new Promise((resolve) => process.nextTick(() => resolve(executionAsyncResource())))
