// The driver for anything with a port: it connects at intervals, and says whether and how fast the device answers, and with which certificate.
import type { Socket } from 'node:net'
import { type EndpointKind, endpointKinds } from '../../../contract/device/models.ts'
import { dayMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import type {
  DeviceCertificate,
  DeviceIdentity,
  DeviceNetwork,
  Driver,
  DriverContext,
  DriverItem,
  DriverSession,
} from '../../driver.ts'
import { choiceOption, numberOption, textOption } from '../item-options.ts'
import { type DeviceStatus, PolledSession, type PollLimits, usualPollLimits } from '../polled-session.ts'
import { certificateDay, certificateFaults, type ReachFault } from './certificate-faults.ts'
import { type CheckedPage, getPage, type PageRequest, pageFaults } from './page.ts'

export interface ReachLimits extends PollLimits {
  /** For a whole check: connection, certificate and answer. */
  readonly checkMs: number
}
export const usualReachLimits: ReachLimits = { ...usualPollLimits, checkMs: 8 * secondMs }

const checks = ['tcp', 'tls', 'http', 'https'] as const
type Check = (typeof checks)[number]

/** Models of devices for which the person named none. */
const models: Readonly<Record<Check, string>> = {
  tcp: 'TCP service',
  tls: 'TLS service',
  http: 'Web server',
  https: 'Web server',
}

interface CheckRequest extends PageRequest {
  readonly check: Check
  readonly port: number
  readonly fingerprint: string | undefined
  readonly warningDays: number
}

interface CheckResult {
  readonly address: string | undefined
  readonly responseMs: number
  readonly certificate?: DeviceCertificate | undefined
  readonly tlsVersion?: string | undefined
  readonly page?: CheckedPage | undefined
}

export class ReachDriver implements Driver {
  readonly #limits: ReachLimits

  constructor(limits: ReachLimits = usualReachLimits) {
    this.#limits = limits
  }

  async open(item: DriverItem, { network, signal }: DriverContext): Promise<DriverSession> {
    const limits = this.#limits
    const intervalMs = numberOption(item, 'pollSeconds', limits.pollSeconds) * secondMs
    const request = requestOf(item)
    const fields = fieldsOf(item)
    const responseTime = new SteadyValue()
    const ending = new AbortController()
    const until = AbortSignal.any([signal, ending.signal])
    const ask = () => runCheck(network, request, limits.checkMs, until)
    const first = await ask()
    const identity: DeviceIdentity = {
      manufacturer: fields.manufacturer,
      model: textOption(item, 'model')?.slice(0, 64) ?? models[request.check],
      certificate: first.certificate,
    }
    const status = (result: CheckResult): DeviceStatus => ({ ...fields, ...statusOf(request, result, responseTime) })
    return PolledSession.start({
      identity,
      status: status(first),
      intervalMs,
      limits,
      signal,
      poll: async () => status(await ask()),
      close: () => ending.abort(),
    })
  }
}

const requestOf = (item: DriverItem): CheckRequest => ({
  check: choiceOption(item, 'check', checks, 'https'),
  host: item.host,
  port: item.port,
  path: textOption(item, 'path') ?? '/',
  expectedText: textOption(item, 'expectedText'),
  // 0, like an empty field, means any status below 500.
  expectedStatus: numberOption(item, 'expectedStatus', { min: 0, max: 599, usual: 0 }) || undefined,
  fingerprint: item.fingerprint,
  warningDays: numberOption(item, 'certificateDays', { min: 0, max: 365, usual: 21 }),
})

/** A port does not tell what it belongs to, so a person says it. */
function fieldsOf(item: DriverItem): { kind: EndpointKind; manufacturer: string | undefined; actions: [] } {
  const kind = choiceOption(item, 'kind', endpointKinds, 'OTHER')
  return { kind, manufacturer: textOption(item, 'manufacturer')?.slice(0, 255), actions: [] }
}

/** Rejects with a DriverFailure. */
async function runCheck(
  network: DeviceNetwork,
  request: CheckRequest,
  checkMs: number,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { check, host, port, fingerprint } = request
  const startedAt = performance.now()
  const passedMs = () => performance.now() - startedAt
  const to = { host, port, timeoutMs: checkMs, signal }
  const isTls = check === 'tls' || check === 'https'
  const tls = isTls
    ? await network.connectTls({ ...to, fingerprint, allowsOldTls: true, allowsUntrusted: true })
    : undefined
  const socket: Socket = tls?.socket ?? (await network.connect(to))
  try {
    const connectedMs = passedMs()
    // A closed socket no longer has them.
    const address = socket.remoteAddress
    const tlsVersion = tls?.socket.getProtocol() ?? undefined
    const isPage = check === 'http' || check === 'https'
    const page = isPage ? await getPage(socket, request, isTls, checkMs - connectedMs) : undefined
    return {
      address,
      responseMs: page ? connectedMs + page.answeredMs : connectedMs,
      certificate: tls?.certificate,
      tlsVersion,
      page,
    }
  } finally {
    socket.destroy()
  }
}

function statusOf(request: CheckRequest, result: CheckResult, responseTime: SteadyValue): DeviceStatus {
  const { address, responseMs, certificate, tlsVersion, page } = result
  const faults: ReachFault[] = [
    ...(certificate ? certificateFaults(certificate.validUntil, request.warningDays, Date.now()) : []),
    ...(page ? pageFaults(page, request) : []),
  ]
  const ends = certificate && certificateDay(certificate.validUntil)
  const trust = certificate?.isTrusted
    ? 'a known authority confirms it'
    : 'no known authority confirms it for this host'
  return {
    localIpAddress: address,
    faults,
    readings: [
      { name: 'responseTime', value: responseTime.next(responseMs, performance.now()), unit: 'ms' },
      ...(certificate && ends
        ? [{ name: 'certificateDays', value: daysUntil(certificate.validUntil), unit: 'd' }]
        : []),
    ],
    facts: [
      ...(page ? [{ name: 'httpStatus', text: String(page.status) }] : []),
      ...(ends ? [{ name: 'certificate', text: `Valid until ${ends}; ${trust}.` }] : []),
      ...(tlsVersion ? [{ name: 'tlsVersion', text: tlsVersion }] : []),
    ],
  }
}

/** Whole days, which change once a day. */
const daysUntil = (date: Date): number => Math.floor((date.getTime() - Date.now()) / dayMs)

/** A report for each poll would load the server without telling anything new. */
const maxValueAgeMs = 15 * minuteMs
const minChangeMs = 50

/** A value that differs each time, such as a response time. It is reported only when it has changed much, or is old. */
class SteadyValue {
  #shown = Number.NaN
  #shownAt = 0

  /** The value to report, in whole milliseconds. */
  next(measuredMs: number, now: number): number {
    const changeMs = Math.abs(measuredMs - this.#shown)
    const isNear = changeMs < minChangeMs || changeMs < this.#shown / 2
    if (isNear && now - this.#shownAt < maxValueAgeMs) return this.#shown
    this.#shown = Math.round(measuredMs)
    this.#shownAt = now
    return this.#shown
  }
}
