// Tries a source once because a person asked, and says in words what was found.
import type { ListedSourceTest, SourceTestAnswer } from '../../contract/device/protocol.ts'
import { secondMs } from '../../contract/durations.ts'
import { certificateText } from '../device-test.ts'
import type { GatewayNetwork } from '../network.ts'
import { secretsOfSource, shortLine, withoutSecrets } from '../short-line.ts'
import { failureOf, openSource } from './open-source.ts'
import type { SourceContext, SourceSession } from './source.ts'
import type { SourceTable } from './source-table.ts'
import { storableContent } from './storable-content.ts'

/** The server answers its caller after 20 s, and the answer has to travel. */
const testLimitMs = 17 * secondMs
const maxNotes = 16

export async function testSource(
  { id, ...settings }: ListedSourceTest,
  {
    sources,
    network,
    own,
    log,
  }: Pick<SourceContext, 'own' | 'log'> & { readonly sources: SourceTable; readonly network: GatewayNetwork },
): Promise<SourceTestAnswer> {
  const attempt = new AbortController()
  const attemptNetwork = network.forSource()
  const toLine = (text: string, max?: number) => shortLine(withoutSecrets(secretsOfSource(settings), text), max)
  let session: SourceSession | undefined
  try {
    const context = { network: attemptNetwork, signal: attempt.signal, own, log }
    session = await openSource(sources, settings, context, { limitMs: testLimitMs, listen: ignoreErrors })
    const { version, content, notes = [] } = session.summary()
    const certificate = session.certificate ?? attemptNetwork.shownCertificate
    const versionText = toLine(version ?? '', 100)
    const noteTexts = notes.map((note) => toLine(note)).filter((note) => note !== '')
    return {
      found: {
        ...(versionText !== '' && { version: versionText }),
        ...(content && { content: storableContent(content) }),
        ...(certificate && { certificate: certificateText(certificate) }),
        ...(noteTexts.length > 0 && { notes: noteTexts.slice(0, maxNotes) }),
      },
    }
  } catch (error) {
    const { state, message } = failureOf(error)
    const { shownCertificate } = attemptNetwork
    return {
      ...(shownCertificate && { found: { certificate: certificateText(shownCertificate) } }),
      state,
      reason: toLine(message) || 'The source gave no useful answer.',
    }
  } finally {
    try {
      session?.close()
    } catch {
      // The attempt is over, and its connections are closed below.
    }
    attempt.abort()
  }
}

const ignoreErrors = (session: SourceSession) => void (session as NodeJS.EventEmitter).on('error', () => {})
