// Says how to start a gateway: the command for a container, a package and a checkout, with the code of a room filled in.
import { Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operationQuery } from '../../../api.ts'
import { serverUrl } from '../../../base-path.ts'
import { NewRoomButton } from '../../../domain/fleet/room/new-room-button.tsx'
import { useRoomChoices } from '../../../domain/fleet/room/room-choices.ts'
import { RoomSelect } from '../../../domain/fleet/room/room-select.tsx'
import { CommandTabs } from '../../../parts/page/command-tabs.tsx'
import { ErrorText, Section } from '../../../parts/page/page.tsx'
import { gatewayCommands, gatewayOfServer } from '../../../parts/page/program-commands.ts'
import { useSession } from '../../../session.ts'
import classes from './gateways.module.css'

const guideUrl = 'docs/gateway.md'

export function StartGateway() {
  const { org } = useSession()
  const [roomId, setRoomId] = useState<string | null>(null)
  const [reach, setReach] = useState('')
  const { data, error } = useQuery({
    ...operationQuery('roomsEnrolmentGet', { id: Number(roomId) }),
    enabled: roomId !== null,
  })
  const { choices, isPending } = useRoomChoices()
  const hasNoRoom = !isPending && choices.length === 0
  const ranges = reach.split(/[\s,;]+/).filter(Boolean)
  const wrong = ranges.find((range) => !rangePattern.test(range))
  const networks = ranges.filter((range) => rangePattern.test(range))
  const code = roomId === null ? undefined : data?.body.dec
  return (
    <Section title="Start a gateway">
      <Stack gap="sm" maw={860}>
        <Text fz="sm">
          You need a machine in the network of the devices: a small computer, a virtual machine, or the server itself.
          The gateway only dials out. No port is opened on it.
        </Text>
        {hasNoRoom && (
          <Group gap="sm">
            <Text fz="sm" fw={600}>
              A gateway stands in a room, and there is none yet.
            </Text>
            <NewRoomButton onCreated={(id) => setRoomId(String(id))} />
          </Group>
        )}
        <div className={classes.choices}>
          <RoomSelect
            label="Room of the gateway"
            value={roomId}
            onChange={setRoomId}
            description="Its code enrols the gateway, and is needed once."
          />
          <TextInput
            label="Networks of the devices"
            description="Empty: the private networks of that machine."
            placeholder="10.20.0.0/16"
            value={reach}
            error={wrong !== undefined && `“${wrong}” is not a network. Write it like 10.20.0.0/16.`}
            onChange={(event) => setReach(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        <ErrorText error={error} />
        <CommandTabs
          label="Ways to start a gateway"
          ways={[
            ...gatewayCommands({ url: serverUrl(), code: code ?? 'ROOM-CODE', reach: networks }),
            gatewayOfServer(org.id, roomId ?? 'ROOM', networks),
          ]}
        />
        <Text fz="sm" c="dimmed">
          The gateway appears in the list above within seconds.{' '}
          {isPlain &&
            'Passwords of devices travel over HTTPS only, so from another machine the address must be https://. '}
          The guide for technicians is <Code>{guideUrl}</Code> in the folder of Roomkeeper.
        </Text>
      </Stack>
    </Section>
  )
}

/** Other characters could mean something to a shell. */
const rangePattern = /^[0-9A-Fa-f.:]+(\/\d{1,3})?$/
const isPlain = location.protocol === 'http:'
