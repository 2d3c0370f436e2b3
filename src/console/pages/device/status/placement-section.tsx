// Shows where a device is: its room, its profile and the devices that are paired with it.
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { stateOfListed } from '../../../../contract/fleet/endpoints.ts'
import { operationQuery } from '../../../api.ts'
import { ConnectionLabel } from '../../../domain/fleet/device/connection-label.tsx'
import { canHaveProfile, type DeviceDetails, deviceName, noProfileText } from '../../../domain/fleet/device/device.ts'
import { type PairGroup, usePairGroup } from '../../../domain/fleet/device/pair-group.ts'
import { useRestarts } from '../../../domain/fleet/device/restarts.ts'
import { RoomLink, RoomName } from '../../../domain/fleet/site/room-link.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { usePermissions } from '../../../session.ts'
import classes from '../device-list.module.css'
import { ProfileDialog } from '../profile-dialog.tsx'

export function PlacementSection({ device }: { readonly device: DeviceDetails }) {
  const pair = usePairGroup(device)
  return (
    <Section title="Placement">
      <DefinitionList
        definitions={[
          ['Room', <RoomLink key="room" roomId={device.roomId} roomName={device.roomName} />],
          ['Profile', <ProfileValue key="profile" device={device} />],
        ]}
      />
      <PairedDevices device={device} pair={pair} />
    </Section>
  )
}

function ProfileValue({ device }: { readonly device: DeviceDetails }) {
  const may = usePermissions()
  const [opened, dialog] = useDisclosure(false)
  const { profileId } = device
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  const profile = profiles?.find(({ id }) => id === profileId)
  return (
    <Group gap="xs" justify="space-between">
      {profileId === undefined ? (
        <span>{noProfileText(device)}</span>
      ) : (
        <Link to="/profiles/$profileId" params={{ profileId: String(profileId) }}>
          {profile?.name ?? `Profile ${String(profileId)}`}
        </Link>
      )}
      {may.write && canHaveProfile(device) && (
        <Button variant="default" size="compact-xs" onClick={dialog.open} mih={24}>
          Change profile
        </Button>
      )}
      <ProfileDialog device={device} opened={opened} onClose={dialog.close} />
    </Group>
  )
}

function PairedDevices({
  device,
  pair: { members = [], others, leaderSerial, unpairedLeader },
}: {
  readonly device: DeviceDetails
  readonly pair: PairGroup
}) {
  const restarts = useRestarts()
  const isLeaderHere = members.some(({ serial }) => serial === leaderSerial)
  if (members.length === 0) return null
  if (others.length === 0 && isLeaderHere && !unpairedLeader) return null
  return (
    <Stack gap={6} mt="md">
      <Title order={3} fz="sm">
        Paired devices
      </Title>
      {!isLeaderHere && (
        <Text fz="sm" c="dimmed">
          Paired primary device {leaderSerial} is not enrolled here.
        </Text>
      )}
      {unpairedLeader && (
        <Text fz="sm" c="dimmed">
          This device names {deviceName(unpairedLeader)} as its primary device. The two are not paired: they are in
          different rooms, and {deviceName(unpairedLeader)} does not list this device.
        </Text>
      )}
      <ul className={classes.list}>
        {members.map((one) => (
          <li key={one.id}>
            <div className={classes.device}>
              {one.id === device.id ? (
                <Text span fz="sm" fw={500}>
                  {deviceName(one)}
                </Text>
              ) : (
                <Link to="/devices/$endpointId" params={{ endpointId: one.id }}>
                  {deviceName(one)}
                </Link>
              )}
              <Text span fz="xs" c="dimmed">
                {one.serial === leaderSerial ? 'primary' : 'secondary'}
                {one.id === device.id && ' (this device)'}
                {one.roomId !== device.roomId && (
                  <>
                    , in <RoomName roomId={one.roomId} roomName={one.roomName} />
                  </>
                )}
              </Text>
            </div>
            <ConnectionLabel
              state={stateOfListed(one)}
              hasGateway={one.hasGateway}
              restartingSinceMs={restarts.get(one.id)}
            />
          </li>
        ))}
      </ul>
    </Stack>
  )
}
