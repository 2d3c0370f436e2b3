// Support IDs: short enough to be read over the phone, and found again however they are typed.
import { formatCode, normaliseCode, randomCode } from '../../auth/readable-code.ts'

const length = 8

/** As tables and folders know it: without hyphen. */
export const makeSupportId = (): string => randomCode(length)

/** As people see it: `K7QF-2MXA`. */
export const shownSupportId = formatCode

const shape = /^[A-Z2-9]{8}$/

/** Undefined for what cannot be one: nobody need look for it. */
export function parseSupportId(typed: string): string | undefined {
  const id = normaliseCode(typed)
  return shape.test(id) ? id : undefined
}

export const isSupportId = (text: string): boolean => shape.test(text)
