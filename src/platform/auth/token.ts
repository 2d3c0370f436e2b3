// API keys and device credentials as text: how one is made, and whether something is one, without asking the database. [contract 3.1]
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'rk_'
const credentialPrefix = 'rkd_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 34 characters are 202 random bits; the six that a list shows leave 166 unknown. */
const secretLength = 34
const checksumLength = 6
const wellFormed = /^rk_[0-9A-Za-z]{40}$/
const wellFormedCredential = /^rkd_[0-9A-Za-z]{40}$/

export function randomText(length: number, from: string = alphabet): string {
  // Bytes past the last whole multiple would favour the first letters.
  const limit = 256 - (256 % from.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && text.length < length) text += from[byte % from.length]
    }
  }
  return text
}

export const makeToken = (): string => withChecksum(prefix + randomText(secretLength))
/** The password of a device. */
export const makeCredential = (): string => withChecksum(credentialPrefix + randomText(secretLength))

/** Catches typing errors and foreign tokens for the price of a CRC. */
export const isToken = (text: string): boolean => wellFormed.test(text) && endsWell(text)
export const isCredential = (text: string): boolean => wellFormedCredential.test(text) && endsWell(text)

const withChecksum = (secret: string): string => secret + checksum(secret)

function endsWell(text: string): boolean {
  const end = text.length - checksumLength
  return text.slice(end) === checksum(text.slice(0, end))
}

export const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer')

/** What may be shown later: the prefix and the next six characters. */
export const shownPart = (token: string): string => token.slice(0, prefix.length + 6)

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
