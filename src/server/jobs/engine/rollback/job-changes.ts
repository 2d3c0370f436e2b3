// Finds what a job changed on an endpoint and whether that still holds, from the versions of its config. [contract 12.rollback]

import { type ConfigValue, configKeys } from '../../../../contract/device/config-keys.ts'
import { type ConfigLayers, explicitLayer, profileLayer } from '../../../fleet/configs/effective.ts'
import { keysOf, type SealedConfig } from '../../../fleet/configs/sealed-config.ts'

/** A version, with the job that made it, if one did. */
export interface MadeVersion extends ConfigLayers {
  readonly job_id: number | null
  readonly author_name: string
}

/** The changes that a rollback makes to an endpoint. */
export interface EndpointPlan {
  /** The keys of the endpoint after it; undefined if they stay as they are. */
  readonly keys: SealedConfig | undefined
  /** The profile of the endpoint after it; undefined if it stays, null for none. */
  readonly profileId: number | null | undefined
  /** The reasons why values that the job set are not rolled back, one part of a sentence for each. */
  readonly kept: readonly string[]
}

/** The present state of an endpoint: its keys, and its profile with the keys that it locks. */
export interface PresentConfig extends ConfigLayers {
  readonly profile_name: string | null
}

/** The profile of an endpoint is followed like a key. No key of a config has this name. */
const profileName = 'the profile'

type Value = ConfigValue | null | undefined

interface Track {
  present: Value
  /** The value before the job's changes, if the job was the last to change it. */
  before: Value
  wasSetByJob: boolean
  /** The last author who was not the job, since the job has set it. */
  otherAuthor: string | undefined
}

/** Add the versions in their order, beginning with the one before the first that the job made. */
export class JobChanges {
  readonly #jobId: number
  readonly #tracks = new Map<string, Track>()
  #names = new Set<string>()
  #hasVersion = false

  constructor(jobId: number) {
    this.#jobId = jobId
  }

  add(version: MadeVersion): void {
    const isFirst = !this.#hasVersion && version.job_id !== this.#jobId
    this.#hasVersion = true
    const values = valuesOf(version)
    const names = new Set(Object.keys(values))
    for (const name of new Set([...this.#names, ...names])) this.#follow(name, values[name], version, isFirst)
    this.#names = names
  }

  #follow(name: string, value: Value, { job_id, author_name }: MadeVersion, isFirst: boolean): void {
    const track = this.#tracks.get(name) ?? newTrack()
    this.#tracks.set(name, track)
    if (isFirst) track.present = value
    if (isSame(track.present, value)) return
    if (job_id === this.#jobId) {
      // Between two changes by the job, the one of another author is what the job has replaced.
      if (!track.wasSetByJob || track.otherAuthor !== undefined) track.before = track.present
      track.wasSetByJob = true
      track.otherAuthor = undefined
    } else if (track.wasSetByJob) track.otherAuthor = author_name
    track.present = value
  }

  /** `hasProfile` says whether a profile still exists. */
  plan(present: PresentConfig, hasProfile: (id: number) => boolean): EndpointPlan {
    const kept: string[] = []
    const restored: Record<string, Value> = {}
    let profileId: number | null | undefined
    const locked = new Set(present.profile_id === null ? [] : keysOf(profileLayer(present)))
    for (const [name, track] of this.#tracks) {
      if (!track.wasSetByJob || isSame(track.before, track.present)) continue
      if (track.otherAuthor !== undefined) kept.push(`${name} was changed by ${track.otherAuthor} since`)
      else if (name === profileName) {
        const to = (track.before ?? null) as number | null
        if (to !== null && !hasProfile(to)) kept.push(`the profile ${to} that it had was deleted`)
        else profileId = to
      } else if (locked.has(name)) kept.push(`${name} is now locked by the profile ${present.profile_name ?? ''}`)
      else restored[name] = track.before
    }
    const keys = Object.keys(restored).length === 0 ? undefined : withKeys(explicitLayer(present), restored)
    return { keys, profileId, kept }
  }
}

const newTrack = (): Track => ({ present: undefined, before: undefined, wasSetByJob: false, otherAuthor: undefined })

/** A profile that was never set is null in a version, and undefined before the first version. */
const isSame = (a: Value, b: Value): boolean => (a ?? undefined) === (b ?? undefined)

/** Passwords are compared as sealed text, which stays the same while the password does. */
const valuesOf = ({ explicit, secrets, profile_id }: ConfigLayers): Record<string, Value> => ({
  ...JSON.parse(explicit),
  ...JSON.parse(secrets),
  [profileName]: profile_id,
})

/** Sets or, with undefined, removes keys. A password is given as the sealed text of its version. */
function withKeys(layer: SealedConfig, changed: Readonly<Record<string, Value>>): SealedConfig {
  const [config, secrets]: Record<string, Value>[] = [JSON.parse(layer.config), JSON.parse(layer.secrets)]
  const ordered = (isSecret: boolean, before: Record<string, Value> = {}) => {
    const all = { ...before, ...changed }
    const names = Object.keys(configKeys).filter((name) => (configKeys[name]?.secret === true) === isSecret)
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, all[name]])))
  }
  return { config: ordered(false, config), secrets: ordered(true, secrets) }
}
