// What somebody has changed in a form and not saved yet, and whether the ground under it has moved meanwhile.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ConfigValue } from '../../../contract/config-keys.ts'
import { isSameValue, isSecret, newSecret, type SettingValues, unknownSecret } from './setting-values.ts'

/** Null unsets a key. */
export type SettingChanges = Readonly<Record<string, ConfigValue | null>>

interface Draft {
  /** Only what differs from what is stored. */
  readonly changes: SettingChanges
  /** Undefined takes the change back. */
  readonly set: (name: string, value: ConfigValue | null | undefined) => void
  readonly discard: () => void
  /** Forgets changes that were sent; what was typed since then stays. */
  readonly forgetSent: (changes: SettingChanges) => void
  /** Somebody else has changed what these changes were made on. */
  readonly isStale: boolean
  /** They were looked at again: they are made on what is stored now. */
  readonly rebase: () => void
  /** The version that the changes were made on. */
  readonly etag: string | undefined
}

const noChanges: SettingChanges = {}

export function useDraft(stored: SettingValues, etag: string | undefined): Draft {
  const [typed, setTyped] = useState<SettingChanges>(noChanges)
  const [base, setBase] = useState<string | undefined>()

  const changes = useMemo(() => differing(typed, stored), [typed, stored])
  const isDirty = Object.keys(changes).length > 0

  // Read when somebody types, so that `set` stays the same and no other row is drawn again.
  const latest = useRef({ isDirty, etag })
  useEffect(() => {
    latest.current = { isDirty, etag }
  }, [isDirty, etag])
  const set = useCallback((name: string, value: ConfigValue | null | undefined) => {
    setTyped((before) => (value === undefined ? without(before, [name]) : { ...before, [name]: value }))
    if (!latest.current.isDirty) setBase(latest.current.etag)
  }, [])
  const discard = useCallback(() => {
    setTyped(noChanges)
    setBase(undefined)
  }, [])
  const forgetSent = useCallback((done: SettingChanges) => {
    setTyped((before) =>
      without(
        before,
        Object.keys(done).filter((name) => before[name] === done[name]),
      ),
    )
    setBase(undefined)
  }, [])
  const rebase = useCallback(() => setBase(etag), [etag])

  return {
    changes,
    set,
    discard,
    forgetSent,
    isStale: isDirty && base !== undefined && base !== etag,
    rebase,
    etag: base ?? etag,
  }
}

const without = (changes: SettingChanges, names: readonly string[]): SettingChanges =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => !names.includes(name)))

/** Nobody can know whether a password differs. */
const differing = (typed: SettingChanges, stored: SettingValues): SettingChanges =>
  Object.fromEntries(
    Object.entries(typed).filter(([name, value]) =>
      isSecret(name)
        ? value !== ''
        : value === null
          ? Object.hasOwn(stored, name)
          : !isSameValue(name, value, stored[name]),
    ),
  )

/** What is stored once the changes are: without passwords. */
export const withChanges = (stored: SettingValues, changes: SettingChanges): SettingValues =>
  Object.fromEntries(
    Object.entries({ ...stored, ...changes }).filter(
      (entry): entry is [string, ConfigValue] => entry[1] !== null && !isSecret(entry[0]),
    ),
  )

interface DiffSides {
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
}

/** Both sides have every changed key, in the order in which they were changed. */
export function diffSides(stored: SettingValues, changes: SettingChanges): DiffSides {
  const later = withChanges(stored, changes)
  const names = Object.keys(changes)
  const side = (settings: SettingValues, secretOf: (name: string) => string | undefined) =>
    Object.fromEntries(names.map((name) => [name, isSecret(name) ? secretOf(name) : settings[name]]))
  return {
    before: side(stored, () => unknownSecret),
    after: side(later, (name) => (changes[name] === null ? undefined : newSecret)),
  }
}
