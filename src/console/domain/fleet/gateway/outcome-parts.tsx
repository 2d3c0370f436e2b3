// The parts of the result of a gateway's test, of a device or of a source: an unknown certificate, a failure, and what was found.
import { Button, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { oneLine } from '../../../../contract/words.ts'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import classes from './gateway.module.css'
import type { TestResult } from './gateway.ts'

type FoundCertificate = NonNullable<NonNullable<TestResult['found']>['certificate']>

interface OutcomeFrameProps {
  readonly kind: 'found' | 'failed' | 'certificate'
  readonly children: ReactNode
}

const OutcomeFrame = ({ kind, children }: OutcomeFrameProps) => (
  <Stack gap={6} className={classes.result ?? ''} data-outcome={kind} role="status" aria-label="Result of the test">
    {children}
  </Stack>
)

const FingerprintText = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <Text fz="sm" component="div">
    {label}: <span className={classes.fingerprint}>{text}</span>
  </Text>
)

interface CertificateOutcomeProps {
  readonly title: string
  readonly certificate: FoundCertificate
  /** The fingerprint of the certificate that was trusted. */
  readonly expected: string | undefined
  readonly onTrust: (fingerprint: string) => void
  /** Advice about the certificate. */
  readonly children: ReactNode
}

/** Offers to trust a certificate that no person has confirmed. */
export const CertificateOutcome = ({ title, certificate, expected, onTrust, children }: CertificateOutcomeProps) => (
  <OutcomeFrame kind="certificate">
    <StatusLabel tone="warning">{title}</StatusLabel>
    <Text fz="sm">{children}</Text>
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

interface FailedOutcomeProps {
  /** Absent if the test had no result. */
  readonly title: string | undefined
  readonly reason: string | undefined
  readonly children?: ReactNode
}

export const FailedOutcome = ({ title = 'No result', reason, children }: FailedOutcomeProps) => (
  <OutcomeFrame kind="failed">
    <StatusLabel tone="danger">{title}</StatusLabel>
    <Text fz="sm">{oneLine(reason ?? 'The gateway gave no reason.')}</Text>
    {children}
  </OutcomeFrame>
)

interface FoundOutcomeProps {
  readonly title: string
  readonly certificate: FoundCertificate | undefined
  readonly expected: string | undefined
  /** A line below the title. */
  readonly detail?: string | undefined
  readonly children: ReactNode
}

export const FoundOutcome = ({ title, certificate, expected, detail, children }: FoundOutcomeProps) => (
  <OutcomeFrame kind="found">
    <StatusLabel tone="calm">{title}</StatusLabel>
    {detail !== undefined && <Text fz="sm">{oneLine(detail)}</Text>}
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
    {children}
  </OutcomeFrame>
)

export const OutcomeNotes = ({
  title,
  notes = [],
}: {
  readonly title: string
  readonly notes?: readonly string[] | undefined
}) =>
  notes.length > 0 && (
    <div>
      <Text fz="sm" fw={600}>
        {title}
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
