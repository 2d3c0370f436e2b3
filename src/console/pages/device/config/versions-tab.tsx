// Lists the config versions of a device: author, time and changes; each can be restored.
import { useBody } from '../../../api.ts'
import { ConfigStateMark } from '../../../domain/fleet/device/config-state-mark.tsx'
import { useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { VersionsTable } from '../../../parts/versions/versions-table.tsx'
import { usePermissions } from '../../../session.ts'
import { RestoreDialog } from './config-restore.tsx'

export function VersionsTab({ endpointId }: { readonly endpointId: string }) {
  const may = usePermissions()
  const device = useBody('endpointsGet', { id: endpointId })
  const { versions } = useBody('configVersionsList', { id: endpointId })
  const zone = useDeviceTimeZone(device)
  return (
    <VersionsTable
      title="Settings history"
      versions={versions}
      zone={zone}
      empty="Every change of settings or profile is saved here and can be restored."
      stateOf={({ state }) => <ConfigStateMark state={state} />}
      restoreDialog={
        may.write
          ? (version, onClose) => <RestoreDialog endpointId={endpointId} version={version} onClose={onClose} />
          : undefined
      }
    />
  )
}
