// Shows the clock of a device: time zone, local time and time server.

import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { Section } from '../../../parts/page/page.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { useNow } from '../../../parts/text/now.ts'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { clockInZone, isKnownTimeZone } from '../../../parts/text/time.tsx'

export function ClockSection({ device }: { readonly device: DeviceDetails }) {
  const now = useNow()
  const { timezone, ntpServer, activeNtpServer, ntpServerReachable } = device
  if (timezone === undefined && ntpServer === undefined && activeNtpServer === undefined) return null
  return (
    <Section title="Clock">
      <DefinitionList
        definitions={[
          ['Time zone', timezone],
          ['Local time', timezone && isKnownTimeZone(timezone) ? clockInZone(now, timezone) : undefined],
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
  isReachable ? <StatusLabel tone="calm">Yes</StatusLabel> : <StatusLabel tone="danger">No</StatusLabel>
