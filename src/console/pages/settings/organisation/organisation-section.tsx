// Shows the name, the time zone, the air limits, the working hours and the availability target of the organisation, and opens the form that changes them. [contract 6.orgs]
import { Button, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Fragment, type ReactNode } from 'react'
import { sensorLabels } from '../../../../contract/device/sensor-texts.ts'
import type { AirLimits } from '../../../../contract/journal/orgs.ts'
import { useBody } from '../../../api.ts'
import { weeklyText } from '../../../domain/incidents/silence/silence.ts'
import { airSensors, limitText } from '../../../domain/sensors/air.ts'
import { Section } from '../../../parts/page/page.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { usePermissions } from '../../../session.ts'
import classes from './organisation.module.css'
import { OrganisationForm } from './organisation-form.tsx'

export function OrganisationSection() {
  const { name, timezone, airLimits, workingHours, availabilityTarget, ignoreUnderMinutes } = useBody('orgsGet', {})
  const { everywhere } = usePermissions()
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Section title="Organisation">
      <DefinitionList
        definitions={[
          ['Name', name],
          [
            'Time zone',
            <Fragment key="zone">
              {timezone}
              <Note>Used for daily statistics, and for locations without a time zone of their own.</Note>
            </Fragment>,
          ],
          [
            'Air limits',
            <Fragment key="limits">
              <LimitList limits={airLimits} />
              <Note>Rooms outside these limits are flagged, and open incidents.</Note>
            </Fragment>,
          ],
          ['Working hours', workingHours ? weeklyText(workingHours) : 'Not set'],
          [
            'Availability target',
            <Fragment key="target">
              {availabilityTarget} %
              <Note>
                {ignoreUnderMinutes === 0
                  ? 'Every outage counts.'
                  : `Outages of less than ${ignoreUnderMinutes} min do not count.`}
              </Note>
            </Fragment>,
          ],
        ]}
      />
      {everywhere && (
        <Button variant="default" mt="md" onClick={open}>
          Edit organisation
        </Button>
      )}
      <Modal opened={opened} onClose={close} title="Edit organisation">
        <OrganisationForm onClose={close} />
      </Modal>
    </Section>
  )
}

const LimitList = ({ limits }: { readonly limits: AirLimits }) => (
  <ul className={classes.limits}>
    {airSensors.map((sensor) => (
      <li key={sensor}>
        {sensorLabels[sensor].name} {limitText(sensor, limits) ?? 'no limit'}
      </li>
    ))}
  </ul>
)

const Note = ({ children }: { readonly children: ReactNode }) => (
  <Text fz="xs" c="dimmed" mt={4}>
    {children}
  </Text>
)
