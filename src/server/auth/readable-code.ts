// Codes that people read aloud and type: enrolment codes and support IDs.
import { randomText } from './token.ts'

/** 0 and O, 1 and I are left out: 32 characters, 5 bits each. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

export const randomCode = (length: number): string => randomText(length, alphabet)

/** Formats a code in groups of four, such as `K7QF-2MXA`. */
export const formatCode = (code: string): string => code.replaceAll(/.{4}(?=.)/g, '$&-')

/** Ignores case, spaces and hyphens. */
export const normaliseCode = (typed: string): string => typed.toUpperCase().replaceAll(/[\s-]/g, '')
