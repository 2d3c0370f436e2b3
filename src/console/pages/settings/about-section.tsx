// Shows the organisation, the air limits and the version of this installation, with links to the API documents.
import { Anchor, Code, Group, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { sensorLabels } from '../../../contract/device/sensor-texts.ts'
import type { AirLimits } from '../../../contract/people/session.ts'
import { pathUnderBase } from '../../base-path.ts'
import { airSensors, limitText } from '../../domain/air/air.ts'
import { Section } from '../../parts/page/page.tsx'
import { DefinitionList } from '../../parts/text/definition-list.tsx'
import { useSession } from '../../session.ts'
import classes from './about.module.css'

export function AboutSection() {
  const { org, version, commit, airLimits } = useSession()
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
                Used for daily statistics. To change the time zone, run{' '}
                <Code>npm run roomkeeper -- org timezone {org.id} ZONE</Code> on the server.
              </Note>
            </Fragment>,
          ],
          [
            'Air limits',
            <Fragment key="limits">
              <Limits limits={airLimits} />
              <Note>
                Rooms outside these limits are flagged. To change the limits, start the server with{' '}
                <Code>--air-limits</Code>.
              </Note>
            </Fragment>,
          ],
          ['Version', `Roomkeeper ${version}${commit ? `, commit ${commit}` : ''}`],
          ['API', <Documents key="documents" />],
        ]}
      />
    </Section>
  )
}

const Limits = ({ limits }: { readonly limits: AirLimits }) => (
  <ul className={classes.limits}>
    {airSensors.map((sensor) => (
      <li key={sensor}>
        {sensorLabels[sensor].name} {limitText(sensor, limits) ?? 'no limit'}
      </li>
    ))}
  </ul>
)

const Documents = () => (
  <Group gap="md">
    <Anchor href={pathUnderBase('/docs')} target="_blank" rel="noreferrer" fz="sm">
      API reference
    </Anchor>
    <Anchor href={pathUnderBase('/openapi.json')} target="_blank" rel="noreferrer" fz="sm">
      OpenAPI document
    </Anchor>
  </Group>
)

const Note = ({ children }: { readonly children: ReactNode }) => (
  <Text fz="xs" c="dimmed" mt={4}>
    {children}
  </Text>
)
