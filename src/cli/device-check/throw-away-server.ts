// A real server in a temporary folder, with one room, whose addresses are those of the relays.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, makeClient } from '../../client/client.ts'
import { type Service, startService } from '../../server/app.ts'
import { makeLog } from '../../server/core/log.ts'

export class ThrowAwayServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'roomkeeper-device-check-'))
  readonly #publicUrl: string
  readonly #publicMqttUrl: string
  #service: Service | undefined
  #access: { readonly org: string; readonly key: string } | undefined

  constructor(publicUrl: string, publicMqttUrl: string) {
    this.#publicUrl = publicUrl
    this.#publicMqttUrl = publicMqttUrl
  }

  /** Returns the ports on this machine, which differ from start to start. */
  async start(): Promise<{ readonly port: number; readonly mqttPort: number | undefined }> {
    const loopback = '127.0.0.1'
    const service = await startService(
      {
        dataDir: this.#folder,
        host: loopback,
        port: 0,
        mqttHost: loopback,
        mqttPort: 0,
        mqttTlsPort: 'off',
        healthHost: loopback,
        healthPort: 'off',
        publicUrl: this.#publicUrl,
        publicMqttUrl: [this.#publicMqttUrl],
        rateLimit: 0,
        authFailureLimit: 0,
        logLevel: 'silent',
        logRequests: 'none',
      },
      makeLog('silent'),
    )
    this.#service = service
    const { first } = service
    if (first?.key !== undefined) this.#access = { org: first.org, key: first.key }
    return { port: Number(new URL(service.url).port), mqttPort: service.mqttPort }
  }

  /** The API as an operator uses it. */
  get client(): Client {
    const { org = '', key = '' } = this.#access ?? {}
    return makeClient({ baseUrl: this.#service?.url ?? '', org, token: key })
  }

  /** Creates a room and returns its enrolment code. */
  async createRoom(): Promise<string> {
    const { body } = await this.client.roomsCreate({ body: { name: 'Device check' } })
    return body.dec ?? ''
  }

  async stop(): Promise<void> {
    const service = this.#service
    this.#service = undefined
    await service?.close()
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
