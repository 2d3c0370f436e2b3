// The requests to Neat Pulse: each in its turn and with its answer checked; a request that changes something is sent once.
import { minuteMs, secondMs } from '../../../contract/durations.ts'
import { shortLine } from '../../short-line.ts'
import { type HttpAnswer, HttpFailure, SourceHttp } from '../http-client.ts'
import { type SourceContext, SourceFailure, type SourceSettings } from '../source.ts'
import {
  type AnswerObject,
  type DeviceSensorData,
  isObject,
  listedDevice,
  listInAnswer,
  nextPageOf,
  type PulseDevice,
  parseAnswer,
  sensorDataByDevice,
} from './answers.ts'
import { type RequestPace, type TurnKind, turnKinds } from './request-pace.ts'

/** Without a Retry-After, as other clients of Neat Pulse do. */
const usualPauseMs = minuteMs
/** A longer pause counts as a failure of the source. */
const maxPauseMs = 2 * minuteMs
/** A key cannot be locked by trying it again. */
const refusedRetryMs = 2 * minuteMs
/** A command is valid for five minutes. */
const maxCommandWaitMs = 2 * minuteMs
const commandTimeoutMs = 20 * secondMs
const maxPages = 100

/** The outcome of a request that changes something. */
export type WriteOutcome =
  | { readonly kind: 'accepted'; readonly answer: unknown }
  /** Nothing was changed. `fields` are those that the answer names. */
  | { readonly kind: 'refused'; readonly reason: string; readonly fields: readonly string[] }
  /** Nothing was changed, and it can be tried later. */
  | { readonly kind: 'later'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

export class Upstream {
  readonly host: string
  readonly #http: SourceHttp
  readonly #pace: RequestPace
  readonly #signal: AbortSignal
  readonly #base: string
  readonly #key: string
  readonly #orgId: string
  readonly #messages = new Map<string, Batch>()
  readonly #bugReports = new Map<string, Batch>()

  constructor(
    settings: SourceSettings,
    { network, signal }: Pick<SourceContext, 'network' | 'signal'>,
    pace: RequestPace,
  ) {
    // The version belongs to the paths; people also enter the address with it.
    const url = settings.url.replace(/\/+$/, '').replace(/\/v1$/, '')
    const { fingerprint, authority, key = '', orgId = '' } = settings
    this.#http = new SourceHttp({ url, network, signal, fingerprint, authority })
    this.host = new URL(url).host
    this.#pace = pace
    this.#signal = signal
    this.#orgId = orgId
    this.#base = `/v1/orgs/${encodeURIComponent(orgId)}`
    this.#key = key
  }

  get certificate() {
    return this.#http.certificate
  }

  /** Throws if the source wants no requests for longer than this: another session with it may have been told so. */
  requireNoPause(maxMs: number): void {
    const { pauseMs } = this.#pace
    if (pauseMs > maxMs) throw this.#limited(pauseMs)
  }

  async devices(kind: TurnKind): Promise<readonly PulseDevice[]> {
    const found = await this.list(kind, '/endpoints', 'endpoints')
    return (found ?? []).map((fields) => listedDevice(fields, this.host))
  }

  async sensorData(): Promise<ReadonlyMap<string, DeviceSensorData | undefined>> {
    const answer = await this.#read('list', '/endpoints/sensor')
    // An organisation without devices is an error at some versions.
    return answer === undefined ? new Map() : sensorDataByDevice(answer, this.host)
  }

  /** All pages of a list; undefined if the source has no such list, or does not show it to this key. */
  async list(
    kind: TurnKind,
    path: string,
    key: string,
    missingStatuses: readonly number[] = [],
  ): Promise<readonly AnswerObject[] | undefined> {
    const items: AnswerObject[] = []
    let token: string | undefined
    for (let pageCount = 0; pageCount < maxPages; pageCount++) {
      const answer = await this.#read(
        kind,
        token === undefined ? path : `${path}?pageToken=${encodeURIComponent(token)}`,
        missingStatuses,
      )
      if (answer === undefined && path === '/endpoints') throw this.#unknownOrganisation()
      if (answer === undefined) return undefined
      items.push(...listInAnswer(answer, key, this.host))
      token = nextPageOf(answer)
      if (token === undefined) return items
    }
    throw new SourceFailure('FAILING', `${this.host} has more than ${maxPages} pages of ${key}.`)
  }

  /** Reads one thing; undefined if the source does not have it. */
  async object(kind: TurnKind, path: string): Promise<AnswerObject | undefined> {
    const answer = await this.#read(kind, path)
    if (answer === undefined || isObject(answer)) return answer
    throw new SourceFailure('FAILING', `${this.host} sent no object for ${path}. Its interface may have changed.`)
  }

  applyConfig(id: string, config: AnswerObject): Promise<WriteOutcome> {
    return this.#write(`/endpoints/${encodeURIComponent(id)}/config`, () => config)
  }

  /** Restarts the device and everything that is paired with it. */
  reboot(id: string): Promise<WriteOutcome> {
    return this.#write(`/endpoints/${encodeURIComponent(id)}/reboot`, () => ({}))
  }

  /** The devices for which the same message waits for its turn get it with one request. */
  message(id: string, message: string): Promise<WriteOutcome> {
    return this.#batched(this.#messages, message, id, '/endpoints/send_message', (endpointIds) => ({
      message,
      endpointIds,
    }))
  }

  bugReport(id: string, inCallLogs: boolean): Promise<WriteOutcome> {
    const path = `/endpoints/generate_bug_report?uploadInCallLogs=${inCallLogs}`
    return this.#batched(this.#bugReports, String(inCallLogs), id, path, (endpointIds) => endpointIds)
  }

  async close(): Promise<void> {
    await this.#http.close()
  }

  /** Reads an answer; undefined if its status says that the source does not have the thing. Rejects with a SourceFailure. */
  async #read(kind: TurnKind, path: string, missingStatuses: readonly number[] = []): Promise<unknown> {
    this.requireNoPause(maxPauseMs)
    await this.#pace.turn(kind, this.#signal)
    const answer = await this.#http.send({ path: this.#base + path, headers: this.#headers() })
    const { status } = answer
    if (missingStatuses.includes(status) || (status === 404 && isErrorOfService(answer))) return undefined
    if (status !== 200) throw this.#failureOf(answer)
    return parseAnswer(answer.text, answer.headers.get('content-type'), this.host)
  }

  /** Never rejects, and never sends a request again. */
  async #write(path: string, bodyOf: () => unknown): Promise<WriteOutcome> {
    const waitMs = this.#pace.pauseMs
    if (waitMs > maxCommandWaitMs)
      return { kind: 'later', reason: `${this.host} wants no requests for ${seconds(waitMs)}. Nothing was sent.` }
    try {
      const wait = AbortSignal.any([this.#signal, AbortSignal.timeout(maxCommandWaitMs)])
      await this.#pace.turn(turnKinds[0], wait)
    } catch {
      return { kind: 'later', reason: `Too many requests to ${this.host} are waiting. Nothing was sent.` }
    }
    try {
      const answer = await this.#http.send({
        method: 'POST',
        path: this.#base + path,
        headers: { ...this.#headers(), 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf()),
        timeoutMs: commandTimeoutMs,
      })
      return this.#outcomeOf(answer)
    } catch (error) {
      const reason = this.#line((error as Error).message)
      const wasSent = !(error instanceof HttpFailure) || error.wasSent
      return wasSent ? { kind: 'unknown', reason } : { kind: 'later', reason: `${reason} Nothing was sent.` }
    }
  }

  async #batched(
    batches: Map<string, Batch>,
    content: string,
    id: string,
    path: string,
    bodyOf: (ids: readonly string[]) => unknown,
  ): Promise<WriteOutcome> {
    const waiting = batches.get(content)
    if (waiting && !waiting.ids.includes(id)) {
      waiting.ids.push(id)
      return waiting.outcome
    }
    const ids = [id]
    const outcome = this.#write(path, () => {
      if (batches.get(content)?.ids === ids) batches.delete(content)
      return bodyOf(ids)
    })
    batches.set(content, { ids, outcome })
    return outcome.finally(() => {
      if (batches.get(content)?.ids === ids) batches.delete(content)
    })
  }

  #outcomeOf(answer: HttpAnswer): WriteOutcome {
    const { status, text, headers } = answer
    if (status === 200) {
      if (text === '') return { kind: 'accepted', answer: {} }
      try {
        return { kind: 'accepted', answer: parseAnswer(text, headers.get('content-type'), this.host) }
      } catch (error) {
        return { kind: 'unknown', reason: (error as Error).message }
      }
    }
    if (status === 429) {
      const { message } = this.#failureOf(answer)
      return { kind: 'later', reason: `${message} Nothing was sent.` }
    }
    if (status === 401) return { kind: 'later', reason: this.#failureOf(answer).message }
    const { reason, fields } = errorIn(text)
    const words = this.#line(reason ?? `${this.host} answers with status ${status}.`)
    if (status >= 500 || status < 400) return { kind: 'unknown', reason: words }
    return { kind: 'refused', reason: words, fields }
  }

  #failureOf(answer: HttpAnswer): SourceFailure {
    const { status, text } = answer
    const words = errorIn(text).reason
    const said = words === undefined ? '' : ` It says: ${this.#line(words)}`
    if (status === 401)
      return new SourceFailure(
        'REFUSED',
        `${this.host} refuses the API key (401). Create a new key there, and enter it for this source.`,
        { retryAfterMs: refusedRetryMs },
      )
    if (status === 403)
      return new SourceFailure('REFUSED', `The API key may not read everything at ${this.host} (403).${said}`, {
        retryAfterMs: refusedRetryMs,
      })
    if (status === 429 || (status === 503 && answer.retryAfterMs !== undefined)) {
      const pauseMs = answer.retryAfterMs ?? usualPauseMs
      this.#pace.pauseFor(pauseMs)
      return status === 429
        ? this.#limited(pauseMs)
        : new SourceFailure('FAILING', `${this.host} is not available (503).${said}`, { retryAfterMs: pauseMs })
    }
    if (status === 404)
      return new SourceFailure(
        'FAILING',
        `${this.host} does not have the interface of Neat Pulse at this address (404).`,
      )
    return new SourceFailure('FAILING', `${this.host} answers with status ${status}.${said}`)
  }

  #limited(pauseMs: number): SourceFailure {
    const reason = `${this.host} limits the requests of this organisation (429) and wants none for ${seconds(pauseMs)}. Other programs can use up the limit too.`
    return new SourceFailure('FAILING', reason, { retryAfterMs: pauseMs })
  }

  #unknownOrganisation(): SourceFailure {
    const reason = `${this.host} does not know the organisation ${this.#orgId}, or the API key belongs to another one.`
    return new SourceFailure('REFUSED', reason, { retryAfterMs: refusedRetryMs })
  }

  #headers() {
    return { accept: 'application/json', authorization: `Bearer ${this.#key}` }
  }

  /** A service can repeat what it was sent. */
  #line(text: string): string {
    return shortLine(this.#key === '' ? text : text.replaceAll(this.#key, '•••'))
  }
}

interface Batch {
  readonly ids: string[]
  readonly outcome: Promise<WriteOutcome>
}

const seconds = (ms: number): string => `${Math.ceil(ms / secondMs)} s`

/** The error in words, and the fields that it names. */
function errorIn(text: string): { readonly reason?: string; readonly fields: readonly string[] } {
  try {
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer)) return { fields: [] }
    const { message, violations } = answer
    const fields = Array.isArray(violations) ? violations.map((one) => (isObject(one) ? one.field : undefined)) : []
    return {
      ...(typeof message === 'string' && { reason: message }),
      fields: fields.filter((field) => typeof field === 'string'),
    }
  } catch {
    return { fields: [] }
  }
}

/** A proxy, or a wrong address, answers 404 too. */
const isErrorOfService = ({ text }: HttpAnswer): boolean => errorIn(text).reason !== undefined
