// The devices that a gateway found at a source: their latest values, and which of them are put into rooms. [contract 15.devices]
import { Button, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import type { Source, SourceDevice } from '../../../../contract/fleet/sources.ts'
import { useBody } from '../../../api.ts'
import { useRoomChoices } from '../../../domain/fleet/room/room-choices.ts'
import { EmptyState } from '../../../parts/page/page.tsx'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { FilterBar, FilterSelect, ResultCount, SearchBox } from '../../../parts/table/list-filters.tsx'
import { longTable } from '../../../parts/table/long-table.tsx'
import { useRowSelection } from '../../../parts/table/row-selection.ts'
import { useSearchParamsUpdate } from '../../../parts/table/search-params.ts'
import { Notice } from '../../../parts/text/notice.tsx'
import { plural } from '../../../parts/text/words.ts'
import { actionColumn, sourceDeviceColumns } from './device-columns.tsx'
import { type DeviceTask, SourceDeviceDialogs } from './device-dialogs.tsx'
import { canAdopt, decisions, deviceFilters, filterDevices, filterNames, sourceDeviceName } from './device-rows.ts'
import { useDecide } from './use-decide.ts'

const route = getRouteApi('/settings')
type Search = ReturnType<typeof route.useSearch>

const choices = deviceFilters.map((value) => ({ value, label: filterNames[value] }))

export function DevicesTab({ source }: { readonly source: Source }) {
  const { devices } = useBody('sourceDevicesList', { id: source.id })
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useSearchParamsUpdate<Search>(navigate)
  const { q = '' } = search
  const state = deviceFilters.find((name) => name === search.state)
  const deferredQ = useDeferredValue(q)
  const shown = useMemo(() => filterDevices(devices, { q: deferredQ, state }), [devices, deferredQ, state])
  const selection = useRowSelection(
    `devices of source ${source.id}`,
    useMemo(() => shown.map(({ key }) => key), [shown]),
  )
  const selected = useMemo(() => devices.filter(({ key }) => selection.keys.has(key)), [devices, selection.keys])
  const { choices: rooms } = useRoomChoices()
  const roomNames = useMemo(() => new Map(rooms.map(({ value, label }) => [Number(value), label])), [rooms])
  const [task, setTask] = useState<DeviceTask>()
  const decide = useDecide(source.id)
  const { run } = decide
  const columns = useMemo(
    () => [...sourceDeviceColumns(source, roomNames), actionColumn({ roomNames, start: setTask, decide: run })],
    [source, roomNames, run],
  )
  const isFiltered = q !== '' || state !== undefined
  if (devices.length === 0) {
    return (
      <EmptyState title="No devices found yet">
        {source.state === 'CONNECTED'
          ? 'The gateway reads the source. Devices appear here as soon as it finds them.'
          : 'The gateway has not read the source yet. Its state is shown above.'}
      </EmptyState>
    )
  }
  return (
    <Stack gap="xs">
      <NewDevices
        source={source}
        devices={devices}
        isBusy={decide.isPending}
        onAdopt={(linked) => run(decisions.adoptIntoLinkedRooms(linked))}
        onChoose={(found) => setTask({ name: 'adopt', devices: found })}
      />
      <FilterBar
        search={
          <SearchBox
            label="Search"
            placeholder="Name, model, serial number or room"
            value={q}
            onChange={(text) => change({ q: text || undefined })}
          />
        }
      >
        <FilterSelect label="State" value={state} choices={choices} onChange={(value) => change({ state: value })} />
      </FilterBar>
      <DataTable
        label="Devices of the source"
        rows={shown}
        columns={columns}
        keyOf={({ key }) => key}
        minWidthPx={860}
        long={longTable({
          list: 'source-devices',
          rowHeight: 88,
          minHeightPx: 320,
          summary: (
            <ResultCount
              shown={shown.length}
              all={devices.length}
              one={nounOf(source)}
              onClear={isFiltered ? () => change({ q: undefined, state: undefined }) : undefined}
            />
          ),
          selection: {
            rows: selection,
            nameOf: sourceDeviceName,
            selected,
            actions: (
              <BulkButtons
                devices={selected}
                isBusy={decide.isPending}
                onChooseRoom={() => setTask({ name: 'adopt', devices: selected })}
                onDecide={(decided) => run(decided, selection.clear)}
              />
            ),
          },
        })}
        empty={<EmptyState title="No devices match these filters">Change the search or clear the filters.</EmptyState>}
      />
      <SourceDeviceDialogs
        source={source}
        task={task}
        decide={decide}
        onClose={() => setTask(undefined)}
        onDone={() => {
          setTask(undefined)
          selection.clear()
        }}
      />
    </Stack>
  )
}

const nounOf = ({ type }: Source): string => (type === 'mqtt' ? 'sensor' : 'device')

interface NewDevicesProps {
  readonly source: Source
  readonly devices: readonly SourceDevice[]
  readonly isBusy: boolean
  readonly onAdopt: (devices: readonly SourceDevice[]) => void
  readonly onChoose: (devices: readonly SourceDevice[]) => void
}

/** "12 new sensors": what a person can decide about, with the rooms that the plan has linked. */
function NewDevices({ source, devices, isBusy, onAdopt, onChoose }: NewDevicesProps) {
  const found = devices.filter((device) => device.state === 'FOUND' && canAdopt(device))
  const linked = found.filter(({ linkedRoomId }) => linkedRoomId !== undefined)
  if (found.length === 0) return null
  return (
    <Notice
      tone="quiet"
      role="status"
      title={`${plural(found.length, `new ${nounOf(source)}`)}`}
      action={
        linked.length > 0 ? (
          <Button size="xs" loading={isBusy} onClick={() => onAdopt(linked)}>
            Put {linked.length.toLocaleString('en-GB')} into their rooms
          </Button>
        ) : (
          found.length === 1 && (
            <Button size="xs" onClick={() => onChoose(found)}>
              Choose its room
            </Button>
          )
        )
      }
    >
      {linked.length > 0
        ? `${linked.length === found.length ? 'All of them' : plural(linked.length, 'device')} can go into the rooms that are linked to theirs.`
        : source.type === 'mqtt'
          ? 'Put each into its room. Until then nothing is stored about it but its latest values.'
          : 'Put each into its room, or let the plan make the rooms first.'}
    </Notice>
  )
}

interface BulkButtonsProps {
  readonly devices: readonly SourceDevice[]
  readonly isBusy: boolean
  readonly onChooseRoom: () => void
  readonly onDecide: (decided: ReturnType<typeof decisions.exclude>) => void
}

/** A decision that concerns none of the selected devices is not offered. */
function BulkButtons({ devices, isBusy, onChooseRoom, onDecide }: BulkButtonsProps) {
  const offered = [
    { name: 'Put into linked rooms', decided: decisions.adoptIntoLinkedRooms(devices) },
    { name: 'Exclude', decided: decisions.exclude(devices) },
    { name: 'Take back', decided: decisions.takeBack(devices) },
  ].filter(({ decided }) => decided.length > 0)
  return (
    <>
      {devices.some(canAdopt) && (
        <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={onChooseRoom}>
          Put into a room
        </Button>
      )}
      {offered.map(({ name, decided }) => (
        <Button
          key={name}
          variant="subtle"
          size="compact-sm"
          style={{ flex: 'none' }}
          disabled={isBusy}
          onClick={() => onDecide(decided)}
        >
          {name} {decided.length < devices.length && `(${decided.length.toLocaleString('en-GB')})`}
        </Button>
      ))}
    </>
  )
}
