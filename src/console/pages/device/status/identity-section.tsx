// Shows the identity of a device: model, serial number and id, which support asks for.
import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modelOf } from '../../../../contract/device/models.ts'
import { oneLine } from '../../../../contract/words.ts'
import { useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { usePairGroup } from '../../../domain/fleet/device/pair-group.ts'
import { BinIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { CopyableText, DefinitionList } from '../../../parts/text/definition-list.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { usePermissions } from '../../../session.ts'
import type { TabProps } from '../tab-props.ts'
import { UnenrolDialog } from '../unenrol-dialog.tsx'

export function IdentitySection({ device, etag }: TabProps) {
  const may = usePermissions()
  const zone = useDeviceTimeZone(device)
  const { id, reportedName, serial, model, enrolmentTime, remoteControlEnabled, bulkEnrolmentPending } = device
  const { name } = modelOf(model)
  return (
    <Section title="Identity" actions={may.write && <UnenrolButton device={device} etag={etag} />}>
      <DefinitionList
        definitions={[
          ['Model', name === model ? model : `${name} (${model})`],
          ['Reported name', reportedName && oneLine(reportedName)],
          ['Serial number', <CopyableText key="serial" text={serial} what="serial number" />],
          ['Device ID', <CopyableText key="id" text={id} what="device ID" />],
          ['Enrolled', <DateTime key="enrolled" at={enrolmentTime} zone={zone} />],
          ['Remote control', remoteControlEnabled === undefined ? undefined : remoteControlEnabled ? 'On' : 'Off'],
          ['Bulk enrolment', bulkEnrolmentPending && 'In progress'],
        ]}
      />
    </Section>
  )
}

function UnenrolButton({ device, etag }: TabProps) {
  const [opened, dialog] = useDisclosure(false)
  const pair = usePairGroup(device)
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<BinIcon size={15} />}
        c="var(--rk-offline)"
        onClick={dialog.open}
      >
        Unenrol
      </Button>
      <UnenrolDialog device={device} etag={etag} pair={pair} opened={opened} onClose={dialog.close} />
    </>
  )
}
