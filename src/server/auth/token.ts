// Creates API keys and other secrets as text, and checks their form without a database query. [contract 3.1]
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Callers authenticate with an API key, with the session of a browser that signed in with one, or with the session of a person. */
export type TokenKind = 'key' | 'session' | 'userSession'

const prefix = 'rk_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 34 characters are 202 random bits. A list shows six of them, which leaves 166 bits secret. */
const secretLength = 34
const checksumLength = 6
const wellFormed = /^rk_[0-9A-Za-z]{40}$/
const wellFormedCredential = /^rkd_[0-9A-Za-z]{40}$/
const wellFormedSession = /^rks_[0-9A-Za-z]{40}$/
const wellFormedUserSession = /^rku_[0-9A-Za-z]{40}$/
const wellFormedUserLink = /^rki_[0-9A-Za-z]{40}$/
const wellFormedLink = /^rkl_[0-9A-Za-z]{40}$/

export function randomText(length: number, from: string = alphabet): string {
  // Bytes from the last whole multiple on would favour the first letters.
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
/** The secret in the cookie of a browser. [contract 9.cookie] */
export const makeSessionSecret = (): string => withChecksum(`rks_${randomText(secretLength)}`)
/** The secret in the cookie of a person's browser. [contract 11.local] */
export const makeUserSessionSecret = (): string => withChecksum(`rku_${randomText(secretLength)}`)
/** The secret in the fragment of a link that signs a person in. [contract 11.local] */
export const makeUserLinkSecret = (): string => withChecksum(`rki_${randomText(secretLength)}`)
/** The secret in the fragment of a sign-in link. [contract 9.link] */
export const makeSignInLinkSecret = (): string => withChecksum(`rkl_${randomText(secretLength)}`)

/** The checksum reveals typing errors and foreign tokens. */
export const isApiKey = (text: string): boolean => wellFormed.test(text) && hasValidChecksum(text)
export const isSessionSecret = (text: string): boolean => wellFormedSession.test(text) && hasValidChecksum(text)
export const isUserSessionSecret = (text: string): boolean => wellFormedUserSession.test(text) && hasValidChecksum(text)
export const isUserLinkSecret = (text: string): boolean => wellFormedUserLink.test(text) && hasValidChecksum(text)
/** Links of people and of keys differ in their prefix, also if they were not copied whole. */
export const hasUserLinkPrefix = (text: string): boolean => text.startsWith('rki_')
export const isSignInLinkSecret = (text: string): boolean => wellFormedLink.test(text) && hasValidChecksum(text)
export const isCredential = (text: string): boolean => wellFormedCredential.test(text) && hasValidChecksum(text)

/** The kind of the secret in a cookie, by its form; a malformed one counts as the session of a key. */
export const sessionKindOf = (secret: string): TokenKind => (isUserSessionSecret(secret) ? 'userSession' : 'session')

/** Matches keys, sessions, links and credentials, whole or in part, anywhere in a text. */
const secrets = /rk[dilsu]?_[0-9A-Za-z]{7,}/g

/** Masks secrets in a path for the log, where callers may have put them, also with escaped characters. */
export function maskSecrets(path: string): string {
  const readable = unescapeAscii(unescapeAscii(path))
  const masked = readable.replaceAll(secrets, (secret) => `${secret.slice(0, secret.indexOf('_') + 1)}…`)
  return masked === readable ? path : masked
}

/** Secrets are ASCII, so other escapes, which may be malformed, are left alone. `maskSecrets` calls this twice, because `normalisePath` escapes the percent signs of a malformed path once more. */
const unescapeAscii = (path: string): string =>
  path.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const withChecksum = (secret: string): string => secret + checksum(secret)

function hasValidChecksum(text: string): boolean {
  const end = text.length - checksumLength
  return text.slice(end) === checksum(text.slice(0, end))
}

export const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer')

/** The part of a key that lists show: the prefix and the next six characters. */
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
