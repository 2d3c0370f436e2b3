// Codes that one person reads aloud and another types: enrolment codes and support IDs.
import { randomText } from './token.ts'

/** Without 0 and O, 1 and I: 32 letters, 5 bits each. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

export const randomCode = (length: number): string => randomText(length, alphabet)

/** In groups of four, for people: `K7QF-2MXA`. */
export const formatCode = (code: string): string => code.replaceAll(/.{4}(?=.)/g, '$&-')

/** What was meant, however it was typed: case, spaces and hyphens do not matter. */
export const normaliseCode = (typed: string): string => typed.toUpperCase().replaceAll(/[\s-]/g, '')
