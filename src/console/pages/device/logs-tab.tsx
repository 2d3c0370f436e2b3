// Requests the logs of a device, and opens bug reports by their support ID. [contract 6.bugReports]
import { Button, Checkbox, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../../client/client.ts'
import { errorMessage, operationQuery, queryClient, useWrite } from '../../api.ts'
import { type DeviceDetails, deviceName, hasAction } from '../../domain/fleet/device/device.ts'
import { usePairGroup } from '../../domain/fleet/device/pair-group.ts'
import { Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { BugReport } from './bug-report.tsx'
import { useOpenedReports } from './opened-reports.ts'
import type { TabProps } from './tab-props.ts'

export function LogsTab({ device }: TabProps) {
  const may = usePermissions()
  const { supportIds, add, remove } = useOpenedReports(device.id)
  const mayCollect = may.operate && hasAction(device, 'logs')
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, md: mayCollect ? 2 : 1 }}>
        {mayCollect && <CollectLogs device={device} onRequested={add} />}
        <OpenReport onFound={add} />
      </SimpleGrid>
      {supportIds.map((supportId) => (
        <BugReport key={supportId} supportId={supportId} onClose={() => remove(supportId)} />
      ))}
    </Stack>
  )
}

function CollectLogs({
  device,
  onRequested,
}: {
  readonly device: DeviceDetails
  readonly onRequested: (supportId: string) => void
}) {
  const others = usePairGroup(device).others.filter((one) => hasAction(one, 'logs'))
  const [withCalls, setWithCalls] = useState(false)
  const [withPair, setWithPair] = useState(false)
  const collect = useWrite('endpointsGenerateBugReport', { onDone: ({ supportId }) => onRequested(supportId) })
  const devices = withPair ? [device, ...others] : [device]
  const isAnyDisconnected = devices.some(({ connected }) => !connected)
  return (
    <Section title="Collect logs">
      <Stack gap="sm" align="flex-start">
        <Text fz="sm" c="dimmed">
          Requests logs from {deviceName(device)}. You get a support ID to share with support.
        </Text>
        {others.length > 0 && (
          <Checkbox
            label={`Include ${others.map(deviceName).join(', ')}`}
            description="Paired with this device."
            checked={withPair}
            onChange={(event) => setWithPair(event.currentTarget.checked)}
          />
        )}
        <Checkbox
          label="Include call logs"
          description="Call logs contain personal data. Get consent before sharing."
          checked={withCalls}
          onChange={(event) => setWithCalls(event.currentTarget.checked)}
        />
        {isAnyDisconnected && (
          <Text fz="sm" c="var(--rk-degraded)">
            Devices that are not connected send logs if they reconnect within 24 hours.
          </Text>
        )}
        <Button
          loading={collect.isPending}
          onClick={() => collect.mutate({ input: { uploadInCallLogs: withCalls, body: devices.map(({ id }) => id) } })}
        >
          Collect logs
        </Button>
      </Stack>
    </Section>
  )
}

function OpenReport({ onFound }: { readonly onFound: (supportId: string) => void }) {
  const may = usePermissions()
  const [text, setText] = useState('')
  const open = useMutation({
    mutationFn: (supportId: string) =>
      queryClient.fetchQuery({ ...operationQuery('bugReportsGet', { supportId }), staleTime: 0 }),
    onSuccess: ({ body }) => {
      onFound(body.supportId)
      setText('')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') open.mutate(text.trim())
  }
  return (
    <Section title="Open a report">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text fz="sm" c="dimmed">
            {may.operate
              ? 'Save the support ID. You need the ID to open a report again after you close or reload this page.'
              : 'Enter the support ID of a report. Your access does not include requesting logs.'}
          </Text>
          <Group align="flex-start" gap="xs" maw={520}>
            <TextInput
              label="Support ID"
              placeholder="K7QF-2MXA"
              value={text}
              onChange={(event) => {
                setText(event.currentTarget.value)
                open.reset()
              }}
              error={open.error && openErrorText(open.error)}
              autoComplete="off"
              spellCheck={false}
              flex={1}
              miw={180}
            />
            <Button type="submit" variant="default" mt={25} loading={open.isPending} disabled={text.trim() === ''}>
              Open report
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

const openErrorText = (error: unknown) =>
  error instanceof ApiError && error.status === 404
    ? 'Report not found. Check the support ID. Old reports are deleted.'
    : errorMessage(error)
