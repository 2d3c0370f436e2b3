// The clock of a device: its zone, what time it is there, and whether its time server answers.

import type { Device } from '../../parts/device.ts'
import { Facts } from '../../parts/facts.tsx'
import { CheckIcon, CrossIcon } from '../../parts/icons.tsx'
import { useNow } from '../../parts/now.ts'
import { Section } from '../../parts/page.tsx'
import { Mark } from '../../parts/state-mark.tsx'
import { clockElsewhere, isZone } from '../../parts/time.tsx'

export function ClockSection({ device }: { readonly device: Device }) {
  const now = useNow()
  const { timezone, ntpServer, activeNtpServer, ntpServerReachable } = device
  if (timezone === undefined && ntpServer === undefined && activeNtpServer === undefined) return null
  return (
    <Section title="Clock">
      <Facts
        facts={[
          ['Time zone', timezone],
          ['Time there', timezone && isZone(timezone) ? clockElsewhere(now, timezone) : undefined],
          ['Time server', ntpServer],
          ['In use', activeNtpServer !== ntpServer && activeNtpServer],
          ['Answers', ntpServerReachable !== undefined && <Answers key="answers" yes={ntpServerReachable} />],
        ]}
      />
    </Section>
  )
}

const Answers = ({ yes }: { readonly yes: boolean }) =>
  yes ? (
    <Mark colour="var(--rk-healthy)" mark={<CheckIcon size={16} />}>
      Yes
    </Mark>
  ) : (
    <Mark colour="var(--rk-offline)" mark={<CrossIcon size={16} />}>
      No
    </Mark>
  )
