// The clock of a device: its zone, what time it is there, and whether its time server answers.

import type { Device } from '../../domain/device/device.ts'
import { CheckIcon, CrossIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { Facts } from '../../parts/text/definition-list.tsx'
import { useNow } from '../../parts/text/now.ts'
import { Mark } from '../../parts/text/status-label.tsx'
import { clockElsewhere, isZone } from '../../parts/text/time.tsx'

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
