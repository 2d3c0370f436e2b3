// What somebody has changed in a form and not saved yet, and whether the ground under it has moved meanwhile.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ConfigValue } from '../../../contract/config-keys.ts'
import { isSame, isSecret, newSecret, type Settings, unknownSecret } from './setting-values.ts'

/** Null unsets a key. */
export type Changes = Readonly<Record<string, ConfigValue | null>>

interface Draft {
  /** Only what differs from what is stored. */
  readonly changes: Changes
  /** Undefined takes the change back. */
  readonly set: (name: string, value: ConfigValue | null | undefined) => void
  readonly discard: () => void
  /** Forgets changes that were sent; what was typed since then stays. */
  readonly sent: (changes: Changes) => void
  /** Somebody else has changed what these changes were made on. */
  readonly isStale: boolean
  /** They were looked at again: they are made on what is stored now. */
  readonly rebase: () => void
  /** The version that the changes were made on. */
  readonly etag: string | undefined
}

const nothing: Changes = {}

export function useDraft(stored: Settings, etag: string | undefined): Draft {
  const [typed, setTyped] = useState<Changes>(nothing)
  const [base, setBase] = useState<string | undefined>()

  const changes = useMemo(() => differing(typed, stored), [typed, stored])
  const isDirty = Object.keys(changes).length > 0

  // Read when somebody types, so that `set` stays the same and no other row is drawn again.
  const ground = useRef({ isDirty, etag })
  useEffect(() => {
    ground.current = { isDirty, etag }
  }, [isDirty, etag])
  const set = useCallback((name: string, value: ConfigValue | null | undefined) => {
    setTyped((before) => (value === undefined ? without(before, [name]) : { ...before, [name]: value }))
    if (!ground.current.isDirty) setBase(ground.current.etag)
  }, [])
  const discard = useCallback(() => {
    setTyped(nothing)
    setBase(undefined)
  }, [])
  const sent = useCallback((done: Changes) => {
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
    sent,
    isStale: isDirty && base !== undefined && base !== etag,
    rebase,
    etag: base ?? etag,
  }
}

const without = (changes: Changes, names: readonly string[]): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => !names.includes(name)))

/** Nobody can know whether a password differs. */
const differing = (typed: Changes, stored: Settings): Changes =>
  Object.fromEntries(
    Object.entries(typed).filter(([name, value]) =>
      isSecret(name) ? value !== '' : value === null ? Object.hasOwn(stored, name) : !isSame(name, value, stored[name]),
    ),
  )

/** What is stored once the changes are: without passwords. */
export const withChanges = (stored: Settings, changes: Changes): Settings =>
  Object.fromEntries(
    Object.entries({ ...stored, ...changes }).filter(
      (entry): entry is [string, ConfigValue] => entry[1] !== null && !isSecret(entry[0]),
    ),
  )

interface Sides {
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
}

/** Both sides have every changed key, in the order in which they were changed. */
export function sidesOf(stored: Settings, changes: Changes): Sides {
  const later = withChanges(stored, changes)
  const names = Object.keys(changes)
  const side = (settings: Settings, secretOf: (name: string) => string | undefined) =>
    Object.fromEntries(names.map((name) => [name, isSecret(name) ? secretOf(name) : settings[name]]))
  return {
    before: side(stored, () => unknownSecret),
    after: side(later, (name) => (changes[name] === null ? undefined : newSecret)),
  }
}
