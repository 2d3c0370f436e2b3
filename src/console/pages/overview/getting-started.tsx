// Offers three ways to the first device while there are none: a device that speaks our protocol, a gateway, and the demo.
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { serverUrl } from '../../base-path.ts'
import { NewRoomButton } from '../../domain/fleet/room/new-room-button.tsx'
import { CommandTabs } from '../../parts/page/command-tabs.tsx'
import { CheckIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { demoCommands, simulateCommands } from '../../parts/page/program-commands.ts'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions, useSession } from '../../session.ts'
import classes from './overview.module.css'

export function GettingStarted({ roomCount }: { readonly roomCount: number }) {
  const { org } = useSession()
  const may = usePermissions()
  return (
    <Stack maw={820}>
      <Text>No devices yet. Your dashboard appears here after the first device is enrolled. There are three ways:</Text>
      <Section title="1. A device that speaks the protocol of Roomkeeper">
        <ol className={classes.steps}>
          <Step number={1} title="Create a room" isDone={roomCount > 0}>
            {roomCount > 0 ? (
              <Text>
                You have <Link to="/rooms">{plural(roomCount, 'room')}</Link>.
              </Text>
            ) : (
              <Text>Every device belongs to a room. Start by creating one.</Text>
            )}
            {may.write ? (
              <Group mt="xs">
                <NewRoomButton />
              </Group>
            ) : (
              roomCount === 0 && <Text c="dimmed">You have read-only access. Ask an admin to create a room.</Text>
            )}
          </Step>
          <Step number={2} title="Enter the room code on the device">
            <Text>
              Open the room to see its enrolment code. Type the code on the device or scan the QR code. The device
              appears here within seconds.
            </Text>
          </Step>
        </ol>
      </Section>
      <Section title="2. Codecs, projectors, switches and other devices: a gateway">
        <Stack gap="sm">
          <Text>
            A gateway is a small program in the network of your devices. It manages Cisco codecs, projectors and
            displays with PJLink, devices with SNMP, and anything with a network port. Start it with one command, then
            enter the address and the password of each device here.
          </Text>
          <Group>
            <Button
              variant="default"
              renderRoot={(props) => <Link {...props} to="/settings" search={{ tab: 'gateways' }} />}
            >
              {may.operate ? 'Set up a gateway' : 'View gateways'}
            </Button>
          </Group>
        </Stack>
      </Section>
      <Section title="3. No hardware yet: the demo">
        <Stack gap="sm">
          <Text>Run 20 simulated devices for this organisation. YOUR-API-KEY needs Read and Write access:</Text>
          <CommandTabs label="Ways to run simulated devices" ways={simulateCommands(org.id, serverUrl())} />
          <Text>Or start a separate demo server with 60 devices and a week of data:</Text>
          <CommandTabs label="Ways to start the demo" ways={demoCommands(location.port === '8080')} />
        </Stack>
      </Section>
    </Stack>
  )
}

interface StepProps {
  readonly number: number
  readonly title: string
  readonly isDone?: boolean
  readonly children: ReactNode
}

const Step = ({ number, title, isDone = false, children }: StepProps) => (
  <li className={classes.step}>
    <span className={classes.stepMark} aria-hidden="true">
      {isDone ? <CheckIcon size={16} /> : number}
    </span>
    <div>
      <Title order={3} fz="md">
        {title}
        {isDone && <VisuallyHidden> (done)</VisuallyHidden>}
      </Title>
      {children}
    </div>
  </li>
)
