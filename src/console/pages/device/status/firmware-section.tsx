// Shows which firmware a device should have, and the state of its update; nothing for a device that reports neither.
import { humanize } from '../../../../contract/words.ts'
import { type DeviceDetails, useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { ClockIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Definition, DefinitionList, hasDefinitions } from '../../../parts/text/definition-list.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { releaseName } from './identity-section.tsx'

export function FirmwareSection({ device }: { readonly device: DeviceDetails }) {
  const { latestVersion, upgradeStatus, automaticUpdates, otaChannel } = device
  const isKnown = latestVersion !== undefined || isUpdateReported(device)
  const definitions: Definition[] = [
    ['Latest', releaseName(device.latestVersionReleaseName, latestVersion)],
    ['Update', isKnown && <UpdateState key="update" device={device} />],
    ['Update in progress', upgradeStatus && upgradeStatus !== 'IDLE' && humanize(upgradeStatus)],
    ['Automatic updates', automaticUpdates === undefined ? undefined : automaticUpdates ? 'On' : 'Off'],
    ['Channel', otaChannel && humanize(otaChannel)],
    ['Update model', device.upgradeModel],
  ]
  if (!hasDefinitions(definitions)) return null
  return (
    <Section title="Firmware updates">
      <DefinitionList definitions={definitions} />
    </Section>
  )
}

const isUpdateReported = (device: DeviceDetails): boolean =>
  device.hasScheduledFirmwareUpdate === true ||
  device.hasUnscheduledFirmwareUpdate === true ||
  device.isLatestVersionScheduledForNow === true

function UpdateState({ device }: { readonly device: DeviceDetails }) {
  const zone = useDeviceTimeZone(device)
  const { upgradeTime, firmwareVersion, latestVersion } = device
  if (device.isLatestVersionScheduledForNow) {
    return (
      <StatusLabel tone="warning" icon={<ClockIcon size={16} />}>
        Installing soon
      </StatusLabel>
    )
  }
  if (device.hasScheduledFirmwareUpdate) {
    return (
      <StatusLabel tone="plain" icon={<ClockIcon size={16} />}>
        Scheduled
        {upgradeTime && (
          <> for {Number.isNaN(Date.parse(upgradeTime)) ? upgradeTime : <DateTime at={upgradeTime} zone={zone} />}</>
        )}
      </StatusLabel>
    )
  }
  if (device.hasUnscheduledFirmwareUpdate || (latestVersion && firmwareVersion && latestVersion !== firmwareVersion)) {
    return <StatusLabel tone="warning">Update available</StatusLabel>
  }
  return <StatusLabel tone="calm">Up to date</StatusLabel>
}
