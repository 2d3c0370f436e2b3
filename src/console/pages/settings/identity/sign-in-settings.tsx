// Sets up how people sign in: the identity provider in four steps, and passkeys. [contract 11.oidc] [contract 11.local]
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { queryClient, queryKeyOf, useBody, useWrite } from '../../../api.ts'
import { isConcurrentChange, useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { ErrorText, Section } from '../../../parts/page/page.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { changeOf, draftOf, type IdentityAnswer, isSameDraft } from './identity-draft.ts'
import { IdentityForm } from './identity-form.tsx'
import { EnableStep, ProviderAddresses, TestStep } from './identity-steps.tsx'

export function SignInSettings() {
  const { now, seen, reload } = useBaseline('identityGet', {})
  const { regions } = useBody('regionsList')
  const stored = draftOf(seen.body)
  const [draft, setDraft] = useState(stored)
  const [seenEtag, setSeenEtag] = useState(seen.etag)
  if (seenEtag !== seen.etag) {
    setSeenEtag(seen.etag)
    setDraft(stored)
  }
  // A test changes the version too. While the settings are the same, the newer version is overwritten.
  const ifMatch = isSameDraft(stored, draftOf(now.body)) ? now.etag : seen.etag
  const refresh = () => reload(() => {})
  const save = useWrite('identityUpdate', { successText: 'Settings saved', quiet: true, onDone: refresh })
  const isChanged = !isSameDraft(stored, draft)
  useRefetchOnFocus()
  return (
    <Stack>
      {now.body.problem && !now.body.enabled && (
        <Notice tone="warning" role="alert">
          {now.body.problem}
        </Notice>
      )}
      <Section title="1. Register Roomkeeper at the provider">
        <ProviderAddresses settings={now.body} />
      </Section>
      <Section title="2. Enter the settings of the provider">
        <IdentityForm
          stored={stored}
          draft={draft}
          hasClientSecret={seen.body.hasClientSecret}
          isEnabled={now.body.enabled}
          regions={regions}
          isChanged={isChanged}
          isBusy={save.isPending}
          onChange={setDraft}
          onSave={() => save.mutate({ input: { body: changeOf(draft, now.body.enabled) }, ifMatch })}
        />
        <SaveError error={save.error} onReload={() => reload(save.reset)} />
      </Section>
      <Section title="3. Test the sign-in">
        <TestStep settings={now.body} isChanged={isChanged} />
      </Section>
      <Section title="4. Turn on company accounts">
        <EnableStep settings={now.body} isChanged={isChanged} etag={now.etag} onDone={refresh} />
      </Section>
      <PasskeySwitch settings={now.body} etag={now.etag} onDone={refresh} />
    </Stack>
  )
}

const SaveError = ({ error, onReload }: { readonly error: unknown; readonly onReload: () => void }) =>
  isConcurrentChange(error) ? (
    <Group role="alert" gap="sm" mt="sm">
      <Text c="var(--rk-offline)" fz="sm">
        The settings were changed by someone else. Reload and try again.
      </Text>
      <Button variant="default" size="xs" onClick={onReload}>
        Reload
      </Button>
    </Group>
  ) : (
    <ErrorText error={error} />
  )

/** The test happens in another tab. */
function useRefetchOnFocus(): void {
  useEffect(() => {
    const refetch = () => void queryClient.invalidateQueries({ queryKey: queryKeyOf('identityGet') })
    addEventListener('focus', refetch)
    return () => removeEventListener('focus', refetch)
  }, [])
}

interface PasskeySwitchProps {
  readonly settings: IdentityAnswer
  readonly etag: string | undefined
  readonly onDone: () => void
}

function PasskeySwitch({ settings, etag, onDone }: PasskeySwitchProps) {
  const update = useWrite('identityUpdate', { successText: 'Passkeys saved', quiet: true, onDone })
  return (
    <Section title="Passkeys">
      <Stack gap="xs">
        {settings.passkeyProblem && (
          <Notice tone="warning" role="alert">
            {settings.passkeyProblem}
          </Notice>
        )}
        <Checkbox
          label="Allow passkeys"
          description="Sign-in links always work."
          checked={settings.passkeys}
          disabled={update.isPending}
          onChange={(event) =>
            update.mutate({ input: { body: { passkeys: event.currentTarget.checked } }, ifMatch: etag })
          }
        />
        <ErrorText error={update.error} />
      </Stack>
    </Section>
  )
}
