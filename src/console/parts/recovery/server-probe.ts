// Asks the server whether it answers, and whether it serves the build of the console that runs in this tab.

import { pathUnderBase } from '../../base-path.ts'

export type ProbeResult = 'unreachable' | 'updated' | 'same build'

const probeTimeoutMs = 10_000
/** The name of the entry script contains a hash of its content, so it names the build. */
const entryScript = /<script type="module"[^>]* src="[^"]*?([^/"]+\.js)"/

let running: Promise<ProbeResult> | undefined

/** Several parts of a page may wait for the server at the same time; they share one request. */
export function probeServer(): Promise<ProbeResult> {
  running ??= probe().finally(() => {
    running = undefined
  })
  return running
}

async function probe(): Promise<ProbeResult> {
  try {
    const response = await fetch(pathUnderBase('/'), {
      cache: 'no-store',
      headers: { Accept: 'text/html' },
      signal: AbortSignal.timeout(probeTimeoutMs),
    })
    const served = response.ok ? entryScript.exec(await response.text())?.[1] : undefined
    // An error page of a proxy, or the sign-in page of a guest network, is not an answer of this server.
    if (served === undefined) return 'unreachable'
    return served === ownEntryScript() ? 'same build' : 'updated'
  } catch {
    return 'unreachable'
  }
}

const ownEntryScript = (): string | undefined =>
  document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.src.split('/').at(-1)
