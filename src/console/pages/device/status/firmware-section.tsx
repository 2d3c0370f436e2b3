// Shows the firmware of a device and the state of its update.
import { Text } from '@mantine/core'
import { humanize } from '../../../../contract/words.ts'
import { type DeviceDetails, useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { CheckIcon, ClockIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'

export function FirmwareSection({ device }: { readonly device: DeviceDetails }) {
  const { upgradeStatus, automaticUpdates, otaChannel } = device
  return (
    <Section title="Firmware">
      <DefinitionList
        definitions={[
          ['Installed', releaseName(device.firmwareVersionReleaseName, device.firmwareVersion)],
          ['Latest', releaseName(device.latestVersionReleaseName, device.latestVersion)],
          ['Update', <UpdateState key="update" device={device} />],
          ['Update in progress', upgradeStatus && upgradeStatus !== 'IDLE' && humanize(upgradeStatus)],
          ['Automatic updates', automaticUpdates === undefined ? undefined : automaticUpdates ? 'On' : 'Off'],
          ['Channel', otaChannel && humanize(otaChannel)],
          ['Update model', device.upgradeModel],
          ['Build', [device.buildType, device.hexapaBuild].filter(Boolean).join(' · ')],
        ]}
      />
    </Section>
  )
}

/** The release name is for operators, the version for support. */
function releaseName(name: string | undefined, version: string | undefined) {
  if (!name || !version) return name ?? version
  return (
    <>
      {name}{' '}
      <Text span c="dimmed" fz="inherit">
        {version}
      </Text>
    </>
  )
}

function UpdateState({ device }: { readonly device: DeviceDetails }) {
  const zone = useDeviceTimeZone(device)
  const { upgradeTime, firmwareVersion, latestVersion } = device
  if (device.isLatestVersionScheduledForNow) {
    return (
      <StatusLabel colour="var(--rk-degraded)" icon={<ClockIcon size={16} />}>
        Installing soon
      </StatusLabel>
    )
  }
  if (device.hasScheduledFirmwareUpdate) {
    return (
      <StatusLabel colour="var(--mantine-color-text)" icon={<ClockIcon size={16} />}>
        Scheduled
        {upgradeTime && (
          <> for {Number.isNaN(Date.parse(upgradeTime)) ? upgradeTime : <DateTime at={upgradeTime} zone={zone} />}</>
        )}
      </StatusLabel>
    )
  }
  if (device.hasUnscheduledFirmwareUpdate || (latestVersion && firmwareVersion && latestVersion !== firmwareVersion)) {
    return (
      <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={16} />}>
        Update available
      </StatusLabel>
    )
  }
  if (!latestVersion) return <>Unknown</>
  return (
    <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
      Up to date
    </StatusLabel>
  )
}
