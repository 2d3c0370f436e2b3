// The steps around the form: the addresses for the provider, the test, and turning company accounts on. [contract 11.oidc]
import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { hourMs } from '../../../../contract/durations.ts'
import { useWrite } from '../../../api.ts'
import { ErrorText } from '../../../parts/page/page.tsx'
import { CopyableText, DefinitionList } from '../../../parts/text/definition-list.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { useNow } from '../../../parts/text/now.ts'
import { DateTime } from '../../../parts/text/time.tsx'
import type { IdentityAnswer } from './identity-draft.ts'

/** The provider asks for these when the application is registered there. */
export const ProviderAddresses = ({ settings }: { readonly settings: IdentityAnswer }) => (
  <Stack gap="xs">
    <Text fz="sm">Register Roomkeeper as a web application (authorization code with PKCE) and enter:</Text>
    {settings.callbackUrl ? (
      <DefinitionList
        definitions={[
          ['Redirect URI', <CopyableText key="callback" text={settings.callbackUrl} what="redirect URI" />],
          [
            'Back-channel logout URI',
            settings.backchannelUrl && (
              <CopyableText key="logout" text={settings.backchannelUrl} what="back-channel logout URI" />
            ),
          ],
        ]}
      />
    ) : (
      <Text fz="sm" c="dimmed">
        The addresses appear here once the server has a public address.
      </Text>
    )}
  </Stack>
)

/** A test is valid for this long. */
const isRecent = (testedAt: string | undefined, nowMs: number): boolean =>
  testedAt !== undefined && nowMs - Date.parse(testedAt) < hourMs

interface StepProps {
  readonly settings: IdentityAnswer
  /** Whether the form has changes that are not saved; a test is about saved settings. */
  readonly isChanged: boolean
}

export function TestStep({ settings, isChanged }: StepProps) {
  const test = useWrite('identityTest', {
    quiet: true,
    // The browser allows the new tab, because the click is only a moment ago; else the link below is there.
    onDone: ({ url }) => void window.open(url, '_blank', 'noopener'),
  })
  const isReady = settings.issuer !== undefined && !isChanged
  return (
    <Stack gap="xs" align="flex-start">
      <Text fz="sm">
        Sign in at the provider with the account of an owner. The test changes nothing; it shows how you would sign in.
      </Text>
      <Button variant="default" loading={test.isPending} disabled={!isReady} onClick={() => test.mutate({ input: {} })}>
        Test sign-in
      </Button>
      {isChanged && (
        <Text fz="sm" c="dimmed">
          Save the settings first.
        </Text>
      )}
      {test.data && (
        <Text fz="sm">
          The test opens in a new tab. If it did not,{' '}
          <Anchor href={test.data.url} target="_blank" rel="noreferrer" fz="sm" underline="always">
            open the test
          </Anchor>
          .
        </Text>
      )}
      <ErrorText error={test.error} />
      <Text fz="sm" role="status">
        {settings.testedAt ? (
          <>
            Tested <DateTime at={settings.testedAt} />
          </>
        ) : (
          'These settings were not tested yet.'
        )}
      </Text>
    </Stack>
  )
}

interface EnableStepProps extends StepProps {
  readonly etag: string | undefined
  readonly onDone: () => void
}

export function EnableStep({ settings, isChanged, etag, onDone }: EnableStepProps) {
  const nowMs = useNow()
  const update = useWrite('identityUpdate', {
    quiet: true,
    onDone,
    successText: ({ enabled }) => (enabled ? 'Company accounts turned on' : 'Company accounts turned off'),
  })
  const mayEnable = !isChanged && isRecent(settings.testedAt, nowMs)
  const set = (enabled: boolean) => update.mutate({ input: { body: { enabled } }, ifMatch: etag })
  return (
    <Stack gap="xs" align="flex-start">
      {settings.enabled && settings.problem && (
        <Notice tone="warning" role="alert" title="People cannot sign in with company accounts">
          {settings.problem}
        </Notice>
      )}
      <Text fz="sm" role="status">
        {settings.enabled ? 'Company accounts are on.' : 'Company accounts are off.'} Passkeys and links always work.
      </Text>
      <Group gap="xs">
        {settings.enabled ? (
          <Button variant="default" loading={update.isPending} onClick={() => set(false)}>
            Turn off company accounts
          </Button>
        ) : (
          <Button loading={update.isPending} disabled={!mayEnable} onClick={() => set(true)}>
            Turn on company accounts
          </Button>
        )}
      </Group>
      {!settings.enabled && !mayEnable && (
        <Text fz="sm" c="dimmed">
          Test the saved settings first, as an owner. The test counts for one hour.
        </Text>
      )}
      <ErrorText error={update.error} />
    </Stack>
  )
}
