// Makes backups by itself at an interval, and deletes the oldest ones.
import { mkdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Gauge } from 'prom-client'
import { hourMs } from '../../../contract/durations.ts'
import { backupDefaults } from '../../config/options.ts'
import type { ServeOptions } from '../../config/server-options.ts'
import type { Clock } from '../../core/clock.ts'
import { StartupError } from '../../core/failure.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { backupInChild } from './backup-process.ts'
import { type BackupSummary, unfinishedSuffix } from './make-backup.ts'

/** After a failure the next try is made after this time, or after the interval if that is shorter. */
const retryAfterMs = 600_000

/** A clock may be set back by this much without any backup counting as one of the future. */
const clockToleranceMs = 60_000

const maxNamesInWarning = 5

const namePattern = /^roomkeeper-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar$/

/** roomkeeper-20270131T093000Z.tar: sorted by name, the files are sorted by time. */
const nameAt = (ms: number): string => `roomkeeper-${new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar`
const timeOf = (name: string): number => Date.parse(name.replace(namePattern, '$1-$2-$3T$4:$5:$6Z'))

export class ScheduledBackups {
  readonly #folder: string
  readonly #options: ServeOptions
  readonly #log: Log
  readonly #clock: Clock
  readonly #everyMs: number
  #made = 0
  #failed = 0
  #newestMs = 0
  #nextTryMs = 0
  /** One warning about backups of the future is enough. */
  #hasWarned = false

  constructor(folder: string, options: ServeOptions, log: Log, clock: Clock) {
    this.#folder = folder
    this.#options = options
    this.#log = log
    this.#clock = clock
    this.#everyMs = (options.backupEveryHours ?? backupDefaults.everyHours) * hourMs
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw new StartupError(
        `Cannot use --backup-dir ${folder} (${(error as NodeJS.ErrnoException).code}). Name a folder that this user may write to.`,
      )
    }
  }

  register(metrics: Metrics): void {
    metrics.watchCount('roomkeeper_backups_total', 'Backups that were made by themselves.', () => this.#made)
    metrics.watchCount('roomkeeper_backup_failures_total', 'Backups that failed.', () => this.#failed)
    const newest = () => this.#newestMs / 1000
    new Gauge({
      name: 'roomkeeper_backup_last_success_timestamp_seconds',
      help: 'When the newest backup in the folder was begun; 0 if there is none.',
      registers: [metrics.registry],
      collect() {
        this.set(newest())
      },
    })
  }

  /** Called every few seconds; makes a backup when the newest one is older than the interval. */
  async run(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now()
    // A next try that is further away than the interval was computed with a wrong clock.
    if (now < this.#nextTryMs && this.#nextTryMs <= now + this.#everyMs + clockToleranceMs) return
    try {
      const names = await this.#list(now)
      this.#newestMs = names.length === 0 ? 0 : timeOf(names.at(-1) as string)
      this.#nextTryMs = this.#newestMs + this.#everyMs
      if (now < this.#nextTryMs) return
      await this.#makeBackup(now, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#failed++
      this.#nextTryMs = now + Math.min(retryAfterMs, this.#everyMs)
      this.#log.error({ reason: (error as Error).message }, 'backup failed')
    }
  }

  async #makeBackup(now: number, signal: AbortSignal): Promise<void> {
    await this.#removeUnfinished()
    const file = join(this.#folder, nameAt(now))
    const startedAt = performance.now()
    const { bytes } = await this.#backUpTo(file, signal)
    this.#made++
    this.#newestMs = now
    this.#nextTryMs = now + this.#everyMs
    this.#log.info({ file, bytes, ms: Math.round(performance.now() - startedAt) }, 'backup made')
    const outdated = (await this.#list(now)).slice(0, -(this.#options.backupKeep ?? backupDefaults.keepCount))
    for (const name of outdated) await rm(join(this.#folder, name), { force: true })
  }

  async #backUpTo(file: string, signal: AbortSignal): Promise<BackupSummary> {
    const { dataDir, databaseUrl, secretKeyFile } = this.#options
    const place = {
      dataDir,
      ...(databaseUrl !== undefined && { databaseUrl }),
      ...(secretKeyFile !== undefined && { secretKeyFile }),
    }
    try {
      return await backupInChild({ place, file, withSecret: false, withBundles: false }, signal)
    } catch (error) {
      await this.#removeUnfinished().catch(() => {})
      throw error
    }
  }

  /** The backups in the folder, the oldest first. Other files are left alone, and so are those that a wrong clock dated in the future. */
  async #list(now: number): Promise<string[]> {
    const names = (await readdir(this.#folder)).filter((name) => namePattern.test(name)).sort()
    const isFuture = (name: string) => timeOf(name) > now + clockToleranceMs
    const future = names.filter(isFuture)
    if (future.length > 0 && !this.#hasWarned) {
      this.#hasWarned = true
      this.#log.warn(
        { files: future.slice(0, maxNamesInWarning) },
        'backups are dated in the future and ignored: check the clock, then rename or delete them',
      )
    }
    return names.filter((name) => !isFuture(name))
  }

  /** A backup that was ended, with its server or alone, has left a folder. */
  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const [of, rest] = name.split(unfinishedSuffix)
      if (rest !== undefined && namePattern.test(of as string)) {
        await rm(join(this.#folder, name), { recursive: true, force: true })
      }
    }
  }
}
