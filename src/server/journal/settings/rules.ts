// Lists and changes the settings that all nodes of a database share. The command line calls these functions.
import { sensorSettingsOf } from '../../config/sensor-settings.ts'
import { type SharedOption, sharedOptions, sharedValuesOf } from '../../config/stored-options.ts'
import type { Actor } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { StartupError } from '../../core/failure.ts'
import { changeInAllOrgs } from '../audit/change.ts'
import { lockSettings, updateSetting } from './store.ts'
import { readSettings, settingTexts, sharedNames } from './stored-settings.ts'

export interface SharedSetting {
  readonly name: string
  readonly value: string
  /** False for a default that no server has stored yet. */
  readonly isStored: boolean
}

export async function settingsList({ db }: Services): Promise<SharedSetting[]> {
  const stored = await readSettings(db.system)
  return sharedOptions.map(({ name, defaultText }) => ({
    name,
    value: stored.get(name) ?? defaultText,
    isStored: stored.has(name),
  }))
}

/** Changes a setting for all nodes, and returns the value as it is stored. Every organisation's audit log gets an entry. [contract 5.4.settings] */
export async function settingsSet(services: Services, actor: Actor, name: string, text: string): Promise<string> {
  const option = requireOption(name)
  const value = option.textOf(parseValue(option, text))
  await changeInAllOrgs(services, actor, 'settingsSet', async (tx) => {
    const stored = settingTexts(await lockSettings(tx, { names: sharedNames }))
    const before = stored.get(name) ?? option.defaultText
    requireConsistent(new Map([...stored, [name, value]]))
    await updateSetting(tx, { name, value })
    return {
      result: undefined,
      target: { type: 'setting', id: name, name },
      before: { value: before },
      after: { value },
    }
  })
  services.bus.send('settingsChanged', {})
  return value
}

function requireOption(name: string): SharedOption {
  const option = sharedOptions.find((each) => each.name === name)
  if (option) return option
  throw new StartupError(`There is no shared setting "${name}". The names are ${sharedNames.join(', ')}.`)
}

/** The messages of the options name the flag, which is not what the caller typed. */
function withoutFlag<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof StartupError ? new StartupError(error.message.replaceAll(/(?<!\w)--(?=[a-z])/g, '')) : error
  }
}
const parseValue = ({ parse }: SharedOption, text: string) => withoutFlag(() => parse(text))
const requireConsistent = (texts: ReadonlyMap<string, string>) =>
  withoutFlag(() => sensorSettingsOf(sharedValuesOf(texts)))
