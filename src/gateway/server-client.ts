// The requests of a gateway to the server over HTTPS: its list of devices, enrolments, what it found at sources, and the answers to tests.
import { setTimeout as pause } from 'node:timers/promises'
import { retryAfterMs } from '../client/back-off.ts'
import {
  devicePaths,
  type EnrolAnswer,
  type GatewayDeviceList,
  type GatewayEnrolRequest,
  type GatewayTestAnswer,
  type SourceTestAnswer,
} from '../contract/device/protocol.ts'
import { structureParts } from '../contract/fleet/source-structure.ts'
import type { FoundDevices, ReportedStructure } from '../contract/fleet/sources.ts'

const requestTimeoutMs = 30_000
/** While people change many items, the version can change between two pages. */
const maxReadings = 5
/** The server enrols a device in a transaction of its own: more at the same time would only wait there. */
const maxConcurrentEnrolments = 8

/** The server refused a request, or did not answer. The message is a sentence. */
export class ServerRefusal extends Error {
  readonly retryAfterMs: number | undefined
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

export type DeviceList = Required<Omit<GatewayDeviceList, 'nextPageToken'>> & {
  /** False if the list changed while it was read: an item can be missing in it. */
  readonly isWhole: boolean
}

export class ServerClient {
  readonly #url: string
  readonly #authorization: string
  #enrolmentCount = 0
  readonly #waitingEnrolments: (() => void)[] = []

  constructor(url: string, { endpointId, credential }: EnrolAnswer) {
    this.#url = url.replace(/\/+$/, '')
    this.#authorization = `Basic ${btoa(`${endpointId}:${credential}`)}`
  }

  /** Reads all pages, and again if the list changed in between. */
  async readList(signal: AbortSignal): Promise<DeviceList> {
    for (let reading = 1; ; reading++) {
      const pages = await this.#readPages(signal)
      // A server that is older than this gateway knows no sources.
      const { version, tests, sources = [], sourceTests = [] } = pages[0] as GatewayDeviceList
      const isWhole = pages.every((page) => page.version === version)
      if (isWhole || reading >= maxReadings)
        return { version, tests, sources, sourceTests, devices: pages.flatMap(({ devices }) => devices), isWhole }
      await pause(200 * reading, undefined, { signal })
    }
  }

  async #readPages(signal: AbortSignal): Promise<GatewayDeviceList[]> {
    const pages: GatewayDeviceList[] = []
    let token: string | undefined
    do {
      const query = token === undefined ? '' : `?pageToken=${encodeURIComponent(token)}`
      const page = (await this.#send('GET', `${devicePaths.gatewayDevices}${query}`, signal)) as GatewayDeviceList
      if (!Array.isArray(page.devices)) throw new ServerRefusal('The answer did not come from Roomkeeper. Check --url.')
      pages.push(page)
      token = page.nextPageToken
    } while (token !== undefined)
    return pages
  }

  async enrol(deviceId: string, request: GatewayEnrolRequest, signal: AbortSignal): Promise<EnrolAnswer> {
    await this.#enrolmentTurn()
    try {
      const path = `${devicePaths.gatewayDevices}/${deviceId}/enrol`
      return (await this.#send('POST', path, signal, request)) as EnrolAnswer
    } finally {
      this.#enrolmentCount--
      this.#waitingEnrolments.shift()?.()
    }
  }

  async answerTest(testId: string, answer: GatewayTestAnswer, signal: AbortSignal): Promise<void> {
    await this.#send('POST', `${devicePaths.gatewayTests}/${testId}`, signal, answer)
  }

  async answerSourceTest(testId: string, answer: SourceTestAnswer, signal: AbortSignal): Promise<void> {
    await this.#send('POST', `${devicePaths.gatewaySourceTests}/${testId}`, signal, answer)
  }

  async reportFound(sourceId: string, report: FoundDevices, signal: AbortSignal): Promise<void> {
    await this.#send('POST', `${devicePaths.gatewaySources}/${sourceId}/devices`, signal, report)
  }

  async reportStructure(sourceId: string, report: ReportedStructure, signal: AbortSignal): Promise<void> {
    const path = `${devicePaths.gatewaySources}/${sourceId}/structure`
    for (const part of structureParts(report, new Date().toISOString())) await this.#send('PUT', path, signal, part)
  }

  async #enrolmentTurn(): Promise<void> {
    if (this.#enrolmentCount >= maxConcurrentEnrolments)
      await new Promise<void>((resolve) => this.#waitingEnrolments.push(resolve))
    this.#enrolmentCount++
  }

  async #send(method: string, path: string, signal: AbortSignal, body?: object): Promise<unknown> {
    const response = await fetch(this.#url + path, {
      method,
      // The credential must not follow a redirect to another host.
      redirect: 'error',
      headers: {
        authorization: this.#authorization,
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    }).catch((error: Error & { cause?: Error }) => {
      signal.throwIfAborted()
      throw new ServerRefusal(`The server did not answer: ${error.cause?.message ?? error.message}.`)
    })
    const answer = (await response.json().catch(() => undefined)) as { message?: string } | undefined
    if (response.ok && answer !== undefined) return answer
    signal.throwIfAborted()
    const message = answer?.message ?? 'The answer did not come from Roomkeeper, or broke off. Check --url.'
    throw new ServerRefusal(message, response.status, retryAfterMs(response.headers))
  }
}
