// Says in words what the gateway found when it tried a device, or why it failed, and offers to trust an unknown certificate.
import { Button, Text } from '@mantine/core'
import { oneLine } from '../../../../contract/words.ts'
import { CheckIcon, CrossIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import type { TestResult } from './gateway.ts'
import { FingerprintText, OutcomeFrame } from './outcome-frame.tsx'

interface TestOutcomeProps {
  readonly result: TestResult
  /** The certificate that the device was expected to have. */
  readonly expected: string | undefined
  readonly onTrust: (fingerprint: string) => void
}

export function TestOutcome({ result, expected, onTrust }: TestOutcomeProps) {
  const { found, state, reason } = result
  const certificate = found?.certificate
  if (state === 'CHANGED' && certificate && certificate.fingerprint !== expected) {
    return (
      <OutcomeFrame kind="certificate">
        <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={16} />}>
          {expected === undefined
            ? 'The device answers with an unknown certificate'
            : 'The device has another certificate'}
        </StatusLabel>
        <Text fz="sm">
          {expected === undefined
            ? 'Most devices sign their own certificate. Compare this fingerprint with the one that the device shows, then trust it. No password was sent.'
            : 'It is not the one that was trusted. Was the device reset or replaced? No password was sent.'}
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
  if (state !== undefined || found === undefined) {
    return (
      <OutcomeFrame kind="failed">
        <StatusLabel colour="var(--rk-offline)" icon={<CrossIcon size={16} />}>
          {state === undefined ? 'No result' : failureNames[state]}
        </StatusLabel>
        <Text fz="sm">{oneLine(reason ?? 'The gateway gave no reason.')}</Text>
      </OutcomeFrame>
    )
  }
  return (
    <OutcomeFrame kind="found">
      <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
        Found: {deviceText(found)}
      </StatusLabel>
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
      {found.notes && found.notes.length > 0 && (
        <div>
          <Text fz="sm" fw={600}>
            What is off
          </Text>
          <ul>
            {found.notes.map((note) => (
              <Text key={note} component="li" fz="sm">
                {oneLine(note)}
              </Text>
            ))}
          </ul>
        </div>
      )}
    </OutcomeFrame>
  )
}

const failureNames: Readonly<Record<NonNullable<TestResult['state']>, string>> = {
  UNREACHABLE: 'The device cannot be reached',
  REFUSED: 'The device refused user or password',
  CHANGED: 'This is another device',
  UNSUPPORTED: 'The device is not supported',
}

/** "Cisco Room Kit Pro, serial number FOC2600R004, version 26.4"; the maker is left out if the model starts with it. */
function deviceText({
  manufacturer = '',
  model = '',
  serial,
  firmwareVersion,
}: NonNullable<TestResult['found']>): string {
  const isNamed = model.toLowerCase().startsWith(manufacturer.toLowerCase())
  return oneLine(
    [
      isNamed ? model : `${manufacturer} ${model}`.trim(),
      ...(serial === undefined ? [] : [`serial number ${serial}`]),
      ...(firmwareVersion === undefined ? [] : [`version ${firmwareVersion}`]),
    ]
      .filter(Boolean)
      .join(', ') || 'a device',
  )
}
