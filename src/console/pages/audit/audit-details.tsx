// Shows the details of an audit entry: the difference, further targets, and the origin of the request.
import { Code, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { DiffTable } from '../../parts/text/diff-table.tsx'
import { fullTime } from '../../parts/text/time.tsx'
import classes from './audit.module.css'
import type { AuditLogEntry } from './audit-entries.ts'
import { actorTypeNames, categoryNames } from './audit-names.ts'
import { TargetName, type TargetNameOf } from './audit-target.tsx'

interface AuditDetailsProps {
  readonly entry: AuditLogEntry
  readonly deleted: ReadonlySet<string>
  readonly nameOf: TargetNameOf
}

const maxAffectedShown = 50

export function AuditDetails({ entry, deleted, nameOf }: AuditDetailsProps) {
  const { before, after, affected = [] } = entry.details ?? {}
  return (
    <Stack gap="md" className={classes.details}>
      {!entry.details && (
        <Text fz="sm" c="dimmed">
          This entry is also about other regions, so its details are not shown to you.
        </Text>
      )}
      {(before || after) && <DiffTable before={before} after={after} />}
      {affected.length > 0 && (
        <div>
          <Text fz="sm" fw={600} mb={4}>
            Also affected
          </Text>
          <ul className={classes.affected}>
            {affected.slice(0, maxAffectedShown).map((target) => (
              <li key={`${target.type} ${target.id}`}>
                <TargetName target={target} deleted={deleted} nameOf={nameOf} />
                {target.serial && (
                  <Text span fz="sm" c="dimmed">
                    {' '}
                    {target.serial}
                  </Text>
                )}
              </li>
            ))}
            {affected.length > maxAffectedShown && (
              <li>and {affected.length - maxAffectedShown} more (see the export)</li>
            )}
          </ul>
        </div>
      )}
      <dl className={classes.facts}>
        <Fact name="Time">{fullTime(Date.parse(entry.timestamp))}</Fact>
        <Fact name="Actor">
          {actorTypeNames[entry.actor.type]}: {entry.actor.name || entry.actor.id}
        </Fact>
        <Fact name="Category">{categoryNames[entry.category]}</Fact>
        {entry.ip && <Fact name="IP address">{entry.ip}</Fact>}
        {entry.requestId && (
          <Fact name="Request ID">
            <Code>{entry.requestId}</Code>
          </Fact>
        )}
        <Fact name="Entry number">{entry.id}</Fact>
      </dl>
    </Stack>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
