// The log of a channel: what was sent and what waits, newest first, and the button that sends messages again. [contract 10.delivery]
import { Button, Group, Modal, Select, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { deliveryStates } from '../../../../contract/channels/channels.ts'
import { humanize } from '../../../../contract/words.ts'
import { queryKeyOf } from '../../../api.ts'
import { EmptyState, ErrorPanel, Section } from '../../../parts/page/page.tsx'
import { Loading } from '../../../parts/page/skeleton.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { client } from '../../../session.ts'
import { deliveryStateNames, type ListedChannel, type ListedDelivery, messageNames } from './channel.ts'
import { DeliveryStateLabel } from './channel-state.tsx'
import { ReplayForm } from './replay-form.tsx'

type State = ListedDelivery['state']
const deliveriesPerPage = 50
/** No event says that a message was delivered, so the first page is read again this often. */
const refetchMs = 5000
const anyState = '*'

function useDeliveries(id: string, state: State | undefined) {
  const input = { id, ...(state && { state }) }
  return useInfiniteQuery({
    queryKey: [...queryKeyOf('deliveriesList', input), 'pages'],
    queryFn: async ({ pageParam, signal }) =>
      (
        await client().deliveriesList(
          { ...input, pageSize: deliveriesPerPage, ...(pageParam && { pageToken: pageParam }) },
          { signal },
        )
      ).body,
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) <= 1 ? refetchMs : false),
  })
}

export function DeliveriesSection({ channel }: { readonly channel: ListedChannel }) {
  const [state, setState] = useState<State>()
  const query = useDeliveries(channel.id, state)
  const [opened, { open, close }] = useDisclosure(false)
  const deliveries = query.data?.pages.flatMap((page) => page.deliveries) ?? []
  return (
    <Section
      title="Deliveries"
      actions={
        <Group gap="xs">
          <Select
            aria-label="State of deliveries"
            size="xs"
            w={140}
            data={[
              { value: anyState, label: 'All states' },
              ...deliveryStates.map((value) => ({ value, label: deliveryStateNames[value] })),
            ]}
            value={state ?? anyState}
            onChange={(value) => setState(value === anyState || value === null ? undefined : (value as State))}
            allowDeselect={false}
          />
          <Button size="xs" variant="default" onClick={open}>
            Send again
          </Button>
        </Group>
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        Kept for 30 days. Failed messages are retried automatically with growing intervals.
      </Text>
      {query.error && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && !query.error && <Loading />}
      {query.isSuccess && deliveries.length === 0 && (
        <EmptyState title={state ? 'No deliveries in this state' : 'No deliveries yet'} />
      )}
      {deliveries.length > 0 && (
        <DataTable label="Deliveries" rows={deliveries} columns={columns} keyOf={({ id }) => id} minWidthPx={880} />
      )}
      {query.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          mt="sm"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Load {deliveriesPerPage} more
        </Button>
      )}
      <Modal opened={opened} onClose={close} title={`Send again to ${channel.name}`}>
        <ReplayForm channelId={channel.id} onClose={close} />
      </Modal>
    </Section>
  )
}

/** The server has more deliveries than these, so they cannot be sorted here. */
const columns: readonly Column<ListedDelivery>[] = [
  {
    id: 'number',
    title: 'Number',
    isNumber: true,
    cell: ({ sequence }) => sequence > 0 && sequence.toLocaleString('en-GB'),
  },
  {
    id: 'message',
    title: 'Message',
    width: '160px',
    inCard: 'heading',
    cell: ({ id, type }) => <span title={id}>{messageNames[type]}</span>,
  },
  {
    id: 'incident',
    title: 'Incident',
    breaksWords: true,
    cell: ({ incident }) =>
      incident && (
        <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
          {incident.title}
        </Link>
      ),
  },
  { id: 'created', title: 'Created', cell: ({ createdAt }) => <DateTime at={createdAt} /> },
  { id: 'state', title: 'State', inCard: 'corner', cell: ({ state }) => <DeliveryStateLabel state={state} /> },
  { id: 'attempts', title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { id: 'result', title: 'Result', width: '150px', cell: (delivery) => <DeliveryResult delivery={delivery} /> },
]

const DeliveryResult = ({
  delivery: { state, status, error, nextAt, deliveredAt },
}: {
  readonly delivery: ListedDelivery
}) => (
  <>
    {error && humanize(error)} {state === 'DELIVERED' && deliveredAt && <DateTime at={deliveredAt} />}{' '}
    {status !== undefined && !error?.includes(String(status)) && `(${status})`}{' '}
    {state === 'WAITING' && nextAt && (
      <>
        next <DateTime at={nextAt} />
      </>
    )}
  </>
)
