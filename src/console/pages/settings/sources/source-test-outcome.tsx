// Says in words what the gateway found at a source, or why the test failed, and offers to trust an unknown certificate.
import { pulseUrls, type SourceTestResult } from '../../../../contract/fleet/sources.ts'
import {
  CertificateOutcome,
  FailedOutcome,
  FoundOutcome,
  OutcomeNotes,
} from '../../../domain/fleet/gateway/outcome-parts.tsx'
import { contentText } from '../../../domain/fleet/source/source.ts'

interface SourceTestOutcomeProps {
  readonly result: SourceTestResult
  readonly url: string
  /** The certificate that the source was expected to have. */
  readonly expected: string | undefined
  readonly onTrust: (fingerprint: string) => void
}

export function SourceTestOutcome({ result, url, expected, onTrust }: SourceTestOutcomeProps) {
  const { found, state, reason } = result
  const certificate = found?.certificate
  if (state === 'CHANGED' && certificate && certificate.fingerprint !== expected) {
    const isPublic = pulseUrls.some((known) => known === url)
    const title =
      expected === undefined ? 'The server answers with an unknown certificate' : 'The server has another certificate'
    return (
      <CertificateOutcome {...{ title, certificate, expected, onTrust }}>
        {isPublic
          ? 'Neat Pulse has a certificate of a public authority. Something between the gateway and Neat Pulse answers in its place, such as a proxy that reads traffic. Ask who runs your network before you trust it.'
          : expected === undefined
            ? 'Compare this fingerprint with the one of your server, then trust it. Or enter the certificate of your authority.'
            : 'It is not the one that was trusted. Was the server replaced, or its certificate renewed?'}{' '}
        No key or password was sent.
      </CertificateOutcome>
    )
  }
  const notes = <OutcomeNotes title="What does not work" notes={found?.notes} />
  if (state !== undefined || found === undefined)
    return (
      <FailedOutcome title={state && failureNames[state]} reason={reason}>
        {notes}
      </FailedOutcome>
    )
  const content = found.content && contentText(found.content)
  const title = content ? `Found: ${content}` : 'Connected'
  return (
    <FoundOutcome {...{ title, certificate, expected }} detail={found.version}>
      {notes}
    </FoundOutcome>
  )
}

const failureNames: Readonly<Record<NonNullable<SourceTestResult['state']>, string>> = {
  UNREACHABLE: 'The server cannot be reached',
  REFUSED: 'The server refused the sign-in',
  CHANGED: 'The server has another certificate',
  FAILING: 'The server answers, but not as expected',
  UNSUPPORTED: 'The gateway cannot read this source',
}
