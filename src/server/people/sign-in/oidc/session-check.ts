// Asks the provider every 15 minutes of use whether the person of a session may still sign in. [contract 11.oidc]

import { setTimeout as delay } from 'node:timers/promises'
import { minuteMs } from '../../../../contract/durations.ts'
import type { TokenHolder } from '../../../auth/token-holder.ts'
import type { Services } from '../../../context/services.ts'
import { boundedCache } from '../../../core/bounded-cache.ts'
import type { Log } from '../../../core/log.ts'
import { change } from '../../../journal/audit/change.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import { readIdentity } from '../../identity/settings.ts'
import { claimCheck, updateCheckedAt, updateRefreshToken } from '../../sessions/provider-session-store.ts'
import { openRefreshToken, sealRefreshToken } from '../../sessions/refresh-token.ts'
import { systemSignInContext } from '../../sessions/sign-in-context.ts'
import { endSessions } from '../../users/end-sessions.ts'
import { findIdentityOfUser } from '../../users/identity-store.ts'
import type { LoadProviders } from './load-providers.ts'
import { ProviderError } from './provider-error.ts'
import { providerSettingsOf } from './provider-settings.ts'

/** A check begins in the background when the last one is this old, so that few requests have to wait for one. */
const earlyCheckMs = 12 * minuteMs
const checkIntervalMs = 15 * minuteMs
/** A node's claim on a check expires after this time, so that another node asks if the first has died. It is longer than any check takes. */
const claimMs = 2 * minuteMs
/** A provider that does not answer is asked again after this time. */
const retryAfterMs = minuteMs
const maxRetryTimes = 10_000

/** `unknown`: the provider gave no answer to the question. */
type CheckOutcome = 'passed' | 'ended' | 'unknown'

interface SessionCheckOptions {
  readonly services: Services
  readonly providers: LoadProviders
  readonly log: Log
}

export class SessionChecks {
  readonly #options: SessionCheckOptions
  readonly #running = new Map<string, Promise<CheckOutcome>>()
  /** The time at which a session may be checked again after a check without a result. */
  readonly #retryAt = boundedCache<number>(maxRetryTimes)
  /** The counters for the metrics. */
  readonly counts: Record<CheckOutcome, number> = { passed: 0, ended: 0, unknown: 0 }

  constructor(options: SessionCheckOptions) {
    this.#options = options
  }

  /** Is called with each session that was read from the database. Returns undefined if the provider has ended it. */
  recheck(holder: TokenHolder): TokenHolder | Promise<TokenHolder | undefined> {
    const { session } = holder
    const checkedAt = session?.checkedAt ?? undefined
    if (!session || checkedAt === undefined) return holder
    const ageMs = this.#options.services.clock.now() - checkedAt
    if (ageMs < earlyCheckMs) return holder
    const running = this.#start(holder, session.hash, checkedAt)
    if (!running || ageMs < checkIntervalMs) return holder
    // A slow provider must not stop people who are signed in.
    const wait = delay(this.#options.services.limits.sessionCheckMs, 'unknown' as const, { ref: false })
    return Promise.race([running, wait]).then((outcome) => (outcome === 'ended' ? undefined : holder))
  }

  /** Waits for the checks that run. */
  async close(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  #start(holder: TokenHolder, hash: Buffer, checkedAt: number): Promise<CheckOutcome> | undefined {
    const key = hash.toString('latin1')
    const current = this.#running.get(key)
    if (current) return current
    const { clock } = this.#options.services
    if ((this.#retryAt.get(key) ?? Number.NEGATIVE_INFINITY) > clock.now()) return undefined
    const check = this.#check(holder, hash, checkedAt)
      .catch((error): CheckOutcome => {
        const reason = error instanceof Error ? error.message : String(error)
        this.#options.log.warn({ org: holder.org.id, reason }, 'session not checked at the provider, trying again')
        return 'unknown'
      })
      .then((outcome) => {
        this.counts[outcome]++
        if (outcome === 'unknown') this.#retryAt.set(key, clock.now() + retryAfterMs)
        this.#running.delete(key)
        return outcome
      })
    this.#running.set(key, check)
    return check
  }

  async #check({ org, user }: TokenHolder, hash: Buffer, checkedAt: number): Promise<CheckOutcome> {
    const { db, clock } = this.#options.services
    const now = clock.now()
    // Back-dated, so that the session is due again when the claim expires.
    const claimedAt = now - earlyCheckMs + claimMs
    const claimed = await db.systemTransaction((tx) => claimCheck(tx, { hash, checkedAt, claimedAt }))
    // Another node has begun the check, or the session has ended.
    if (!claimed?.refresh_token || !user) return 'passed'
    const finish = (at: number) => db.systemTransaction((tx) => updateCheckedAt(tx, { hash, claimedAt, at }))
    try {
      const outcome = await this.#ask(org, user.id, hash, claimed.refresh_token)
      await finish(now)
      return outcome
    } catch (error) {
      await finish(checkedAt)
      throw error
    }
  }

  async #ask(org: TokenHolder['org'], user: number, hash: Buffer, sealedToken: Buffer): Promise<CheckOutcome> {
    const { services, providers } = this.#options
    const { db, secrets } = services
    const reader = db.forOrg(org.key)
    const settings = providerSettingsOf(secrets, await readIdentity(reader, secrets))
    const identity = await findIdentityOfUser(reader, { user })
    if (!settings || !identity) return 'passed'
    try {
      const session = { org: org.key, hash }
      const refreshToken = openRefreshToken(secrets, session, sealedToken)
      const next = await (await providers()).refresh(settings, refreshToken)
      if (next.refreshToken !== refreshToken) {
        const token = sealRefreshToken(secrets, session, next.refreshToken)
        await db.systemTransaction((tx) => updateRefreshToken(tx, { hash, token }))
      }
      await (await providers()).verifyRefreshed(settings, next, identity.subject)
      return 'passed'
    } catch (error) {
      if (!(error instanceof ProviderError && error.reason === 'invalid_grant')) throw error
      await endSessionsOf(services, org, user, identity.email)
      return 'ended'
    }
  }
}

async function endSessionsOf(services: Services, org: TokenHolder['org'], user: number, email: string): Promise<void> {
  await change(systemSignInContext(services, org), 'sessionRevoke', async (tx) => {
    const sessions = await endSessions(tx, user)
    return {
      result: undefined,
      target: auditRef('user', { id: user, name: email }),
      after: { reason: 'the provider refused the refresh token', sessions },
    }
  })
  services.keysChanged()
}
