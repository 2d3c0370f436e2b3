// Texts for people and logs: one line, limited, and without the passwords of devices and sources.
import type { ListedGatewayDevice, ListedGatewayTest, ListedSource } from '../contract/device/protocol.ts'
import { drivers, isSourceType } from '../contract/fleet/drivers.ts'
import { maxReasonLength } from '../contract/fleet/gateways.ts'
import { sourceSecretNames } from '../contract/fleet/sources.ts'

/** One line of well-formed text without control characters, cut to this many characters. The server refuses any other text. */
export function shortLine(text: string, maxCharacters = maxReasonLength): string {
  const line = text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= maxCharacters ? line : `${characters.slice(0, maxCharacters - 1).join('')}…`
}

/** Shorter secrets are words that occur by chance. */
const minSecretCharacters = 4
/** A private key is masked line by line too, because a text can quote a part of it. */
const minKeyLineCharacters = 16

type Item = Pick<ListedGatewayTest, 'secret' | 'options'> & Pick<ListedGatewayDevice, 'driver'>

/** The passwords of an item. A device of a source has none of its own. */
export function secretsOfItem({ driver, secret, options }: Item): string[] {
  const fields = isSourceType(driver) ? [] : (drivers[driver]?.fields ?? [])
  const names = fields.filter((field) => field.secret && field.isOption).map(({ name }) => name)
  return [secret, ...names.map((name) => options[name])].filter((value) => typeof value === 'string')
}

export function secretsOfSource(source: Pick<ListedSource, (typeof sourceSecretNames)[number]>): string[] {
  return sourceSecretNames.flatMap((name) => {
    const secret = source[name] ?? ''
    const lines = secret.split('\n').filter((line) => line.length >= minKeyLineCharacters && !line.startsWith('-----'))
    return [secret, ...lines]
  })
}

/** The text without the passwords: a device can repeat what it was sent, and a driver can quote the device. */
export function withoutSecrets(secrets: readonly string[], text: string): string {
  // One secret can start with another, and its end must not remain.
  const longestFirst = secrets
    .filter((secret) => secret.length >= minSecretCharacters)
    .toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((result, value) => result.replaceAll(value, '•••'), text)
}
