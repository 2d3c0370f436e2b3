// What this installation is: organisation, version, limits in force, and where more is written.
import { Anchor, Code, Group, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import type { AirLimits } from '../../../contract/session.ts'
import { airSensors, limitText, sensorLabels } from '../../domain/air/air.ts'
import { Section } from '../../parts/page/page.tsx'
import { DefinitionList } from '../../parts/text/definition-list.tsx'
import { useSession } from '../../session.ts'
import classes from './about.module.css'

export function AboutSection() {
  const { org, version, airLimits } = useSession()
  return (
    <Section title="About">
      <DefinitionList
        definitions={[
          [
            'Organisation',
            <Fragment key="organisation">
              {org.name} <Code>{org.id}</Code>
            </Fragment>,
          ],
          [
            'Time zone',
            <Fragment key="zone">
              {org.timezone}
              <Note>
                The days of its history begin at midnight there. In the checkout on the server,{' '}
                <Code>npm run roomkeeper -- org timezone {org.id} ZONE</Code> changes it.
              </Note>
            </Fragment>,
          ],
          [
            'Air limits',
            <Fragment key="limits">
              <Limits limits={airLimits} />
              <Note>
                Rooms with such air are shown as outliers. The option <Code>--air-limits</Code> of the server changes
                them.
              </Note>
            </Fragment>,
          ],
          ['Version', `Roomkeeper ${version}`],
          ['For programs', <Documents key="documents" />],
        ]}
      />
    </Section>
  )
}

const Limits = ({ limits }: { readonly limits: AirLimits }) => (
  <ul className={classes.limits}>
    {airSensors.map((sensor) => (
      <li key={sensor}>
        {sensorLabels[sensor].name} {limitText(sensor, limits) ?? 'without a limit'}
      </li>
    ))}
  </ul>
)

const Documents = () => (
  <Group gap="md">
    <Anchor href="/docs" target="_blank" rel="noreferrer" fz="sm">
      API reference
    </Anchor>
    <Anchor href="/openapi.json" target="_blank" rel="noreferrer" fz="sm">
      OpenAPI document
    </Anchor>
  </Group>
)

const Note = ({ children }: { readonly children: ReactNode }) => (
  <Text fz="xs" c="dimmed" mt={4}>
    {children}
  </Text>
)
