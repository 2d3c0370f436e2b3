// Shows the clock of a device: time zone, local time and time server.

import type { Device } from '../../domain/device/device.ts'
import { Mark } from '../../domain/room/state-mark.tsx'
import { CheckIcon, CrossIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { Facts } from '../../parts/text/definition-list.tsx'
import { useNow } from '../../parts/text/now.ts'
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
          ['Local time', timezone && isZone(timezone) ? clockElsewhere(now, timezone) : undefined],
          ['Time server', ntpServer],
          ['Active time server', activeNtpServer !== ntpServer && activeNtpServer],
          [
            'Reachable',
            ntpServerReachable !== undefined && <ReachableMark key="reachable" isReachable={ntpServerReachable} />,
          ],
        ]}
      />
    </Section>
  )
}

const ReachableMark = ({ isReachable }: { readonly isReachable: boolean }) =>
  isReachable ? (
    <Mark colour="var(--rk-healthy)" mark={<CheckIcon size={16} />}>
      Yes
    </Mark>
  ) : (
    <Mark colour="var(--rk-offline)" mark={<CrossIcon size={16} />}>
      No
    </Mark>
  )
