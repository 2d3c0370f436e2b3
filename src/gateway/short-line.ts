// Texts for people and logs: one line, limited, and without the passwords of devices.
import type { ListedGatewayTest } from '../contract/device/protocol.ts'
import { drivers, type ItemDriverId, isSourceType } from '../contract/fleet/drivers.ts'
import { maxReasonLength } from '../contract/fleet/gateways.ts'

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

/** The text without the item's passwords: a device can repeat what it was sent, and a driver can quote the device. */
export function withoutSecrets(
  { driver, secret, options }: Pick<ListedGatewayTest, 'secret' | 'options'> & { readonly driver: ItemDriverId },
  text: string,
): string {
  const fields = isSourceType(driver) ? undefined : drivers[driver]?.fields
  const names = fields?.filter((field) => field.secret && field.isOption).map(({ name }) => name) ?? []
  const secrets = [secret, ...names.map((name) => options[name])].filter(
    (value): value is string => typeof value === 'string' && value.length >= minSecretCharacters,
  )
  // One secret can start with another, and its end must not remain.
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((result, value) => result.replaceAll(value, '•••'), text)
}
