// Says in words what the gateway found when it tried a device, or why it failed, and offers to trust an unknown certificate.
import { oneLine } from '../../../../contract/words.ts'
import type { TestResult } from './gateway.ts'
import { CertificateOutcome, FailedOutcome, FoundOutcome, OutcomeNotes } from './outcome-parts.tsx'

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
    const title =
      expected === undefined ? 'The device answers with an unknown certificate' : 'The device has another certificate'
    return (
      <CertificateOutcome {...{ title, certificate, expected, onTrust }}>
        {expected === undefined
          ? 'Most devices sign their own certificate. Compare this fingerprint with the one that the device shows, then trust it. No password was sent.'
          : 'It is not the one that was trusted. Was the device reset or replaced? No password was sent.'}
      </CertificateOutcome>
    )
  }
  if (state !== undefined || found === undefined)
    return <FailedOutcome title={state && failureNames[state]} reason={reason} />
  return (
    <FoundOutcome title={`Found: ${deviceText(found)}`} certificate={certificate} expected={expected}>
      <OutcomeNotes title="What is off" notes={found.notes} />
    </FoundOutcome>
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
