// Logs of a device: asks for them, and finds them again by their support ID. [contract 6.bugReports]
import { Button, Checkbox, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../../client/client.ts'
import { errorMessage, operationQuery, queryClient, useWrite } from '../../api.ts'
import { type DeviceDetails, deviceName } from '../../domain/device/device.ts'
import { usePairGroup } from '../../domain/device/pair-group.ts'
import { Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { BugReport } from './bug-report.tsx'
import type { TabProps } from './device-page.tsx'
import { useKnownReports } from './known-reports.ts'

export function LogsTab({ device }: TabProps) {
  const may = usePermissions()
  const { supportIds, remember, forget } = useKnownReports(device.id)
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, md: may.write ? 2 : 1 }}>
        {may.write && <CollectLogs device={device} onAsked={remember} />}
        <OpenReport onFound={remember} />
      </SimpleGrid>
      {supportIds.map((supportId) => (
        <BugReport key={supportId} supportId={supportId} onClose={() => forget(supportId)} />
      ))}
    </Stack>
  )
}

function CollectLogs({
  device,
  onAsked,
}: {
  readonly device: DeviceDetails
  readonly onAsked: (supportId: string) => void
}) {
  const { others } = usePairGroup(device)
  const [withCalls, setWithCalls] = useState(false)
  const [withPair, setWithPair] = useState(false)
  const collect = useWrite('endpointsGenerateBugReport', { onDone: ({ supportId }) => onAsked(supportId) })
  const from = withPair ? [device, ...others] : [device]
  const isAnyOffline = from.some(({ connected }) => !connected)
  return (
    <Section title="Collect logs">
      <Stack gap="sm" align="flex-start">
        <Text fz="sm" c="dimmed">
          Asks {deviceName(device)} for its logs. You get a support ID, with which support staff can find them.
        </Text>
        {others.length > 0 && (
          <Checkbox
            label={`Also from ${others.map(deviceName).join(', ')}`}
            description="Paired with this device."
            checked={withPair}
            onChange={(event) => setWithPair(event.currentTarget.checked)}
          />
        )}
        <Checkbox
          label="Include logs of calls"
          description="They can be private: who called whom, and when. Ask those concerned before you pass them on."
          checked={withCalls}
          onChange={(event) => setWithCalls(event.currentTarget.checked)}
        />
        {isAnyOffline && (
          <Text fz="sm" c="var(--rk-degraded)">
            A device that is offline delivers its logs when it comes back within 24 hours.
          </Text>
        )}
        <Button
          loading={collect.isPending}
          onClick={() => collect.mutate({ input: { uploadInCallLogs: withCalls, body: from.map(({ id }) => id) } })}
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
            {may.write
              ? 'Keep the support ID: a report stays on this page only until you close or reload it. With the ID it is found again.'
              : 'A report is found by its support ID. Asking a device for its logs needs a key with Write.'}
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
              error={open.error && notFoundText(open.error)}
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

const notFoundText = (error: unknown) =>
  error instanceof ApiError && error.status === 404
    ? 'There is no report with this support ID. Check the letters; old reports are deleted.'
    : errorMessage(error)
