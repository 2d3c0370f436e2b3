// What an empty fleet shows: how the first device comes in, and how to have a simulated fleet meanwhile.
import { Code, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { NewRoomButton } from '../../domain/room/new-room-button.tsx'
import { CopyIconButton } from '../../parts/page/copy-icon-button.tsx'
import { CheckIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions, useSession } from '../../session.ts'
import classes from './overview.module.css'

/** What the commands take for granted. */
const usualAddress = 'http://127.0.0.1:8080'
const elsewhere = location.origin === usualAddress ? '' : ` --url ${location.origin}`

export function GettingStarted({ roomCount }: { readonly roomCount: number }) {
  const { org } = useSession()
  const may = usePermissions()
  return (
    <Stack maw={820}>
      <Text>No device has enrolled yet. As soon as the first one has, this page shows how your rooms are.</Text>
      <Section title="Enrol the first device">
        <ol className={classes.steps}>
          <Step number={1} title="Create a room" isDone={roomCount > 0}>
            {roomCount > 0 ? (
              <Text>
                You have <Link to="/rooms">{plural(roomCount, 'room')}</Link>.
              </Text>
            ) : (
              <Text>A device belongs to a room, so the room comes first.</Text>
            )}
            {may.write ? (
              <Group mt="xs">
                <NewRoomButton />
              </Group>
            ) : (
              roomCount === 0 && (
                <Text c="dimmed">Your key may only read. Somebody whose key may write can create one.</Text>
              )
            )}
          </Step>
          <Step number={2} title="Enter its code on the device">
            <Text>
              The page of the room shows an enrolment code, and a QR code with the same. Enter or scan it on the device:
              it shows here within a second.
            </Text>
          </Step>
        </ol>
      </Section>
      <Section title="No device at hand?">
        <Stack gap="sm">
          <Text>
            Start a simulated fleet, in the checkout where the server runs. It makes rooms of its own, with twenty
            devices:
          </Text>
          <Command
            text={`npm run roomkeeper -- simulate --org ${org.id} --key YOUR-API-KEY --endpoints 20 --rooms 8 --locations 3 --regions 1${elsewhere}`}
          />
          <Text>Or look around in a fleet of sixty with a week behind it, on a server of its own:</Text>
          <Command text={location.port === '8080' ? 'npm run demo -- --port 8081 --mqtt-port 1884' : 'npm run demo'} />
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

const Command = ({ text }: { readonly text: string }) => (
  <Group gap="xs" wrap="nowrap">
    <Code block className={classes.command}>
      {text}
    </Code>
    <CopyIconButton text={text} tip="Copy" label={`Copy: ${text}`} />
  </Group>
)
