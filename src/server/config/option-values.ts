// Parses the values of options. A wrong value is refused with a sentence that names the option.
import { isIP } from 'node:net'
import { StartupError } from '../core/failure.ts'
import { parseAllowItem } from '../outbound/allow-list.ts'

export const maxRetentionDays = 3650

export const parseWhole = (name: string, min: number, max: number) => (text: string) => {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new StartupError(`${name} must be a whole number from ${min} to ${max}, not "${text}".`)
}

export const parsePortOrOff = (name: string) => (text: string) => {
  if (text === 'off') return text
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value <= 65535) return value
  throw new StartupError(`${name} must be a port from 0 to 65535, or off, not "${text}".`)
}

/** The option may be repeated, or have several values separated by commas. */
export const parseList = (parse: (item: string) => string) => (text: string, before?: unknown) => [
  ...(Array.isArray(before) ? before : []),
  ...text.split(',').map((item) => parse(item.trim())),
]

const url = (name: string) => (text: string) => {
  if (/^https?:\/\/[^\s/?#]+\/*$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new StartupError(`${name} must be an address such as https://rooms.example.org, not "${text}".`)
}

/** A path is allowed for a service below a path of its host. Only characters that no proxy and no cookie has to escape are. */
export const parsePublicUrl = (name: string) => (text: string) => {
  const [, address = '', path = ''] = /^(https?:\/\/[^\s/?#]+)((?:\/[\w.~-]+)*)\/*$/.exec(text) ?? []
  const hasDotSegment = /\/\.{1,2}(?:\/|$)/.test(path)
  if (address !== '' && URL.canParse(address) && !hasDotSegment) return address + path
  throw new StartupError(
    `${name} must be an address such as https://rooms.example.org or https://example.org/rooms, not "${text}".`,
  )
}

export const parseOrigin = (text: string) => new URL(url('--cors-origin')(text)).origin

export const parseMqttUrl = (text: string) => {
  if (/^mqtts?:\/\/[^\s/?#@]+\/?$/.test(text) && URL.canParse(text)) {
    const { protocol, hostname, port } = new URL(text)
    if (hostname !== '') return `${protocol}//${hostname}:${port || (protocol === 'mqtts:' ? 8883 : 1883)}`
  }
  throw new StartupError(`--public-mqtt-url must be an address such as mqtts://rooms.example.org:8883, not "${text}".`)
}

/** The address may contain a password, so the error does not repeat it. */
export const parseSmtpUrl = (text: string) => {
  if (/^smtps?:\/\/\S+$/.test(text) && URL.parse(text)?.hostname) return text
  throw new StartupError(
    '--smtp-url must be an address such as smtps://user:password@mail.example.org, or smtp:// for a server that begins without TLS.',
  )
}

export const parseSmtpFrom = (text: string) => {
  if (/^(?:[^<>@\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(text)) return text
  throw new StartupError(`--smtp-from must be an address such as "Roomkeeper <rooms@example.org>", not "${text}".`)
}

export const parseAddressRange = (name: string) => (item: string) => {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? []
  const family = isIP(address)
  if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) return item
  throw new StartupError(`${name} must be an address or CIDR such as 10.0.0.0/8, not "${item}".`)
}

/** An organisation and a room, as the addresses of the API name them. */
export const parseGatewayRoom = (text: string) => {
  const [, org = '', room = ''] = /^([^/\s]+)\/(\d{1,10})$/.exec(text) ?? []
  if (org !== '') return { org, roomId: Number(room) }
  throw new StartupError(`--gateway must be an organisation and a room, such as wiL66VP/7, not "${text}".`)
}

export const parseOutboundAllow = (item: string) => {
  if (parseAllowItem(item)) return item
  throw new StartupError(
    `--outbound-allow must be a host name, an address or a CIDR, with or without a port, such as idp.example.lan:8443 or 10.0.0.0/8, not "${item}".`,
  )
}

export const parseDaysOrEver = (name: string) => (text: string) => {
  if (text === 'ever') return text
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= 1 && value <= maxRetentionDays) return value
  throw new StartupError(
    `${name} must be a whole number of days from 1 to ${maxRetentionDays}, or ever, not "${text}".`,
  )
}

export const parseOneOf = (name: string, choices: readonly string[]) => (text: string) => {
  if (choices.includes(text)) return text
  throw new StartupError(`${name} must be one of ${choices.join(', ')}, not "${text}".`)
}

export const parseNodeName = (text: string) => {
  if (/^[\w.:-]{1,64}$/.test(text)) return text
  throw new StartupError(
    `--node-name must be 1 to 64 letters, digits and the characters . : - _ , such as rooms-1, not "${text}".`,
  )
}
