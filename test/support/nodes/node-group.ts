// Several nodes of one database in the test's own process, so that a test can reach their services.
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { minuteMs } from '../../../src/contract/durations.ts'
import { type Service, type StartSettings, startService } from '../../../src/server/app.ts'
import type { ServeOptions } from '../../../src/server/config/server-options.ts'
import { type Clock, systemClock } from '../../../src/server/core/clock.ts'
import { type TimeLimits, timeLimits } from '../../../src/server/core/time-limits.ts'
import { builtConsole, newPlace, quiet } from '../harness.ts'

export interface GroupNode extends Service {
  readonly dataDir: string
  readonly logged: Record<string, unknown>[]
  /** Resolves when the node had to stop because its database or its name was taken. */
  readonly taken: Promise<void>
}

interface GroupNodeOptions extends Partial<ServeOptions>, Pick<StartSettings, 'taskPauseShare' | 'limits'> {
  /** True if absent. */
  readonly hasPublicUrl?: boolean
}

export interface NodeGroup {
  readonly databaseUrl: string
  start(options?: GroupNodeOptions, clock?: Clock): Promise<GroupNode>
}

/**
 * With these limits a node gives up neither its session nor another node because the machine is busy. For tests that count such losses,
 * and cause them by themselves.
 */
export const patientLimits: TimeLimits = {
  ...timeLimits,
  unlockedNodeMs: 10 * minuteMs,
  lockedNodeMs: 10 * minuteMs,
  ownMessageMs: 10 * minuteMs,
  controlConnectMs: 10 * minuteMs,
  controlLockMs: 10 * minuteMs,
  controlStatementMs: 10 * minuteMs,
  controlAnswerMs: 10 * minuteMs,
}

/** A second node is refused without it. */
const publicUrl = 'https://rooms.example.org'

/** Takes what must be called at the end, the last first. */
export type AtEnd = (close: () => Promise<void>) => void

/** An empty database for nodes; they stop with the test unless told otherwise. */
export async function nodeGroup(atEnd: AtEnd = onTestFinished): Promise<NodeGroup> {
  const { place, remove } = await newPlace({ hasTables: true })
  atEnd(remove)
  return {
    databaseUrl: place.databaseUrl ?? '',
    async start(
      { hasPublicUrl = true, taskPauseShare = 1, limits = timeLimits, ...options } = {},
      clock = systemClock,
    ) {
      const logged: Record<string, unknown>[] = []
      const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
      let onLost = () => {}
      const taken = new Promise<void>((resolve) => {
        onLost = resolve
      })
      const service = await startService({ ...quiet, ...place, ...(hasPublicUrl && { publicUrl }), ...options }, log, {
        clock,
        taskPauseShare,
        limits,
        consoleFiles: builtConsole(),
        onLost: () => onLost(),
      })
      atEnd(() => service.close())
      return { ...service, dataDir: place.dataDir, logged, taken }
    },
  }
}
