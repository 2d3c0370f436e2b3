// The firmware of a device, and whether a newer one is on its way.
import { Text } from '@mantine/core'
import { type Device, useZone } from '../../domain/device/device.ts'
import { CheckIcon, ClockIcon, WarnIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { Facts } from '../../parts/text/definition-list.tsx'
import { Mark } from '../../parts/text/status-label.tsx'
import { Time } from '../../parts/text/time.tsx'
import { inWords } from '../../parts/text/words.ts'

export function FirmwareSection({ device }: { readonly device: Device }) {
  const { upgradeStatus, automaticUpdates, otaChannel } = device
  return (
    <Section title="Firmware">
      <Facts
        facts={[
          ['Installed', release(device.firmwareVersionReleaseName, device.firmwareVersion)],
          ['Newest', release(device.latestVersionReleaseName, device.latestVersion)],
          ['Update', <Update key="update" device={device} />],
          ['Running upgrade', upgradeStatus && upgradeStatus !== 'IDLE' && inWords(upgradeStatus)],
          ['Automatic updates', automaticUpdates === undefined ? undefined : automaticUpdates ? 'On' : 'Off'],
          ['Channel', otaChannel && inWords(otaChannel)],
          ['Upgrade model', device.upgradeModel],
          ['Build', [device.buildType, device.hexapaBuild].filter(Boolean).join(' · ')],
        ]}
      />
    </Section>
  )
}

/** The name that people know, and the version that support asks for. */
function release(name: string | undefined, version: string | undefined) {
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

function Update({ device }: { readonly device: Device }) {
  const zone = useZone(device)
  const { upgradeTime, firmwareVersion, latestVersion } = device
  if (device.isLatestVersionScheduledForNow) {
    return (
      <Mark colour="var(--rk-degraded)" mark={<ClockIcon size={16} />}>
        About to be installed
      </Mark>
    )
  }
  if (device.hasScheduledFirmwareUpdate) {
    return (
      <Mark colour="var(--mantine-color-text)" mark={<ClockIcon size={16} />}>
        Scheduled
        {upgradeTime && (
          <> for {Number.isNaN(Date.parse(upgradeTime)) ? upgradeTime : <Time at={upgradeTime} zone={zone} />}</>
        )}
      </Mark>
    )
  }
  if (device.hasUnscheduledFirmwareUpdate || (latestVersion && firmwareVersion && latestVersion !== firmwareVersion)) {
    return (
      <Mark colour="var(--rk-degraded)" mark={<WarnIcon size={16} />}>
        Available, not scheduled
      </Mark>
    )
  }
  if (!latestVersion) return <>Not known</>
  return (
    <Mark colour="var(--rk-healthy)" mark={<CheckIcon size={16} />}>
      Up to date
    </Mark>
  )
}
