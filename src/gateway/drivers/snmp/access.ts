// The credentials for an agent: the community of version 2c, or user, passwords and algorithms of version 3.
import type { User } from 'net-snmp'
import snmp from 'net-snmp'
import { DriverFailure, type DriverItem } from '../../driver.ts'
import { choiceOption } from '../item-options.ts'

export type SnmpAccess = { readonly community: string } | { readonly user: User }

const authProtocols = ['none', 'md5', 'sha', 'sha224', 'sha256', 'sha384', 'sha512'] as const
/** `aes256b` (Blumenthal) and `aes256r` (Reeder, as Cisco has it) make a 256-bit key of a short hash in two ways. DES is not offered: OpenSSL 3 no longer has it. */
const privProtocols = ['none', 'aes', 'aes256b', 'aes256r'] as const

/** Agents refuse shorter ones. [RFC 3414 11.2] */
const minPasswordLength = 8

export function accessOf(item: DriverItem): SnmpAccess {
  if (choiceOption(item, 'version', ['2c', '3'], '2c') === '2c') return { community: item.secret || 'public' }
  if (!item.username) throw new DriverFailure('REFUSED', 'SNMP version 3 needs a user name.')
  const auth = choiceOption(item, 'authProtocol', authProtocols, 'sha256')
  const priv = choiceOption(item, 'privProtocol', privProtocols, 'aes')
  const name = item.username
  if (auth === 'none') {
    if (priv === 'none') return { user: { name, level: snmp.SecurityLevel.noAuthNoPriv as number } }
    throw new DriverFailure('UNSUPPORTED', 'SNMP version 3 encrypts only with authentication: choose an authProtocol.')
  }
  const { secret = '' } = item
  const authenticated = { name, authProtocol: snmp.AuthProtocols[auth], authKey: checkedPassword(secret) }
  if (priv === 'none') return { user: { ...authenticated, level: snmp.SecurityLevel.authNoPriv as number } }
  return {
    user: {
      ...authenticated,
      level: snmp.SecurityLevel.authPriv as number,
      privProtocol: snmp.PrivProtocols[priv],
      // Many devices have one password for both.
      privKey: checkedPassword(String(item.options.privSecret || secret)),
    },
  }
}

function checkedPassword(password: string): string {
  if (password.length >= minPasswordLength) return password
  throw new DriverFailure('REFUSED', `A password of SNMP version 3 has at least ${minPasswordLength} characters.`)
}
