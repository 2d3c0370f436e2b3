// API keys and other secrets as text: how one is made, and whether something is one, without asking the database. [contract 3.1]
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What callers show to say who they are: an API key, or the session of a browser that signed in with one. */
export type TokenKind = 'key' | 'session'

const prefix = 'rk_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 34 characters are 202 random bits; the six that a list shows leave 166 unknown. */
const secretLength = 34
const checksumLength = 6
const wellFormed = /^rk_[0-9A-Za-z]{40}$/
const wellFormedCredential = /^rkd_[0-9A-Za-z]{40}$/
const wellFormedSession = /^rks_[0-9A-Za-z]{40}$/
const wellFormedLink = /^rkl_[0-9A-Za-z]{40}$/

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

export const makeApiKey = (): string => withChecksum(prefix + randomText(secretLength))
/** The password of a device. */
export const makeCredential = (): string => withChecksum(`rkd_${randomText(secretLength)}`)
/** What the cookie of a browser holds. [contract 9.cookie] */
export const makeSessionSecret = (): string => withChecksum(`rks_${randomText(secretLength)}`)
/** What the fragment of a sign-in link holds. [contract 9.link] */
export const makeSignInLinkSecret = (): string => withChecksum(`rkl_${randomText(secretLength)}`)

/** Catches typing errors and foreign tokens for the price of a CRC. */
export const isApiKey = (text: string): boolean => wellFormed.test(text) && endsWell(text)
export const isSessionSecret = (text: string): boolean => wellFormedSession.test(text) && endsWell(text)
export const isSignInLinkSecret = (text: string): boolean => wellFormedLink.test(text) && endsWell(text)
export const isCredential = (text: string): boolean => wellFormedCredential.test(text) && endsWell(text)

/** Keys, sessions, links and credentials, whole or in part, wherever they stand in a text. */
const secrets = /rk[dls]?_[0-9A-Za-z]{7,}/g

/** A path for the log: somebody may have put a secret into it, also with its characters escaped. */
export function maskSecrets(path: string): string {
  const readable = path.includes('%') ? decoded(path) : path
  const masked = readable.replaceAll(secrets, (secret) => `${secret.slice(0, secret.indexOf('_') + 1)}…`)
  return masked === readable ? path : masked
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const withChecksum = (secret: string): string => secret + checksum(secret)

function endsWell(text: string): boolean {
  const end = text.length - checksumLength
  return text.slice(end) === checksum(text.slice(0, end))
}

export const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer')

/** What may be shown later: the prefix and the next six characters. */
export const visiblePart = (token: string): string => token.slice(0, prefix.length + 6)

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
