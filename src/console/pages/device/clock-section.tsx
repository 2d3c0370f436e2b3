// The clock of a device: its zone, what time it is there, and whether its time server answers.

import type { DeviceDetails } from '../../domain/device/device.ts'
import { CheckIcon, CrossIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { DefinitionList } from '../../parts/text/definition-list.tsx'
import { useNow } from '../../parts/text/now.ts'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { clockInZone, isTimeZone } from '../../parts/text/time.tsx'

export function ClockSection({ device }: { readonly device: DeviceDetails }) {
  const now = useNow()
  const { timezone, ntpServer, activeNtpServer, ntpServerReachable } = device
  if (timezone === undefined && ntpServer === undefined && activeNtpServer === undefined) return null
  return (
    <Section title="Clock">
      <DefinitionList
        definitions={[
          ['Time zone', timezone],
          ['Time there', timezone && isTimeZone(timezone) ? clockInZone(now, timezone) : undefined],
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
    <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
      Yes
    </StatusLabel>
  ) : (
    <StatusLabel colour="var(--rk-offline)" icon={<CrossIcon size={16} />}>
      No
    </StatusLabel>
  )
