// The settings that all nodes of a database share: stored by the first start, read again by running servers.

import { type SensorSettings, sensorSettingsOf } from '../../config/sensor-settings.ts'
import type { SharedOptions } from '../../config/server-options.ts'
import { givenTexts, sharedOptions, sharedValuesOf } from '../../config/stored-options.ts'
import { StartupError } from '../../core/failure.ts'
import type { Database } from '../../db/db.ts'
import type { SystemReader } from '../../db/system.ts'
import { insertSetting, listSettings } from './store.ts'

export const sharedNames = sharedOptions.map(({ name }) => name)

export const settingTexts = (rows: readonly { name: string; value: string }[]): Map<string, string> =>
  new Map(rows.map(({ name, value }) => [name, value]))

export const readSettings = async (on: SystemReader): Promise<Map<string, string>> =>
  settingTexts(await listSettings(on, { names: sharedNames }))

export class SharedSettings {
  #values: SharedOptions
  #sensors: SensorSettings

  private constructor(values: SharedOptions) {
    this.#values = values
    this.#sensors = sensorSettingsOf(values)
  }

  /**
   * Stores the given values, or the defaults, of settings that the database does not have yet. A given value that differs from the
   * stored one is refused: this node would delete or refuse by other rules than the rest.
   */
  static async load(db: Database, options: Partial<SharedOptions>): Promise<SharedSettings> {
    const given = givenTexts(options)
    let stored = await readSettings(db.system)
    const missing = sharedOptions.filter(({ name }) => !stored.has(name))
    if (missing.length > 0) {
      // Values that contradict each other are refused before they are stored.
      sensorSettingsOf(sharedValuesOf(new Map([...given, ...stored])))
      await db.systemTransaction(async (tx) => {
        for (const { name, defaultText } of missing) {
          await insertSetting(tx, { name, value: given.get(name) ?? defaultText })
        }
      })
      // Another node may have stored its values first.
      stored = await readSettings(db.system)
    }
    refuseDifference(given, stored)
    return new SharedSettings(sharedValuesOf(stored))
  }

  /** Running servers call this: another process may have changed a setting. */
  async refresh(db: Database): Promise<void> {
    const values = sharedValuesOf(await readSettings(db.system))
    this.#sensors = sensorSettingsOf(values)
    this.#values = values
  }

  get values(): SharedOptions {
    return this.#values
  }

  get sensors(): SensorSettings {
    return this.#sensors
  }
}

/** Throws if a server with these options would be refused. Stores nothing. */
export async function requireStoredValues(db: Database, options: Partial<SharedOptions>): Promise<void> {
  const given = givenTexts(options)
  const stored = await readSettings(db.system)
  sensorSettingsOf(sharedValuesOf(new Map([...given, ...stored])))
  refuseDifference(given, stored)
}

function refuseDifference(given: ReadonlyMap<string, string>, stored: ReadonlyMap<string, string>): void {
  const sentences = [...given]
    .filter(([name, text]) => stored.has(name) && stored.get(name) !== text)
    .map(
      ([name, text]) =>
        `--${name} ${text} differs from ${stored.get(name)}, which the database stores for all of its servers. Leave the option out, or change it for all with "roomkeeper settings set ${name} ${text}".`,
    )
  if (sentences.length > 0) throw new StartupError(sentences.join(' '))
}
