// All that an entry holds: what was before and after, whom else it concerned, and where the call came from.
import { Code, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { DiffTable } from '../../parts/text/diff-table.tsx'
import { fullTime } from '../../parts/text/time.tsx'
import classes from './audit.module.css'
import type { Entry } from './audit-entries.ts'
import { TargetName } from './audit-target.tsx'
import { actorKinds, categoryWords } from './audit-words.ts'

interface AuditDetailsProps {
  readonly entry: Entry
  readonly gone: ReadonlySet<string>
}

const mostAffected = 50

export function AuditDetails({ entry, gone }: AuditDetailsProps) {
  const { before, after, affected = [] } = entry.details
  return (
    <Stack gap="md" className={classes.details}>
      {(before || after) && <DiffTable before={before} after={after} />}
      {affected.length > 0 && (
        <div>
          <Text fz="sm" fw={600} mb={4}>
            Also concerned
          </Text>
          <ul className={classes.affected}>
            {affected.slice(0, mostAffected).map((target) => (
              <li key={`${target.type} ${target.id}`}>
                <TargetName target={target} gone={gone} />
              </li>
            ))}
            {affected.length > mostAffected && (
              <li>and {affected.length - mostAffected} more (all are in the export)</li>
            )}
          </ul>
        </div>
      )}
      <dl className={classes.facts}>
        <Fact name="When">{fullTime(Date.parse(entry.timestamp))}</Fact>
        <Fact name="Who">
          {actorKinds[entry.actor.type]}: {entry.actor.name || entry.actor.id}
        </Fact>
        <Fact name="About">{categoryWords[entry.category]}</Fact>
        {entry.ip && <Fact name="Address">{entry.ip}</Fact>}
        {entry.requestId && (
          <Fact name="Request">
            <Code>{entry.requestId}</Code>
          </Fact>
        )}
        <Fact name="Entry">{entry.id}</Fact>
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
