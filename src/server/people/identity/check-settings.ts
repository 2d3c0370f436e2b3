// Checks new settings of an identity provider before they are stored, and says what is wrong with them.

import type { Violation } from '../../../contract/error.ts'
import { invalid } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { unknownRegions } from '../../fleet/regions/requested-regions.ts'
import type { ProviderIdentitySettings } from './settings.ts'

const domain = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/

/** Returns the settings in the form in which they are stored. Throws a failure with a violation for each wrong value. */
export async function checkSettings(tx: Tx, given: ProviderIdentitySettings): Promise<ProviderIdentitySettings> {
  const settings = {
    ...given,
    scopes: [...new Set(['openid', ...given.scopes])],
    trustedDomains: [...new Set(given.trustedDomains.map((name) => name.toLowerCase()))],
  }
  const problems = [
    ...issuerProblems(settings.issuer),
    ...settings.scopes.flatMap((scope, i) =>
      /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope) ? [] : [{ field: `scopes[${i}]`, error: 'must be one word' }],
    ),
    ...settings.trustedDomains.flatMap((name, i) =>
      domain.test(name) ? [] : [{ field: `trustedDomains[${i}]`, error: 'must be a domain such as example.org' }],
    ),
    ...(await unknownRegions(
      tx,
      settings.groupRoles.map(({ regionIds = [] }, i) => [`groupRoles[${i}].regionIds`, regionIds] as const),
    )),
  ]
  if (problems.length > 0) throw invalid(problems)
  return settings
}

/** The guard for outgoing requests decides which addresses may be called, and whether without TLS. */
function issuerProblems(issuer: string | undefined): Violation[] {
  if (issuer === undefined) return []
  const url = URL.parse(issuer)
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!isAddress || /[?#\s]/.test(issuer)) {
    return [{ field: 'issuer', error: 'must be an address such as https://login.example.org, without a query' }]
  }
  if (!url.pathname.includes('/.well-known/')) return []
  return [{ field: 'issuer', error: 'must be the issuer, which is the part before /.well-known' }]
}
