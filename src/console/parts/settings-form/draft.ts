// The unsaved changes of a settings form, and whether the stored settings have changed since they were made.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ConfigValue } from '../../../contract/device/config-keys.ts'
import { isSameValue, isSecret, newSecret, type SettingValues, unknownSecret } from './setting-values.ts'

/** Null removes a key. */
export type SettingChanges = Readonly<Record<string, ConfigValue | null>>

interface Draft {
  /** The settings that differ from the stored ones. */
  readonly changes: SettingChanges
  /** Undefined undoes the change. */
  readonly set: (name: string, value: ConfigValue | null | undefined) => void
  readonly discard: () => void
  /** Removes changes that were saved; changes made since then stay. */
  readonly forgetSent: (changes: SettingChanges) => void
  /** The stored settings were changed by someone else after the first of these changes. */
  readonly isStale: boolean
  /** Accepts the stored settings as the new base of the changes. */
  readonly rebase: () => void
  /** The version that the changes are based on. */
  readonly etag: string | undefined
}

const noChanges: SettingChanges = {}

export function useDraft(stored: SettingValues, etag: string | undefined): Draft {
  const [edits, setEdits] = useState<SettingChanges>(noChanges)
  const [base, setBase] = useState<string | undefined>()

  const changes = useMemo(() => changedOnly(edits, stored), [edits, stored])
  const isDirty = Object.keys(changes).length > 0

  // A ref, so that `set` keeps its identity and the other rows are not rendered again.
  const latest = useRef({ isDirty, etag })
  useEffect(() => {
    latest.current = { isDirty, etag }
  }, [isDirty, etag])
  const set = useCallback((name: string, value: ConfigValue | null | undefined) => {
    setEdits((before) => (value === undefined ? without(before, [name]) : { ...before, [name]: value }))
    if (!latest.current.isDirty) setBase(latest.current.etag)
  }, [])
  const discard = useCallback(() => {
    setEdits(noChanges)
    setBase(undefined)
  }, [])
  const forgetSent = useCallback((done: SettingChanges) => {
    setEdits((before) =>
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

/** Every entered password counts as a change, because stored passwords are not readable. */
const changedOnly = (edits: SettingChanges, stored: SettingValues): SettingChanges =>
  Object.fromEntries(
    Object.entries(edits).filter(([name, value]) =>
      isSecret(name)
        ? value !== ''
        : value === null
          ? Object.hasOwn(stored, name)
          : !isSameValue(name, value, stored[name]),
    ),
  )

/** The settings after the changes, without passwords. */
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

/** The changes as the two sides of a diff, in the order in which they were made. Passwords appear only as masks. */
export function diffSides(stored: SettingValues, changes: SettingChanges): DiffSides {
  const changed = withChanges(stored, changes)
  const names = Object.keys(changes)
  const side = (settings: SettingValues, secretOf: (name: string) => string | undefined) =>
    Object.fromEntries(names.map((name) => [name, isSecret(name) ? secretOf(name) : settings[name]]))
  return {
    before: side(stored, () => unknownSecret),
    after: side(changed, (name) => (changes[name] === null ? undefined : newSecret)),
  }
}
