// The form of a source: its gateway, its fields, and a test with its result.
import { Select, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { SourceType } from '../../../../contract/fleet/drivers.ts'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import { type Gateway, gatewayLabel } from '../../../domain/fleet/gateway/gateway.ts'
import { TestLine } from '../../../domain/fleet/gateway/test-line.tsx'
import { sourceTypeNames } from '../../../domain/fleet/source/source.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import {
  hasSourceMoved,
  hasSourceTarget,
  isSameSourceTarget,
  type SourceDraft,
  sourceTestBody,
  withoutOtherCertificate,
} from './source-draft.ts'
import { SourceFields } from './source-fields.tsx'
import { SourceTestOutcome } from './source-test-outcome.tsx'

interface SourceFormProps {
  readonly type: SourceType
  readonly gateways: readonly Gateway[]
  readonly initial: SourceDraft
  /** The stored source, in a form that changes one. */
  readonly source?: Source | undefined
  /** The test runs when the form opens. */
  readonly startsWithTest?: boolean
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (draft: SourceDraft) => void
  readonly onCancel: () => void
  readonly onReload?: () => void
}

export function SourceForm(props: SourceFormProps) {
  const { type, gateways, initial, source, startsWithTest = false, onSubmit, isBusy, error, onCancel, onReload } = props
  const [draft, setDraft] = useState(initial)
  const test = useSourceTest(type, source)
  const start = useRef(test.run)
  useEffect(() => {
    if (startsWithTest) start.current(initial)
  }, [startsWithTest, initial])
  const isMoved = hasSourceMoved(draft, source)
  const isReady = hasSourceTarget(type, draft, source)
  const isOnline = gateways.find(({ id }) => id === draft.gatewayId)?.state === 'ONLINE'
  const change = (next: SourceDraft) => setDraft(withoutOtherCertificate(draft, next))
  const trust = (fingerprint: string) => {
    const trusting = { ...draft, fingerprint }
    setDraft(trusting)
    test.run(trusting)
  }
  const result = test.resultOf(draft)
  return (
    <DialogForm
      verb={source ? 'Save' : 'Connect'}
      canSubmit={isReady}
      onSubmit={() => onSubmit(draft)}
      {...{ isBusy, error, onCancel }}
      {...(onReload && { onReload })}
    >
      {!source && (
        <Select
          label="Gateway"
          description="The gateway reads the source. It must reach the address."
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={gateways.map((gateway) => ({ value: gateway.id, label: gatewayLabel(gateway) }))}
          value={draft.gatewayId}
          onChange={(gatewayId) => change({ ...draft, gatewayId })}
          allowDeselect={false}
          searchable={gateways.length > 8}
          nothingFoundMessage="No matches"
          withAsterisk
        />
      )}
      <SourceFields {...{ type, draft, source }} onChange={change} />
      {isMoved && source && source.secrets.length > 0 && (
        <Notice tone="warning">
          The address has changed, so the stored {type === 'neat-pulse' ? 'key' : 'password'}
          {source.fingerprint !== undefined && ' and the trusted certificate'} will be deleted. Enter the{' '}
          {type === 'neat-pulse' ? 'key' : 'password'} again.
        </Notice>
      )}
      <TextInput
        label="Name"
        placeholder={type === 'neat-pulse' ? 'Neat Pulse' : 'MQTT'}
        value={draft.name}
        onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
        maxLength={maxNameLength}
        autoComplete="off"
      />
      <TestLine test={test} canRun={isReady && isOnline} onRun={() => test.run(draft)}>
        {!isOnline
          ? 'The gateway is offline. You can save the source; the gateway reads it when it is back.'
          : test.isPending
            ? `The gateway tries ${sourceTypeNames[type]} now. This takes up to 20 seconds.`
            : result === undefined && 'The gateway tries the source and says what it found. Nothing is changed.'}
      </TestLine>
      {result && (
        <SourceTestOutcome
          result={result}
          url={draft.url.trim()}
          expected={draft.fingerprint ?? (isMoved ? undefined : source?.fingerprint)}
          onTrust={trust}
        />
      )}
    </DialogForm>
  )
}

/** The result counts for the values that were tested, until they change. */
function useSourceTest(type: SourceType, source: Source | undefined) {
  const [tested, setTested] = useState<SourceDraft>()
  const { mutate, data, error, isPending } = useWrite('sourcesTest', { quiet: true, changesNothing: true })
  const run = (draft: SourceDraft) => {
    setTested(draft)
    mutate({ input: { body: sourceTestBody(type, draft, source) } })
  }
  const resultOf = (draft: SourceDraft) =>
    !isPending && tested && isSameSourceTarget(tested, draft) ? data : undefined
  return { run, resultOf, error, isPending }
}
