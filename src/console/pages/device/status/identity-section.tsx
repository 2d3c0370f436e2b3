// Shows what a device is: name, kind, maker, model, versions, serial number and id, which support asks for.
import { Text } from '@mantine/core'
import { modelOf } from '../../../../contract/device/models.ts'
import { humanize, oneLine } from '../../../../contract/words.ts'
import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { KindLabel, kindOf } from '../../../domain/fleet/device/device-kind.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { CopyableText, DefinitionList } from '../../../parts/text/definition-list.tsx'

export function IdentitySection({ device }: { readonly device: DeviceDetails }) {
  const { id, name, reportedName, serial, model, facts = [] } = device
  const { name: modelName, manufacturer = device.manufacturer } = modelOf(model)
  return (
    <Section title="Identity">
      <DefinitionList
        definitions={[
          ['Name', name],
          ['Reported name', reportedName !== name && reportedName],
          ['Kind', <KindLabel key="kind" kind={kindOf(device)} />],
          ['Maker', manufacturer],
          ['Model', modelName === model ? model : `${modelName} (${model})`],
          ['Hardware', device.hardwareVersion],
          ['Firmware', releaseName(device.firmwareVersionReleaseName, device.firmwareVersion)],
          ['Build', [device.buildType, device.hexapaBuild].filter(Boolean).join(' · ')],
          ['Application', device.appVersion],
          ['Serial number', <CopyableText key="serial" text={serial} what="serial number" />],
          ['Device ID', <CopyableText key="id" text={id} what="device ID" />],
          ...facts.map(({ name, text }) => [humanize(name), text, `fact ${name}`] as const),
        ]}
      />
    </Section>
  )
}

/** The release name is for operators, the version for support. */
export function releaseName(name: string | undefined, version: string | undefined) {
  if (!name || !version) return name ?? version
  return (
    <>
      {oneLine(name)}{' '}
      <Text span c="dimmed" fz="inherit">
        {oneLine(version)}
      </Text>
    </>
  )
}
