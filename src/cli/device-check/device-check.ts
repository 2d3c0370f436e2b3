// `roomkeeper device-check`: starts a throw-away server, walks a device through the protocol, and prints what it did.
import { readFileSync } from 'node:fs'
import { StartupError } from '../../server/core/failure.ts'
import { programVersion } from '../../server/core/program-files.ts'
import { printResult, type Terminal } from '../terminal/terminal.ts'
import { checks } from './checks.ts'
import { type Facts, newFacts } from './facts.ts'
import { HttpRelay } from './http-relay.ts'
import { MqttRelay } from './mqtt-relay.ts'
import { allSteps, neededSteps, type Step, walkSteps } from './steps.ts'
import { ThrowAwayServer } from './throw-away-server.ts'
import type { DeviceVerdict } from './verdict.ts'
import { Walk } from './walk.ts'

export interface DeviceCheckOptions {
  readonly host: string
  readonly port: number
  readonly mqttPort: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly wait: number
  readonly sampleWait: number
  readonly only?: readonly Step[]
  readonly json?: boolean
}

interface Result {
  readonly id: string
  readonly step: string
  readonly state: DeviceVerdict['state'] | 'not run'
  readonly expects: string
  readonly seen?: string
  /** Present if the verdict is wrong. */
  readonly advice?: string
  readonly section: string
  readonly link: string
}

export async function deviceCheckCommand(terminal: Terminal, options: DeviceCheckOptions): Promise<void> {
  const { host, json } = options
  if (host === '0.0.0.0' || host === '::')
    throw new StartupError('--host must be the address that the device uses, such as 192.168.1.10.')
  const stop = new AbortController()
  void terminal.untilStopped().then(() => stop.abort())
  const tls = readCertificate(options)
  const facts = newFacts()
  const mqtt = new MqttRelay(facts.connections)
  const http = new HttpRelay({
    stage: (method, path) => walk.stage(method, path),
    onExchange: (exchange) => walk.note(exchange),
    onSocket: (socket) => mqtt.accept(socket),
  })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => mqtt.close())
  stack.defer(() => http.close())
  const port = await http.listen({ host, port: options.port, tls }).catch(cannotListen('--port'))
  const mqttPort = await mqtt.listen({ host, port: options.mqttPort, tls }).catch(cannotListen('--mqtt-port'))
  const name = host.includes(':') ? `[${host}]` : host
  const address = `${tls ? 'https' : 'http'}://${name}:${port}`
  const server = new ThrowAwayServer(address, `${tls ? 'mqtts' : 'mqtt'}://${name}:${mqttPort}`)
  stack.defer(() => server.remove())
  const chosen = allSteps.filter((step) => neededSteps.includes(step) || (options.only?.includes(step) ?? true))
  const walk = new Walk(facts, server, http, mqtt, {
    waitSeconds: options.wait,
    sampleSeconds: options.sampleWait,
    steps: chosen,
    signal: stop.signal,
    onStep: (step) => {
      const { title, does } = walkSteps[step]
      terminal.writeError(`Step ${chosen.indexOf(step) + 1} of ${chosen.length}: ${title}. ${does}`)
    },
  })
  await walk.startServer()
  const say = (text: string) => (json ? terminal.writeError(text) : terminal.write(text))
  say(`Enrol your device now, within ${options.wait} s:

  Address  ${address}
  Code     ${await server.createRoom()}
`)
  await walk.run()
  report(terminal, facts, stop.signal.aborted, json)
}

function report(terminal: Terminal, facts: Facts, isStopped: boolean, json: boolean | undefined): void {
  const results = checks.map((check): Result => {
    const { id, step, expects, section } = check
    const link = `docs/device-protocol.md#${anchorOf(section)}`
    if (!facts.walked.has(step)) return { id, step, state: 'not run', expects, section, link }
    const { state, seen } = check.judge(facts)
    const advice = state === 'wrong' ? { advice: check.advice } : {}
    return { id, step, state, expects, ...(seen !== undefined && { seen }), ...advice, section, link }
  })
  const idsOf = (state: Result['state']) => results.filter((result) => result.state === state).map(({ id }) => id)
  const [rightIds, wrongIds, neverIds, notRunIds] = [idsOf('right'), idsOf('wrong'), idsOf('never'), idsOf('not run')]
  const counts = { right: rightIds.length, wrong: wrongIds.length, never: neverIds.length, notRun: notRunIds.length }
  const ok = counts.wrong === 0 && !isStopped
  const skipped = allSteps.filter((step) => !facts.walked.has(step)).map((step) => walkSteps[step].title)
  const lines = [
    ...allSteps
      .filter((step) => facts.walked.has(step))
      .flatMap((step) => [
        walkSteps[step].title,
        ...results.filter((result) => result.step === step).flatMap(linesOf),
        '',
      ]),
    ...(skipped.length > 0 ? [`Not run: ${skipped.join(', ')}.`] : []),
    `${counts.right} right, ${counts.wrong} wrong, ${counts.never} never seen.`,
    ...(counts.wrong > 0 ? [`Wrong: ${wrongIds.join(', ')}.`] : []),
  ]
  printResult(terminal, json, { ok, ...programVersion(), counts, checks: results }, lines)
  if (isStopped) throw new StartupError('Stopped before the end.')
  if (!ok) throw new StartupError(counts.wrong === 1 ? '1 check failed.' : `${counts.wrong} checks failed.`)
}

function linesOf({ state, id, expects, seen, advice, section, link }: Result): string[] {
  const mark = state === 'wrong' ? 'WRONG' : state
  const details = [
    ...(seen === undefined ? [] : [`seen: ${seen}`]),
    ...(advice === undefined ? [] : [`do:   ${advice}`, `read: ${section}, ${link}`]),
  ]
  return [`  ${mark}  ${id.padEnd(22)}  ${expects}`, ...details.map((line) => `         ${line}`)]
}

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (section: string): string =>
  section
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')

function readCertificate({ tlsCert, tlsKey }: DeviceCheckOptions) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw new StartupError('--tls-cert and --tls-key belong together. Give both.')
  try {
    return { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) }
  } catch (error) {
    throw new StartupError(`Cannot read the certificate: ${(error as Error).message}. Check --tls-cert and --tls-key.`)
  }
}

const cannotListen = (option: string) => (error: NodeJS.ErrnoException) => {
  throw new StartupError(`Cannot listen (${error.code}). Choose another ${option}, or another --host.`)
}
