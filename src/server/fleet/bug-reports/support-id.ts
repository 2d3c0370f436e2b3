// Support IDs: short enough to read over the phone, and accepted in any case, with or without hyphen.
import { formatCode, normaliseCode, randomCode } from '../../auth/readable-code.ts'

const idLength = 8

/** Makes an ID in the form that tables and folders use, without hyphen. */
export const makeSupportId = (): string => randomCode(idLength)

/** Adds the hyphen that people see: `K7QF-2MXA`. */
export const formatSupportId = formatCode

const shape = /^[A-Z2-9]{8}$/

/** Returns undefined for a text that cannot be a support ID, which saves a database query. */
export function parseSupportId(typed: string): string | undefined {
  const id = normaliseCode(typed)
  return shape.test(id) ? id : undefined
}

export const isSupportId = (text: string): boolean => shape.test(text)
