// Says in words what the gateway found at a source, or why the test failed, and offers to trust an unknown certificate.
import { Button, Text } from '@mantine/core'
import { pulseUrls, type SourceTestResult } from '../../../../contract/fleet/sources.ts'
import { oneLine } from '../../../../contract/words.ts'
import { FingerprintText, OutcomeFrame } from '../../../domain/fleet/gateway/outcome-frame.tsx'
import { contentText } from '../../../domain/fleet/source/source.ts'
import { CheckIcon, CrossIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'

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
    return (
      <OutcomeFrame kind="certificate">
        <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={16} />}>
          {expected === undefined
            ? 'The server answers with an unknown certificate'
            : 'The server has another certificate'}
        </StatusLabel>
        <Text fz="sm">
          {isPublic
            ? 'Neat Pulse has a certificate of a public authority. Something between the gateway and Neat Pulse answers in its place, such as a proxy that reads traffic. Ask who runs your network before you trust it.'
            : expected === undefined
              ? 'Compare this fingerprint with the one of your server, then trust it. Or enter the certificate of your authority.'
              : 'It is not the one that was trusted. Was the server replaced, or its certificate renewed?'}{' '}
          No key or password was sent.
        </Text>
        <FingerprintText label="SHA-256" text={certificate.fingerprint} />
        {expected !== undefined && <FingerprintText label="Trusted until now" text={expected} />}
        <Text fz="sm" c="dimmed">
          Valid until <DateTime at={certificate.validUntil} full />
        </Text>
        <div>
          <Button size="xs" onClick={() => onTrust(certificate.fingerprint)}>
            Trust this certificate
          </Button>
        </div>
      </OutcomeFrame>
    )
  }
  const notes = found?.notes ?? []
  if (state !== undefined || found === undefined) {
    return (
      <OutcomeFrame kind="failed">
        <StatusLabel colour="var(--rk-offline)" icon={<CrossIcon size={16} />}>
          {state === undefined ? 'No result' : failureNames[state]}
        </StatusLabel>
        <Text fz="sm">{oneLine(reason ?? 'The gateway gave no reason.')}</Text>
        <Notes notes={notes} />
      </OutcomeFrame>
    )
  }
  const content = found.content && contentText(found.content)
  return (
    <OutcomeFrame kind="found">
      <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
        {content ? `Found: ${content}` : 'Connected'}
      </StatusLabel>
      {found.version !== undefined && <Text fz="sm">{oneLine(found.version)}</Text>}
      {certificate && (
        <Text fz="sm">
          {certificate.isTrusted
            ? 'A known authority confirms its certificate'
            : certificate.fingerprint === expected
              ? 'It has the certificate that you trust'
              : 'No known authority confirms its certificate'}
          , valid until <DateTime at={certificate.validUntil} />.
        </Text>
      )}
      <Notes notes={notes} />
    </OutcomeFrame>
  )
}

const failureNames: Readonly<Record<NonNullable<SourceTestResult['state']>, string>> = {
  UNREACHABLE: 'The server cannot be reached',
  REFUSED: 'The server refused the sign-in',
  CHANGED: 'The server has another certificate',
  FAILING: 'The server answers, but not as expected',
  UNSUPPORTED: 'The gateway cannot read this source',
}

const Notes = ({ notes }: { readonly notes: readonly string[] }) =>
  notes.length > 0 && (
    <div>
      <Text fz="sm" fw={600}>
        What does not work
      </Text>
      <ul>
        {notes.map((note) => (
          <Text key={note} component="li" fz="sm">
            {oneLine(note)}
          </Text>
        ))}
      </ul>
    </div>
  )
