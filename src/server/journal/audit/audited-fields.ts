// Chooses which fields of a thing an audit entry shows: all of them when it is created or deleted, those that differ when it is changed.

type Fields = Readonly<Record<string, unknown>>

export class AuditedFields<R, F extends Fields = Fields> {
  readonly #fieldsOf: (row: R) => F
  readonly #alwaysShown: readonly (keyof F)[]

  /** `alwaysShown` fields appear even if empty or unchanged: they identify the resource. */
  constructor(fieldsOf: (row: R) => F, alwaysShown: readonly (keyof F)[]) {
    this.#fieldsOf = fieldsOf
    this.#alwaysShown = alwaysShown
  }

  /** For a thing that was created or deleted: every field that has a value. */
  all(row: R): Fields {
    const fields = this.#fieldsOf(row)
    return this.#only(fields, (name) => !isEmpty(fields[name]))
  }

  /** For a thing that was changed: the fields that differ, before and after. */
  change(before: R, after: R): { before: Fields; after: Fields } {
    const [old, current] = [this.#fieldsOf(before), this.#fieldsOf(after)]
    const differs = (name: keyof F) => JSON.stringify(old[name]) !== JSON.stringify(current[name])
    return { before: this.#only(old, differs), after: this.#only(current, differs) }
  }

  #only(fields: F, isShown: (name: keyof F) => boolean): Fields {
    return Object.fromEntries(
      Object.entries(fields).filter(([name]) => this.#alwaysShown.includes(name) || isShown(name)),
    )
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0)
