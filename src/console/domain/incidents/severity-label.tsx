// The severity of an incident as an icon with a label.
import type { ReactNode } from 'react'
import { type Severity, severities } from '../../../contract/incidents/rule-table.ts'
import { CrossIcon, DotIcon, WarnIcon } from '../../parts/page/icons.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'

const styles: Readonly<Record<Severity, { label: string; colour: string; icon: ReactNode }>> = {
  CRITICAL: { label: 'Critical', colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
  WARNING: { label: 'Warning', colour: 'var(--rk-degraded)', icon: <WarnIcon size={16} /> },
  INFO: { label: 'Info', colour: 'var(--rk-empty)', icon: <DotIcon size={16} /> },
}

export const severityName = (severity: Severity): string => styles[severity].label

export const SeverityLabel = ({ severity }: { readonly severity: Severity }) => (
  <StatusLabel colour={styles[severity].colour} icon={styles[severity].icon}>
    {styles[severity].label}
  </StatusLabel>
)

/** The choices of a select, the worst severity first. */
export const severityChoices = severities.toReversed().map((value) => ({ value, label: styles[value].label }))
